//! MSETNX: sets several strings, or none when one of the keys exists.
//!
//! ```transcript
//! > MSETNX a 1 b 2
//! (integer) 1
//! > MSETNX b 3 c 4
//! (integer) 0
//! > EXISTS c
//! (integer) 0
//! ```

use super::mset::{check_pairs, set_pairs};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("msetnx", -3, Group::String, Flags::WRITE.union(Flags::DENYOOM), run).args("data:b*(key:k@0 value:s)")
    .keys(&[KeySpec::range(1, -1, 2, KeyFlags::OW.union(KeyFlags::INSERT))])
    .doc("1.0.1", "O(N) for N keys", "Sets the string values of keys when none of the keys exists.");

fn run(cx: &mut Cx<'_>) -> Res {
    check_pairs(cx)?;
    let args = cx.args;
    let taken = args[1..].iter().step_by(2).any(|key| cx.ks.exists(key));
    if !taken {
        set_pairs(cx);
    }
    cx.reply.int(i64::from(!taken));
    Ok(())
}
