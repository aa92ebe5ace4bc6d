//! Random commands against our server and a real `redis-server` in lock-step: raw reply bytes, then the content,
//! encoding and time to live of every key. A failure prints its seed and the shortest sequence that still shows it.

pub mod compare;
pub mod differences;
pub mod groups;
mod script;
pub mod template;
mod values;

use crate::client::{Client, Command, Reply};
use crate::rng::Rng;
use crate::server::Server;
use crate::value::Value;
use crate::{print, words};
use differences::Differences;
use groups::{FAMILIES, Family, SHARED};
use std::io;

/// Commands in one sequence.
const LENGTH: usize = 40;
/// Milliseconds that no entry of a stream is idle during a comparison.
const LONG_IDLE: i64 = 100_000_000;
/// How often a sequence that parted the servers is tried again.
const AGAIN: usize = 3;
/// Re-runs that shortening one failure may take.
const SHRINK_RUNS: usize = 400;

/// Characters of a command or reply that a report shows.
const SHOWN: usize = 1_500;

/// Our server and theirs, with a connection to each per protocol.
pub struct Pair {
    ours: Server,
    theirs: Server,
    clients: [[Client; 2]; 2],
    listed: Differences,
    unknown: Vec<Vec<u8>>,
}

/// Where the servers parted.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// The commands up to and including the one whose replies differ.
    pub commands: Vec<Command>,
    /// What ours said, as `redis-cli` prints it (or why the connection broke).
    pub ours: String,
    /// What theirs said.
    pub theirs: String,
}

impl Mismatch {
    /// A text by which two failures with the same cause are taken for one.
    pub fn signature(&self) -> String {
        let last = self.commands.last().map(|c| String::from_utf8_lossy(&c[0]).to_ascii_uppercase());
        let plain = |s: &str| s.chars().filter(|c| !c.is_ascii_digit()).take(60).collect::<String>();
        format!("{} {} {}", last.unwrap_or_default(), plain(&self.ours), plain(&self.theirs))
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for command in &self.commands {
            writeln!(f, "  > {}", words::join(command).chars().take(SHOWN).collect::<String>())?;
        }
        let indent = |s: &str| s.chars().take(SHOWN).collect::<String>().replace('\n', "\n           ");
        write!(f, "    ours   {}\n    theirs {}", indent(&self.ours), indent(&self.theirs))
    }
}

impl Pair {
    /// Connects to both and finds out which commands either lacks.
    pub fn new(ours: Server, theirs: Server) -> io::Result<Pair> {
        let clients =
            [[ours.client_with(2), theirs.client_with(2)], [ours.client_with(3), theirs.client_with(3)]];
        let mut pair = Pair { ours, theirs, clients, listed: Differences::load(), unknown: Vec::new() };
        pair.unknown = pair.probe()?;
        Ok(pair)
    }

    /// Names of commands that only one of the two servers knows; they are left out.
    pub fn left_out(&self) -> Vec<String> {
        self.unknown.iter().map(|n| String::from_utf8_lossy(n).into_owned()).collect()
    }

    fn probe(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let templates = SHARED.iter().chain(FAMILIES.iter().flat_map(|f| f.commands));
        let mut names: Vec<Vec<u8>> =
            templates.map(|t| t.split([' ', '[']).next().unwrap_or("").into()).collect();
        names.sort();
        names.dedup();
        names.retain(|n| !n.starts_with(b"NOSUCH"));
        let mut unknown = Vec::new();
        for name in names {
            for client in &mut self.clients[0] {
                if client.call(&[&name])?.text().starts_with("ERR unknown command") {
                    unknown.push(name.clone());
                }
            }
        }
        // Leaves a MULTI that was probed.
        self.clients[0].iter_mut().try_for_each(|c| c.call(&["DISCARD"]).map(drop))?;
        Ok(unknown)
    }

