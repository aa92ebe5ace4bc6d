//! A Redis or Valkey Cluster without blocking.

use super::connection::unconnected;
use super::places::{self, Slots};
use super::single_async::{connect, send};
use super::{AsyncTarget, Node};
use crate::error::LinkError;
use crate::value::Value;
use crate::words::Words;
use redis::aio::MultiplexedConnection;
use redis::{ConnectionInfo, IntoConnectionInfo};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A cluster by one multiplexed connection for each node that is used.
pub struct AsyncCluster {
    seeds: Vec<ConnectionInfo>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    slots: Slots,
    known: bool,
    connections: HashMap<String, MultiplexedConnection>,
    epoch: u64,
}

impl AsyncCluster {
    /// A cluster by the URLs of some of its nodes.
    ///
    /// # Errors
    /// [`LinkError::Unconnected`] when a URL cannot be read.
    pub fn open(seeds: &[&str]) -> Result<AsyncCluster, LinkError> {
        let seeds: Result<Vec<_>, _> = seeds.iter().map(|u| u.into_connection_info()).collect();
        let seeds = seeds.map_err(unconnected)?;
        if seeds.is_empty() {
            return Err(unconnected("a cluster needs the address of one node at least"));
        }
        Ok(AsyncCluster { seeds, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panicking thread left is a map that may be old: MOVED corrects it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look(&self, timeout: Duration) -> Result<(), LinkError> {
        let mut places: Vec<String> = self.state().slots.nodes().to_vec();
        places.extend(self.seeds.iter().map(places::name));
        let mut last = unconnected("no node answers");
        let each = (timeout / 3).max(Duration::from_millis(20));
        for address in places {
            match self.at(&address, &[Words::of(&["CLUSTER", "SLOTS"])], each).await {
                Ok(replies) => {
                    let mut state = self.state();
                    if replies.first().is_some_and(|r| state.slots.read(r, &address)) {
                        state.known = true;
                        return Ok(());
                    }
                }
                Err(e) => last = unconnected(e),
            }
        }
        Err(last)
    }

    async fn at(
        &self,
        address: &str,
        commands: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError> {
        let kept = self.state().connections.get(address).cloned();
        let mut connection = match kept {
            Some(connection) => connection,
            None => {
                let made = connect(&places::at(&self.seeds[0], address)?, timeout).await?;
                let mut state = self.state();
                state.epoch += 1;
                state.connections.insert(address.to_string(), made.clone());
                made
            }
        };
        let got = send(&mut connection, commands, timeout).await;
        if matches!(got, Err(LinkError::Lost(_) | LinkError::Unconnected(_))) {
            self.state().connections.remove(address);
        }
        got
    }
}

impl AsyncTarget for AsyncCluster {
    async fn exchange(
        &self,
        node: Node<'_>,
        commands: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError> {
        let address = match node {
            Node::Address(address) => address.to_string(),
            Node::Slot(slot) => {
                let known = |s: &State| s.known.then(|| s.slots.of(slot).map(String::from)).flatten();
                let found = known(&self.state());
                match found {
                    Some(address) => address,
                    None => {
                        self.look(timeout).await?;
                        let found = known(&self.state());
                        found.ok_or_else(|| unconnected("no node serves this slot"))?
                    }
                }
            }
        };
        let got = self.at(&address, commands, timeout).await;
        if got.is_err() {
            self.state().known = false;
        }
        got
    }

    fn moved(&self, slot: u16, address: &str) {
        let asked = self.node(Some(slot));
        let mut state = self.state();
        match address.strip_prefix(':') {
            Some(port) => {
                let host = asked.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
                state.slots.moved(slot, &format!("{host}:{port}"));
            }
            None => state.slots.moved(slot, address),
        }
    }

    fn refresh(&self) {
        self.state().known = false;
    }

    fn node(&self, slot: Option<u16>) -> String {
        self.state().slots.of(slot).map_or_else(|| places::name(&self.seeds[0]), String::from)
    }

    fn epoch(&self) -> u64 {
        self.state().epoch
    }

    fn names_nodes(&self) -> bool {
        true
    }
}
