//! A disk that keeps only the first bytes of the log: whatever the cut, the data set is that behind some complete unit,
//! and behind the last one that is whole.

use totality::{Db, ManualClock, Options, Session};

/// When the history begins.
const START_US: u64 = 1_700_000_000_000_000;

fn digest(session: &mut Session) -> String {
    session.query(&["DEBUG", "DIGEST"]).unwrap()
}

fn options(dir: &std::path::Path, clock: &ManualClock) -> Options {
    let options = Options::default().dir(dir).clock(clock.clone()).seed([3; 16]);
    options.set("appendfsync", "always").set("enable-debug-command", "yes")
}

/// A history of commands, scripts, transactions and deadlines.
fn step(i: u64) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let key = i % 7;
    let script = |body: &str| {
        let mut all = words("EVAL body 1");
        all[1] = body.to_owned();
        all.push(format!("k{key}"));
        all
    };
    match i % 11 {
        0 => vec![words(&format!("SET k{key} v{i}"))],
        1 => vec![words(&format!("RPUSH l{key} a b c"))],
        2 => vec![script("redis.call('SET', KEYS[1], 'one') redis.call('APPEND', KEYS[1], 'two') return 1")],
        3 => vec![words("MULTI"), words(&format!("INCR n{key}")), words("SADD s 1 2 x"), words("EXEC")],
        4 => vec![words(&format!("SET e{key} gone PX {}", 3 + key))],
        5 => vec![words(&format!("LPOP l{key}"))],
        6 => vec![words("SPOP s")],
        7 => vec![script(
            "--- @rollback on\nredis.call('SET', KEYS[1], 'never') redis.call('DEL', 's') error('no')",
        )],
        8 => vec![words(&format!("HSET h f{key} {i}")), words(&format!("HPEXPIRE h 9 FIELDS 1 f{key}"))],
        9 => vec![words("ZINCRBY z 1.5 m"), words(&format!("XADD x * f {i}"))],
        _ => vec![words(&format!("DEL k{key}"))],
    }
}

