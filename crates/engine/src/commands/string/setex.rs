//! SETEX: sets a string with a time to live in seconds.
//!
//! ```transcript
//! > SETEX k 100 v
//! OK
//! > TTL k
//! ~\(integer\) (99|100)
//! > SETEX k 0 v
//! (error) ERR invalid expire time in 'setex' command
//! ```

use crate::commands::string_util::{self, Answer, Options, Unit};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("setex", 4, Group::String, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 seconds:i value:s")
    .keys(&[KeySpec::one(1, KEY_STORE)])
    .doc("2.0.0", "O(1)", "Sets the string value of a key and its time to live in seconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    set_for(cx, Unit::Ex)
}

/// SETEX and PSETEX: `key time value`.
pub(super) fn set_for(cx: &mut Cx<'_>, unit: Unit) -> Res {
    let options = Options { expire: Some((unit, cx.args[2])), ..Options::default() };
    string_util::set(cx, cx.args[3], &options, Answer::Status)
}
