//! Connections of the `redis` crate.

use super::{Node, Target};
use crate::error::LinkError;
use crate::value::Value;
use crate::words::Words;
use redis::{ConnectionLike, RedisError};
use std::time::Duration;

/// Any blocking connection of the `redis` crate, a pool's too. It is used as it is: who made it sets its timeouts and
/// replaces it when it is lost.
pub struct Connected<C> {
    connection: C,
    buffer: Vec<u8>,
}

impl<C: ConnectionLike> Connected<C> {
    /// Runs scripts on this connection.
    pub fn new(connection: C) -> Connected<C> {
        Connected { connection, buffer: Vec::new() }
    }

    /// The connection, for other commands.
    pub fn connection(&mut self) -> &mut C {
        &mut self.connection
    }

    /// Sends commands and reads their replies.
    pub(super) fn send(&mut self, commands: &[Words]) -> Result<Vec<Value>, LinkError> {
        self.buffer.clear();
        commands.iter().for_each(|c| c.encode(&mut self.buffer));
        let got = self.connection.req_packed_commands(&self.buffer, 0, commands.len());
        if self.buffer.capacity() > 1 << 20 {
            self.buffer = Vec::new();
        }
        let replies: Vec<Value> = got.map_err(lost)?.into_iter().map(Value::from).collect();
        if replies.len() != commands.len() {
            return Err(LinkError::Lost("fewer replies than commands".into()));
        }
        Ok(replies)
    }
}

impl<C: ConnectionLike> Target for Connected<C> {
    fn exchange(&mut self, _: Node<'_>, commands: &[Words], _: Duration) -> Result<Vec<Value>, LinkError> {
        self.send(commands)
    }

    fn node(&self, _: Option<u16>) -> String {
        "connection".into()
    }

    fn epoch(&self) -> u64 {
        0
    }
}

/// What an error of the client library means for a command that was on its way.
pub(super) fn lost(e: RedisError) -> LinkError {
    if e.is_timeout() {
        LinkError::Timeout
    } else if e.is_connection_refusal() {
        LinkError::Unconnected(e.to_string())
    } else {
        LinkError::Lost(e.to_string())
    }
}

/// What it means while connecting: nothing was sent.
pub(super) fn unconnected(e: impl std::fmt::Display) -> LinkError {
    LinkError::Unconnected(e.to_string())
}
