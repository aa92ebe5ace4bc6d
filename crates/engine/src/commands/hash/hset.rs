//! HSET: sets fields of a hash and tells how many of them are new.
//!
//! A field that had a deadline has none afterwards.
//!
//! ```transcript
//! > HSET h f 1 g 2
//! (integer) 2
//! > HSET h f 3 i 4
//! (integer) 1
//! > HGET h f
//! "3"
//! > HSET h f 1 g
//! (error) ERR wrong number of arguments for 'hset' command
//! > SET s x
//! OK
//! > HSET s f 1
//! (error) WRONGTYPE Operation against a key holding the wrong kind of value
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::{FieldTtl, Hash, HashCfg, Put};

/// The table's row.
pub const SPEC: Spec = Spec::new("hset", -4, Group::Hash, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 data:b*(field:s value:s)")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("2.0.0", "O(n), n the number of fields", "Sets fields of a hash, creating it when it is absent.");

fn run(cx: &mut Cx<'_>) -> Res {
    let created = set_fields(cx)?;
    cx.reply.len(created);
    Ok(())
}

/// Sets the fields of HSET and HMSET; gives how many are new.
pub(super) fn set_fields(cx: &mut Cx<'_>) -> Res<usize> {
    let words = &cx.args[2..];
    if !words.len().is_multiple_of(2) {
        return Err(CmdError::arity(&cx.command.full_name));
    }
    let (cfg, now) = (HashCfg::of(cx.ks), cx.ks.now);
    let mut guard = cx.ks.write(cx.args[1]);
    let hash = guard.get_or_create(|| Hash::with_capacity(capacity(words)))?;
    hash.prepare(words, &cfg);
    let (mut created, mut expired) = (0, 0);
    for pair in words.chunks_exact(2) {
        match hash.put(pair[0], pair[1], FieldTtl::Clear, now, &cfg) {
            Put::Added => created += 1,
            Put::Updated(_) => {}
            Put::Revived(_) => {
                created += 1;
                expired += 1;
            }
        }
    }
    guard.fields_expired(expired);
    guard.changed(Event::hash("hset"), words.len() as u64 / 2);
    Ok(created)
}

/// Bytes that a new compact hash of these words takes.
pub(super) fn capacity(words: &[&[u8]]) -> usize {
    7 + words.iter().map(|word| word.len() + 2).sum::<usize>()
}
