//! PFSELFTEST: counts elements in a sparse and a dense HyperLogLog side by side and judges both.
//!
//! ```transcript
//! > PFSELFTEST
//! OK
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Spec};
use totality_ds::hll;

/// The table's row.
pub const SPEC: Spec = Spec::new("pfselftest", 1, Group::Hyperloglog, Flags::ADMIN, run).doc(
    "2.8.9",
    "N/A",
    "Tests the HyperLogLog code.",
)
.system();

/// Elements counted. Everything stands still meanwhile, so it is a tenth of Redis's number.
const ELEMENTS: u64 = 1_000_000;

fn run(cx: &mut Cx<'_>) -> Res {
    let failed = |why: &str| Err(CmdError::owned(format!("ERR TESTFAILED {why}")));
    let sparse_max = cx.sv.config.hll_sparse_max_bytes as usize;
    let seed = cx.ks.random();
    let (mut sparse, mut dense) = (hll::new(), hll::new());
    if hll::to_dense(&mut dense).is_err() {
        return failed("an empty set cannot be made dense");
    }
    let mut checkpoint = 1;
    for n in 1..=ELEMENTS {
        let element = (n ^ seed).to_le_bytes();
        if hll::add(&mut sparse, &element, sparse_max).is_err() || hll::add(&mut dense, &element, 0).is_err() {
            return failed("an element cannot be added");
        }
        if n != checkpoint {
            continue;
        }
        if n < sparse_max as u64 / 2 && hll::is_dense(&sparse) {
            return failed("sparse encoding not used");
        }
        let (Ok(a), Ok(b)) = (hll::count(&sparse), hll::count(&dense)) else { return failed("no count") };
        if a != b {
            return failed("dense/sparse disagree");
        }
        // Six times the standard error; of ten elements two may share a register.
        let most = if n == 10 { 1 } else { (6.0 * 1.04 / 128.0 * n as f64).ceil() as u64 };
        if a.abs_diff(n) > most {
            return failed(&format!("Too big error. card:{n} abserr:{}", a.abs_diff(n)));
        }
        checkpoint *= 10;
    }
    cx.reply.ok();
    Ok(())
}
