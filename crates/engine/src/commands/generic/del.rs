//! DEL: deletes keys.
//!
//! ```transcript
//! > MSET a 1 b 2
//! OK
//! > DEL a b c
//! (integer) 2
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_REMOVE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("del", -2, Group::Generic, Flags::WRITE, run)
    .keys(&[KeySpec::rest(1, KEY_REMOVE)])
    .doc("1.0.0", "O(N) for N keys", "Deletes keys and answers how many were there.");

fn run(cx: &mut Cx<'_>) -> Res {
    let mut deleted = 0;
    for key in &cx.args[1..] {
        deleted += i64::from(cx.ks.delete(key));
    }
    cx.reply.int(deleted);
    Ok(())
}
