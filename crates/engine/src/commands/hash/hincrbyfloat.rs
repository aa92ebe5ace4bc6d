//! HINCRBYFLOAT: adds to the number in a field; an absent field counts as 0. A deadline of the field stays.
//!
//! The sum is computed with 64 bits of mantissa and stored with up to 17 digits after the point. Replicas and the
//! append-only file see the result, not the addition.
//!
//! ```transcript
//! > HINCRBYFLOAT h n 0.1
//! "0.1"
//! > HINCRBYFLOAT h n 0.2
//! "0.3"
//! > HINCRBYFLOAT h m 5.0e3
//! "5000"
//! > HINCRBYFLOAT h n x
//! (error) ERR value is not a valid float
//! > HINCRBYFLOAT h n inf
//! (error) ERR value is NaN or Infinity
//! > HSET h s x
//! (integer) 1
//! > HINCRBYFLOAT h s 1
//! (error) ERR hash value is not a float
//! ```

use super::hincrby::propagate;
use crate::cx::Cx;
use crate::error::{CmdError, NAN_OR_INF, NOT_FLOAT, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};
use crate::types::{FieldTtl, Hash, HashCfg, Put};
use totality_ds::num::F80;

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "hincrbyfloat",
    4,
    Group::Hash,
    Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST),
    run,
).args("key:k@0 field:s increment:d")
.keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
.doc("2.6.0", "O(1)", "Adds to the number in a field of a hash.");

fn run(cx: &mut Cx<'_>) -> Res {
    let by = F80::parse(cx.args[3]).ok_or(NOT_FLOAT)?;
    if !by.is_finite() {
        return Err(CmdError::new("ERR value is NaN or Infinity"));
    }
    let (cfg, now, field) = (HashCfg::of(cx.ks), cx.ks.now, cx.args[2]);
    let mut guard = cx.ks.write(cx.args[1]);
    let hash = guard.get_or_create(Hash::new)?;
    let old = match hash.get(field, now) {
        None => F80::ZERO,
        Some(value) => {
            value.with_bytes(F80::parse).ok_or(CmdError::new("ERR hash value is not a float"))?
        }
    };
    let sum = old.plus(by).filter(|sum| sum.is_finite()).ok_or(NAN_OR_INF)?;
    let mut text = Vec::with_capacity(40);
    sum.push(&mut text);
    let timed = hash.has_deadlines();
    let put = hash.put(field, &text, FieldTtl::Keep, now, &cfg);
    let deadline = if timed { hash.deadline(field, now).flatten() } else { None };
    guard.fields_expired(usize::from(matches!(put, Put::Revived(_))));
    guard.changed(Event::hash("hincrbyfloat"), 1);
    drop(guard);
    propagate(cx, &text, deadline);
    cx.reply.bulk(&text);
    Ok(())
}
