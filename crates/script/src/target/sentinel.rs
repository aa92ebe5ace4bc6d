//! The primary of a pair that Sentinel watches.

use super::connection::unconnected;
use super::places::{self, ask_sentinel, is_primary, primary};
use super::single::Single;
use super::{Node, Target};
use crate::error::LinkError;
use crate::value::Value;
use crate::words::Words;
use redis::{ConnectionInfo, IntoConnectionInfo};
use std::time::Duration;

/// The primary that Sentinel names, asked for anew after a failover.
pub struct Sentinel {
    sentinels: Vec<ConnectionInfo>,
    name: String,
    login: ConnectionInfo,
    now: Option<Single>,
    epoch: u64,
}

impl Sentinel {
    /// The primary called `name`. `login` is a URL with the data servers' user and password; its address is not used.
    ///
    /// # Errors
    /// [`LinkError::Unconnected`] when a URL cannot be read.
    pub fn open(sentinels: &[&str], name: &str, login: &str) -> Result<Sentinel, LinkError> {
        let infos: Result<Vec<_>, _> = sentinels.iter().map(|u| u.into_connection_info()).collect();
        let sentinels = infos.map_err(unconnected)?;
        let login = login.into_connection_info().map_err(unconnected)?;
        Ok(Sentinel { sentinels, name: name.into(), login, now: None, epoch: 0 })
    }

    fn find(&mut self, timeout: Duration) -> Result<&mut Single, LinkError> {
        if self.now.is_none() {
            let mut last = unconnected("there are no sentinels");
            for at in 0..self.sentinels.len() {
                match self.ask(at, timeout) {
                    Ok(single) => {
                        // The one that answered is asked first next time.
                        self.sentinels.swap(0, at);
                        self.epoch += 1;
                        self.now = Some(single);
                        break;
                    }
                    Err(e) => last = unconnected(e),
                }
            }
            if self.now.is_none() {
                return Err(last);
            }
        }
        self.now.as_mut().ok_or_else(|| unconnected("no primary"))
    }

    fn ask(&self, at: usize, timeout: Duration) -> Result<Single, LinkError> {
        let mut sentinel = Single::with(self.sentinels[at].clone());
        let reply = sentinel.exchange(Node::Slot(None), &[ask_sentinel(&self.name)], timeout)?;
        let address =
            primary(reply.first()).ok_or_else(|| unconnected("the sentinel knows no such primary"))?;
        let mut single = Single::with(places::at(&self.login, &address)?);
        let role = single.exchange(Node::Slot(None), &[Words::of(&["ROLE"])], timeout)?;
        if is_primary(role.first()) { Ok(single) } else { Err(unconnected("it is no primary (yet)")) }
    }
}

impl Target for Sentinel {
    fn exchange(
        &mut self,
        node: Node<'_>,
        commands: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError> {
        let got = self.find(timeout)?.exchange(node, commands, timeout);
        if got.is_err() {
            self.now = None;
        }
        got
    }

    fn refresh(&mut self) {
        self.now = None;
    }

    fn node(&self, slot: Option<u16>) -> String {
        self.now.as_ref().map_or_else(|| self.name.clone(), |s| s.node(slot))
    }

    fn names_nodes(&self) -> bool {
        true
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }
}
