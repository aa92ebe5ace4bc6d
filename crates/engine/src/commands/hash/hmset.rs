//! HMSET: sets fields of a hash. HSET does the same and tells more.
//!
//! ```transcript
//! > HMSET h f 1 g 2
//! OK
//! > HMGET h f g
//! 1) "1"
//! 2) "2"
//! > HMSET h f 1 g
//! (error) ERR wrong number of arguments for 'hmset' command
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use super::hset::set_fields;

/// The table's row.
pub const SPEC: Spec = Spec::new("hmset", -4, Group::Hash, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 data:b*(field:s value:s)")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("2.0.0", "O(n), n the number of fields", "Sets fields of a hash, creating it when it is absent.");

fn run(cx: &mut Cx<'_>) -> Res {
    set_fields(cx)?;
    cx.reply.ok();
    Ok(())
}
