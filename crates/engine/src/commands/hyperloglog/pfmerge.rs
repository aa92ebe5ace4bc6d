//! PFMERGE: makes a HyperLogLog of all that others and itself saw.
//!
//! ```transcript
//! > PFADD a x y
//! (integer) 1
//! > PFADD b y z
//! (integer) 1
//! > PFMERGE c a b nokey
//! OK
//! > PFCOUNT c
//! (integer) 3
//! > SET s text
//! OK
//! > PFMERGE c s
//! (error) WRONGTYPE Key is not a valid HyperLogLog string value.
//! ```

use crate::commands::hll_util::{corrupted, edit, read};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_READ, KeyFlags, KeySpec, Spec};
use totality_ds::hll;

/// The table's row.
pub const SPEC: Spec = Spec::new("pfmerge", -2, Group::Hyperloglog, Flags::WRITE.union(Flags::DENYOOM), run).args("destkey:k@0 sourcekey:k@1?*")
    .keys(&[KeySpec::one(1, KeyFlags::RW.union(KeyFlags::ACCESS).union(KeyFlags::INSERT)), KeySpec::rest(2, KEY_READ)])
    .doc("2.8.9", "O(N) for N keys, with a constant of 16,384", "Merges HyperLogLogs into one.");

fn run(cx: &mut Cx<'_>) -> Res {
    let sparse_max = cx.sv.config.hll_sparse_max_bytes as usize;
    let mut registers = [0; hll::REGISTERS];
    let mut dense = false;
    for key in &cx.args[1..] {
        if let Some(bytes) = read(cx.ks, key)? {
            dense |= hll::is_dense(&bytes);
            hll::merge_into(&mut registers, &bytes).map_err(corrupted)?;
        }
    }
    let mut guard = cx.ks.write(cx.args[1]);
    edit(&mut guard, |s| hll::raise(s, &registers, dense, sparse_max))?.map_err(corrupted)?;
    guard.changed(Event::string("pfadd"), 1);
    drop(guard);
    cx.reply.ok();
    Ok(())
}
