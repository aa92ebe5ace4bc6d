//! Replication between servers of any kind: random commands on a primary, links that are cut, and the same data on the
//! replica afterwards.

pub mod canonical;
mod chain;

pub use chain::run_chain;

use crate::client::{Client, Command};
use crate::oracle::groups::{FAMILIES, SHARED};
use crate::oracle::template;
use crate::rng::Rng;
use crate::server::Server;
use crate::value::Value;
use crate::words;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// Databases that commands work on.
const DATABASES: usize = 3;
/// Commands sent at a time.
const BATCH: usize = 200;
/// How long a replica may take to catch up.
const CATCH_UP: Duration = Duration::from_secs(60);

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Ours.
    Totality,
    /// Debian's `redis-server` 7.0.
    Redis,
    /// The program that `TOTALITY_VALKEY` names.
    Valkey,
}

impl Kind {
    /// Starts one. Snapshots are of the version that all kinds read.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(self, extra: &[&str]) -> io::Result<Server> {
        let mut args = vec!["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"];
        args.extend(extra);
        match self {
            Kind::Totality => {
                args.extend(["--rdb-version-compat", "10", "--enable-debug-command", "yes"]);
                Server::totality(&args)
            }
            Kind::Redis => Server::redis(&args),
            Kind::Valkey => {
                let program = std::env::var("TOTALITY_VALKEY")
                    .map_err(|_| io::Error::other("TOTALITY_VALKEY names no program"))?;
                args.extend(["--enable-debug-command", "yes"]);
                Server::start(&[&program], &args)
            }
        }
    }
}

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Commands on the primary.
    pub commands: usize,
    /// Times that the link is cut.
    pub cuts: usize,
    /// Names the run.
    pub seed: u64,
}

/// What happened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Report {
    /// Commands that the primary answered without an error.
    pub succeeded: usize,
    /// Times that all keys were compared.
    pub compared: usize,
    /// Keys that were compared, all in all.
    pub keys: usize,
    /// Full and partial synchronizations that the primary counted.
    pub syncs: (u64, u64),
}

/// A field of INFO.
///
/// # Panics
/// When the server does not answer.
pub fn info(client: &mut Client, section: &str, field: &str) -> String {
    let text = client.call(&["INFO", section]).expect("INFO").text();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.unwrap_or_default().trim().to_owned()
}

/// Waits until something holds.
///
/// # Panics
/// When it does not hold in time; `why` says what was seen.
pub fn wait_until(what: &str, time: Duration, mut done: impl FnMut() -> bool, why: impl Fn() -> String) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < time, "{what} did not come: {}", why());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Makes `replica` follow `primary` and waits for the link.
///
/// # Panics
/// When it does not come.
pub fn follow(replica: &Server, primary: &Server) {
    let mut client = replica.client();
    let reply = client.call(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]).expect("REPLICAOF");
    assert!(!reply.is_error(), "{reply:?}");
    link_up(replica);
}

/// Waits for the link.
///
/// # Panics
/// When it does not come.
pub fn link_up(replica: &Server) {
    let mut client = replica.client();
    wait_until(
        "the link",
        CATCH_UP,
        || info(&mut client, "replication", "master_link_status") == "up",
        || replica.log(),
    );
}

/// Waits until the replica has executed all that the primary has sent.
///
/// # Panics
/// When that takes too long.
pub fn in_step(primary: &Server, replica: &Server) {
    let (mut p, mut r) = (primary.client(), replica.client());
    wait_until(
        "the replica in step",
        CATCH_UP,
        || {
            let offset = info(&mut r, "replication", "slave_repl_offset");
            info(&mut r, "replication", "master_link_status") == "up"
                && offset == info(&mut p, "replication", "master_repl_offset")
                && offset != "0"
        },
        || format!("{}\n--- replica:\n{}", primary.log(), replica.log()),
    );
}

/// A key's database and name; its deadline and content.
type Keys = BTreeMap<(usize, Vec<u8>), (i64, String)>;

