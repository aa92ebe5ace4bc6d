//! EVALSHA_RO: runs a script of the cache that may not write.
//!
//! ```transcript
//! > SCRIPT LOAD "return 1"
//! "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
//! > EVALSHA_RO e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
//! (integer) 1
//! > EVALSHA_RO ffffffffffffffffffffffffffffffffffffffff 0
//! (error) NOSCRIPT No matching script. Please use EVAL.
//! ```

use super::eval::{FLAGS, evalsha};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("evalsha_ro", -3, Group::Scripting, FLAGS.union(Flags::READONLY), run).args("sha1:s numkeys:i key:k@0?* arg:s?*")
    .keys(&[KeySpec::counted(2, KEY_READ)])
    .doc("7.0.0", "Depends on the script", "Runs a script of the cache that may not write.");

fn run(cx: &mut Cx<'_>) -> Res {
    evalsha(cx, true)
}
