//! SETBIT: sets one bit of a string and answers what it was. The string grows as needed.
//!
//! ```transcript
//! > SETBIT k 7 1
//! (integer) 0
//! > SETBIT k 7 0
//! (integer) 1
//! > GET k
//! "\x00"
//! > SETBIT k -1 1
//! (error) ERR bit offset is not an integer or out of range
//! > SETBIT k 1 2
//! (error) ERR bit is not an integer or out of range
//! ```

use crate::commands::bitmap_util::{bit_offset, edit};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("setbit", 4, Group::Bitmap, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 offset:i value:i")
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("2.2.0", "O(1)", "Sets or clears one bit of a string.");

fn run(cx: &mut Cx<'_>) -> Res {
    let offset = bit_offset(cx, cx.args[2], None)?;
    let on = match crate::util::parse_i64(cx.args[3]) {
        Some(on @ (0 | 1)) => on == 1,
        _ => return Err(CmdError::new("ERR bit is not an integer or out of range")),
    };
    let at = (offset >> 3) as usize;
    let bit = 0x80_u8 >> (offset & 7);
    let mut guard = cx.ks.write(cx.args[1]);
    let (was, grew) = edit(&mut guard, at + 1, |bytes, grew| {
        let was = bytes[at] & bit != 0;
        if was != on {
            bytes.range_mut(at..at + 1)[0] ^= bit;
        }
        (was, grew)
    })?;
    if grew || was != on {
        guard.changed(Event::string("setbit"), 1);
    }
    drop(guard);
    cx.reply.int(i64::from(was));
    Ok(())
}
