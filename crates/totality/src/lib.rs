//! A Redis-compatible data set with Lua scripts, inside your process: no socket, no thread, no runtime.
//!
//! ```
//! use totality::{Db, Options};
//!
//! let db = Db::open(Options::default())?;
//! let mut session = db.session()?;
//! session.call(&["SET", "stock", "5"])?;
//! let left: i64 = session.eval("return redis.call('DECRBY', KEYS[1], ARGV[1])", &["stock"], &["2"])?;
//! assert_eq!(left, 3);
//! # Ok::<(), totality::Error>(())
//! ```
//!
//! A [`Db`] may be shared between threads; each [`Session`] is what a connection is to a server: it has its own
//! database number, protocol version, transaction and watched keys. Two [`Db`]s share nothing.
//!
//! With [`Options::dir`] the data set is kept in files as a server keeps it.
//!
//! Nothing runs by itself: call [`Db::tick`] now and then so that keys nobody asks for expire.

#![forbid(unsafe_code)]

mod batch;
mod clock;
mod db;
mod error;
mod options;
mod script;
mod session;
mod value;

pub use batch::{Pipeline, Transaction};
pub use clock::SystemClock;
pub use db::Db;
pub use error::Error;
pub use options::Options;
pub use script::Script;
pub use session::Session;
pub use totality_engine::state::LogLevel;
pub use totality_engine::{Clock, Frame, ManualClock};
pub use value::FromFrame;