    /// The sequence that a seed stands for.
    pub fn sequence(&self, family: &Family, seed: u64) -> Vec<Command> {
        let mut rng = Rng::new(seed);
        let (mut out, mut open, mut times) = (Vec::new(), false, Vec::new());
        while out.len() < LENGTH {
            let from = if rng.one_in(6) { SHARED } else { family.commands };
            let mut command = template::expand(rng.pick(from), &mut rng);
            template::spoil(&mut command, &mut rng);
            let name = command[0].to_ascii_uppercase();
            // A nested MULTI, or WATCH in it, spoils the transaction in newer servers and not in 7.0.
            let nested = open && matches!(name.as_slice(), b"MULTI" | b"WATCH");
            if self.unknown.contains(&name) || undefined(&command) || nested || ties(&command, &mut times) {
                continue;
            }
            match name.as_slice() {
                b"MULTI" if command.len() == 1 => open = true,
                b"EXEC" => open = false,
                b"DISCARD" if command.len() == 1 => open = false,
                _ => {}
            }
            out.push(command);
        }
        out
    }

    /// Runs a sequence on both servers from an empty data set; `Some` when they part.
    pub fn run(&mut self, commands: &[Command], protocol: u8) -> io::Result<Option<Mismatch>> {
        let words = |line: &str| words::split(line).unwrap_or_default();
        let mut all: Vec<Command> = ["DISCARD", "UNWATCH", "SELECT 0", "FLUSHALL"].map(words).to_vec();
        let skip = all.len();
        all.extend_from_slice(commands);
        // What a sequence leaves open must not hide the look at its data.
        all.extend(["DISCARD", "KEYS *", "DBSIZE"].map(words));
        let (ours, theirs) = self.both(protocol, &all)?;
        let mut queued: Option<Vec<Command>> = None;
        for (i, command) in all.iter().enumerate().skip(skip) {
            let (a, b) = match (&ours[i], &theirs[i]) {
                (Ok(a), Ok(b)) => (a, b),
                (a, b) => return Ok(Some(mismatch(&all[skip..=i], a, b))),
            };
            let ok = match (&mut queued, command[0].to_ascii_uppercase().as_slice()) {
                (Some(q), b"EXEC") => compare::same_exec(q, a, b, &self.listed),
                _ => compare::same(command, a, b, &self.listed),
            };
            if !ok {
                return Ok(Some(mismatch(&all[skip..=i], &ours[i], &theirs[i])));
            }
            // One did it and the other, as listed, refused: what follows is another data set.
            let writes = |c: &Command| {
                c[0].eq_ignore_ascii_case(b"XSETID") || c.iter().any(|w| w.eq_ignore_ascii_case(b"STORE"))
            };
            if queued.as_ref().map_or_else(|| writes(command), |q| q.iter().any(writes))
                && parted(&a.value, &b.value)
            {
                return Ok(None);
            }
            match (command[0].to_ascii_uppercase().as_slice(), &mut queued) {
                (b"MULTI", None) if !b.value.is_error() => queued = Some(Vec::new()),
                (b"EXEC" | b"DISCARD", _) => queued = None,
                (_, Some(q)) if b.value.text() == "QUEUED" => q.push(command.clone()),
                _ => {}
            }
        }
        let keys = match &theirs[all.len() - 2] {
            Ok(reply) => reply.value.items(),
            Err(_) => Vec::new(),
        };
        self.look(commands, &keys, protocol)
    }

