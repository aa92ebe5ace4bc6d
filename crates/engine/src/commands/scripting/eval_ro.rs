//! EVAL_RO: runs a script that may not write.
//!
//! ```transcript
//! > SET k v
//! OK
//! > EVAL_RO "return redis.call('GET', KEYS[1])" 1 k
//! "v"
//! > EVAL_RO "return redis.pcall('SET', KEYS[1], 'w')" 1 k
//! (error) ERR Write commands are not allowed from read-only scripts.
//! ```

use super::eval::{FLAGS, eval};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("eval_ro", -3, Group::Scripting, FLAGS.union(Flags::READONLY), run).args("script:s numkeys:i key:k@0?* arg:s?*")
    .keys(&[KeySpec::counted(2, KEY_READ)])
    .doc("7.0.0", "Depends on the script", "Runs a script that may not write.");

fn run(cx: &mut Cx<'_>) -> Res {
    eval(cx, true)
}
