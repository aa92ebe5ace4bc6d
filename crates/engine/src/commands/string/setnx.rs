//! SETNX: sets a string unless the key exists.
//!
//! ```transcript
//! > SETNX k v
//! (integer) 1
//! > SETNX k w
//! (integer) 0
//! > GET k
//! "v"
//! ```

use crate::commands::string_util::{self, Answer, Options};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("setnx", 3, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 value:s")
        .keys(&[KeySpec::one(1, KeyFlags::OW.union(KeyFlags::INSERT))])
        .doc("1.0.0", "O(1)", "Sets the string value of a key unless the key exists.");

fn run(cx: &mut Cx<'_>) -> Res {
    let options = Options { nx: true, ..Options::default() };
    string_util::set(cx, cx.args[2], &options, Answer::Bit)
}
