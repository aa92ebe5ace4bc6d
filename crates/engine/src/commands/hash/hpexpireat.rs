//! HPEXPIREAT: gives fields of a hash a deadline in Unix milliseconds. Conditions and answers are those of HEXPIRE.
//!
//! ```transcript
//! # since 7.4
//! > HSET h f 1
//! (integer) 1
//! > HPEXPIREAT h 99999999999000 FIELDS 2 f x
//! 1) (integer) 1
//! 2) (integer) -2
//! ```

use crate::commands::hash_ttl_util::Unit;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use super::hexpire::expire;

/// The table's row.
pub const SPEC: Spec = Spec::new("hpexpireat", -6, Group::Hash, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 unix-time-milliseconds:i condition:o?^9.0.0(nx:t'NX' xx:t'XX' gt:t'GT' lt:t'LT') fields:b'FIELDS'(numfields:i@0 field:s*)")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("7.4.0", "O(n), n the number of fields", "Gives fields of a hash a deadline in Unix milliseconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    expire(cx, Unit { millis: true, absolute: true })
}
