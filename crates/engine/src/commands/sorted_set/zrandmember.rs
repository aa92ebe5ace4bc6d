//! ZRANDMEMBER: members chosen at random.
//!
//! A positive count gives different members, at most all; a negative one gives as many as asked for, the same ones more
//! than once.
//!
//! ```transcript
//! > ZADD z 1 a
//! (integer) 1
//! > ZRANDMEMBER z
//! "a"
//! > ZRANDMEMBER z 5
//! 1) "a"
//! > ZRANDMEMBER z -2 WITHSCORES
//! 1) "a"
//! 2) "1"
//! 3) "a"
//! 4) "1"
//! # resp3
//! 1) 1) "a"
//!    2) (double) 1
//! 2) 1) "a"
//!    2) (double) 1
//! > ZRANDMEMBER nokey
//! (nil)
//! > ZRANDMEMBER nokey 2
//! (empty array)
//! > ZRANDMEMBER z 1 x
//! (error) ERR syntax error
//! ```

use crate::commands::collection::{Flood, item};
use crate::commands::zset_util::Shape;
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::{Rng, ZSet};
use crate::util::range_arg;

/// The table's row.
pub const SPEC: Spec = Spec::new("zrandmember", -2, Group::SortedSet, Flags::READONLY, run).args("key:k@0 options:b?(count:i withscores:t'WITHSCORES'?)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("6.2.0", "O(N) for N members returned", "Returns members chosen at random.")
    .tips(&["nondeterministic_output"]);

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.argc() == 2 {
        let mut rng = Rng::new(cx.ks.random());
        match cx.ks.read_as::<ZSet>(cx.args[1])?.and_then(|set| set.random(&mut rng)) {
            Some((member, _)) => item(&mut cx.reply, member),
            None => cx.reply.null(),
        }
        return Ok(());
    }
    let count = range_arg(cx.args[2], -i64::MAX, i64::MAX)?;
    if cx.argc() > 4 || (cx.argc() == 4 && !cx.is(3, "WITHSCORES")) {
        return Err(SYNTAX);
    }
    let scores = cx.argc() == 4;
    if scores && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err(CmdError::new("ERR value is out of range"));
    }
    many(cx, count, scores)
}

fn many(cx: &mut Cx<'_>, count: i64, scores: bool) -> Res {
    let mut rng = Rng::new(cx.ks.random());
    let shape = Shape::new(&cx.reply, scores);
    let wanted = count.unsigned_abs() as usize;
    let flood = if count < 0 { Some(Flood::begin(cx, wanted)?) } else { None };
    let Some(set) = cx.ks.read_as::<ZSet>(cx.args[1])?.filter(|_| count != 0) else {
        cx.reply.array(0);
        return Ok(());
    };
    let Some(mut flood) = flood else {
        cx.reply.array(shape.len(wanted.min(set.len())));
        set.random_distinct(wanted, &mut rng, |member, score| shape.member(&mut cx.reply, member, score));
        return Ok(());
    };
    cx.reply.array(shape.len(wanted));
    for _ in 0..wanted {
        if let Some((member, score)) = set.random(&mut rng) {
            shape.member(&mut cx.reply, member, score);
        }
        if flood.is_over(&cx.reply) {
            Flood::close(cx);
            break;
        }
    }
    Ok(())
}
