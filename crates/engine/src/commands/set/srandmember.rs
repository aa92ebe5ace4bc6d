//! SRANDMEMBER: random members of a set, which stay there.
//!
//! With a count above zero up to that many different ones, in no particular order; below zero exactly that many,
//! repetitions included.
//!
//! ```transcript
//! > SADD s a
//! (integer) 1
//! > SRANDMEMBER s
//! "a"
//! > SRANDMEMBER s 5
//! 1) "a"
//! > SRANDMEMBER s -2
//! 1) "a"
//! 2) "a"
//! > SRANDMEMBER nokey
//! (nil)
//! > SRANDMEMBER nokey 1
//! (empty array)
//! > SRANDMEMBER s -9223372036854775808
//! (error) ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
//! ```

use crate::commands::collection::{Flood, item};
use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::{Rng, Set};
use crate::util::range_arg;

/// The table's row.
pub const SPEC: Spec = Spec::new("srandmember", -2, Group::Set, Flags::READONLY, run).args("key:k@0 count:i?^2.6.0")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("1.0.0", "O(n), n the number of members returned", "Returns random members of a set.")
    .tips(&["nondeterministic_output"]);

fn run(cx: &mut Cx<'_>) -> Res {
    match cx.argc() {
        2 => {}
        3 => return some(cx),
        _ => return Err(SYNTAX),
    }
    let mut rng = Rng::new(cx.ks.random());
    match cx.ks.read_as::<Set>(cx.args[1])?.and_then(|set| set.random(&mut rng)) {
        Some(member) => item(&mut cx.reply, member),
        None => cx.reply.null(),
    }
    Ok(())
}

fn some(cx: &mut Cx<'_>) -> Res {
    let count = range_arg(cx.args[2], -i64::MAX, i64::MAX)?;
    let wanted = count.unsigned_abs() as usize;
    let mut rng = Rng::new(cx.ks.random());
    let mut flood = Flood::begin(cx, if count < 0 { wanted } else { 0 })?;
    let Some(set) = cx.ks.read_as::<Set>(cx.args[1])? else {
        cx.reply.array(0);
        return Ok(());
    };
    if count >= 0 {
        cx.reply.array(wanted.min(set.len()));
        if wanted >= set.len() {
            set.iter().for_each(|member| item(&mut cx.reply, member));
        } else {
            for member in set.random_distinct(wanted, &mut rng) {
                item(&mut cx.reply, member);
            }
        }
        return Ok(());
    }
    cx.reply.array(wanted);
    for _ in 0..wanted {
        let Some(member) = set.random(&mut rng) else { break };
        item(&mut cx.reply, member);
        if flood.is_over(&cx.reply) {
            Flood::close(cx);
            break;
        }
    }
    Ok(())
}
