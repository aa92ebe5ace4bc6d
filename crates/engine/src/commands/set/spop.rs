//! SPOP: removes random members and gives them.
//!
//! With a count up to that many, as a set. Replicas and the append-only file see which members went: SREM, or DEL when
//! none is left.
//!
//! ```transcript
//! > SADD s a
//! (integer) 1
//! > SPOP s
//! "a"
//! > SPOP s
//! (nil)
//! > SPOP s 3
//! (empty array)
//! # resp3
//! (empty set)
//! > SADD s 1 2 3
//! (integer) 3
//! > SPOP s 9
//! 1) "1"
//! 2) "2"
//! 3) "3"
//! # resp3
//! 1~ "1"
//! 2~ "2"
//! 3~ "3"
//! > SPOP s -1
//! (error) ERR value is out of range, must be positive
//! > SPOP s 1 2
//! (error) ERR syntax error
//! ```

use crate::commands::collection::item;
use crate::cx::Cx;
use crate::error::{NOT_POSITIVE, Res, SYNTAX};
use crate::notify::DEL;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_TAKE, KeySpec, Spec};
use crate::types::{Rng, Set, SetCfg};
use crate::util::parse_i64;
use crate::value::Collection;
use totality_ds::Bytes;

/// The table's row.
pub const SPEC: Spec = Spec::new("spop", -2, Group::Set, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 count:i?^3.2.0")
    .keys(&[KeySpec::one(1, KEY_TAKE)])
    .doc("1.0.0", "O(n), n the number of members removed", "Removes random members from a set and returns them.")
    .tips(&["nondeterministic_output"]);

const SPOP: Event = Event::set("spop");
/// Members of one SREM that is propagated.
const BATCH: usize = 1024;

fn run(cx: &mut Cx<'_>) -> Res {
    match cx.argc() {
        2 => one(cx),
        3 => some(cx),
        _ => Err(SYNTAX),
    }
}

fn one(cx: &mut Cx<'_>) -> Res {
    let mut rng = Rng::new(cx.ks.random());
    let mut guard = cx.ks.write(cx.args[1]);
    let Some(member) = guard.get::<Set>()?.and_then(|set| set.pop(&mut rng)) else {
        drop(guard);
        cx.reply.null();
        return Ok(());
    };
    guard.changed(SPOP, 1);
    guard.delete_if_empty();
    drop(guard);
    cx.propagate_as(&[b"SREM", cx.args[1], &member]);
    cx.reply.bulk(&member);
    Ok(())
}

fn some(cx: &mut Cx<'_>) -> Res {
    let count = parse_i64(cx.args[2]).filter(|n| *n >= 0).ok_or(NOT_POSITIVE)? as usize;
    let (mut rng, cfg, key) = (Rng::new(cx.ks.random()), SetCfg::of(cx.ks), cx.args[1]);
    let mut guard = cx.ks.write(key);
    let len = guard.get::<Set>()?.map_or(0, |set| set.len());
    if count == 0 || len == 0 {
        drop(guard);
        cx.reply.set(0);
        return Ok(());
    }
    if count >= len {
        guard.changed(SPOP, len as u64);
        cx.reply.set(len);
        if let Some(set) = guard.value().and_then(Set::of) {
            set.iter().for_each(|member| item(&mut cx.reply, member));
        }
        guard.remove();
        guard.event(DEL);
        drop(guard);
        let del: &[u8] = if cx.sv.config.lazyfree[2] { b"UNLINK" } else { b"DEL" };
        cx.propagate_as(&[del, key]);
        return Ok(());
    }
    let Some(set) = guard.get::<Set>()? else { return Ok(()) };
    let keep = len - count;
    // When few remain, it is cheaper to move those.
    let gone: Vec<Bytes> = if keep.saturating_mul(5) > count {
        set.pop_many(count, &mut rng)
    } else {
        let kept = set.split_random(keep, &mut rng, &cfg);
        let gone = set.iter().map(|member| member.to_bytes()).collect();
        guard.set(kept.into_value());
        gone
    };
    guard.changed(SPOP, count as u64);
    drop(guard);
    if cx.ks.effects.recording {
        for batch in gone.chunks(BATCH) {
            let argv: Vec<&[u8]> =
                [&b"SREM"[..], key].into_iter().chain(batch.iter().map(|member| &member[..])).collect();
            cx.propagate_as(&argv);
        }
    }
    cx.reply.set(gone.len());
    gone.iter().for_each(|member| cx.reply.bulk(member));
    Ok(())
}