/// All keys that a server shows.
///
/// # Panics
/// When it does not answer as it should.
pub fn keys(client: &mut Client) -> Keys {
    let mut all = Keys::new();
    for db in 0..DATABASES {
        client.call(&["SELECT", &db.to_string()]).expect("SELECT");
        let names: Vec<Vec<u8>> = client
            .call(&["KEYS", "*"])
            .expect("KEYS")
            .items()
            .iter()
            .filter_map(|k| k.bytes().map(<[u8]>::to_vec))
            .collect();
        let asked: Vec<Command> = names
            .iter()
            .flat_map(|key| [vec![b"PEXPIRETIME".to_vec(), key.clone()], vec![b"DUMP".to_vec(), key.clone()]])
            .collect();
        let mut replies = Vec::with_capacity(asked.len());
        for some in asked.chunks(1000) {
            replies.extend(client.pipeline(some).expect("DUMP"));
        }
        for (key, pair) in names.into_iter().zip(replies.chunks(2)) {
            let deadline = match pair[0].value {
                Value::Int(n) => n,
                _ => panic!("PEXPIRETIME: {:?}", pair[0].value),
            };
            // It may have gone between the two questions.
            let Some(dump) = pair[1].value.bytes() else { continue };
            let content = canonical::canonical(dump)
                .unwrap_or_else(|why| panic!("{}: {why}: {}", key.escape_ascii(), dump.escape_ascii()));
            all.insert((db, key), (deadline, content));
        }
    }
    all
}

/// Compares all keys of two servers at rest; gives their number.
///
/// # Panics
/// When they differ.
pub fn same(primary: &Server, replica: &Server, name: &str) -> usize {
    let mut last = String::new();
    // Keys whose time ends in between are looked at again.
    for _ in 0..20 {
        in_step(primary, replica);
        let (a, b) = (keys(&mut primary.client()), keys(&mut replica.client()));
        if a == b {
            return a.len();
        }
        last = difference(&a, &b);
        std::thread::sleep(Duration::from_millis(200));
    }
    panic!("{name}: the replica differs: {last}\n{}", tail(&replica.log()));
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

fn difference(a: &Keys, b: &Keys) -> String {
    let all = a.keys().chain(b.keys()).find(|key| a.get(*key) != b.get(*key));
    let Some((db, key)) = all else { return String::new() };
    let show = |keys: &Keys| {
        keys.get(&(*db, key.clone())).map_or("(none)".to_owned(), |(at, text)| {
            format!("deadline {at}, {}", text.chars().take(2000).collect::<String>())
        })
    };
    format!("key {} of database {db}:\n  primary {}\n  replica {}", key.escape_ascii(), show(a), show(b))
}

/// A random command that every kind of server knows and that does not wait.
fn command(rng: &mut Rng, open: &mut bool) -> Command {
    loop {
        match rng.below(200) {
            0..=3 => return words::split(&format!("SELECT {}", rng.below(DATABASES))).unwrap_or_default(),
            4..=13 => {
                let mut command = template::expand("PEXPIRE $k", rng);
                command.push(rng.range(1, 400).to_string().into_bytes());
                return command;
            }
            14..=19 => {
                let mut command = template::expand("SET $k $v PX", rng);
                command.push(rng.range(1, 400).to_string().into_bytes());
                return command;
            }
            20..=27 => {
                let script = "redis.call('SET',KEYS[1],ARGV[1]) redis.call('PEXPIRE',KEYS[1],ARGV[2]) \
                              redis.call('RPUSH',KEYS[2]..'l',ARGV[1],ARGV[2]) return redis.call('INCR','n')";
                let mut command = vec![b"EVAL".to_vec(), script.as_bytes().to_vec(), b"2".to_vec()];
                command.extend(template::expand("$k $k $v", rng));
                command.push(rng.range(1, 800).to_string().into_bytes());
                return command;
            }
            28..=31 => return template::expand("SPOP $k", rng),
            _ => {}
        }
        let family = &FAMILIES[rng.below(FAMILIES.len())];
        let from = if rng.one_in(6) { SHARED } else { family.commands };
        let mut command = template::expand(rng.pick(from), rng);
        template::spoil(&mut command, rng);
        let name = command[0].to_ascii_uppercase();
        let waits = matches!(name.as_slice(), b"WAIT" | b"CLIENT" | b"SELECT" | b"SWAPDB")
            || [&b"BL"[..], b"BR", b"BZ"].iter().any(|start| name.starts_with(start));
        // The data set is to grow now and then.
        let flush = name.starts_with(b"FLUSH") && !rng.one_in(10);
        let huge = command
            .iter()
            .any(|word| word.len() < 12 && word.len() > 8 && word.iter().all(u8::is_ascii_digit));
        // Valkey reads no scores in hexadecimal digits, which the others do.
        let hexadecimal =
            command.iter().any(|word| word.to_ascii_lowercase().windows(2).any(|at| at == b"0x"));
        if waits || flush || huge || hexadecimal || (*open && name == b"MULTI") {
            continue;
        }
        match name.as_slice() {
            b"MULTI" if command.len() == 1 => *open = true,
            b"EXEC" => *open = false,
            b"DISCARD" if command.len() == 1 => *open = false,
            _ => {}
        }
        return command;
    }
}

/// Cuts the link. Every fourth time such that only a full synchronization can follow.
fn cut(primary: &Server, replica: &Server, number: usize) {
    let (mut p, mut r) = (primary.client(), replica.client());
    let done = match number % 4 {
        0 => p.call(&["CLIENT", "KILL", "TYPE", "replica"]),
        1 => r.call(&["CLIENT", "KILL", "TYPE", "master"]),
        2 => p.call(&["CLIENT", "KILL", "TYPE", "slave"]),
        _ => {
            // A history of its own.
            let alone = r.call(&["REPLICAOF", "NO", "ONE"]).and_then(|_| r.call(&["SET", "own", "history"]));
            alone.and_then(|_| r.call(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]))
        }
    };
    let done = done.expect("the link is cut");
    assert!(!done.is_error(), "cut {number}: {done:?}");
}

