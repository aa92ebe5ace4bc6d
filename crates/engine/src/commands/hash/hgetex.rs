//! HGETEX: the values of fields, whose deadlines are set or removed.
//!
//! EX, PX, EXAT and PXAT set one (a time that is past removes the fields), PERSIST removes them, without an option nothing
//! changes. Replicas and the append-only file see HPEXPIREAT, HPERSIST or HDEL with the fields that it concerned.
//!
//! ```transcript
//! # since 8.0
//! > HSET h f 1 g 2
//! (integer) 2
//! > HGETEX h EX 100 FIELDS 2 f x
//! 1) "1"
//! 2) (nil)
//! > HTTL h FIELDS 2 f g
//! 1) (integer) 100
//! 2) (integer) -1
//! > HGETEX h PERSIST FIELDS 1 f
//! 1) "1"
//! > HTTL h FIELDS 1 f
//! 1) (integer) -1
//! ```

use crate::commands::collection::item;
use crate::commands::hash_ttl_util::{NUM_FIELDS, Options, deadline, fields, find_fields, is_past};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};
use crate::types::{Hash, HashCfg, Timing};

/// The table's row.
pub const SPEC: Spec = Spec::new("hgetex", -5, Group::Hash, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 expiration:o?(seconds:i'EX' milliseconds:i'PX' unix-time-seconds:u'EXAT' unix-time-milliseconds:u'PXAT' persist:t'PERSIST') fields:b'FIELDS'(numfields:i@0 field:s*)")
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("8.0.0", "O(n), n the number of fields", "Returns the values of fields of a hash and sets or removes their deadlines.");

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Nothing,
    Persist,
    Remove,
    Set(i64),
}

fn run(cx: &mut Cx<'_>) -> Res {
    let at = find_fields(cx, 2).ok_or(NUM_FIELDS)?;
    let options = Options::parse(cx, at, false)?;
    let fields = fields(cx, at, 1, NUM_FIELDS)?;
    // Counts as a read; a wrong type is told before a wrong time.
    cx.ks.read_as::<Hash>(cx.args[1])?;
    let change = match options.expire {
        None if options.persist => Change::Persist,
        None => Change::Nothing,
        Some((arg, unit)) => {
            let when = deadline(cx, arg, unit)?;
            if is_past(cx, when) { Change::Remove } else { Change::Set(when) }
        }
    };
    let changed = get_and_change(cx, fields, change)?;
    if !changed.is_empty() {
        propagate(cx, change, &changed);
    }
    Ok(())
}

/// Writes the values and gives the fields that changed.
fn get_and_change<'a>(cx: &mut Cx<'a>, fields: &'a [&'a [u8]], change: Change) -> Res<Vec<&'a [u8]>> {
    let (cfg, now) = (HashCfg::of(cx.ks), cx.ks.now);
    let mut guard = cx.ks.write(cx.args[1]);
    let mut hash = guard.get::<Hash>()?;
    cx.reply.array(fields.len());
    let mut changed = Vec::new();
    for field in fields {
        match hash.as_ref().and_then(|hash| hash.get(field, now)) {
            Some(value) => item(&mut cx.reply, value),
            None => cx.reply.null(),
        }
        let Some(hash) = &mut hash else { continue };
        let done = match change {
            Change::Nothing => false,
            Change::Remove => hash.remove(field, now).is_some(),
            Change::Persist => matches!(hash.set_deadline(field, None, now, &cfg), Timing::Was(Some(_))),
            Change::Set(when) => {
                matches!(hash.set_deadline(field, Some(when), now, &cfg), Timing::Was(_))
            }
        };
        if done {
            changed.push(*field);
        }
    }
    if !changed.is_empty() {
        let n = changed.len() as u64;
        let event = match change {
            Change::Remove => {
                guard.keyspace().stats.expired_fields += n;
                "hexpired"
            }
            Change::Set(_) => "hexpire",
            Change::Persist | Change::Nothing => "hpersist",
        };
        guard.changed(Event::hash(event), n);
        guard.delete_if_empty();
    }
    Ok(changed)
}

fn propagate(cx: &mut Cx<'_>, change: Change, fields: &[&[u8]]) {
    let (mut time, mut count) = (itoa::Buffer::new(), itoa::Buffer::new());
    let (key, count) = (cx.args[1], count.format(fields.len()).as_bytes());
    let mut argv: Vec<&[u8]> = match change {
        Change::Nothing => return,
        Change::Remove => vec![b"HDEL", key],
        Change::Persist => vec![b"HPERSIST", key, b"FIELDS", count],
        Change::Set(when) => vec![b"HPEXPIREAT", key, time.format(when).as_bytes(), b"FIELDS", count],
    };
    argv.extend_from_slice(fields);
    cx.propagate_as(&argv);
}
