//! What SCRIPT LIST, SCRIPT STATS and SCRIPT RUNNING show.

use crate::client::Clients;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::reply::Reply;
use crate::script::Reason;
use crate::script::cache::hex;
use crate::script::tracked::{Id, Identity, Tracked};

fn field(reply: &mut Reply<'_>, name: &str, value: &[u8]) {
    reply.bulk(name.as_bytes());
    reply.bulk(value);
}

fn number(reply: &mut Reply<'_>, name: &str, n: u64) {
    reply.bulk(name.as_bytes());
    reply.int(i64::try_from(n).unwrap_or(i64::MAX));
}

/// SCRIPT LIST: the scripts of the cache, by name, then by SHA1.
pub(super) fn list(cx: &mut Cx<'_>) -> Res {
    let pattern = cx.args.get(2).copied();
    let matches = |name: &str, sha: &[u8]| {
        pattern.is_none_or(|p| {
            totality_ds::glob::matches(p, name.as_bytes(), false) || totality_ds::glob::matches(p, sha, false)
        })
    };
    let mut shown: Vec<_> = cx
        .sv
        .scripts
        .cache
        .iter()
        .map(|(sha, script)| (hex(sha), script))
        .filter(|(sha, script)| matches(&script.meta.name, sha))
        .collect();
    shown.sort_by(|a, b| (&a.1.meta.name, &a.0).cmp(&(&b.1.meta.name, &b.0)));
    let tracker = &cx.sv.scripts.tracker;
    let reply = &mut cx.reply;
    reply.array(shown.len());
    for (sha, script) in shown {
        reply.map(8);
        field(reply, "sha1", &sha);
        field(reply, "name", script.meta.name.as_bytes());
        field(reply, "version", script.meta.version.as_bytes());
        field(reply, "first_line", &script.meta.first_line);
        number(reply, "bytes", script.body.len() as u64);
        field(reply, "loaded_by", if script.pinned { b"load" } else { b"eval" });
        reply.bulk(b"flags");
        reply.set(script.flags.names().count());
        script.flags.names().for_each(|flag| reply.simple(flag));
        number(reply, "calls", tracker.find(&sha).map_or(0, |entry| entry.counts.calls));
    }
    Ok(())
}

const NO_SUCH: CmdError = CmdError::new("ERR No such script is tracked");

/// `SCRIPT STATS [sha1|name] [RESET]`
pub(super) fn stats(cx: &mut Cx<'_>) -> Res {
    let (subject, reset) = match cx.argc() {
        2 => (None, false),
        3 if cx.is(2, "RESET") => (None, true),
        3 => (Some(cx.args[2]), false),
        4 if cx.is(3, "RESET") => (Some(cx.args[2]), true),
        _ => return Err(crate::commands::syntax_of_subcommand(cx.args)),
    };
    if reset {
        if !cx.sv.scripts.tracker.reset(subject) {
            return Err(NO_SUCH);
        }
        cx.reply.ok();
        return Ok(());
    }
    let tracker = &cx.sv.scripts.tracker;
    if let Some(subject) = subject {
        let entry = tracker.find(subject).ok_or(NO_SUCH)?;
        show(&mut cx.reply, entry, &cx.sv.clients);
        return Ok(());
    }
    let mut entries: Vec<&Tracked> = tracker.iter().collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.counts.usec));
    cx.reply.array(entries.len());
    entries.into_iter().for_each(|entry| show(&mut cx.reply, entry, &cx.sv.clients));
    Ok(())
}

