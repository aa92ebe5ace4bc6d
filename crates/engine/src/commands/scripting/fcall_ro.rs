//! FCALL_RO: calls a function that may not write.
//!
//! ```transcript
//! > FUNCTION LOAD REPLACE "#!lua name=lib_ro\nredis.register_function{function_name='f_ro', callback=function(keys, args) return #args end, flags={'no-writes'}}"
//! "lib_ro"
//! > FCALL_RO f_ro 0 a b
//! (integer) 2
//! > FUNCTION LOAD REPLACE "#!lua name=lib_rw\nredis.register_function('f_rw', function(keys, args) return 1 end)"
//! "lib_rw"
//! > FCALL_RO f_rw 0
//! (error) ERR Can not execute a script with write flag using *_ro command.
//! ```

use super::eval::{FLAGS, fcall};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("fcall_ro", -3, Group::Scripting, FLAGS.union(Flags::READONLY), run).args("function:s numkeys:i key:k@0?* arg:s?*")
    .keys(&[KeySpec::counted(2, KEY_READ)])
    .doc("7.0.0", "Depends on the script", "Calls a function that may not write.");

fn run(cx: &mut Cx<'_>) -> Res {
    fcall(cx, true)
}
