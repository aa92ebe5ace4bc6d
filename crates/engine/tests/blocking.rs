//! Clients that wait, without a server.

use totality_engine::engine::{After, NoTicker, Outgoing};
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};

struct Bench {
    engine: Engine,
    clock: ManualClock,
}

impl Bench {
    fn new() -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let engine = Engine::new(Config::default(), Box::new(clock.clone()), [7; 16]);
        Bench { engine, clock }
    }

    fn client(&mut self) -> ClientId {
        self.engine.connect(ConnInfo::default())
    }

    fn run(&mut self, client: ClientId, line: &str) -> (String, After) {
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        self.engine.wake();
        let after = self.engine.execute(client, &argv, &mut out, &mut NoTicker);
        (String::from_utf8(out).unwrap(), after)
    }

    fn blocks(&mut self, client: ClientId, line: &str) {
        assert_eq!(self.run(client, line), (String::new(), After::Blocked), "{line}");
    }

    /// Replies to waiting clients, in the order in which they left; each is followed by its release.
    fn served(&mut self) -> Vec<(ClientId, String)> {
        let mut out = Vec::new();
        while let Some(outgoing) = self.engine.next_outgoing() {
            match outgoing {
                Outgoing::Reply { client, bytes } => out.push((client, String::from_utf8(bytes).unwrap())),
                Outgoing::Unblocked { client } => assert_eq!(out.last().map(|r| r.0), Some(client)),
                other => panic!("{other:?}"),
            }
        }
        out
    }
}

#[test]
fn waiters_are_served_in_order_with_what_is_left() {
    let mut b = Bench::new();
    let (one, two, three, pusher) = (b.client(), b.client(), b.client(), b.client());
    b.blocks(one, "BLPOP l 0");
    b.blocks(two, "BRPOP x l 0");
    b.blocks(three, "BLPOP l 0");
    assert_eq!(b.run(pusher, "RPUSH l a b").0, ":2\r\n");
    let want =
        [(one, "*2\r\n$1\r\nl\r\n$1\r\na\r\n".to_owned()), (two, "*2\r\n$1\r\nl\r\n$1\r\nb\r\n".to_owned())];
    assert_eq!(b.served(), want);
    assert_eq!(b.engine.ks.blocked.clients(), 1);
    assert_eq!(b.run(pusher, "EXISTS l").0, ":0\r\n");
}

#[test]
fn a_chain_of_moves_is_followed_to_its_end() {
    let mut b = Bench::new();
    let (one, two, pusher) = (b.client(), b.client(), b.client());
    b.blocks(one, "BLPOP t 0");
    b.blocks(two, "BLMOVE s t LEFT LEFT 0");
    b.run(pusher, "RPUSH s v");
    let clients: Vec<ClientId> = b.served().into_iter().map(|(client, _)| client).collect();
    assert_eq!(clients, [two, one]);
    assert!(b.engine.ks.blocked.is_empty());
}

#[test]
fn what_a_transaction_leaves_counts() {
    let mut b = Bench::new();
    let (waiter, pusher) = (b.client(), b.client());
    b.blocks(waiter, "BLPOP l 0");
    for line in ["MULTI", "RPUSH l a", "DEL l", "EXEC"] {
        b.run(pusher, line);
    }
    assert!(b.served().is_empty());
    b.run(pusher, "ZADD l 1 a");
    assert!(b.served().is_empty(), "another type wakes nobody");
    b.run(pusher, "DEL l");
    b.run(pusher, "RPUSH l a");
    assert_eq!(b.served().len(), 1);
}

#[test]
fn waits_end_by_time_and_from_outside() {
    let mut b = Bench::new();
    let (one, two, other) = (b.client(), b.client(), b.client());
    b.blocks(one, "BLPOP l 0.25");
    b.blocks(two, "BZPOPMIN z 0");
    let now = b.engine.ks.now;
    assert_eq!(b.engine.next_deadline(), Some(now + 250));
    b.clock.advance_ms(249);
    b.engine.run_due();
    assert!(b.served().is_empty());
    b.clock.advance_ms(1);
    b.engine.run_due();
    assert_eq!(b.served(), [(one, "*-1\r\n".to_owned())]);
    assert_eq!(b.engine.next_deadline(), None);
    assert_eq!(b.run(other, &format!("CLIENT UNBLOCK {} ERROR", two.id)).0, ":1\r\n");
    assert_eq!(b.served(), [(two, "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n".to_owned())]);
}

#[test]
fn a_client_that_is_gone_takes_nothing() {
    let mut b = Bench::new();
    let (gone, pusher) = (b.client(), b.client());
    b.blocks(gone, "BLPOP l 5");
    b.engine.disconnect(gone);
    b.run(pusher, "RPUSH l a");
    assert!(b.served().is_empty());
    assert_eq!(b.run(pusher, "LLEN l").0, ":1\r\n");
    assert!(b.engine.ks.blocked.is_empty() && b.engine.next_deadline().is_none());
}

#[test]
fn swapped_and_renamed_keys_wake() {
    let mut b = Bench::new();
    let (one, two, pusher) = (b.client(), b.client(), b.client());
    b.blocks(one, "BLPOP l 0");
    b.blocks(two, "BLPOP m 0");
    b.run(pusher, "SELECT 1");
    b.run(pusher, "RPUSH l a");
    b.run(pusher, "SWAPDB 0 1");
    assert_eq!(b.served().len(), 1);
    b.run(pusher, "SELECT 0");
    b.run(pusher, "RPUSH n a");
    b.run(pusher, "RENAME n m");
    assert_eq!(b.served().len(), 1);
}
