//! Where scripts run.

#[cfg(feature = "redis")]
pub mod cluster;
#[cfg(feature = "tokio")]
pub mod cluster_async;
#[cfg(feature = "redis")]
pub mod connection;
#[cfg(feature = "embedded")]
pub mod embedded;
#[cfg(feature = "redis")]
mod places;
#[cfg(feature = "redis")]
pub mod sentinel;
#[cfg(feature = "redis")]
pub mod single;
#[cfg(feature = "tokio")]
pub mod single_async;

use crate::error::LinkError;
use crate::render::Rendering;
use crate::value::Value;
use crate::words::Words;
use std::time::Duration;

/// Which node a command goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node<'a> {
    /// The one that serves this slot; any one when there is none.
    Slot(Option<u16>),
    /// The one at this address, as MOVED and ASK give it.
    Address(&'a str),
}

/// A place where scripts run: the engine in this process, a server, a pair behind Sentinel, a cluster.
pub trait Target {
    /// Sends commands in one go on one connection of the node and gives their replies in order; error replies are values.
    ///
    /// # Errors
    /// [`LinkError`] when not all replies came. The connection is not used again then.
    fn exchange(
        &mut self,
        node: Node<'_>,
        commands: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError>;

    /// A slot is served by another node now.
    fn moved(&mut self, _slot: u16, _address: &str) {}

    /// Something is not where it was: look again, at the latest at the next exchange.
    fn refresh(&mut self) {}

    /// A name for the node that serves a slot, for metrics and for the parts of a pipeline.
    fn node(&self, slot: Option<u16>) -> String;

    /// Changes whenever a connection was made anew, so that nothing is taken for loaded that may not be.
    fn epoch(&self) -> u64;

    /// For which servers scripts are rendered.
    fn rendering(&self) -> Rendering {
        Rendering::Redis
    }

    /// True when what [`Target::node`] names is one server as long as the epoch lasts, so that it can be asked once what it
    /// is. Needed for [`crate::Runner::with_natives`].
    fn names_nodes(&self) -> bool {
        false
    }
}

/// A [`Target`] that does not block. It is shared: calls may run at the same time.
#[cfg(feature = "tokio")]
pub trait AsyncTarget: Send + Sync {
    /// As [`Target::exchange`].
    ///
    /// # Errors
    /// [`LinkError`] when not all replies came.
    fn exchange(
        &self,
        node: Node<'_>,
        commands: &[Words],
        timeout: Duration,
    ) -> impl Future<Output = Result<Vec<Value>, LinkError>> + Send;

    /// As [`Target::moved`].
    fn moved(&self, _slot: u16, _address: &str) {}

    /// As [`Target::refresh`].
    fn refresh(&self) {}

    /// As [`Target::node`].
    fn node(&self, slot: Option<u16>) -> String;

    /// As [`Target::epoch`].
    fn epoch(&self) -> u64;

    /// As [`Target::rendering`].
    fn rendering(&self) -> Rendering {
        Rendering::Redis
    }

    /// As [`Target::names_nodes`].
    fn names_nodes(&self) -> bool {
        false
    }
}
