//! SMOVE: moves a member from one set to another.
//!
//! Both keys must hold sets or nothing; within one set nothing changes.
//!
//! ```transcript
//! > SADD a x y
//! (integer) 2
//! > SMOVE a b x
//! (integer) 1
//! > SMOVE a b nomember
//! (integer) 0
//! > SMEMBERS b
//! 1) "x"
//! # resp3
//! 1~ "x"
//! > SMOVE a a y
//! (integer) 1
//! ```

use crate::cx::Cx;
use crate::error::{Res, WRONG_TYPE};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_INSERT, KEY_TAKE, KeySpec, Spec};
use crate::types::{Set, SetCfg};
use crate::value::Collection;

/// The table's row.
pub const SPEC: Spec = Spec::new("smove", 4, Group::Set, Flags::WRITE.union(Flags::FAST), run).args("source:k@0 destination:k@1 member:s")
    .keys(&[KeySpec::one(1, KEY_TAKE), KeySpec::one(2, KEY_INSERT)])
    .doc("1.0.0", "O(1)", "Moves a member from one set to another.");

fn run(cx: &mut Cx<'_>) -> Res {
    let cfg = SetCfg::of(cx.ks);
    let (from, to, member) = (cx.args[1], cx.args[2], cx.args[3]);
    let target_is_set = cx.ks.peek(to).is_none_or(|entry| Set::of(&entry.value).is_some());
    let mut guard = cx.ks.write(from);
    let Some(set) = guard.get::<Set>()? else {
        drop(guard);
        cx.reply.int(0);
        return Ok(());
    };
    if !target_is_set {
        return Err(WRONG_TYPE);
    }
    let moved = if from == to { set.contains(member) } else { set.remove(member) };
    if !moved || from == to {
        drop(guard);
        cx.reply.int(i64::from(moved));
        return Ok(());
    }
    guard.changed(Event::set("srem"), 1);
    guard.delete_if_empty();
    drop(guard);
    let mut guard = cx.ks.write(to);
    if guard.get_or_create(|| Set::for_member(member, 1, &cfg))?.add(member, &cfg) {
        guard.changed(Event::set("sadd"), 1);
    }
    drop(guard);
    cx.reply.int(1);
    Ok(())
}