    /// Compares type, time to live, encoding and content of every key.
    fn look(&mut self, before: &[Command], keys: &[Value], protocol: u8) -> io::Result<Option<Mismatch>> {
        let keys: Vec<&[u8]> = keys.iter().filter_map(|k| k.bytes()).collect();
        let ask = |words: &[&[u8]]| words.iter().map(|w| w.to_vec()).collect::<Command>();
        let types: Vec<Command> = keys.iter().map(|k| ask(&[b"TYPE", k])).collect();
        let (_, theirs) = self.both(protocol, &types)?;
        let mut all = types;
        for (key, kind) in keys.iter().zip(&theirs) {
            all.push(ask(&[b"PTTL", key]));
            all.push(ask(&[b"OBJECT", b"ENCODING", key]));
            let kind = kind.as_ref().map(|r| r.value.text()).unwrap_or_default();
            match kind.as_str() {
                "string" => all.push(ask(&[b"GET", key])),
                "list" => all.push(ask(&[b"LRANGE", key, b"0", b"-1"])),
                "hash" => all.push(ask(&[b"HGETALL", key])),
                "set" => all.push(ask(&[b"SMEMBERS", key])),
                "zset" => all.push(ask(&[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"])),
                _ => {}
            }
        }
        let (ours, theirs) = self.both(protocol, &all)?;
        for (i, command) in all.iter().enumerate() {
            let same = match (&ours[i], &theirs[i]) {
                (Ok(a), Ok(b)) => compare::same(command, a, b, &self.listed),
                _ => false,
            };
            if !same {
                let mut commands = before.to_vec();
                commands.push(command.clone());
                return Ok(Some(mismatch(&commands, &ours[i], &theirs[i])));
            }
        }
        Ok(None)
    }

    fn both(&mut self, protocol: u8, commands: &[Command]) -> io::Result<(Vec<Answer>, Vec<Answer>)> {
        let pair = &mut self.clients[usize::from(protocol == 3)];
        let mut bytes = Vec::new();
        commands.iter().for_each(|c| crate::client::encode(c, &mut bytes));
        pair.iter_mut().try_for_each(|c| c.send_raw(&bytes))?;
        let [ours, theirs] = pair;
        let out = (answers(ours, commands.len()), answers(theirs, commands.len()));
        if out.0.iter().chain(&out.1).any(Result::is_err) {
            // A dead connection or server is a finding, not the end of the search.
            self.revive()?;
        }
        Ok(out)
    }

    fn revive(&mut self) -> io::Result<()> {
        // A process that is just dying still counts as alive for a moment.
        std::thread::sleep(std::time::Duration::from_millis(100));
        if !self.ours.alive() {
            let log = self.ours.log();
            let panic = log.lines().skip_while(|l| !l.contains("panicked")).take(2).collect::<Vec<_>>();
            println!("our server died: {}", panic.join(" "));
            self.ours = Server::totality(&[])?;
        }
        for (protocol, pair) in [2, 3].into_iter().zip(&mut self.clients) {
            *pair = [self.ours.client_with(protocol), self.theirs.client_with(protocol)];
        }
        Ok(())
    }

    /// Whether the sequence parts the servers again: a difference that hangs on the moment at which each server was asked
    /// (the processor was taken away between the two) is none.
    pub fn comes_again(&mut self, commands: &[Command], protocol: u8) -> io::Result<bool> {
        for _ in 0..AGAIN {
            if self.run(commands, protocol)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The shortest sequence found that still parts the servers.
    pub fn shrink(&mut self, found: Mismatch, protocol: u8) -> io::Result<Mismatch> {
        let mut best = found;
        let mut runs = 0;
        let mut chunk = best.commands.len().div_ceil(2);
        while chunk > 0 {
            let mut at = 0;
            while at < best.commands.len() && runs < SHRINK_RUNS {
                let mut shorter = best.commands.clone();
                shorter.drain(at..(at + chunk).min(shorter.len()));
                runs += 1;
                match self.run(&shorter, protocol)? {
                    Some(m)
                        if m.commands.len() < best.commands.len() && m.signature() == best.signature() =>
                    {
                        best = m
                    }
                    _ => at += chunk,
                }
            }
            chunk /= 2;
        }
        Ok(best)
    }
}

/// Commands whose outcome no two servers share: drawn at random with effect (SPOP), a reply of thousands of millions
/// of elements (SRANDMEMBER with a large negative count), a cursor that the server did not hand out.
fn undefined(command: &Command) -> bool {
    let number =
        |at: usize| command.get(at).and_then(|w| std::str::from_utf8(w).ok()?.trim().parse::<i64>().ok());
    if runs_out(command) {
        return true;
    }
    let idle = |at: usize| number(at).is_some_and(|n| (1..LONG_IDLE).contains(&n));
    match command[0].to_ascii_uppercase().as_slice() {
        b"SPOP" => command.len() == 2 || number(2).is_some_and(|n| (1..1000).contains(&n)),
        b"SRANDMEMBER" | b"HRANDFIELD" | b"ZRANDMEMBER" => number(2).is_some_and(|n| n < -1000),
        // The least integer has no negation: 7.0 counts on with it.
        b"LREM" => number(2) == Some(i64::MIN),
        b"LPOS" => command.iter().any(|w| w == b"-9223372036854775808"),
        b"SCAN" => number(1).is_some_and(|n| n != 0),
        b"HSCAN" | b"SSCAN" | b"ZSCAN" => number(2).is_some_and(|n| n != 0),
        // How long an entry has been idle is another millisecond on each server.
        b"XCLAIM" | b"XAUTOCLAIM" | b"XPENDING" => idle(4),
        // A moment that is past: newer servers delete the key at once.
        b"SET" | b"GETEX" => (2..command.len()).any(|i| {
            let at = command[i - 1].to_ascii_uppercase();
            (at == b"EXAT" || at == b"PXAT") && number(i).is_some_and(|n| (1..3_000_000_000).contains(&n))
        }),
        // Ranges by member mean something among equal scores only.
        b"ZADD" if command.get(1).is_some_and(|key| key == b"lex") => {
            command.iter().skip(2).step_by(2).any(|score| score != b"0")
        }
        b"ZINCRBY" => command.get(1).is_some_and(|key| key == b"lex"),
        // Scores that only some servers read, so that the data would part.
        [b'Z', ..] => command.iter().any(|w| matches!(w.as_slice(), b"0x10" | b" 1")),
        // These would wait.
        b"BLPOP" | b"BRPOP" | b"BRPOPLPUSH" | b"BLMOVE" | b"BZPOPMIN" | b"BZPOPMAX" => waits(command.last()),
        b"BLMPOP" | b"BZMPOP" => waits(command.get(1)),
        b"WAIT" => number(1) != Some(0),
        _ => false,
    }
}

/// Whether the command may set a time to live that ends during the comparison, so that the answers hang on which server
/// was asked a moment earlier. Templates avoid it, but a spoiled argument can make one.
fn runs_out(command: &Command) -> bool {
    let name = command[0].to_ascii_uppercase();
    let relative =
        matches!(name.as_slice(), b"EXPIRE" | b"PEXPIRE" | b"SETEX" | b"PSETEX" | b"HEXPIRE" | b"HPEXPIRE");
    (2..command.len()).any(|i| {
        let timed =
            relative && i == 2 || matches!(command[i - 1].to_ascii_uppercase().as_slice(), b"EX" | b"PX");
        let milli =
            name.starts_with(b"P") || name.starts_with(b"HP") || command[i - 1].eq_ignore_ascii_case(b"PX");
        let least = if milli { 600_000 } else { 600 };
        let time = std::str::from_utf8(&command[i]).ok().and_then(|w| w.trim().parse::<i64>().ok());
        timed && time.is_some_and(|n| (1..least).contains(&n))
    })
}

/// Whether one server refused what the other did, in the reply or in one of a transaction's.
fn parted(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).any(|(a, b)| parted(a, b)),
        (a, b) => a.is_error() != b.is_error(),
    }
}

/// Times to live that a command asks for, counted from now, in milliseconds.
fn relative_times(command: &Command) -> Vec<i64> {
    let name = command[0].to_ascii_uppercase();
    let first = matches!(name.as_slice(), b"EXPIRE" | b"PEXPIRE" | b"SETEX" | b"PSETEX");
    let time = |i: usize| std::str::from_utf8(&command[i]).ok().and_then(|w| w.trim().parse::<i64>().ok());
    (2..command.len())
        .filter_map(|i| match command[i - 1].to_ascii_uppercase().as_slice() {
            b"EX" => time(i)?.checked_mul(1000),
            b"PX" => time(i),
            _ if first && i == 2 && name.starts_with(b"P") => time(i),
            _ if first && i == 2 => time(i)?.checked_mul(1000),
            _ => None,
        })
        .collect()
}

/// Whether the command compares a time to live (`GT`, `LT`) with one that an earlier command may have set to the same,
/// so that the answer hangs on whether a millisecond passed between the two. `times`: what earlier commands set.
fn ties(command: &Command, times: &mut Vec<i64>) -> bool {
    let own = relative_times(command);
    if compares_times(command) && own.iter().any(|t| times.iter().any(|u| t.abs_diff(*u) < 600_000)) {
        return true;
    }
    times.extend(own);
    false
}

/// Whether the command has one of the options `GT` and `LT`.
fn compares_times(command: &Command) -> bool {
    command.iter().skip(2).any(|w| w.eq_ignore_ascii_case(b"GT") || w.eq_ignore_ascii_case(b"LT"))
}

fn waits(timeout: Option<&Vec<u8>>) -> bool {
    let text = timeout.map(|t| String::from_utf8_lossy(t).trim().to_string()).unwrap_or_default();
    // Hexadecimal and infinity are numbers to the servers but not to us.
    text.starts_with("0x") || text.parse::<f64>().is_ok_and(|t| t >= 0.0)
}

type Answer = Result<Reply, String>;

fn answers(client: &mut Client, n: usize) -> Vec<Answer> {
    let mut broken: Option<String> = None;
    (0..n)
        .map(|_| match &broken {
            Some(why) => Err(why.clone()),
            None => client.read().map_err(|e| broken.insert(e.to_string()).clone()),
        })
        .collect()
}

fn mismatch(commands: &[Command], ours: &Answer, theirs: &Answer) -> Mismatch {
    let show = |a: &Answer| match a {
        Ok(reply) => format!("{}  [{}]", print::reply(&reply.value), brief(&reply.raw)),
        Err(why) => format!("no reply: {why}"),
    };
    Mismatch { commands: commands.to_vec(), ours: show(ours), theirs: show(theirs) }
}

fn brief(raw: &[u8]) -> String {
    raw[..raw.len().min(120)].escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_end_during_the_comparison_are_left_out() {
        let command = |text: &str| text.split(' ').map(|w| w.as_bytes().to_vec()).collect::<Command>();
        for short in [
            "SET c 60 PX 1 XX",
            "set c 60 ex 5",
            "PEXPIRE k 4000",
            "EXPIRE k 17",
            "GETEX k PX 41",
            "SETEX k 3 v",
        ] {
            assert!(undefined(&command(short)), "{short}");
        }
        for long in
            ["SET c 60 PX 1000000 XX", "EXPIRE k -1", "EXPIRE k 1000 NX", "SETEX k 0 v", "GETEX k PX abc"]
        {
            assert!(!undefined(&command(long)), "{long}");
        }
    }

    #[test]
    fn what_hangs_on_a_millisecond_is_left_out() {
        let command = |text: &str| text.split(' ').map(|w| w.as_bytes().to_vec()).collect::<Command>();
        let mut times = Vec::new();
        assert!(!ties(&command("SET b 0 EX 9000"), &mut times));
        assert!(ties(&command("PEXPIRE c 9000000 GT"), &mut times));
        assert!(!ties(&command("PEXPIRE c 9000000 NX"), &mut times));
        assert!(!ties(&command("expire c 7000 lt"), &mut times));
        assert!(ties(&command("EXPIRE c 7000 lt"), &mut times));
        assert!(undefined(&command("XPENDING k g IDLE 3 - + 10")));
        assert!(undefined(&command("XCLAIM k g ann 17 1-1")));
        assert!(!undefined(&command("XCLAIM k g ann 0 1-1")));
        assert!(!undefined(&command("XPENDING k g IDLE 100000000 - + 10")));
    }
}
