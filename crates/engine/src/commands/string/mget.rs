//! MGET: the strings at several keys; null for those that are absent or hold something else.
//!
//! ```transcript
//! > MSET a 1 b two
//! OK
//! > MGET a nokey b
//! 1) "1"
//! 2) (nil)
//! 3) "two"
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("mget", -2, Group::String, Flags::READONLY.union(Flags::FAST), run).args("key:k@0*")
    .keys(&[KeySpec::rest(1, KEY_READ)])
    .tips(&["request_policy:multi_shard"])
    .doc("1.0.0", "O(N) for N keys", "Returns the string values of keys.");

fn run(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(cx.args.len() - 1);
    for key in &cx.args[1..] {
        match cx.ks.read(key).map(|value| value.as_str()) {
            Some(Ok(value)) => cx.reply.bulk(&value),
            _ => cx.reply.null(),
        }
    }
    Ok(())
}
