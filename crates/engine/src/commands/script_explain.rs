//! SCRIPT EXPLAIN: a dry run. The script runs on the live data, everything that it did is taken back, and the answer tells
//! what it would have returned and done.

use crate::acl;
use crate::commands;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::frame::Frame;
use crate::reply::{Reply, TreeBuilder};
use crate::script::{self, Code, Dry, Reason, Subject, Trace, Traits, cache};

/// Milliseconds that a dry run may take when nothing says less.
const DEADLINE_MS: u32 = 5000;

/// `SCRIPT EXPLAIN script|sha1 numkeys [key …] [arg …]`.
pub(crate) fn explain(cx: &mut Cx<'_>) -> Res {
    permit(cx)?;
    let n = crate::util::int_arg(cx.args[3])?;
    if n > cx.argc() as i64 - 4 {
        return Err(CmdError::new("ERR Number of keys can't be greater than number of args"));
    }
    let numkeys = usize::try_from(n).map_err(|_| CmdError::new("ERR Number of keys can't be negative"))?;
    let known = cache::parse_hex(cx.args[2]).filter(|sha| cx.sv.scripts.cache.contains(sha));
    let sha = known.unwrap_or_else(|| cache::sha_of(cx.args[2]));
    let room = cx.sv.scripts.room(&cx.sv.config);
    let script = match known {
        Some(sha) => cx.sv.scripts.cache.get(&sha).ok_or(crate::error::NO_SCRIPT)?,
        None => cx.sv.scripts.cache.load(sha, cx.args[2], false, room)?,
    };
    let own = if script.deadline_ms == 0 { DEADLINE_MS } else { script.deadline_ms.min(DEADLINE_MS) };
    let traits = Traits { flags: script.flags, deadline_ms: own, place: 0 };
    let subject = Subject::Script { sha, code: Code::Chunk(script.chunk.clone()) };
    let run = DryRun::of(cx, subject, traits, numkeys)?;
    run.write(&mut cx.reply);
    Ok(())
}

/// The rights that the real call would need.
fn permit(cx: &mut Cx<'_>) -> Res {
    let Some(client) = cx.sv.client(cx.client).filter(|client| client.restricted) else { return Ok(()) };
    let user = client.user.clone();
    let known = cache::parse_hex(cx.args[2]).is_some_and(|sha| cx.sv.scripts.cache.contains(&sha));
    let name: &[u8] = if known { b"evalsha" } else { b"eval" };
    let Some(eval) = commands::lookup(name) else { return Ok(()) };
    let argv: Vec<&[u8]> = [name].into_iter().chain(cx.args[2..].iter().copied()).collect();
    let Err(denial) = acl::check(&user, eval, &argv, acl::Around::of(cx.sv, cx.ks.cur)) else {
        return Ok(());
    };
    let text = acl::denial_text(&user, eval, &argv, denial, false);
    Err(CmdError::owned([b"NOPERM ", text.as_slice()].concat()))
}

/// A dry run that is over.
struct DryRun {
    result: Frame,
    usec: u64,
    trace: Trace,
    changes: Vec<(usize, Vec<u8>, Frame, Frame)>,
}

impl DryRun {
    fn of(cx: &mut Cx<'_>, subject: Subject, traits: Traits, numkeys: usize) -> Res<DryRun> {
        let (rng, random) = (cx.ks.rng_state(), cx.sv.scripts.random_state());
        let start = cx.sv.clock.now_us();
        let mut tree = TreeBuilder::default();
        cx.ks.open_scope();
        let mut dry = Dry::default();
        let mut inner = Cx {
            ks: &mut *cx.ks,
            sv: &mut *cx.sv,
            args: cx.args,
            reply: Reply::tree(&mut tree, cx.reply.proto()),
            client: cx.client,
            origin: cx.origin,
            command: cx.command,
            ticker: &mut *cx.ticker,
        };
        let ended = script::run_dry(&mut inner, subject, traits, numkeys, &mut dry);
        let touched = cx.ks.undo.touched_keys();
        let after: Vec<Frame> = touched.iter().map(|(db, key)| script::preview(cx.ks, *db, key)).collect();
        cx.ks.take_back();
        cx.ks.set_rng_state(rng);
        cx.sv.scripts.set_random_state(random);
        cx.sv.stats.rollbacks.count(Reason::Explain);
        ended?;
        let changes = touched
            .into_iter()
            .zip(after)
            .map(|((db, key), after)| {
                let before = script::preview(cx.ks, db, &key);
                (db, key.to_vec(), before, after)
            })
            .filter(|(_, _, before, after)| before != after)
            .collect();
        Ok(DryRun {
            result: tree.finish().unwrap_or(Frame::Null),
            usec: cx.sv.clock.now_us().saturating_sub(start),
            trace: dry.trace,
            changes,
        })
    }

    fn write(&self, reply: &mut Reply<'_>) {
        reply.map(5);
        reply.bulk(b"result");
        reply.frame(&self.result);
        reply.bulk(b"usec");
        reply.int(self.usec as i64);
        reply.bulk(b"commands");
        self.trace.write(reply);
        reply.bulk(b"left_out");
        reply.int(self.trace.left_out as i64);
        reply.bulk(b"changes");
        script::write_changes(&self.changes, reply);
    }
}
