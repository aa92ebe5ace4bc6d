//! ZMSCORE: the scores of several members.
//!
//! ```transcript
//! > ZADD z 1 a 2 b
//! (integer) 2
//! > ZMSCORE z b x a
//! 1) "2"
//! 2) (nil)
//! 3) "1"
//! # resp3
//! 1) (double) 2
//! 2) (nil)
//! 3) (double) 1
//! > ZMSCORE nokey a
//! 1) (nil)
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::ZSet;

/// The table's row.
pub const SPEC: Spec = Spec::new("zmscore", -3, Group::SortedSet, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 member:s*")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("6.2.0", "O(N) for N members", "Returns the scores of members.");

fn run(cx: &mut Cx<'_>) -> Res {
    let set = cx.ks.read_as::<ZSet>(cx.args[1])?;
    let members = &cx.args[2..];
    cx.reply.array(members.len());
    for member in members {
        match set.and_then(|set| set.score(member)) {
            Some(score) => cx.reply.double(score),
            None => cx.reply.null(),
        }
    }
    Ok(())
}
