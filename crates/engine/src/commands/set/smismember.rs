//! SMISMEMBER: for each of several members whether it is in a set.
//!
//! ```transcript
//! > SADD s a
//! (integer) 1
//! > SMISMEMBER s a b
//! 1) (integer) 1
//! 2) (integer) 0
//! > SMISMEMBER nokey a b
//! 1) (integer) 0
//! 2) (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Set;

/// The table's row.
pub const SPEC: Spec = Spec::new("smismember", -3, Group::Set, Flags::READONLY.union(Flags::FAST), run).args("key:k@0 member:s*")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("6.2.0", "O(n), n the number of members", "Tells which members are in a set.");

fn run(cx: &mut Cx<'_>) -> Res {
    let set = cx.ks.read_as::<Set>(cx.args[1])?;
    cx.reply.array(cx.args.len() - 2);
    for member in &cx.args[2..] {
        cx.reply.int(i64::from(set.is_some_and(|set| set.contains(member))));
    }
    Ok(())
}
