//! A Redis or Valkey Cluster.

use super::connection::unconnected;
use super::places::{self, Slots};
use super::single::Single;
use super::{Node, Target};
use crate::error::LinkError;
use crate::value::Value;
use crate::words::Words;
use redis::{ConnectionInfo, IntoConnectionInfo};
use std::collections::HashMap;
use std::time::Duration;

/// A cluster by blocking connections, one for each node that is used.
///
/// Scripts are loaded where they are called, never everywhere: a dead node fails only the slots that it serves.
pub struct Cluster {
    seeds: Vec<ConnectionInfo>,
    slots: Slots,
    stale: bool,
    connections: HashMap<String, Single>,
    epoch: u64,
}

impl Cluster {
    /// A cluster by the URLs of some of its nodes.
    ///
    /// # Errors
    /// [`LinkError::Unconnected`] when a URL cannot be read.
    pub fn open(seeds: &[&str]) -> Result<Cluster, LinkError> {
        let seeds: Result<Vec<_>, _> = seeds.iter().map(|u| u.into_connection_info()).collect();
        let seeds = seeds.map_err(unconnected)?;
        if seeds.is_empty() {
            return Err(unconnected("a cluster needs the address of one node at least"));
        }
        Ok(Cluster { seeds, slots: Slots::default(), stale: true, connections: HashMap::new(), epoch: 0 })
    }

    /// Asks the nodes in turn who serves what.
    fn look(&mut self, timeout: Duration) -> Result<(), LinkError> {
        let mut places: Vec<String> = self.slots.nodes().to_vec();
        places.extend(self.seeds.iter().map(places::name));
        let mut last = unconnected("no node answers");
        // A dead node must not take all the time.
        let each = (timeout / 3).max(Duration::from_millis(20));
        for address in places {
            let question = [Words::of(&["CLUSTER", "SLOTS"])];
            match self.at(&address, &question, each) {
                Ok(replies) => {
                    if replies.first().is_some_and(|r| self.slots.read(r, &address)) {
                        self.stale = false;
                        return Ok(());
                    }
                }
                Err(e) => last = unconnected(e),
            }
        }
        Err(last)
    }

    fn at(&mut self, address: &str, commands: &[Words], timeout: Duration) -> Result<Vec<Value>, LinkError> {
        let single = match self.connections.get_mut(address) {
            Some(single) => single,
            None => {
                let info = places::at(&self.seeds[0], address)?;
                self.epoch += 1;
                self.connections.entry(address.to_string()).or_insert_with(|| Single::with(info))
            }
        };
        let got = single.exchange(Node::Slot(None), commands, timeout);
        if got.is_err() {
            self.connections.remove(address);
        }
        got
    }
}

impl Target for Cluster {
    fn exchange(
        &mut self,
        node: Node<'_>,
        commands: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError> {
        let address = match node {
            Node::Address(address) => address.to_string(),
            Node::Slot(slot) => {
                if self.stale || self.slots.of(slot).is_none() {
                    self.look(timeout)?;
                }
                let found = self.slots.of(slot).map(String::from);
                found.ok_or_else(|| {
                    self.stale = true;
                    unconnected("no node serves this slot")
                })?
            }
        };
        let got = self.at(&address, commands, timeout);
        self.stale |= got.is_err();
        got
    }

    fn moved(&mut self, slot: u16, address: &str) {
        // An empty host means the one that answered, which is the one that was asked.
        let address = match address.strip_prefix(':') {
            Some(port) => {
                let asked = self.node(Some(slot));
                format!("{}:{port}", asked.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host))
            }
            None => address.to_string(),
        };
        self.slots.moved(slot, &address);
    }

    fn refresh(&mut self) {
        self.stale = true;
    }

    fn node(&self, slot: Option<u16>) -> String {
        self.slots.of(slot).map_or_else(|| places::name(&self.seeds[0]), String::from)
    }

    fn epoch(&self) -> u64 {
        // A connection that was made anew counts too.
        self.epoch + self.connections.values().map(Target::epoch).sum::<u64>()
    }

    fn names_nodes(&self) -> bool {
        true
    }
}
