//! A long script: what others may do meanwhile, and how it ends. The ticker plays the owner of the sockets.

mod support;

use support::Bench;
use totality_engine::{Busy, ClientId, Interrupt, ManualClock, Ticker};

/// Gives commands of another client while the script runs, one at each look.
struct Owner {
    clock: ManualClock,
    interrupt: Interrupt,
    client: ClientId,
    commands: Vec<&'static str>,
    replies: Vec<String>,
}

impl Ticker for Owner {
    fn tick(&mut self, busy: &mut Busy<'_>) {
        self.clock.advance_ms(1);
        self.interrupt.set(Interrupt::TICK);
        if !busy.is_slow() || self.commands.is_empty() {
            return;
        }
        let line = self.commands.remove(0);
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        busy.execute(self.client, &argv, &mut out, &mut totality_engine::engine::NoTicker);
        self.replies.push(String::from_utf8_lossy(&out).into_owned());
    }
}

/// Runs a command while `commands` come; the replies to these, then that of the command itself.
fn during(b: &mut Bench, argv: &[&str], commands: &[&'static str]) -> (Vec<String>, String) {
    b.line("CONFIG SET busy-reply-threshold 1");
    let client = b.engine.connect(Default::default());
    let interrupt = b.engine.sv.scripts.interrupt();
    interrupt.set(Interrupt::TICK);
    let mut owner =
        Owner { clock: b.clock.clone(), interrupt, client, commands: commands.to_vec(), replies: Vec::new() };
    let argv: Vec<&[u8]> = argv.iter().map(|arg| arg.as_bytes()).collect();
    let mut out = Vec::new();
    b.engine.wake();
    b.clock.advance_ms(5);
    b.engine.execute(b.client, &argv, &mut out, &mut owner);
    (owner.replies, String::from_utf8_lossy(&out).into_owned())
}

const BUSY: &str =
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n";

#[test]
fn others_are_busy_but_for_what_redis_serves() {
    let mut b = Bench::new();
    let (replies, end) = during(
        &mut b,
        &["EVAL", "while true do end", "0"],
        &[
            "PING",
            "GET k",
            "INFO",
            "MULTI",
            "SET a 1",
            "DISCARD",
            "WATCH a",
            "UNWATCH",
            "REPLCONF listening-port 1",
            "RESET",
            "EXEC",
            "SHUTDOWN",
            "SHUTDOWN SAVE",
            "FUNCTION KILL",
            "FUNCTION STATS",
            "SCRIPT KILL",
        ],
    );
    let served: Vec<bool> = replies.iter().map(|reply| !reply.contains("BUSY")).collect();
    let no = |n: usize| vec![false; n];
    let mut want = no(3);
    want.extend([true, false, true, true, true, true, true]);
    want.extend(no(5));
    want.push(true);
    assert_eq!(served, want, "{replies:?}");
    assert_eq!(replies[1], BUSY);
    assert!(replies[10].starts_with("-EXECABORT Transaction discarded because of: BUSY "));
    assert!(end.starts_with("-ERR Script killed by user with SCRIPT KILL... script: "), "{end}");
    assert!(end.ends_with(", on @user_script:1.\r\n"), "{end}");
}

#[test]
fn what_wrote_cannot_be_killed_unless_it_can_be_taken_back() {
    let mut b = Bench::new();
    let spin = "redis.call('SET', KEYS[1], 1) while redis.call('EXISTS', 'never') == 0 do end";
    let (replies, _) = during(
        &mut b,
        &["EVAL", spin, "1", "k"],
        &["PING", "FUNCTION KILL", "SCRIPT KILL", "SHUTDOWN NOSAVE"],
    );
    assert!(replies[1].starts_with("-UNKILLABLE") && replies[2].starts_with("-UNKILLABLE"), "{replies:?}");
    let rolled = format!("--- @rollback on\n{spin}");
    let (replies, end) = during(&mut b, &["EVAL", &rolled, "1", "j"], &["SCRIPT KILL"]);
    assert_eq!(replies, ["+OK\r\n"]);
    assert!(end.starts_with("-ERR Script killed by user"), "{end}");
    assert_eq!((b.line("GET k"), b.line("GET j")), ("$1\r\n1\r\n".to_owned(), "$-1\r\n".to_owned()));
}

#[test]
fn what_runs_is_shown_without_personal_arguments() {
    let mut b = Bench::new();
    let script =
        "--- @script spin\n--- @version 2\n--- @arg mail pii\nredis.call('GET', KEYS[1]) while true do end";
    let (replies, _) = during(
        &mut b,
        &["EVAL", script, "1", "k", "ann@example.com"],
        &["SCRIPT RUNNING", "PING", "SCRIPT RUNNING", "SCRIPT KILL"],
    );
    for shown in ["spin\r\n", "$1\r\n2\r\n", "(redacted)", "killable\r\n$3\r\nyes", "commands\r\n:1\r\n"] {
        assert!(replies[2].contains(shown), "{shown} in {}", replies[2]);
    }
    assert!(!replies[2].contains("ann@"));
    assert_eq!(b.line("SCRIPT RUNNING"), "$-1\r\n");
    let stats = b.line("SCRIPT STATS spin");
    assert!(stats.contains("kills\r\n:1\r\n"), "{stats}");
}
