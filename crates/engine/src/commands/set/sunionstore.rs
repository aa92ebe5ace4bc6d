//! SUNIONSTORE: stores the members that any of several sets has and tells how many they are.
//!
//! The target is overwritten whatever it held, and deleted when the result is empty.
//!
//! ```transcript
//! > SADD a 1 2
//! (integer) 2
//! > SADD b 2 3
//! (integer) 2
//! > SUNIONSTORE d a b
//! (integer) 3
//! > SMEMBERS d
//! 1) "1"
//! 2) "2"
//! 3) "3"
//! # resp3
//! 1~ "1"
//! 2~ "2"
//! 3~ "3"
//! ```

use crate::commands::set_algebra::{Op, store};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("sunionstore", -3, Group::Set, Flags::WRITE.union(Flags::DENYOOM), run).args("destination:k@0 key:k@1*")
    .keys(&[KeySpec::one(1, KEY_STORE), KeySpec::rest(2, KEY_READ)])
    .doc("1.0.0", "O(n), n the number of all members", "Stores the members that any of several sets has.");

fn run(cx: &mut Cx<'_>) -> Res {
    store(cx, Op::Union, Event::set("sunionstore"))
}
