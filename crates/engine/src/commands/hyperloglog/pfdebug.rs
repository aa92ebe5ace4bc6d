//! PFDEBUG: shows the inside of a HyperLogLog: GETREG its registers, DECODE the runs of the sparse encoding, ENCODING
//! its name; TODENSE makes it dense. SIMD, with which Valkey switches vector code, finds none here.
//!
//! ```transcript
//! > PFADD h a
//! (integer) 1
//! > PFDEBUG ENCODING h
//! sparse
//! > PFDEBUG DECODE h
//! ~"Z:\d+ v:\d+,1 Z:\d+"
//! > PFDEBUG TODENSE h
//! (integer) 1
//! > PFDEBUG DECODE h
//! (error) ERR HLL encoding is not sparse
//! > PFDEBUG TODENSE h
//! (integer) 0
//! > PFDEBUG GETREG nokey
//! (error) ERR The specified key does not exist
//! > PFDEBUG FOO h
//! (error) ERR Unknown PFDEBUG subcommand 'FOO'
//! ```

use crate::commands::hll_util::{check, corrupted, edit};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::keyspace::WriteGuard;
use crate::spec::{Flags, Group, KeyFlags, KeySpec, Spec};
use crate::util::until_nul;
use std::fmt::Write;
use totality_ds::hll;

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "pfdebug",
    3,
    Group::Hyperloglog,
    Flags::WRITE.union(Flags::DENYOOM).union(Flags::ADMIN),
    run,
).args("subcommand:s key:k@0")
.keys(&[KeySpec::one(2, KeyFlags::RW.union(KeyFlags::ACCESS))])
.doc("2.8.9", "N/A", "Shows the inside of a HyperLogLog.").system();

fn run(cx: &mut Cx<'_>) -> Res {
    let word = cx.args[1].to_ascii_lowercase();
    if word == b"simd" {
        if !cx.is(2, "ON") && !cx.is(2, "OFF") {
            return Err(CmdError::new("ERR Argument must be ON or OFF"));
        }
        cx.reply.simple("disabled");
        return Ok(());
    }
    let mut guard = cx.ks.write(cx.args[2]);
    if !check(&guard)? {
        return Err(CmdError::new("ERR The specified key does not exist"));
    }
    match word.as_slice() {
        b"getreg" => {
            to_dense(&mut guard)?;
            let mut registers = [0; hll::REGISTERS];
            edit(&mut guard, |s| hll::merge_into(&mut registers, s))?.map_err(corrupted)?;
            cx.reply.array(hll::REGISTERS);
            registers.iter().for_each(|r| cx.reply.int(i64::from(*r)));
        }
        b"decode" => {
            let text = edit(&mut guard, |s| (!hll::is_dense(s)).then(|| runs(s)))?;
            let text = text.ok_or(CmdError::new("ERR HLL encoding is not sparse"))?;
            cx.reply.bulk(text.as_bytes());
        }
        b"encoding" => {
            let dense = edit(&mut guard, |s| hll::is_dense(s))?;
            cx.reply.simple(if dense { "dense" } else { "sparse" });
        }
        b"todense" => {
            let changed = to_dense(&mut guard)?;
            cx.reply.int(i64::from(changed));
        }
        _ => {
            let text = [b"ERR Unknown PFDEBUG subcommand '", until_nul(cx.args[1]), b"'"].concat();
            return Err(CmdError::owned(text));
        }
    }
    Ok(())
}

/// Makes it dense; false when it was.
fn to_dense(guard: &mut WriteGuard<'_>) -> Res<bool> {
    let changed = edit(guard, |s| {
        let sparse = !hll::is_dense(s);
        hll::to_dense(s).map(|()| sparse)
    })?
    .map_err(corrupted)?;
    if changed {
        guard.changed_quietly(1);
    }
    Ok(changed)
}

fn runs(s: &[u8]) -> String {
    let mut text = String::new();
    for run in hll::sparse_runs(s) {
        let sep = if text.is_empty() { "" } else { " " };
        let _ = match run.value {
            0 => write!(text, "{sep}{}:{}", if run.long { 'Z' } else { 'z' }, run.len),
            value => write!(text, "{sep}v:{value},{}", run.len),
        };
    }
    text
}