/// Runs a plan with a primary and a replica of these kinds.
///
/// # Panics
/// When the replica differs from its primary, or a server fails.
pub fn run(primary: Kind, replica: Kind, plan: Plan) -> Report {
    let (p, r) =
        (primary.start(&[]).expect("the primary starts"), replica.start(&[]).expect("the replica starts"));
    let name = format!("{primary:?} -> {replica:?}, seed {}", plan.seed);
    follow(&r, &p);
    let mut client = p.client();
    let mut rng = Rng::new(plan.seed);
    let (mut report, mut open, mut cuts, mut sent) = (Report::default(), false, 0, 0);
    while sent < plan.commands {
        let batch: Vec<Command> = (0..BATCH).map(|_| command(&mut rng, &mut open)).collect();
        let replies = client.pipeline(&batch).unwrap_or_else(|e| panic!("{name}: {e}\n{}", tail(&p.log())));
        report.succeeded += replies.iter().filter(|reply| !reply.value.is_error()).count();
        sent += batch.len();
        if cuts < plan.cuts && sent * plan.cuts >= (cuts + 1) * plan.commands {
            cut(&p, &r, cuts);
            cuts += 1;
            // Some commands meet the link while it is down.
            let batch: Vec<Command> = (0..BATCH).map(|_| command(&mut rng, &mut open)).collect();
            client.pipeline(&batch).unwrap_or_else(|e| panic!("{name}: {e}\n{}", tail(&p.log())));
            report.keys += same(&p, &r, &name);
            report.compared += 1;
        }
    }
    report.keys += same(&p, &r, &name);
    report.compared += 1;
    let count = |client: &mut Client, field: &str| info(client, "stats", field).parse().unwrap_or(0);
    // The other one may be in a transaction.
    let mut client = p.client();
    report.syncs = (count(&mut client, "sync_full"), count(&mut client, "sync_partial_ok"));
    report
}
