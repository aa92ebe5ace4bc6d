//! FCALL: calls a function of a library.
//!
//! ```transcript
//! > FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function(keys, args) return args[1] end)"
//! "lib"
//! > FCALL f 0 hello
//! "hello"
//! > FCALL nosuch 0
//! (error) ERR Function not found
//! ```

use super::eval::{FLAGS, fcall};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("fcall", -3, Group::Scripting, FLAGS.union(Flags::MAY_REPLICATE), run).args("function:s numkeys:i key:k@0?* arg:s?*")
    .keys(&[KeySpec::counted(2, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("7.0.0", "Depends on the script", "Calls a function.");

fn run(cx: &mut Cx<'_>) -> Res {
    fcall(cx, false)
}
