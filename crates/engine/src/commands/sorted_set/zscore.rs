//! ZSCORE: the score of a member.
//!
//! ```transcript
//! > ZADD z 1.5 a 100 b
//! (integer) 2
//! > ZSCORE z a
//! "1.5"
//! # resp3
//! (double) 1.5
//! > ZSCORE z c
//! (nil)
//! > ZSCORE nokey a
//! (nil)
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::ZSet;

/// The table's row.
pub const SPEC: Spec = Spec::new("zscore", 3, Group::SortedSet, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 member:s")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.2.0", "O(1)", "Returns the score of a member.");

fn run(cx: &mut Cx<'_>) -> Res {
    match cx.ks.read_as::<ZSet>(cx.args[1])?.and_then(|set| set.score(cx.args[2])) {
        Some(score) => cx.reply.double(score),
        None => cx.reply.null(),
    }
    Ok(())
}
