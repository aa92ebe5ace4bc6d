//! Redis scripts with contracts, for Totality (embedded or as a server), Redis and Valkey: single, Sentinel or Cluster.
//!
//! ```
//! use totality_script::catalogue::rl::{Gcra, GcraReply};
//! use totality_script::{Embedded, Runner};
//!
//! let db = totality::Db::open(totality::Options::default())?;
//! let mut scripts = Runner::new(Embedded::new(db.session()?));
//! let call = Gcra { subject: "user:7", limit: 10, period_ms: 1000, burst: 5, cost: 1 };
//! match scripts.call(&call)? {
//!     GcraReply::Allowed { remaining, .. } => assert_eq!(remaining, 4),
//!     GcraReply::Rejected { retry_ms, .. } => println!("come back in {retry_ms} ms"),
//!     GcraReply::BadState { .. } => println!("something else writes this key"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a script is atomic over: the keys of one call, on one node. Nothing outside Redis is part of it, neither a database
//! nor a broker nor a payment. Each script's page says what it does not promise.

#![forbid(unsafe_code)]

pub mod cases;
pub mod catalogue;
mod error;
mod flow;
pub mod generate;
mod header;
mod native;
mod observe;
mod packed;
mod pipeline;
mod registry;
mod render;
mod reply;
mod runner;
#[cfg(feature = "tokio")]
mod runner_async;
mod script;
mod slot;
mod target;
mod value;
mod words;
mod wrapper;

pub use error::{Error, LinkError};
pub use header::{
    ArgKind, ArgSpec, CodeSpec, Field, Header, HeaderError, KeySpec, Life, Retry, canonical, format_source,
};
pub use packed::{Job, Placed, unpack};
pub use pipeline::{Pipeline, PipelineMode, PipelineReply};
pub use registry::{Fault, Lock, Locked, Registry};
pub use render::{Rendering, contract_hash, normal, render};
pub use reply::{Call, Http, Reply};
pub use runner::{Answer, Fallback, Policy, Runner};
#[cfg(feature = "tokio")]
pub use runner_async::AsyncRunner;
pub use script::{Script, ScriptError};
pub use slot::{SLOTS, slot};
#[cfg(feature = "tokio")]
pub use target::AsyncTarget;
#[cfg(feature = "embedded")]
pub use target::embedded::Embedded;
pub use target::{Node, Target};
#[cfg(feature = "redis")]
pub use target::{cluster::Cluster, connection::Connected, sentinel::Sentinel, single::Single};
#[cfg(feature = "tokio")]
pub use target::{cluster_async::AsyncCluster, single_async::AsyncSingle};
pub use value::Value;
pub use words::Words;
pub use wrapper::{Decision, Wrapper};

/// The guides' code is compiled and run.
#[cfg(doctest)]
mod guides {
    #[cfg(feature = "tokio")]
    #[doc = include_str!("../../../docs/guides/README.md")]
    struct Begin;
    #[doc = include_str!("../../../docs/guides/locks.md")]
    struct Locks;
    #[doc = include_str!("../../../docs/guides/limits.md")]
    struct Limits;
    #[doc = include_str!("../../../docs/guides/idempotency.md")]
    struct Idempotency;
    #[doc = include_str!("../../../docs/guides/stock.md")]
    struct Stock;
    #[doc = include_str!("../../../docs/guides/caches.md")]
    struct Caches;
    #[doc = include_str!("../../../docs/guides/queues.md")]
    struct Queues;
    #[doc = include_str!("../../../docs/guides/leaderboards.md")]
    struct Leaderboards;
}
