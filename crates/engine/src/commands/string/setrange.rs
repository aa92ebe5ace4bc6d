//! SETRANGE: overwrites a part of a string; a gap before it is filled with zero bytes.
//!
//! An empty value changes nothing and creates no key.
//!
//! ```transcript
//! > SET k "Hello World"
//! OK
//! > SETRANGE k 6 Redis
//! (integer) 11
//! > GET k
//! "Hello Redis"
//! > SETRANGE new 2 x
//! (integer) 3
//! > GET new
//! "\x00\x00x"
//! > SETRANGE k -1 x
//! (error) ERR offset is out of range
//! > SETRANGE nokey 3 ""
//! (integer) 0
//! > SETRANGE k 536870912 x
//! (error) ERR string exceeds maximum allowed size (proto-max-bulk-len)
//! ```

use crate::commands::string_util::check_len;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("setrange", 4, Group::String, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 offset:i value:s")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("2.2.0", "O(N) for N bytes written", "Overwrites a part of a string, growing it when needed.");

fn run(cx: &mut Cx<'_>) -> Res {
    let offset = cx.int(2)?;
    if offset < 0 {
        return Err(CmdError::new("ERR offset is out of range"));
    }
    let (key, part) = (cx.args[1], cx.args[3]);
    let len = match cx.ks.peek(key) {
        Some(entry) => entry.value.str_len()?,
        None => 0,
    };
    if part.is_empty() {
        cx.reply.len(len);
        return Ok(());
    }
    check_len(cx, offset as u64, part.len() as u64)?;
    let mut guard = cx.ks.write(key);
    let len = guard.edit(|bytes| {
        bytes.write_at(offset as usize, part);
        bytes.len()
    })?;
    guard.changed(Event::string("setrange"), 1);
    drop(guard);
    cx.reply.len(len);
    Ok(())
}
