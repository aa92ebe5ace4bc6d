//! What is noted of each command that ran: counters, histograms, latency events and the command logs. And what nobody
//! may read there or in MONITOR.

use crate::client::ClientId;
use crate::commands::Command;
use crate::script::cache;
use crate::script::meta::REDACTED;
use crate::spec::Flags;
use crate::state::ServerState;
use crate::stats::Log;
use std::borrow::Cow;

/// A command that ended.
pub struct Ended<'a> {
    /// On whose behalf.
    pub id: ClientId,
    /// Its arguments as they were sent.
    pub argv: &'a [&'a [u8]],
    /// The command.
    pub command: &'static Command,
    /// Microseconds that it took.
    pub usec: u64,
    /// It ended with an error.
    pub failed: bool,
    /// Bytes of its reply, where it was rendered.
    pub reply: Option<usize>,
}

/// Notes a command that ended.
#[inline]
pub fn ended(sv: &mut ServerState, call: Ended<'_>) {
    let stats = &mut sv.stats.commands[call.command.id as usize];
    stats.calls += 1;
    stats.usec += call.usec;
    stats.failed += u64::from(call.failed);
    sv.stats.turns.command_us += call.usec;
    if let Some(client) = sv.clients.get_mut(call.id) {
        client.commands += 1;
    }
    if call.command.spec.flags.contains(Flags::SCRIPT) {
        sv.scripts.tracker.ended(call.usec, call.id, sv.stamp);
    }
    if sv.config.latency_tracking {
        sv.stats.histogram(call.command.id).record(call.usec);
    }
    let config = &sv.config;
    let threshold = config.latency_monitor_threshold;
    if threshold > 0 && call.usec >= threshold * 1000 {
        let fast = call.command.spec.flags.contains(Flags::FAST);
        sv.latency.note(threshold, if fast { "fast-command" } else { "command" }, call.usec, sv.stamp);
    }
    if passes(config.slowlog_log_slower_than, call.usec) {
        log(sv, Log::Slow, &call, call.usec);
    }
    // The least that a request can have: what stands around arguments makes it longer.
    let limit = sv.config.commandlog_request_larger_than;
    let rough = 20 * call.argv.len() + call.argv.iter().map(|arg| arg.len()).sum::<usize>() + 20;
    if passes(limit, rough as u64) {
        let exact = request_len(call.argv) as u64;
        if passes(limit, exact) {
            log(sv, Log::LargeRequest, &call, exact);
        }
    }
    if let Some(bytes) = call.reply
        && passes(sv.config.commandlog_reply_larger_than, bytes as u64)
    {
        log(sv, Log::LargeReply, &call, bytes as u64);
    }
}

/// True for a value from the threshold on; a negative one lets nothing pass.
#[inline]
fn passes(threshold: i64, value: u64) -> bool {
    threshold >= 0 && value >= threshold as u64
}

/// Bytes of a request.
pub(crate) fn request_len(argv: &[&[u8]]) -> usize {
    let line = |n: usize| 3 + itoa::Buffer::new().format(n).len();
    line(argv.len()) + argv.iter().map(|arg| line(arg.len()) + arg.len() + 2).sum::<usize>()
}

#[cold]
fn log(sv: &mut ServerState, which: Log, call: &Ended<'_>, value: u64) {
    let max = which.max_len(&sv.config);
    if call.command.spec.flags.contains(Flags::SKIP_SLOWLOG) || max == 0 {
        return;
    }
    let (addr, name) = match sv.clients.get(call.id) {
        Some(client) => (client.conn.addr.clone(), client.name.clone()),
        None => Default::default(),
    };
    let time = (sv.stamp / 1_000_000) as i64;
    let shown = shown(sv, call.command, call.argv, true);
    let shown: Vec<&[u8]> = shown.iter().map(|arg| &**arg).collect();
    sv.stats.logs[which as usize].add(time, value, &shown, addr, name, max);
}

