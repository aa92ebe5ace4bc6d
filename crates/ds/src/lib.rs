//! Data structures without Redis meaning: what the engine stores its keys and values in, and the codecs of bytes
//! that persistence and commands share. Safe Rust only.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod crc;
pub mod dict;
pub mod glob;
pub mod intset;
pub mod listpack;
pub mod lzf;
pub mod num;
pub mod quicklist;
pub mod zset;
mod ztree;

pub use bytes::Bytes;
pub use dict::{Dict, Keyed, Pos};
pub use intset::IntSet;
pub use listpack::{Item, Listpack};
pub use quicklist::Quicklist;
pub use zset::ZSet;
