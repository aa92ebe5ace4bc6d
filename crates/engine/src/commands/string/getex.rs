//! GETEX: answers a string and sets or removes its deadline.
//!
//! Without options it is GET. A deadline that has passed (EXAT, PXAT) deletes the key after the answer.
//!
//! ```transcript
//! > SET k v
//! OK
//! > GETEX k EX 100
//! "v"
//! > TTL k
//! ~\(integer\) (99|100)
//! > GETEX k PERSIST
//! "v"
//! > TTL k
//! (integer) -1
//! > GETEX k EX 0
//! (error) ERR invalid expire time in 'getex' command
//! > GETEX k EXAT 1
//! "v"
//! > EXISTS k
//! (integer) 0
//! ```

use crate::commands::string_util::{Family, Options, already_past, delete_past};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("getex", -2, Group::String, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 expiration:o?(seconds:i'EX' milliseconds:i'PX' unix-time-seconds:u'EXAT' unix-time-milliseconds:u'PXAT' persist:t'PERSIST')")
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
    .doc("6.2.0", "O(1)", "Returns the string value of a key and sets or removes its deadline.");

fn run(cx: &mut Cx<'_>) -> Res {
    let key = cx.args[1];
    let options = Options::parse(&cx.args[2..], Family::Get)?;
    let at = options.deadline(cx)?;
    if !super::get::answer(cx, key)? {
        return Ok(());
    }
    if let Some(at) = at {
        if already_past(cx, at) {
            delete_past(cx, key);
            return Ok(());
        }
        let mut guard = cx.ks.write(key);
        guard.set_deadline(Some(at));
        guard.changed(Event::generic("expire"), 1);
        drop(guard);
        let mut digits = itoa::Buffer::new();
        cx.propagate_as(&[b"PEXPIREAT", key, digits.format(at).as_bytes()]);
    } else if options.persist {
        let mut guard = cx.ks.write(key);
        if guard.set_deadline(None) {
            guard.changed(Event::generic("persist"), 1);
            drop(guard);
            cx.propagate_as(&[b"PERSIST", key]);
        }
    }
    Ok(())
}
