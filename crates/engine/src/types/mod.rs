//! The collections that a key can hold. Each is compact while it is small and a structure of `ds` when it has grown,
//! with Redis's names and thresholds. What removes or replaces something returns it: that is what an undo log needs.

mod hash;
mod list;
mod set;
mod zset;

pub use hash::Hash;
pub use list::List;
pub use set::Set;
pub use zset::ZSet;
