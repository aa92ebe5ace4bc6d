//! The whole data server without I/O.
//!
//! An [`Engine`] holds the data set, the scripts and the state of every client. It opens no socket and no file, reads
//! no clock and no randomness: time comes from the [`Clock`] and the seed that its owner hands in, so the same calls
//! give the same bytes. Three gates keep that true: [`execute`] (every command passes it), [`keyspace::WriteGuard`]
//! (the only way to a value that changes) and [`propagate::Effects`] (everything that leaves a unit of execution).
#![forbid(unsafe_code)]

pub mod acl;
pub mod args;
pub mod blocked;
pub mod busy;
pub mod client;
pub mod clock;
pub mod cluster;
pub mod commands;
pub mod config;
pub mod cx;
pub mod dump;
pub mod engine;
pub mod error;
mod evict;
pub mod execute;
pub mod frame;
pub mod keys;
pub mod keyspace;
pub mod latency;
pub mod loading;
pub mod notify;
pub mod obey;
pub mod persistence;
pub mod propagate;
pub mod pubsub;
pub mod record;
pub mod replay;
pub mod replication;
pub mod reply;
pub mod script;
pub mod spec;
pub mod state;
pub mod stats;
pub mod tracking;
pub mod types;
pub mod util;
pub mod value;

/// The version of Redis that clients are told; what they decide by it holds here.
pub const REDIS_VERSION: &str = "7.2.4";

pub use busy::Busy;
pub use client::{ClientId, ClientIo, ConnInfo};
pub use clock::{Clock, ManualClock};
pub use config::Config;
pub use cx::{Cx, Origin};
pub use engine::{After, Engine, Outgoing, Ticker};
pub use error::{CmdError, Res};
pub use frame::Frame;
pub use reply::{Proto, Reply};
pub use totality_lua::{Interrupt, dispose_with};
pub use value::Value;
