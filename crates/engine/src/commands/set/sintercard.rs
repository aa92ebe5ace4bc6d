//! SINTERCARD: how many members several sets have in common, counted no further than LIMIT.
//!
//! ```transcript
//! > SADD a 1 2 3
//! (integer) 3
//! > SADD b 2 3 4
//! (integer) 3
//! > SINTERCARD 2 a b
//! (integer) 2
//! > SINTERCARD 2 a b LIMIT 1
//! (integer) 1
//! > SINTERCARD 0 a
//! (error) ERR numkeys should be greater than 0
//! > SINTERCARD 3 a b
//! (error) ERR Number of keys can't be greater than number of args
//! > SINTERCARD 1 a LIMIT -1
//! (error) ERR LIMIT can't be negative
//! > SINTERCARD 1 a b
//! (error) ERR syntax error
//! ```

use crate::commands::set_algebra::inter_len;
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::util::parse_i64;

/// The table's row.
pub const SPEC: Spec = Spec::new("sintercard", -3, Group::Set, Flags::READONLY, run).args("numkeys:i key:k@0* limit:i'LIMIT'?")
    .keys(&[KeySpec::counted(1, KEY_READ)])
    .doc("7.0.0", "O(n*m), n the size of the smallest set, m the number of sets", "Returns the number of members that several sets have in common.");

fn run(cx: &mut Cx<'_>) -> Res {
    let keys = parse_i64(cx.args[1])
        .filter(|n| *n > 0)
        .ok_or(CmdError::new("ERR numkeys should be greater than 0"))? as usize;
    if keys > cx.argc() - 2 {
        return Err(CmdError::new("ERR Number of keys can't be greater than number of args"));
    }
    let mut limit = 0;
    let mut i = 2 + keys;
    while i < cx.argc() {
        if !cx.is(i, "limit") || i + 1 == cx.argc() {
            return Err(SYNTAX);
        }
        limit = parse_i64(cx.args[i + 1])
            .filter(|n| *n >= 0)
            .ok_or(CmdError::new("ERR LIMIT can't be negative"))? as usize;
        i += 2;
    }
    let n = inter_len(cx, &cx.args[2..2 + keys], limit)?;
    cx.reply.len(n);
    Ok(())
}
