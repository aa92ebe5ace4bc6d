//! One server.

use super::connection::{Connected, unconnected};
use super::places;
use super::{Node, Target};
use crate::error::LinkError;
use crate::value::Value;
use crate::words::Words;
use redis::{Client, Connection, ConnectionInfo, IntoConnectionInfo};
use std::time::Duration;

/// One server, by a blocking connection that is made when it is needed and again after it was lost.
pub struct Single {
    info: ConnectionInfo,
    connected: Option<Connected<Connection>>,
    timeout: Option<Duration>,
    epoch: u64,
}

impl Single {
    /// A server by its URL, such as `redis://user:password@host:6379/0`. It is connected to at the first call.
    ///
    /// # Errors
    /// [`LinkError::Unconnected`] when the URL cannot be read.
    pub fn open(url: &str) -> Result<Single, LinkError> {
        Ok(Single::with(url.into_connection_info().map_err(unconnected)?))
    }

    pub(super) fn with(info: ConnectionInfo) -> Single {
        Single { info, connected: None, timeout: None, epoch: 0 }
    }

    fn connect(&mut self, timeout: Duration) -> Result<&mut Connected<Connection>, LinkError> {
        // The socket calls take no zero.
        let timeout = timeout.max(Duration::from_millis(1));
        if self.connected.is_none() {
            let client = Client::open(self.info.clone()).map_err(unconnected)?;
            let connection = client.get_connection_with_timeout(timeout).map_err(unconnected)?;
            self.connected = Some(Connected::new(connection));
            self.timeout = None;
            self.epoch += 1;
        }
        let connected = self.connected.as_mut().ok_or_else(|| unconnected("no connection"))?;
        // Setting it is a system call: done when it changes by more than a tenth.
        let near = |t: Duration| t <= timeout + timeout / 10 && t + t / 10 >= timeout;
        if !self.timeout.is_some_and(near) {
            let connection = connected.connection();
            connection.set_read_timeout(Some(timeout)).map_err(unconnected)?;
            connection.set_write_timeout(Some(timeout)).map_err(unconnected)?;
            self.timeout = Some(timeout);
        }
        Ok(connected)
    }
}

impl Target for Single {
    fn exchange(
        &mut self,
        _: Node<'_>,
        commands: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError> {
        let got = self.connect(timeout)?.send(commands);
        if got.is_err() {
            // A reply may still come, and would be taken for that of the next command.
            self.connected = None;
        }
        got
    }

    fn refresh(&mut self) {
        self.connected = None;
    }

    fn node(&self, _: Option<u16>) -> String {
        places::name(&self.info)
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn names_nodes(&self) -> bool {
        true
    }
}
