//! PFADD: counts elements in a HyperLogLog, a string of at most 12 KB that estimates how many different ones it saw.
//!
//! Answers 1 when the estimate may have changed, also by making the key. The string is that of Redis byte for byte:
//! sparse until `hll-sparse-max-bytes`, then dense.
//!
//! ```transcript
//! > PFADD h a b c
//! (integer) 1
//! > PFADD h a
//! (integer) 0
//! > PFADD empty
//! (integer) 1
//! > STRLEN empty
//! (integer) 18
//! > SET s text
//! OK
//! > PFADD s a
//! (error) WRONGTYPE Key is not a valid HyperLogLog string value.
//! ```

use crate::commands::hll_util::{check, corrupted, edit};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_INSERT, KeySpec, Spec};
use totality_ds::hll;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("pfadd", -2, Group::Hyperloglog, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 element:s?*")
        .keys(&[KeySpec::one(1, KEY_INSERT)])
        .doc("2.8.9", "O(1) for each element", "Counts elements in a HyperLogLog.");

fn run(cx: &mut Cx<'_>) -> Res {
    let sparse_max = cx.sv.config.hll_sparse_max_bytes as usize;
    let elements = &cx.args[2..];
    let mut guard = cx.ks.write(cx.args[1]);
    let is_new = !check(&guard)?;
    let updated = edit(&mut guard, |s| {
        let mut updated = u64::from(is_new);
        for element in elements {
            updated += u64::from(hll::add(s, element, sparse_max)?);
        }
        if updated > 0 {
            hll::invalidate_count(s);
        }
        Ok(updated)
    })?
    .map_err(corrupted)?;
    if updated > 0 {
        guard.changed(Event::string("pfadd"), updated);
    }
    drop(guard);
    cx.reply.int(i64::from(updated > 0));
    Ok(())
}
