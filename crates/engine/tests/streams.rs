//! Streams: what is propagated makes the same stream elsewhere.

use totality_engine::engine::{NoTicker, Outgoing};
use totality_engine::types::Stream;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};

type Argv = Vec<Vec<u8>>;

/// A primary with a client, and one that gets its effects.
struct Pair {
    primary: Engine,
    client: ClientId,
    link: ClientId,
    replica: Engine,
    applier: ClientId,
    clock: ManualClock,
}

fn run(engine: &mut Engine, client: ClientId, argv: &[Vec<u8>]) -> String {
    let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
    let mut out = Vec::new();
    engine.wake();
    engine.execute(client, &argv, &mut out, &mut NoTicker);
    String::from_utf8_lossy(&out).into_owned()
}

fn words(line: &str) -> Argv {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

/// Commands in a stream of effects.
fn commands(mut bytes: &[u8]) -> Vec<Argv> {
    fn number(bytes: &mut &[u8]) -> usize {
        let end = bytes.iter().position(|b| *b == b'\r').unwrap();
        let n = std::str::from_utf8(&bytes[1..end]).unwrap().parse().unwrap();
        *bytes = &bytes[end + 2..];
        n
    }
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let argc = number(&mut bytes);
        let argv = (0..argc).map(|_| {
            let len = number(&mut bytes);
            let arg = bytes[..len].to_vec();
            bytes = &bytes[len + 2..];
            arg
        });
        out.push(argv.collect());
    }
    out
}

impl Pair {
    fn new() -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let config = Config { stream_node_max_entries: 4, ..Config::default() };
        let mut primary = Engine::new(config.clone(), Box::new(clock.clone()), [7; 16]);
        let mut replica = Engine::new(config, Box::new(clock.clone()), [8; 16]);
        let (client, link) = (primary.connect(ConnInfo::default()), primary.connect(ConnInfo::default()));
        let applier = replica.connect(ConnInfo::default());
        run(&mut primary, link, &words("SYNC"));
        while primary.next_outgoing().is_some() {}
        Pair { primary, client, link, replica, applier, clock }
    }

    /// Runs a command here and its effects there; gives the effects.
    fn run(&mut self, line: &str) -> Vec<Argv> {
        run(&mut self.primary, self.client, &words(line));
        let mut effects = Vec::new();
        while let Some(outgoing) = self.primary.next_outgoing() {
            if let Outgoing::Reply { client, bytes } = outgoing
                && client == self.link
            {
                effects.extend(commands(&bytes));
            }
        }
        for argv in &effects {
            let reply = run(&mut self.replica, self.applier, argv);
            assert!(!reply.starts_with('-'), "{line}: {}: {reply}", shown(argv));
        }
        effects
    }
}

fn shown(argv: &Argv) -> String {
    argv.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect::<Vec<_>>().join(" ")
}

/// All of a stream that effects carry.
fn state(engine: &Engine, key: &str) -> String {
    let Some(stream) = engine.ks.view_as::<Stream>(key.as_bytes()) else { return "none".into() };
    let log = stream.log();
    let mut out = format!(
        "{:?} last {} added {} deleted {}\n",
        log.entries(),
        log.last_id,
        log.entries_added,
        log.max_deleted
    );
    for (name, group) in stream.groups() {
        out += &format!("{name:?} at {} read {:?}:", group.last_id, group.entries_read);
        for (id, pending) in group.pending() {
            let owner = group.owner(pending).map(|consumer| consumer.name.clone());
            out += &format!(" {id} {:?} {} {}", owner, pending.time, pending.count);
        }
        out.push('\n');
    }
    out
}

