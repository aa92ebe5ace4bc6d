//! Counters that INFO, SLOWLOG and LATENCY show.

use crate::client::ClientId;
use crate::latency::Histogram;
use std::collections::{BTreeMap, VecDeque};

/// Counters of one command.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommandStats {
    /// Calls.
    pub calls: u64,
    /// Microseconds in all.
    pub usec: u64,
    /// Refused before execution.
    pub rejected: u64,
    /// Ended with an error.
    pub failed: u64,
}

/// The logs of COMMANDLOG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// Commands that took long; SLOWLOG.
    Slow,
    /// Commands whose request was large.
    LargeRequest,
    /// Commands whose reply was large.
    LargeReply,
}

impl Log {
    /// All of them, by their name.
    pub const ALL: [(&'static str, Log); 3] =
        [("slow", Log::Slow), ("large-request", Log::LargeRequest), ("large-reply", Log::LargeReply)];

    /// Most entries that it keeps.
    pub fn max_len(self, config: &crate::Config) -> usize {
        (match self {
            Log::Slow => config.slowlog_max_len,
            Log::LargeRequest => config.commandlog_large_request_max_len,
            Log::LargeReply => config.commandlog_large_reply_max_len,
        }) as usize
    }
}

/// Entries of one log, newest first.
#[derive(Debug, Default)]
pub struct CommandLog {
    /// The entries.
    pub entries: VecDeque<LogEntry>,
    next: u64,
}

impl CommandLog {
    /// Adds an entry and drops the oldest past `max`.
    pub fn add(&mut self, time: i64, value: u64, argv: &[&[u8]], addr: String, name: Vec<u8>, max: usize) {
        let entry = LogEntry { id: self.next, time, value, argv: shorten(argv), addr, name };
        self.next += 1;
        self.entries.push_front(entry);
        self.entries.truncate(max);
    }
}

/// An entry of a command log.
#[derive(Debug, Clone)]
pub struct LogEntry {
    /// Grows by one with each entry.
    pub id: u64,
    /// Seconds since the Unix epoch.
    pub time: i64,
    /// Microseconds or bytes.
    pub value: u64,
    /// Arguments, shortened.
    pub argv: Vec<Vec<u8>>,
    /// Address of the client.
    pub addr: String,
    /// Name of the client.
    pub name: Vec<u8>,
}

/// Longest list of arguments that SLOWLOG keeps.
const SLOW_ARGS: usize = 32;
/// Longest argument that SLOWLOG keeps.
const SLOW_ARG_BYTES: usize = 128;

/// Shortens arguments as SLOWLOG does.
pub fn shorten(argv: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(argv.len().min(SLOW_ARGS));
    for (i, arg) in argv.iter().enumerate() {
        if argv.len() > SLOW_ARGS && i == SLOW_ARGS - 1 {
            out.push(format!("... ({} more arguments)", argv.len() - SLOW_ARGS + 1).into_bytes());
            break;
        }
        if arg.len() > SLOW_ARG_BYTES {
            let mut short = arg[..SLOW_ARG_BYTES].to_vec();
            short.extend_from_slice(format!("... ({} more bytes)", arg.len() - SLOW_ARG_BYTES).as_bytes());
            out.push(short);
        } else {
            out.push(arg.to_vec());
        }
    }
    out
}

/// Counters of the engine.
#[derive(Default)]
pub struct Stats {
    /// By command id.
    pub commands: Vec<CommandStats>,
    /// Errors by their code; bounded, see [`Stats::count_error`].
    pub errors: BTreeMap<Vec<u8>, u64>,
    /// Error replies in all.
    pub error_replies: u64,
    /// Commands processed.
    pub processed: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Connections refused because of `maxclients`.
    pub rejected_connections: u64,
    /// Units of execution that errors were counted in; see `unexpected_error_replies`.
    pub unexpected_errors: u64,
    /// Scripts dropped from the cache by its bound.
    pub evicted_scripts: u64,
    /// Accesses of scripts to keys that they had not declared.
    pub undeclared_keys: u64,
    /// Connections closed because of `maxmemory-clients`.
    pub evicted_clients: u64,
    /// Microseconds for which memory was over `maxmemory`, and since when it is.
    pub eviction_exceeded: (u64, Option<u64>),
    /// Runs that met a limit, by [`Limited`].
    pub limits: [u64; 6],
    /// What was taken back.
    pub rollbacks: crate::script::Rollbacks,
    /// Highest `used_memory` seen.
    pub peak_memory: usize,
    /// The command logs, by [`Log`].
    pub logs: [CommandLog; 3],
    /// Durations by command id, made when a command is first called.
    pub histograms: Vec<Option<Box<Histogram>>>,
    /// What was done per second lately.
    pub rates: Rates,
    /// Clients that were closed because of a limit: of queries, of replies.
    pub over_limits: (u64, u64),
    /// Synchronizations of replicas: full ones, partial ones, and those asked for as partial that became full.
    pub syncs: (u64, u64, u64),
    /// Bytes of snapshots and of the stream that went to replicas.
    pub to_replicas: u64,
    /// Bytes that came from the primary.
    pub from_primary: u64,
    /// The owner's loop.
    pub turns: Turns,
}

/// Limits of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// `script-max-memory`
    Memory,
    /// `script-max-total-memory`
    TotalMemory,
    /// `script-max-size`
    Size,
    /// `script-max-reply-size`
    ReplySize,
    /// `script-max-reply-depth`
    ReplyDepth,
    /// `script-max-commands`
    Commands,
}

/// Bytes of an error among which Redis looks for the end of its code.
const CODE_BYTES: usize = 31;

/// The code of an error text: its first word, or `ERR` when there is no short one. Line breaks end it as well, since
/// in a reply they are blanks.
pub fn error_code(text: &[u8]) -> &[u8] {
    let head = &text[..text.len().min(CODE_BYTES)];
    head.iter().position(|b| matches!(b, b' ' | b'\r' | b'\n')).map_or(b"ERR", |end| &head[..end])
}

/// Samples of a rate.
const RATE_SAMPLES: usize = 16;
/// Least microseconds between two samples.
const RATE_STEP_US: u64 = 100_000;

/// How much something that only grows grew per second lately.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rate {
    samples: [u64; RATE_SAMPLES],
    next: usize,
    last: u64,
}

