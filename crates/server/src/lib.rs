//! The server: sockets, configuration file, signals and log around a [`totality_engine::Engine`].
//!
//! One thread, one readiness loop ([`server`]): read every ready socket, execute what arrived in its order, write all
//! replies, then timers. Connections ([`io`]) and engine are separate fields of [`Server`], so that sockets can be
//! served while a long script runs.
#![forbid(unsafe_code)]

mod acl_file;
mod busy;
mod clients;
mod clock;
pub mod config_file;
mod conn;
mod crash;
mod debug;
mod evict;
mod exchange;
mod io;
mod lazy_free;
mod listen;
mod log;
mod meanwhile;
mod node_file;
mod oom;
mod primary;
mod process;
mod process_info;
mod replica;
mod rewrite;
mod server;
mod settings;
mod signals;
mod supervise;
mod syslog;
mod talk;
mod tls;
mod watchdog;

pub use server::{Handle, Server, StartError};
