//! SINTERSTORE: stores the members that all of several sets have and tells how many they are.
//!
//! The target is overwritten whatever it held, and deleted when the result is empty.
//!
//! ```transcript
//! > SADD a 1 2 3
//! (integer) 3
//! > SADD b 2 3 4
//! (integer) 3
//! > SINTERSTORE d a b
//! (integer) 2
//! > SMEMBERS d
//! 1) "2"
//! 2) "3"
//! # resp3
//! 1~ "2"
//! 2~ "3"
//! > SINTERSTORE d a nokey
//! (integer) 0
//! > SCARD d
//! (integer) 0
//! ```

use crate::commands::set_algebra::{Op, store};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("sinterstore", -3, Group::Set, Flags::WRITE.union(Flags::DENYOOM), run).args("destination:k@0 key:k@1*")
    .keys(&[KeySpec::one(1, KEY_STORE), KeySpec::rest(2, KEY_READ)])
    .doc("1.0.0", "O(n*m), n the size of the smallest set, m the number of sets", "Stores the members that all of several sets have.");

fn run(cx: &mut Cx<'_>) -> Res {
    store(cx, Op::Inter, Event::set("sinterstore"))
}
