//! The collections that a key can hold. Each is compact while it is small and a structure of `ds` when it has grown,
//! with Redis's names and thresholds. What removes or replaces something returns it: that is what an undo log needs.

mod hash;
mod hash_ttl;
pub mod journal;
mod list;
mod rng;
mod set;
mod stream;
mod stream_undo;
mod zset;

pub use hash::{Field, FieldTtl, Hash, HashCfg, Put, Replaced, Timing};
pub(crate) use list::fill;
pub use list::{End, List};
pub use rng::Rng;
pub use set::{Set, SetCfg};
pub use stream::{Consumer, Group, Log, Pending, Slot, Stream};
pub use zset::{Added, LexBound, LexRange, ScoreRange, ZAdd, ZSet, ZSetCfg};
