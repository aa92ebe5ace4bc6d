//! HEXPIRE: gives fields of a hash a time to live in seconds.
//!
//! Each field is answered by 1 (set), 0 (a condition did not hold), 2 (the time is past: the field is gone) or -2 (no such
//! field). NX, XX, GT and LT are the conditions of EXPIRE, for each field; a field without a deadline lives for ever.
//!
//! ```transcript
//! # since 7.4
//! > HSET h f 1 g 2
//! (integer) 2
//! > HEXPIRE h 100 FIELDS 2 f x
//! 1) (integer) 1
//! 2) (integer) -2
//! > HTTL h FIELDS 2 f g
//! 1) (integer) 100
//! 2) (integer) -1
//! > HEXPIRE h 50 GT FIELDS 2 f g
//! 1) (integer) 0
//! 2) (integer) 0
//! > HEXPIRE h 0 FIELDS 1 f
//! 1) (integer) 2
//! > HKEYS h
//! 1) "g"
//! ```

use crate::commands::hash_ttl_util::{NUM_FIELDS, Unit, deadline, fields, find_fields, is_past};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::{Hash, HashCfg};
use crate::util::until_nul;

/// The table's row.
pub const SPEC: Spec = Spec::new("hexpire", -6, Group::Hash, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 seconds:i condition:o?(nx:t'NX' xx:t'XX' gt:t'GT' lt:t'LT') fields:b'FIELDS'(numfields:i field:s*)")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("7.4.0", "O(n), n the number of fields", "Gives fields of a hash a time to live in seconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    expire(cx, Unit { millis: false, absolute: false })
}

#[derive(Default)]
struct Conditions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl Conditions {
    fn parse(cx: &Cx<'_>, end: usize) -> Res<Self> {
        let mut c = Conditions::default();
        for i in 3..end {
            match () {
                () if cx.is(i, "nx") => c.nx = true,
                () if cx.is(i, "xx") => c.xx = true,
                () if cx.is(i, "gt") => c.gt = true,
                () if cx.is(i, "lt") => c.lt = true,
                () => {
                    let text = [b"ERR Unsupported option ", until_nul(cx.args[i])].concat();
                    return Err(CmdError::owned(text));
                }
            }
        }
        if c.nx && (c.xx || c.gt || c.lt) {
            return Err(CmdError::new("ERR NX and XX, GT or LT options at the same time are not compatible"));
        }
        if c.gt && c.lt {
            return Err(CmdError::new("ERR GT and LT options at the same time are not compatible"));
        }
        Ok(c)
    }

    /// True when a field with deadline `old` may get deadline `new`.
    fn hold(&self, old: Option<i64>, new: i64) -> bool {
        let no_nx = self.nx && old.is_some();
        let no_xx = self.xx && old.is_none();
        let no_gt = self.gt && old.is_none_or(|old| new <= old);
        let no_lt = self.lt && old.is_some_and(|old| new >= old);
        !(no_nx || no_xx || no_gt || no_lt)
    }
}

/// HEXPIRE, HPEXPIRE, HEXPIREAT and HPEXPIREAT.
pub(super) fn expire(cx: &mut Cx<'_>, unit: Unit) -> Res {
    let at = find_fields(cx, 3).ok_or(NUM_FIELDS)?;
    let conditions = Conditions::parse(cx, at)?;
    let fields = fields(cx, at, 1, NUM_FIELDS)?;
    let when = deadline(cx, cx.args[2], unit)?;
    let (past, cfg, now) = (is_past(cx, when), HashCfg::of(cx.ks), cx.ks.now);
    let mut guard = cx.ks.write(cx.args[1]);
    let hash = guard.get::<Hash>()?;
    cx.reply.array(fields.len());
    let Some(hash) = hash else {
        fields.iter().for_each(|_| cx.reply.int(-2));
        return Ok(());
    };
    let (mut updated, mut gone) = (0, Vec::new());
    for field in fields {
        cx.reply.int(match hash.deadline(field, now) {
            None => -2,
            Some(old) if !conditions.hold(old, when) => 0,
            Some(_) if past => {
                hash.remove(field, now);
                gone.push(*field);
                2
            }
            Some(_) => {
                hash.set_deadline(field, Some(when), now, &cfg);
                updated += 1;
                1
            }
        });
    }
    if !gone.is_empty() {
        guard.keyspace().stats.expired_fields += gone.len() as u64;
        guard.changed(Event::hash("hexpired"), gone.len() as u64);
        guard.delete_if_empty();
        drop(guard);
        let argv: Vec<&[u8]> = [&b"HDEL"[..], cx.args[1]].into_iter().chain(gone).collect();
        cx.propagate_as(&argv);
    } else if updated > 0 {
        guard.changed(Event::hash("hexpire"), updated);
        drop(guard);
        let mut buf = itoa::Buffer::new();
        let mut argv = cx.args.to_vec();
        argv[0] = b"HPEXPIREAT";
        argv[2] = buf.format(when).as_bytes();
        cx.propagate_as(&argv);
    }
    Ok(())
}