/// The arguments as they may be shown: without passwords, without what a script's header marks as personal, and with
/// the script's name beside its SHA1. `short` shows that in the place of a text, too.
pub fn shown<'a>(sv: &ServerState, command: &Command, argv: &[&'a [u8]], short: bool) -> Vec<Cow<'a, [u8]>> {
    let mut shown: Vec<Cow<'a, [u8]>> = redacted(command, argv).into_iter().map(Cow::Borrowed).collect();
    if !command.spec.flags.contains(Flags::SCRIPT) {
        if let Some(run) = sv.running.as_ref().filter(|run| !run.secrets().is_empty()) {
            let secret = |arg: &&mut Cow<'_, [u8]>| run.secrets().iter().any(|s| **s == ***arg);
            shown.iter_mut().skip(1).filter(secret).for_each(|arg| *arg = Cow::Borrowed(REDACTED));
        }
        return shown;
    }
    let Some(meta) = argv.get(1).and_then(|subject| sv.scripts.meta_of(command, subject)) else {
        return shown;
    };
    if !meta.secret.is_empty() {
        let numkeys = argv.get(2).and_then(|n| crate::util::parse_i64(n)).unwrap_or(0);
        let numkeys = usize::try_from(numkeys).unwrap_or(0);
        let hidden = |(i, _): &(usize, &mut Cow<'_, [u8]>)| meta.secret.hides(*i, numkeys);
        shown.iter_mut().enumerate().filter(hidden).for_each(|(_, arg)| *arg = Cow::Borrowed(REDACTED));
    }
    let sha = match command.spec.name {
        "evalsha" | "evalsha_ro" => argv[1].to_vec(),
        "eval" | "eval_ro" if short => cache::hex(&cache::sha_of(argv[1])).to_vec(),
        _ => return shown,
    };
    if let Some(label) = meta.label() {
        shown[1] = Cow::Owned([sha.as_slice(), b" ", label.as_bytes()].concat());
    }
    shown
}

/// The arguments, with others in the place of those that may hold a password.
pub fn redacted<'a>(command: &Command, argv: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let hide =
        |(i, arg): (usize, &&'a [u8])| if is_secret(command, argv, i) { &b"(redacted)"[..] } else { *arg };
    argv.iter().enumerate().map(hide).collect()
}

/// Parameters whose value nobody may read in a log.
const SECRETS: [&[u8]; 7] = [
    b"requirepass",
    b"masterauth",
    b"primaryauth",
    b"masteruser",
    b"primaryuser",
    b"tls-key-file-pass",
    b"tls-client-key-file-pass",
];

/// True for an argument that may hold a password.
fn is_secret(command: &Command, argv: &[&[u8]], i: usize) -> bool {
    let is = |at: usize, word: &[u8]| argv[at].eq_ignore_ascii_case(word);
    match command.full_name.as_str() {
        "config|set" => i > 2 && i % 2 == 1 && SECRETS.iter().any(|name| is(i - 1, name)),
        // Only what stands after AUTH: host, port and keys are no secrets.
        "hello" => i >= 2 && (is(i - 1, b"auth") || (i >= 3 && is(i - 2, b"auth"))),
        "migrate" => {
            i > 6
                && (is(i - 1, b"auth") || is(i - 1, b"auth2") || (i > 7 && is(i - 2, b"auth2")))
                && !after_keys(argv, i)
        }
        name => i >= if name.contains('|') { 2 } else { 1 } && command.spec.flags.contains(Flags::SENSITIVE),
    }
}

/// True when argument `i` is one of MIGRATE's keys.
fn after_keys(argv: &[&[u8]], i: usize) -> bool {
    argv[..i].iter().skip(6).any(|arg| arg.eq_ignore_ascii_case(b"keys"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let command = crate::commands::resolve_any_arity(&argv).unwrap();
        String::from_utf8(redacted(command, &argv).join(&b' ')).unwrap()
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(shown("AUTH u p"), "AUTH (redacted) (redacted)");
        assert_eq!(shown("HELLO 3 AUTH u p SETNAME n"), "HELLO 3 AUTH (redacted) (redacted) SETNAME n");
        assert_eq!(
            shown("CONFIG SET timeout 1 requirepass p"),
            "CONFIG SET timeout 1 requirepass (redacted)"
        );
        assert_eq!(shown("ACL SETUSER u >p"), "ACL SETUSER (redacted) (redacted)");
        assert_eq!(shown("SET k v"), "SET k v");
    }

    #[test]
    fn a_request_has_its_exact_length() {
        assert_eq!(request_len(&[b"GET", b"k"]), b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n".len());
        assert_eq!(request_len(&[b"", &[0; 1000]]), 4 + 4 + 2 + 7 + 1002);
    }
}
