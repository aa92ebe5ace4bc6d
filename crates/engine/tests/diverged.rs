//! A replica that cannot do what its primary did, or cannot keep it.

mod support;

use support::Bench;
use totality_engine::{ClientId, Outgoing};

/// A connection that is the primary's.
fn primary(b: &mut Bench) -> ClientId {
    let id = b.engine.connect(totality_engine::ConnInfo::default());
    b.engine.sv.clients.get_mut(id).unwrap().primary = true;
    id
}

/// Why the engine is to end, and the lines for the log.
fn told(b: &mut Bench) -> (Vec<String>, Vec<String>) {
    let (mut ends, mut lines) = (Vec::new(), Vec::new());
    while let Some(outgoing) = b.engine.next_outgoing() {
        match outgoing {
            Outgoing::Fatal { why } => ends.push(why),
            Outgoing::Log { text, .. } => lines.push(String::from_utf8_lossy(&text).into_owned()),
            _ => {}
        }
    }
    (ends, lines)
}

#[test]
fn an_error_for_the_primary_ends_a_replica_that_is_told_so() {
    for (behavior, read_only, ends) in [
        ("ignore", "yes", false),
        ("panic", "yes", true),
        ("panic-on-replicas", "yes", true),
        ("panic", "no", false),
    ] {
        let mut b = Bench::new();
        b.line("SET word text");
        b.line(&format!("CONFIG SET propagation-error-behavior {behavior} replica-read-only {read_only}"));
        let id = primary(&mut b);
        told(&mut b);
        b.run_as(id, &["INCR", "word"]);
        let (why, lines) = told(&mut b);
        assert!(lines.iter().any(|line| line.starts_with("== CRITICAL == This replica is sending an error")));
        let want =
            "This replica panicked sending an error to its primary after processing the command 'incr'";
        assert_eq!(why, if ends { vec![want] } else { vec![] }, "{behavior}");
    }
}

#[test]
fn a_replica_without_its_disk_ends_unless_it_may_go_on() {
    let mut b = Bench::new();
    let id = primary(&mut b);
    b.engine.sv.persist.log.error = Some("No space left on device".to_owned());
    told(&mut b);
    b.run_as(id, &["GET", "k"]);
    b.run_as(id, &["PING"]);
    assert_eq!(told(&mut b).0, Vec::<String>::new());
    b.run_as(id, &["SET", "k", "v"]);
    assert_eq!(told(&mut b).0, ["Replica was unable to write command to disk."]);
    assert_eq!(b.line("GET k"), "$-1\r\n");
    b.line("CONFIG SET replica-ignore-disk-write-errors yes");
    b.clock.advance_ms(10_000);
    told(&mut b);
    b.run_as(id, &["SET", "k", "v"]);
    b.run_as(id, &["SET", "k", "w"]);
    let (ends, lines) = told(&mut b);
    assert_eq!(ends, Vec::<String>::new());
    assert_eq!(lines, ["Replica is applying a command even though it is unable to write to disk."]);
    assert_eq!(b.line("GET k"), "$1\r\nw\r\n");
}
