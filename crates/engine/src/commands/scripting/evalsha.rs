//! EVALSHA: runs a script of the cache by its SHA1.
//!
//! ```transcript
//! > EVALSHA 0000000000000000000000000000000000000000 0
//! (error) NOSCRIPT No matching script. Please use EVAL.
//! ```

use super::eval::{FLAGS, evalsha};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("evalsha", -3, Group::Scripting, FLAGS.union(Flags::MAY_REPLICATE), run).args("sha1:s numkeys:i key:k@0?* arg:s?*")
    .keys(&[KeySpec::counted(2, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("2.6.0", "Depends on the script", "Runs a script of the cache.");

fn run(cx: &mut Cx<'_>) -> Res {
    evalsha(cx, false)
}
