//! HSETEX: sets fields with a deadline, all or none of them.
//!
//! NX and XX ask whether the key is absent or there, FNX and FXX whether none or all of the fields are. EX, PX, EXAT and
//! PXAT give the deadline (one that is past removes the fields instead), KEEPTTL leaves the one that a field has.
//!
//! ```transcript
//! # since 8.0
//! > HSETEX h EX 100 FIELDS 2 f 1 g 2
//! (integer) 1
//! > HTTL h FIELDS 1 f
//! 1) (integer) 100
//! > HSETEX h FNX FIELDS 2 f 3 x 4
//! (integer) 0
//! > HSETEX h FXX KEEPTTL FIELDS 1 f 5
//! (integer) 1
//! > HGET h f
//! "5"
//! > HTTL h FIELDS 1 f
//! 1) (integer) 100
//! ```

use crate::commands::hash_ttl_util::{NUM_FIELDS, Options, deadline, fields, find_fields, is_past};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use crate::types::{FieldTtl, Hash, HashCfg, Put};
use super::hset::capacity;

/// The table's row.
pub const SPEC: Spec = Spec::new("hsetex", -6, Group::Hash, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 key-condition:o?(nx:t'NX' xx:t'XX') fields-condition:o?(fnx:t'FNX' fxx:t'FXX') expiration:o?(seconds:i'EX' milliseconds:i'PX' unix-time-seconds:u'EXAT' unix-time-milliseconds:u'PXAT' keepttl:t'KEEPTTL') fields:b'FIELDS'(numfields:i@0 data:b*(field:s value:s))")
    .keys(&[KeySpec::one(1, KEY_INSERT)])
    .doc("8.0.0", "O(n), n the number of fields", "Sets fields of a hash with a deadline.");

fn run(cx: &mut Cx<'_>) -> Res {
    let at = find_fields(cx, 2).ok_or(NUM_FIELDS)?;
    let options = Options::parse(cx, at, true)?;
    let words = fields(cx, at, 2, NUM_FIELDS)?;
    let now = cx.ks.now;
    let exists = cx.ks.write(cx.args[1]).get::<Hash>()?.is_some();
    if (options.nx && exists) || (options.xx && !exists) {
        cx.reply.int(0);
        return Ok(());
    }
    let when = match options.expire {
        Some((arg, unit)) => Some(deadline(cx, arg, unit)?),
        None => None,
    };
    let held = match cx.ks.write(cx.args[1]).get::<Hash>()? {
        None => !options.fxx,
        Some(hash) => words.chunks_exact(2).all(|pair| {
            let there = (options.fnx || options.fxx) && hash.contains(pair[0], now);
            !(options.fnx && there) && (there || !options.fxx)
        }),
    };
    if !held {
        cx.reply.int(0);
        return Ok(());
    }
    match when {
        Some(when) if is_past(cx, when) => remove(cx, words)?,
        _ => set(cx, &options, when, words)?,
    }
    cx.reply.int(1);
    Ok(())
}

/// The deadline is past: the fields go.
fn remove(cx: &mut Cx<'_>, words: &[&[u8]]) -> Res {
    let mut gone = Vec::new();
    let mut guard = cx.ks.write(cx.args[1]);
    let hash = guard.get_or_create(Hash::new)?;
    for pair in words.chunks_exact(2) {
        // Those past a deadline of their own, too.
        if hash.remove(pair[0], i64::MIN).is_some() {
            gone.push(pair[0]);
        }
    }
    guard.keyspace().stats.expired_fields += words.len() as u64 / 2;
    if gone.is_empty() {
        guard.event(Event::hash("hset"));
    } else {
        guard.changed(Event::hash("hset"), gone.len() as u64);
    }
    guard.event(Event::hash("hexpire"));
    guard.event(Event::hash("hexpired"));
    guard.delete_if_empty();
    drop(guard);
    let argv: Vec<&[u8]> = [&b"HDEL"[..], cx.args[1]].into_iter().chain(gone).collect();
    if argv.len() > 2 {
        cx.propagate_as(&argv);
    }
    Ok(())
}

fn set(cx: &mut Cx<'_>, options: &Options<'_>, when: Option<i64>, words: &[&[u8]]) -> Res {
    let (cfg, now, key) = (HashCfg::of(cx.ks), cx.ks.now, cx.args[1]);
    let ttl = match when {
        Some(when) => FieldTtl::At(when),
        None if options.keep_ttl => FieldTtl::Keep,
        None => FieldTtl::Clear,
    };
    let mut expired = Vec::new();
    let mut guard = cx.ks.write(key);
    let hash = guard.get_or_create(|| Hash::with_capacity(capacity(words)))?;
    hash.prepare(words, &cfg);
    for pair in words.chunks_exact(2) {
        if let Put::Revived(_) = hash.put(pair[0], pair[1], ttl, now, &cfg) {
            expired.push(pair[0]);
        }
    }
    guard.fields_expired(expired.len());
    guard.changed(Event::hash("hset"), words.len() as u64 / 2);
    if when.is_some() {
        guard.event(Event::hash("hexpire"));
    }
    drop(guard);
    if options.keep_ttl && !expired.is_empty() {
        // Elsewhere the fields may still be there, with deadlines that must not be kept.
        let argv: Vec<&[u8]> = [&b"HDEL"[..], key].into_iter().chain(expired).collect();
        cx.propagate_as(&argv);
    }
    let (mut time, mut count) = (itoa::Buffer::new(), itoa::Buffer::new());
    let mut argv: Vec<&[u8]> = vec![b"HSETEX", key];
    match ttl {
        FieldTtl::At(when) => argv.extend([b"PXAT", time.format(when).as_bytes()]),
        FieldTtl::Keep => argv.push(b"KEEPTTL"),
        FieldTtl::Clear => {}
    }
    argv.extend([b"FIELDS", count.format(words.len() / 2).as_bytes()]);
    argv.extend_from_slice(words);
    cx.propagate_as(&argv);
    Ok(())
}
