//! EXPIRE: gives a key a time to live in seconds.
//!
//! ```transcript
//! > SET k v
//! OK
//! > EXPIRE k 100
//! (integer) 1
//! > TTL k
//! (integer) 100
//! > EXPIRE nokey 100
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("expire", -3, Group::Generic, Flags::WRITE.union(Flags::FAST), run)
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("1.0.0", "O(1)", "Gives a key a time to live in seconds.");

fn run(cx: &mut Cx<'_>) -> Res {
    let seconds = cx.int(2)?;
    let at = seconds
        .checked_mul(1000)
        .and_then(|ms| ms.checked_add(cx.ks.now))
        .ok_or_else(|| CmdError::invalid_expire("expire"))?;
    let now = cx.ks.now;
    let mut guard = cx.ks.write(cx.args[1]);
    if !guard.exists() {
        drop(guard);
        cx.reply.int(0);
        return Ok(());
    }
    if at <= now {
        guard.remove();
        guard.changed(crate::notify::DEL, 1);
    } else {
        guard.set_deadline(Some(at));
        guard.changed(Event::generic("expire"), 1);
    }
    drop(guard);
    cx.reply.int(1);
    Ok(())
}
