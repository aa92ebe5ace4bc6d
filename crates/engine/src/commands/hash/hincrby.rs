//! HINCRBY: adds to the integer in a field; an absent field counts as 0. A deadline of the field stays.
//!
//! ```transcript
//! > HINCRBY h n 5
//! (integer) 5
//! > HINCRBY h n -7
//! (integer) -2
//! > HINCRBY h n 1.5
//! (error) ERR value is not an integer or out of range
//! > HSET h s x m 9223372036854775807
//! (integer) 2
//! > HINCRBY h s 1
//! (error) ERR hash value is not an integer
//! > HINCRBY h m 1
//! (error) ERR increment or decrement would overflow
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, OVERFLOW, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};
use crate::types::{FieldTtl, Hash, HashCfg, Put};
use crate::util::parse_i64;
use totality_ds::Item;

/// The table's row.
pub const SPEC: Spec = Spec::new("hincrby", 4, Group::Hash, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 field:s increment:i")
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("2.0.0", "O(1)", "Adds to the integer in a field of a hash.");

fn run(cx: &mut Cx<'_>) -> Res {
    let by = cx.int(3)?;
    let (cfg, now, field) = (HashCfg::of(cx.ks), cx.ks.now, cx.args[2]);
    let mut guard = cx.ks.write(cx.args[1]);
    let hash = guard.get_or_create(Hash::new)?;
    let old = match hash.get(field, now) {
        None => 0,
        Some(Item::Int(n)) => n,
        Some(Item::Str(s)) => parse_i64(s).ok_or(CmdError::new("ERR hash value is not an integer"))?,
    };
    let new = old.checked_add(by).ok_or(OVERFLOW)?;
    let mut buf = itoa::Buffer::new();
    let digits = buf.format(new).as_bytes();
    let timed = hash.has_deadlines();
    let put = hash.put(field, digits, FieldTtl::Keep, now, &cfg);
    let deadline = if timed { hash.deadline(field, now).flatten() } else { None };
    guard.fields_expired(usize::from(matches!(put, Put::Revived(_))));
    guard.changed(Event::hash("hincrby"), 1);
    drop(guard);
    if timed {
        propagate(cx, digits, deadline);
    }
    cx.reply.int(new);
    Ok(())
}

/// Propagates the new value of the field: elsewhere the old one may be gone already, or not yet.
pub(super) fn propagate(cx: &mut Cx<'_>, value: &[u8], deadline: Option<i64>) {
    let (key, field) = (cx.args[1], cx.args[2]);
    match deadline {
        None => cx.propagate_as(&[b"HSET", key, field, value]),
        Some(at) => {
            let mut buf = itoa::Buffer::new();
            let at = buf.format(at).as_bytes();
            cx.propagate_as(&[b"HSETEX", key, b"PXAT", at, b"FIELDS", b"1", field, value]);
        }
    }
}
