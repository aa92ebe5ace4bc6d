//! The wire protocol of Redis, RESP2 and RESP3, without I/O.
//!
//! - [`Parser`] reads client requests from a byte buffer, incrementally, and answers with ranges into that buffer:
//!   nothing is copied on the way in.
//! - [`Writer`] (and the free functions of [`write`]) append replies to a `Vec<u8>`.
//! - [`ReplyParser`] reads replies, for clients and tests.
//! - [`split_args`] cuts a line as Redis cuts inline commands and configuration lines.
#![forbid(unsafe_code)]

mod int;
mod reply;
mod request;
mod split;
pub mod write;

pub use int::parse_i64;
pub use reply::{Reply, ReplyError, ReplyParser};
pub use request::{BIG_ARG, INLINE_MAX, Limits, MAX_ARGS, Parsed, Parser, ProtocolError, Span};
pub use split::{Unbalanced, quote, split_args};
pub use write::{Deferred, Proto, Writer};
