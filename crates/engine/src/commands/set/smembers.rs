//! SMEMBERS: all members of a set; of a set of integers in ascending order.
//!
//! ```transcript
//! > SADD s 2 1 3
//! (integer) 3
//! > SMEMBERS s
//! 1) "1"
//! 2) "2"
//! 3) "3"
//! # resp3
//! 1~ "1"
//! 2~ "2"
//! 3~ "3"
//! > SMEMBERS nokey
//! (empty array)
//! # resp3
//! (empty set)
//! ```

use crate::commands::collection::item;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::Set;

/// The table's row.
pub const SPEC: Spec = Spec::new("smembers", 2, Group::Set, Flags::READONLY, run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.0", "O(n), n the size of the set", "Returns all members of a set.")
    .tips(&["nondeterministic_output_order"]);

fn run(cx: &mut Cx<'_>) -> Res {
    let Some(set) = cx.ks.read_as::<Set>(cx.args[1])? else {
        cx.reply.set(0);
        return Ok(());
    };
    cx.reply.set(set.len());
    set.iter().for_each(|member| item(&mut cx.reply, member));
    Ok(())
}
