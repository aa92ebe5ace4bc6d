//! SADD: adds members to a set and tells how many are new.
//!
//! ```transcript
//! > SADD s a b a
//! (integer) 2
//! > SADD s b c
//! (integer) 1
//! > SET k x
//! OK
//! > SADD k a
//! (error) WRONGTYPE Operation against a key holding the wrong kind of value
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use crate::types::{Set, SetCfg};

/// The table's row.
pub const SPEC: Spec = Spec::new("sadd", -3, Group::Set, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 member:s*")
    .keys(&[KeySpec::one(1, KEY_INSERT)])
    .doc("1.0.0", "O(n), n the number of members", "Adds members to a set, creating it when it is absent.");

fn run(cx: &mut Cx<'_>) -> Res {
    let cfg = SetCfg::of(cx.ks);
    let members = &cx.args[2..];
    let mut guard = cx.ks.write(cx.args[1]);
    let set = guard.get_or_create(|| Set::for_member(members[0], members.len(), &cfg))?;
    set.prepare(members.len(), &cfg);
    let mut added = 0;
    for member in members {
        added += u64::from(set.add(member, &cfg));
    }
    if added > 0 {
        guard.changed(Event::set("sadd"), added);
    }
    drop(guard);
    cx.reply.int(added as i64);
    Ok(())
}