impl Rate {
    fn sample(&mut self, total: u64, elapsed_us: u64) {
        let grown = total.saturating_sub(self.last);
        self.samples[self.next % RATE_SAMPLES] = grown * 1_000_000 / elapsed_us.max(1);
        self.next = (self.next + 1) % RATE_SAMPLES;
        self.last = total;
    }

    /// Per second, the mean of the last samples.
    pub fn per_second(&self) -> u64 {
        self.samples.iter().sum::<u64>() / RATE_SAMPLES as u64
    }
}

/// What INFO shows as `instantaneous_`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rates {
    at: u64,
    /// Commands.
    pub commands: Rate,
    /// Bytes received.
    pub input: Rate,
    /// Bytes sent.
    pub output: Rate,
    /// Bytes from the primary.
    pub from_primary: Rate,
    /// Bytes to replicas.
    pub to_replicas: Rate,
    /// Turns of the owner's loop.
    pub turns: Rate,
    /// Microseconds of them.
    pub turns_us: Rate,
}

impl Rates {
    /// True when it is time for a sample.
    pub fn is_due(&self, now_us: u64) -> bool {
        now_us.saturating_sub(self.at) >= RATE_STEP_US
    }

    /// Microseconds of a turn of the loop, the mean of the last samples.
    pub fn turn_us(&self) -> u64 {
        self.turns_us.per_second() / self.turns.per_second().max(1)
    }
}

/// Most error codes that are told apart, as in Redis and Valkey.
const ERROR_CODES: usize = 128;

/// What scripts' errors of further codes are counted under.
const OVERFLOW: &[u8] = b"ERRORSTATS_OVERFLOW";

/// What the owner's loop did: how often it turned, and how long each part took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Turns {
    /// Turns.
    pub count: u64,
    /// Microseconds of all turns, without waiting.
    pub us: u64,
    /// Microseconds of commands in them.
    pub command_us: u64,
    /// Microseconds of periodic work in them.
    pub cron_us: u64,
    /// Microseconds of writing the append-only file in them.
    pub log_us: u64,
    /// Microseconds of the longest.
    pub longest_us: u64,
    /// Most commands in one.
    pub most_commands: u64,
}

