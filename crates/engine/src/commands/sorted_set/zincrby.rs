//! ZINCRBY: adds to the score of a member.
//!
//! A member that is not there counts as 0. A sum of opposite infinities is an error.
//!
//! ```transcript
//! > ZINCRBY z 2 a
//! "2"
//! # resp3
//! (double) 2
//! > ZINCRBY z -0.5 a
//! "1.5"
//! # resp3
//! (double) 1.5
//! > ZADD z inf b
//! (integer) 1
//! > ZINCRBY z -inf b
//! (error) ERR resulting score is not a number (NaN)
//! ```

use crate::commands::zset_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("zincrby", 4, Group::SortedSet, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 increment:i member:s")
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("1.2.0", "O(log N)", "Adds to the score of a member.");

fn run(cx: &mut Cx<'_>) -> Res {
    zset_util::add(cx, true)
}
