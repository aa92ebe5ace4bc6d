//! Data structures without Redis meaning: what the engine stores its keys and values in, and the codecs of bytes
//! that persistence and commands share. Safe Rust only.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod crc;
pub mod dict;
pub mod geo;
pub mod glob;
pub mod hll;
pub mod intset;
pub mod listpack;
pub mod lzf;
pub mod num;
pub mod quicklist;
pub mod stream;
pub mod zset;
mod ztree;

pub use bytes::Bytes;
pub use dict::{Dict, Keyed, Pos};
pub use intset::IntSet;
pub use listpack::{Item, Listpack};
pub use quicklist::Quicklist;
pub use stream::{Stream, StreamId};
pub use zset::ZSet;