#[test]
fn every_cut_leaves_the_last_complete_unit() {
    let steps = std::env::var("TOTALITY_CRASH_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(22);
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(START_US);
    let log = dir.path().join("appendonlydir/appendonly.aof.1.incr.aof");
    // Bytes of the log, milliseconds, and what the data set was then.
    let mut moments = Vec::new();
    {
        let db = Db::open(options(dir.path(), &clock)).unwrap();
        let mut s = db.session().unwrap();
        moments.push((0, 0, digest(&mut s)));
        let size = || std::fs::metadata(&log).unwrap().len();
        for i in 0..steps {
            for command in step(i) {
                // The script that takes back its writes ends with an error, as it should.
                let _ = s.call(&command);
                // Inside of MULTI nothing happens yet, not even a digest.
                if command[0] != "MULTI" && (step(i)[0][0] != "MULTI" || command[0] == "EXEC") {
                    moments.push((size(), i, digest(&mut s)));
                }
            }
            clock.advance_ms(1);
            db.tick().unwrap();
            moments.push((size(), i + 1, digest(&mut s)));
        }
    }
    let whole = std::fs::read(&log).unwrap();
    assert!(whole.len() > 1000);
    let text = String::from_utf8_lossy(&whole);
    assert!(!text.contains("never"), "what was taken back is not in the log");
    for cut in 0..=whole.len() {
        std::fs::write(&log, &whole[..cut]).unwrap();
        // Of the moments with as many bytes the last counts. What is past its deadline depends on the time.
        let (_, ms, expected) = moments.iter().rfind(|(len, ..)| *len <= cut as u64).unwrap();
        clock.set_us(START_US + ms * 1000);
        let db = Db::open(options(dir.path(), &clock)).unwrap_or_else(|e| panic!("{cut}: {e}"));
        assert_eq!(digest(&mut db.session().unwrap()), *expected, "{cut} bytes");
    }
}

/// The commands of a piece of the log.
fn commands(mut bytes: &[u8]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let line = |bytes: &mut &[u8]| -> usize {
        let end = bytes.windows(2).position(|two| two == b"\r\n").unwrap();
        let n = std::str::from_utf8(&bytes[1..end]).unwrap().parse().unwrap();
        *bytes = &bytes[end + 2..];
        n
    };
    while !bytes.is_empty() {
        let words = line(&mut bytes);
        let mut argv = Vec::new();
        for _ in 0..words {
            let len = line(&mut bytes);
            argv.push(String::from_utf8_lossy(&bytes[..len]).into_owned());
            bytes = &bytes[len + 2..];
        }
        all.push(argv);
    }
    all
}

#[test]
fn a_rollback_script_is_one_unit_of_the_log_or_nothing_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new(START_US);
    let log = dir.path().join("appendonlydir/appendonly.aof.1.incr.aof");
    let (before, after, from, to);
    {
        let db = Db::open(options(dir.path(), &clock)).unwrap();
        let mut s = db.session().unwrap();
        let size = || std::fs::metadata(&log).unwrap().len() as usize;
        for command in [&["SET", "stock", "5"][..], &["RPUSH", "list", "a", "b"], &["HSET", "h", "f", "v"]] {
            s.call(command).unwrap();
        }
        before = digest(&mut s);
        from = size();
        let writes = "redis.call('DECRBY', KEYS[1], 2) redis.call('RPOP', 'list') redis.call('DEL', 'h') ";
        let tail_ends = [
            "error('x')",
            "redis.call('LPOP', KEYS[1])",
            "return redis.error_reply('SHORT of stock')",
            "redis.savepoint(function() redis.call('FLUSHALL') error('inner') end) error('outer')",
            "for i = 1, 1e9 do redis.call('INCR', KEYS[1]) end",
            "for i = 1, 1e9 do redis.call('SET', 'k' .. i, string.rep('x', 1000)) end",
            "local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 100000) .. i end",
        ];
        for (name, value) in [
            ("script-max-commands", "5000"),
            ("script-rollback-max-bytes", "1000000"),
            ("script-max-memory", "16777216"),
        ] {
            s.call(&["CONFIG", "SET", name, value]).unwrap();
        }
        for tail in tail_ends {
            let script = format!("--- @rollback on\n{writes}{tail}");
            let reply = s.call(&["EVAL", &script, "1", "stock"]);
            assert!(reply.is_err() || matches!(reply, Ok(totality::Frame::Error(_))), "{tail}: {reply:?}");
            assert_eq!((size(), digest(&mut s)), (from, before.clone()), "{tail}");
        }
        let inner = "redis.savepoint(function() redis.call('SET', 'never', 1) error('inner') end) ";
        let kept = "redis.savepoint(function() redis.call('SADD', 'set', 'm') end) redis.call('SELECT', 3) redis.call('SET', 'other', 1)";
        s.call(&["EVAL", &format!("--- @rollback on\n{writes}{inner}{kept} return 1"), "1", "stock"])
            .unwrap();
        after = digest(&mut s);
        to = size();
        assert_ne!(before, after);
    }
    let whole = std::fs::read(&log).unwrap();
    let unit = commands(&whole[from..to]);
    let names: Vec<&str> = unit.iter().map(|argv| argv[0].as_str()).collect();
    let count = |name: &str| names.iter().filter(|word| word.eq_ignore_ascii_case(name)).count();
    assert_eq!((count("multi"), count("exec")), (1, 1), "{unit:?}");
    assert!(
        names[0].eq_ignore_ascii_case("multi") && names[names.len() - 1].eq_ignore_ascii_case("exec"),
        "{unit:?}"
    );
    for word in ["decrby", "rpop", "del", "sadd", "select", "set"] {
        assert_eq!(count(word), 1, "{word} in {unit:?}");
    }
    assert!(!unit.iter().flatten().any(|word| word == "never"));
    for cut in from..=to {
        std::fs::write(&log, &whole[..cut]).unwrap();
        let db = Db::open(options(dir.path(), &clock)).unwrap();
        let mut s = db.session().unwrap();
        let expected = if cut == to { &after } else { &before };
        assert_eq!(digest(&mut s), *expected, "cut at {cut} of {from}..{to}");
    }
}