fn show(reply: &mut Reply<'_>, entry: &Tracked, clients: &Clients) {
    let c = &entry.counts;
    let caller = match c.caller.client.and_then(|id| clients.get(id)) {
        Some(client) => Identity::of(client),
        None => c.caller.gone.as_deref().cloned().unwrap_or_default(),
    };
    reply.map(25);
    identity(reply, &entry.id, &entry.meta);
    number(reply, "calls", c.calls);
    number(reply, "failed_calls", c.failed);
    number(reply, "usec", c.usec);
    reply.bulk(b"usec_per_call");
    reply.double((c.usec as f64 / c.calls.max(1) as f64 * 100.0).round() / 100.0);
    number(reply, "p50_usec", c.durations.percentile(50).min(c.max_usec));
    number(reply, "p99_usec", c.durations.percentile(99).min(c.max_usec));
    number(reply, "max_usec", c.max_usec);
    number(reply, "cpu_usec", c.cpu_usec);
    number(reply, "commands", c.commands);
    number(reply, "writes", c.writes);
    number(reply, "max_memory", c.max_bytes as u64);
    number(reply, "kills", c.kills);
    number(reply, "noscripts", c.noscripts);
    reply.bulk(b"errors");
    reply.map(c.errors.len());
    for (code, n) in &c.errors {
        reply.bulk(code);
        reply.int(*n as i64);
    }
    reply.bulk(b"codes");
    reply.map(c.codes.len());
    for (code, n) in &c.codes {
        reply.bulk_int(*code);
        reply.int(*n as i64);
    }
    number(reply, "other_codes", c.other_codes);
    reply.bulk(b"rollbacks");
    let taken = Reason::ALL.into_iter().filter(|reason| c.rollbacks.of(*reason) > 0);
    reply.map(taken.clone().count());
    taken.for_each(|reason| number(reply, reason.name(), c.rollbacks.of(reason)));
    number(reply, "last_call_ms", c.caller.at_us / 1000);
    number(reply, "last_client_id", c.caller.client.map_or(0, |client| client.id));
    field(reply, "last_client_addr", caller.addr.as_bytes());
    field(reply, "last_client_name", &caller.name);
    field(reply, "last_client_user", &caller.user);
}

/// Three fields: what it is, its version, the first line of its code.
fn identity(reply: &mut Reply<'_>, id: &Id, meta: &crate::script::Meta) {
    match id {
        Id::Script(sha) => {
            field(reply, "sha1", &hex(sha));
            field(reply, "name", meta.name.as_bytes());
        }
        Id::Function(name) => {
            field(reply, "function", name);
            field(reply, "name", name);
        }
    }
    field(reply, "version", meta.version.as_bytes());
    field(reply, "first_line", &meta.first_line);
}

/// SCRIPT RUNNING: what runs now, or nil. Answered while it runs once it is past `busy-reply-threshold`.
pub(super) fn running(cx: &mut Cx<'_>) -> Res {
    let Some(run) = cx.sv.running.as_ref() else {
        cx.reply.null();
        return Ok(());
    };
    let meta = run.argv().get(1).and_then(|_| cx.sv.scripts.tracker.find(run.name().as_bytes()));
    let now = cx.sv.clock.now_us();
    let client = cx.sv.clients.get(run.client);
    let reply = &mut cx.reply;
    reply.map(12);
    field(reply, "kind", if run.function { b"function" } else { b"script" });
    field(reply, if run.function { "function" } else { "sha1" }, run.name().as_bytes());
    field(reply, "name", meta.map_or(&b""[..], |entry| entry.meta.name.as_bytes()));
    field(reply, "version", meta.map_or(&b""[..], |entry| entry.meta.version.as_bytes()));
    number(reply, "duration_ms", now.saturating_sub(run.since_us) / 1000);
    number(reply, "commands", run.commands);
    number(reply, "writes", run.writes);
    field(reply, "killable", if run.wrote && !run.rollback { b"no" } else { b"yes" });
    number(reply, "client_id", run.client.id);
    field(reply, "client_addr", client.map_or(&b""[..], |client| client.conn.addr.as_bytes()));
    field(reply, "client_user", client.map_or(&b""[..], |client| &client.user.name));
    reply.bulk(b"command");
    let argv: Vec<&[u8]> = run.argv().iter().map(|arg| &**arg).collect();
    let argv = crate::stats::shorten(&argv);
    reply.array(argv.len());
    argv.iter().for_each(|arg| reply.bulk(arg));
    Ok(())
}
