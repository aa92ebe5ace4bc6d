//! MSETEX: sets several strings with one deadline, under a condition on all of their keys.
//!
//! NX sets them when none of the keys exists, XX when all do; otherwise nothing is set and the answer is 0.
//!
//! ```transcript
//! # since 8.4
//! > MSETEX 2 a 1 b 2 EX 100
//! (integer) 1
//! > TTL b
//! ~\(integer\) (99|100)
//! > MSETEX 2 b 3 c 4 NX
//! (integer) 0
//! > MSETEX 2 a 5 b 6 XX KEEPTTL
//! (integer) 1
//! > MSETEX 2 a 5
//! (error) ERR syntax error
//! ```

use crate::commands::string_util::{self, Family, Options, Unit};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Begin, Find, Flags, Group, KEY_STORE, KeySpec, Spec};
use smallvec::SmallVec;

/// The table's row.
pub const SPEC: Spec = Spec::new("msetex", -4, Group::String, Flags::WRITE.union(Flags::DENYOOM), run).args("numkeys:i data:b*(key:k@0 value:s) condition:o?(nx:t'NX' xx:t'XX') expiration:o?(seconds:i'EX' milliseconds:i'PX' unix-time-seconds:u'EXAT' unix-time-milliseconds:u'PXAT' keepttl:t'KEEPTTL')")
    .keys(&[KeySpec {
        begin: Begin::Index(1),
        find: Find::Count { at: 0, first: 1, step: 2 },
        flags: KEY_STORE,
    }])
    .tips(&["request_policy:multi_shard", "response_policy:all_succeeded"])
    .doc("8.4.0", "O(N) for N keys", "Sets the string values of keys with a deadline and conditions.");

fn run(cx: &mut Cx<'_>) -> Res {
    const BAD_COUNT: CmdError = CmdError::new("ERR invalid numkeys value or out of range");
    let args = cx.args;
    let count = crate::util::parse_i64(args[1]).filter(|n| (1..=i64::from(i32::MAX)).contains(n));
    let count = count.ok_or(BAD_COUNT)? as usize;
    let end = 2 + count * 2;
    if end > args.len() {
        return Err(SYNTAX);
    }
    let options = Options::parse(&args[end..], Family::Mset)?;
    let at = options.deadline(cx)?;
    if (options.nx || options.xx)
        && !args[2..end].iter().step_by(2).all(|key| cx.ks.exists(key) == options.xx)
    {
        cx.reply.int(0);
        return Ok(());
    }
    for pair in args[2..end].chunks_exact(2) {
        let mut guard = cx.ks.write(pair[0]);
        string_util::store(&mut guard, pair[1], at, options.keep_ttl);
    }
    if let (Some(at), Some((unit, _))) = (at, options.expire)
        && unit != Unit::PxAt
    {
        let mut digits = itoa::Buffer::new();
        let mut argv: SmallVec<[&[u8]; 16]> = SmallVec::from_slice(&args[..end]);
        argv.extend_from_slice(&[b"PXAT", digits.format(at).as_bytes()]);
        cx.propagate_as(&argv);
    }
    cx.reply.int(1);
    Ok(())
}
