//! DELEX: deletes a key under a condition on its string.
//!
//! Without a condition it deletes a key of any type. With one, the key must hold a string.
//!
//! ```transcript
//! # since 8.4
//! > SET k hello
//! OK
//! > DELEX k IFEQ other
//! (integer) 0
//! > DELEX k IFDEQ 9555e8555c62dcfd
//! (integer) 1
//! > RPUSH l a
//! (integer) 1
//! > DELEX l IFEQ a
//! (error) ERR Key should be of string type if conditions are specified
//! > DELEX l
//! (integer) 1
//! > SET k hello
//! OK
//! > DELEX k IF x
//! (error) ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE
//! ```

use crate::commands::string_util::Condition;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, KEY_DELETE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("delex", -2, Group::String, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 condition:o?(ifeq-value:s'IFEQ' ifne-value:s'IFNE' ifdeq-digest:s'IFDEQ' ifdne-digest:s'IFDNE')")
    .keys(&[KeySpec::one(1, KEY_DELETE.union(KeyFlags::VARIABLE))])
    .doc(
        "8.4.0",
        "O(1); O(N) for the digest of N bytes",
        "Deletes a key when its string, or the string's hash, is or is not a given one.",
    );

fn run(cx: &mut Cx<'_>) -> Res {
    const NOT_STRING: CmdError =
        CmdError::new("ERR Key should be of string type if conditions are specified");
    const BAD_CONDITION: CmdError = CmdError::new("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
    let key = cx.args[1];
    let holds = match cx.args.len() {
        2 => true,
        4 => match cx.ks.peek(key) {
            None => false,
            Some(entry) => {
                let old = entry.value.as_str().map_err(|_| NOT_STRING)?;
                let condition = Condition::from_word(cx.args[2]).ok_or(BAD_CONDITION)?;
                condition.holds(Some(&old), cx.args[3])?
            }
        },
        _ => return Err(CmdError::arity("delex")),
    };
    let deleted = holds && cx.ks.delete(key);
    if deleted {
        cx.propagate_as(&[b"DEL", key]);
    }
    cx.reply.int(i64::from(deleted));
    Ok(())
}
