//! HSETNX: sets a field unless it is there.
//!
//! ```transcript
//! > HSETNX h f 1
//! (integer) 1
//! > HSETNX h f 2
//! (integer) 0
//! > HGET h f
//! "1"
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use crate::types::{FieldTtl, Hash, HashCfg, Put};
use super::hset::capacity;

/// The table's row.
pub const SPEC: Spec = Spec::new("hsetnx", 4, Group::Hash, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 field:s value:s")
    .keys(&[KeySpec::one(1, KEY_INSERT)])
    .doc("2.0.0", "O(1)", "Sets a field of a hash unless it exists.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (cfg, now) = (HashCfg::of(cx.ks), cx.ks.now);
    let (field, words) = (cx.args[2], &cx.args[2..]);
    let mut guard = cx.ks.write(cx.args[1]);
    let hash = guard.get_or_create(|| Hash::with_capacity(capacity(words)))?;
    if hash.contains(field, now) {
        drop(guard);
        cx.reply.int(0);
        return Ok(());
    }
    let timed = hash.has_deadlines();
    hash.prepare(words, &cfg);
    let put = hash.put(field, cx.args[3], FieldTtl::Clear, now, &cfg);
    guard.fields_expired(usize::from(matches!(put, Put::Revived(_))));
    guard.changed(Event::hash("hset"), 1);
    drop(guard);
    if timed {
        // Elsewhere the field may not have gone yet.
        cx.propagate_as(&[b"HSET", cx.args[1], field, cx.args[3]]);
    }
    cx.reply.int(1);
    Ok(())
}
