//! SET: gives a key a string value, whatever it held, with conditions and a deadline.
//!
//! NX and XX ask whether the key exists; IFEQ, IFNE compare the old value with a given one; IFDEQ, IFDNE compare the
//! old value's digest (see DIGEST). At most one of them. An absent key satisfies IFNE and IFDNE, so they create it.
//! GET answers the old value in place of OK or null. Without KEEPTTL the old deadline is gone. A deadline that has
//! passed deletes the key.
//!
//! ```transcript
//! > SET k v
//! OK
//! > SET k w NX
//! (nil)
//! > SET k w XX GET
//! "v"
//! > SET k x EX 100
//! OK
//! > SET k y KEEPTTL
//! OK
//! > TTL k
//! ~\(integer\) (99|100)
//! > SET k z EX 0
//! (error) ERR invalid expire time in 'set' command
//! > SET k z NX XX
//! (error) ERR syntax error
//! # since 8.4
//! > SET k z IFEQ other
//! (nil)
//! > SET k z IFEQ y
//! OK
//! > SET new v IFNE x
//! OK
//! > SET k a IFDEQ short
//! (error) ERR must be exactly 16 hexadecimal characters
//! ```

use crate::commands::string_util::{self, Answer, Family, Options};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("set", -3, Group::String, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 value:s condition:o?(nx:t'NX'^2.6.12 xx:t'XX'^2.6.12 comparison-value:s'IFEQ'^8.1.0) get:t'GET'?^6.2.0 expiration:o?(seconds:i'EX'^2.6.12 milliseconds:i'PX'^2.6.12 unix-time-seconds:u'EXAT'^6.2.0 unix-time-milliseconds:u'PXAT'^6.2.0 keepttl:t'KEEPTTL'^6.0.0)")
    .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS).union(KeyFlags::VARIABLE))])
    .doc("1.0.0", "O(1)", "Sets the string value of a key, whatever type it held.");

fn run(cx: &mut Cx<'_>) -> Res {
    let args = cx.args;
    if args.len() == 3 {
        let mut guard = cx.ks.write(args[1]);
        string_util::store(&mut guard, args[2], None, false);
        drop(guard);
        cx.reply.ok();
        return Ok(());
    }
    let options = Options::parse(&args[3..], Family::Set)?;
    string_util::set(cx, args[2], &options, Answer::Status)
}