#[test]
fn effects_are_exact() {
    let mut p = Pair::new();
    let lines = |effects: Vec<Argv>| effects.iter().map(shown).collect::<Vec<_>>();
    assert_eq!(lines(p.run("XADD s 1-* a 1"))[1..], ["XADD s 1-0 a 1"]);
    assert_eq!(lines(p.run("XADD s * a 1")), ["XADD s 1700000000000-0 a 1"]);
    assert_eq!(lines(p.run("XGROUP CREATE s g 0")), ["XGROUP CREATE s g 0"]);
    let read = p.run("XREADGROUP GROUP g ann COUNT 1 STREAMS s >");
    let want = [
        "MULTI",
        "XCLAIM s g ann 0 1-0 TIME 1700000000000 RETRYCOUNT 1 FORCE JUSTID LASTID 1-0",
        "XGROUP SETID s g 1-0 ENTRIESREAD 1",
        "EXEC",
    ];
    assert_eq!(lines(read), want);
    let read = p.run("XREADGROUP GROUP g bob NOACK STREAMS s >");
    let want =
        ["MULTI", "XGROUP CREATECONSUMER s g bob", "XGROUP SETID s g 1700000000000-0 ENTRIESREAD 2", "EXEC"];
    assert_eq!(lines(read), want);
    assert_eq!(lines(p.run("XREADGROUP GROUP g ann STREAMS s 0")), [""; 0]);
    let claimed = p.run("XAUTOCLAIM s g bob 0 -");
    let want = "XCLAIM s g bob 0 1-0 TIME 1700000000000 RETRYCOUNT 3 FORCE JUSTID LASTID 1700000000000-0";
    assert_eq!(lines(claimed), [want]);
    assert_eq!(lines(p.run("XADD s MINID ~ 5 1700000000001 b 2"))[0], "XADD s MINID = 1-0 1700000000001 b 2");
    assert_eq!(lines(p.run("XTRIM s MAXLEN ~ 2")), [""; 0]);
}

#[test]
fn a_replica_has_the_same_streams() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    let mut p = Pair::new();
    let mut effects = 0;
    for step in 0..4000u64 {
        if step % 500 == 0 {
            p.run("FLUSHALL");
        }
        p.clock.advance_ms(next(3));
        let (id, n) = (format!("{}-{}", step.saturating_sub(next(30)), next(3)), next(12));
        let group = ["g", "h"][next(2) as usize];
        let who = ["ann", "bob", "cid"][next(3) as usize];
        let line = match next(16) {
            0..=2 => format!("XADD s {step}-* f {n}"),
            3 => format!("XADD s MAXLEN ~ {n} {step}-* f {n} g {n}"),
            4 => format!("XADD s MINID ~ {id} {step}-1 f {n}"),
            5 => format!("XDEL s {id} {step}-0 {}-0", step.saturating_sub(n)),
            6 => format!("XTRIM s MINID ~ {id}"),
            7 => format!("XTRIM s MAXLEN {}", n + 5),
            8 => format!("XGROUP CREATE s {group} 0 MKSTREAM"),
            9 | 10 => format!("XREADGROUP GROUP {group} {who} COUNT {n} STREAMS s >"),
            11 => format!("XREADGROUP GROUP {group} {who} COUNT 1 NOACK STREAMS s >"),
            12 => format!("XCLAIM s {group} {who} 0 {id} {step}-0 {}-0 FORCE", step.saturating_sub(n)),
            13 => format!("XAUTOCLAIM s {group} {who} {n} - COUNT {}", n + 1),
            14 => format!("XACK s {group} {id} {}-0", step.saturating_sub(n)),
            _ => match next(4) {
                0 => format!("XGROUP SETID s {group} {id}"),
                1 => format!("XGROUP DELCONSUMER s {group} {who}"),
                2 => format!("XSETID s {}-5 ENTRIESADDED {}", step, 10_000),
                _ => format!("COPY s t{n} REPLACE"),
            },
        };
        effects += p.run(&line).len();
        assert_eq!(state(&p.primary, "s"), state(&p.replica, "s"), "after {line}");
    }
    assert!(effects > 2000, "{effects} effects");
}
