//! LPOS: the indexes of elements equal to a value.
//!
//! `RANK` skips matches (negative: searches from the right), `COUNT` asks for so many (0: all) and makes the answer an
//! array, `MAXLEN` bounds the comparisons. Indexes count from the left whatever the direction.
//!
//! ```transcript
//! > RPUSH l a b c 1 2 b b
//! (integer) 7
//! > LPOS l b
//! (integer) 1
//! > LPOS l b RANK 2
//! (integer) 5
//! > LPOS l b RANK -1
//! (integer) 6
//! > LPOS l b COUNT 0
//! 1) (integer) 1
//! 2) (integer) 5
//! 3) (integer) 6
//! > LPOS l b RANK -1 COUNT 2
//! 1) (integer) 6
//! 2) (integer) 5
//! > LPOS l b COUNT 0 MAXLEN 3
//! 1) (integer) 1
//! > LPOS l x
//! (nil)
//! > LPOS l x COUNT 1
//! (empty array)
//! > LPOS l b RANK 0
//! (error) ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list
//! ```

use crate::commands::list_util::at_least;
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::{End, List};
use totality_ds::Item;

/// The table's row.
pub const SPEC: Spec = Spec::new("lpos", -3, Group::List, Flags::READONLY, run).args("key:k@0 element:s rank:i'RANK'? num-matches:i'COUNT'? len:i'MAXLEN'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("6.0.6", "O(N) for N elements compared", "Returns the indexes of elements that equal a value.");

struct Options {
    rank: i64,
    count: Option<usize>,
    maxlen: usize,
}

fn options(cx: &Cx<'_>) -> Res<Options> {
    let mut options = Options { rank: 1, count: None, maxlen: 0 };
    let mut i = 3;
    while i < cx.argc() {
        if i + 1 >= cx.argc() {
            return Err(SYNTAX);
        }
        let value = cx.arg(i + 1);
        if cx.is(i, "RANK") {
            options.rank = crate::util::range_arg(value, -i64::MAX, i64::MAX)?;
            if options.rank == 0 {
                return Err(RANK_ZERO);
            }
        } else if cx.is(i, "COUNT") {
            options.count = Some(at_least(value, 0, CmdError::new("ERR COUNT can't be negative"))? as usize);
        } else if cx.is(i, "MAXLEN") {
            options.maxlen = at_least(value, 0, CmdError::new("ERR MAXLEN can't be negative"))? as usize;
        } else {
            return Err(SYNTAX);
        }
        i += 2;
    }
    Ok(options)
}

const RANK_ZERO: CmdError = CmdError::new(
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... \
     or use negative to start from the end of the list",
);

fn run(cx: &mut Cx<'_>) -> Res {
    let Options { rank, count, maxlen } = options(cx)?;
    let value = cx.args[2];
    let Some(list) = cx.ks.read_as::<List>(cx.args[1])? else {
        match count {
            Some(_) => cx.reply.array(0),
            None => cx.reply.null(),
        }
        return Ok(());
    };
    let from = if rank < 0 { End::Right } else { End::Left };
    let skip = rank.unsigned_abs() - 1;
    let wanted = count.unwrap_or(1);
    let int = crate::util::parse_i64(value);
    let len = list.len();
    let (mut index, mut matches, mut found) = (0usize, 0u64, 0usize);
    let deferred = count.map(|_| cx.reply.array_deferred());
    let reply = &mut cx.reply;
    list.scan(from, |item| {
        let equal = match item {
            Item::Str(s) => int.is_none() && s == value,
            Item::Int(n) => int == Some(n),
        };
        if equal {
            matches += 1;
            if matches > skip {
                found += 1;
                reply.len(if from == End::Left { index } else { len - index - 1 });
            }
        }
        index += 1;
        (found < wanted || wanted == 0) && (maxlen == 0 || index < maxlen)
    });
    match deferred {
        Some(deferred) => cx.reply.end(deferred, found),
        None if found == 0 => cx.reply.null(),
        None => {}
    }
    Ok(())
}
