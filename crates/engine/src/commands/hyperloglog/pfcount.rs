//! PFCOUNT: the estimated number of different elements that HyperLogLogs saw, together.
//!
//! Of one key the estimate is kept in its string, so the command may change it and goes to replicas.
//!
//! ```transcript
//! > PFADD h a b c
//! (integer) 1
//! > PFCOUNT h
//! (integer) 3
//! > PFADD h2 c d
//! (integer) 1
//! > PFCOUNT h h2 nokey
//! (integer) 4
//! > PFCOUNT nokey
//! (integer) 0
//! > RPUSH l x
//! (integer) 1
//! > PFCOUNT l
//! (error) WRONGTYPE Operation against a key holding the wrong kind of value
//! ```

use crate::commands::hll_util::{corrupted, edit, read};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KeyFlags, KeySpec, Spec};
use totality_ds::hll;

/// The table's row.
pub const SPEC: Spec = Spec::new("pfcount", -2, Group::Hyperloglog, Flags::READONLY.union(Flags::MAY_REPLICATE), run).args("key:k@0*")
    .keys(&[KeySpec::rest(1, KeyFlags::RW.union(KeyFlags::ACCESS))])
    .doc("2.8.9", "O(N) for N keys, with a constant of 16,384", "Estimates how many different elements were added.");

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 2 {
        return count_union(cx);
    }
    let key = cx.args[1];
    let Some(bytes) = read(cx.ks, key)? else {
        cx.reply.int(0);
        return Ok(());
    };
    let count = match hll::cached_count(&bytes) {
        Some(count) => count,
        None => {
            let count = hll::count(&bytes).map_err(corrupted)?;
            drop(bytes);
            let mut guard = cx.ks.write(key);
            edit(&mut guard, |s| hll::set_cached_count(s, count))?;
            guard.changed_quietly(1);
            count
        }
    };
    cx.reply.int(count as i64);
    Ok(())
}

fn count_union(cx: &mut Cx<'_>) -> Res {
    let mut registers = [0; hll::REGISTERS];
    for key in &cx.args[1..] {
        if let Some(bytes) = read(cx.ks, key)? {
            hll::merge_into(&mut registers, &bytes).map_err(corrupted)?;
        }
    }
    cx.reply.int(hll::count_registers(&registers) as i64);
    Ok(())
}
