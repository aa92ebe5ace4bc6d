//! HRANDFIELD: random fields of a hash.
//!
//! Without a count one name. With a count above zero up to that many different fields, in no particular order; below zero
//! exactly that many, repetitions included. WITHVALUES gives values too: nested in RESP3.
//!
//! ```transcript
//! > HSET h f 1
//! (integer) 1
//! > HRANDFIELD h
//! "f"
//! > HRANDFIELD h -3
//! 1) "f"
//! 2) "f"
//! 3) "f"
//! > HRANDFIELD h 5 WITHVALUES
//! 1) "f"
//! 2) "1"
//! # resp3
//! 1) 1) "f"
//!    2) "1"
//! > HRANDFIELD nokey
//! (nil)
//! > HRANDFIELD nokey 1
//! (empty array)
//! > HRANDFIELD h 1 x
//! (error) ERR syntax error
//! ```

use crate::commands::collection::{Flood, item};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::reply::Reply;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::{Hash, Rng};
use crate::util::range_arg;
use totality_ds::Item;

/// The table's row.
pub const SPEC: Spec = Spec::new("hrandfield", -2, Group::Hash, Flags::READONLY, run).args("key:k@0 options:b?(count:i withvalues:t'WITHVALUES'?)")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("6.2.0", "O(n), n the number of fields returned", "Returns random fields of a hash.")
    .tips(&["nondeterministic_output"]);

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 2 {
        return some(cx);
    }
    let (mut rng, now) = (Rng::new(cx.ks.random()), cx.ks.now);
    match cx.ks.read_as::<Hash>(cx.args[1])?.and_then(|hash| hash.random(&mut rng, now)) {
        Some((name, _)) => item(&mut cx.reply, name),
        None => cx.reply.null(),
    }
    Ok(())
}

fn some(cx: &mut Cx<'_>) -> Res {
    let count = range_arg(cx.args[2], -i64::MAX, i64::MAX)?;
    let values = cx.argc() == 4 && cx.is(3, "withvalues");
    if cx.argc() > 3 && !values {
        return Err(SYNTAX);
    }
    if values && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err(CmdError::new("ERR value is out of range"));
    }
    let (mut rng, now) = (Rng::new(cx.ks.random()), cx.ks.now);
    let mut flood = Flood::begin(cx, if count < 0 { count.unsigned_abs() as usize } else { 0 })?;
    let Some(hash) = cx.ks.read_as::<Hash>(cx.args[1])? else {
        cx.reply.array(0);
        return Ok(());
    };
    let wanted = count.unsigned_abs() as usize;
    let live = hash.live_len(now);
    if count >= 0 {
        begin(&mut cx.reply, wanted.min(live), values);
        if wanted >= live {
            hash.iter(now).for_each(|(name, value)| one(&mut cx.reply, name, value, values));
        } else {
            for (name, value) in hash.random_distinct(wanted, &mut rng, now) {
                one(&mut cx.reply, name, value, values);
            }
        }
        return Ok(());
    }
    begin(&mut cx.reply, if live == 0 { 0 } else { wanted }, values);
    for _ in 0..wanted {
        let Some((name, value)) = hash.random(&mut rng, now) else { break };
        one(&mut cx.reply, name, value, values);
        if flood.is_over(&cx.reply) {
            Flood::close(cx);
            break;
        }
    }
    Ok(())
}

fn begin(reply: &mut Reply<'_>, fields: usize, values: bool) {
    reply.array(if values && !reply.resp3() { 2 * fields } else { fields });
}

fn one(reply: &mut Reply<'_>, name: Item<'_>, value: Item<'_>, values: bool) {
    if values && reply.resp3() {
        reply.array(2);
    }
    item(reply, name);
    if values {
        item(reply, value);
    }
}
