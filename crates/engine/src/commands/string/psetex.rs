//! PSETEX: sets a string with a time to live in milliseconds.
//!
//! ```transcript
//! > PSETEX k 100000 v
//! OK
//! > TTL k
//! ~\(integer\) (99|100)
//! > PSETEX k -1 v
//! (error) ERR invalid expire time in 'psetex' command
//! ```

use super::setex::set_for;
use crate::commands::string_util::Unit;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("psetex", 4, Group::String, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 milliseconds:i value:s")
    .keys(&[KeySpec::one(1, KEY_STORE)])
    .doc("2.6.0", "O(1)", "Sets the string value of a key and its time to live in milliseconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    set_for(cx, Unit::Px)
}