impl Stats {
    /// Counts an error reply of the server under its code, of which there are not many.
    pub fn count_error(&mut self, code: &[u8]) {
        self.error_replies += 1;
        match self.errors.get_mut(code) {
            Some(count) => *count += 1,
            None => drop(self.errors.insert(code.to_vec(), 1)),
        }
    }

    /// Counts an error of a script under its code. Scripts can make up any, so their number is bounded.
    pub fn count_custom_error(&mut self, code: &[u8]) {
        let known = self.errors.len() < ERROR_CODES || self.errors.contains_key(code);
        self.count_error(if known { code } else { OVERFLOW });
    }

    /// Takes a sample of all rates. `net` is what came in and went out so far.
    pub fn sample_rates(&mut self, now_us: u64, net: (u64, u64)) {
        let elapsed = now_us.saturating_sub(std::mem::replace(&mut self.rates.at, now_us));
        let rates = &mut self.rates;
        rates.commands.sample(self.processed, elapsed);
        rates.input.sample(net.0, elapsed);
        rates.output.sample(net.1, elapsed);
        rates.from_primary.sample(self.from_primary, elapsed);
        rates.to_replicas.sample(self.to_replicas, elapsed);
        rates.turns.sample(self.turns.count, elapsed);
        rates.turns_us.sample(self.turns.us, elapsed);
    }

    /// The durations of a command.
    #[inline]
    pub fn histogram(&mut self, id: u16) -> &mut Histogram {
        self.histograms[id as usize].get_or_insert_with(Default::default)
    }

    /// Counts a script that met a limit.
    #[cold]
    pub fn limited(&mut self, limit: Limited) {
        self.limits[limit as usize] += 1;
    }

    /// CONFIG RESETSTAT.
    pub fn reset(&mut self) {
        self.commands.iter_mut().for_each(|c| *c = CommandStats::default());
        self.histograms.iter_mut().for_each(|h| *h = None);
        self.errors.clear();
        self.error_replies = 0;
        self.processed = 0;
        self.connections = 0;
        self.rates = Rates::default();
        self.over_limits = (0, 0);
        self.syncs = (0, 0, 0);
        (self.to_replicas, self.from_primary) = (0, 0);
        self.turns = Turns::default();
        self.rejected_connections = 0;
        self.unexpected_errors = 0;
        self.limits = [0; 6];
        self.undeclared_keys = 0;
        self.evicted_scripts = 0;
        self.evicted_clients = 0;
        self.eviction_exceeded = (0, None);
        self.rollbacks = Default::default();
    }
}

/// Somebody who reads along what is executed.
pub type Monitors = Vec<ClientId>;

/// Shows MONITOR's clients a command.
#[cold]
pub fn feed_monitors(
    ks: &crate::keyspace::Keyspace,
    sv: &mut crate::state::ServerState,
    id: ClientId,
    argv: &[&[u8]],
    command: &crate::commands::Command,
    origin: crate::cx::Origin,
) {
    use crate::spec::Flags;
    let flags = command.spec.flags;
    // Scripts are shown, before the commands that they run.
    if flags.intersects(Flags::SKIP_MONITOR.union(Flags::ADMIN)) && !flags.contains(Flags::SCRIPT) {
        return;
    }
    let from = match origin {
        crate::cx::Origin::Script => "lua".to_owned(),
        _ => sv.clients.get(id).map(|c| c.conn.addr.clone()).unwrap_or_default(),
    };
    let mut line =
        format!("+{}.{:06} [{} {from}]", ks.now_us / 1_000_000, ks.now_us % 1_000_000, ks.cur).into_bytes();
    for arg in crate::record::shown(sv, command, argv, false) {
        line.extend_from_slice(b" \"");
        escape(&arg, &mut line);
        line.push(b'"');
    }
    line.extend_from_slice(b"\r\n");
    for i in 0..sv.monitors.len() {
        let monitor = sv.monitors[i];
        sv.send(monitor, line.clone());
    }
}

/// Appends bytes as `sdscatrepr` shows them, without the quotes.
pub fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for b in bytes {
        match b {
            b'\\' | b'"' => out.extend_from_slice(&[b'\\', *b]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x07 => out.extend_from_slice(b"\\a"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x20..=0x7e => out.push(*b),
            _ => out.extend_from_slice(format!("\\x{b:02x}").as_bytes()),
        }
    }
}
