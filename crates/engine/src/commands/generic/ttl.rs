//! TTL: the time to live of a key in seconds.
//!
//! ```transcript
//! > SET k v
//! OK
//! > TTL k
//! (integer) -1
//! > TTL nokey
//! (integer) -2
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("ttl", 2, Group::Generic, Flags::READONLY.union(Flags::FAST), run)
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("1.0.0", "O(1)", "Returns the time to live of a key in seconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    let now = cx.ks.now;
    let ttl = match cx.ks.deadline(cx.args[1]) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => ((at - now).max(0) + 500) / 1000,
    };
    cx.reply.int(ttl);
    Ok(())
}
