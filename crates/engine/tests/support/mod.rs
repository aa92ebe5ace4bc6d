//! An engine with one client, without a server.
#![allow(dead_code)] // not every test uses all of it

use totality_engine::engine::NoTicker;
use totality_engine::{ClientId, Config, ConnInfo, Engine, ManualClock};

/// An engine, its clock and a client.
pub struct Bench {
    pub engine: Engine,
    pub client: ClientId,
    pub clock: ManualClock,
}

impl Bench {
    pub fn new() -> Self {
        Bench::with(Config::default())
    }

    pub fn with(config: Config) -> Self {
        let clock = ManualClock::new(1_700_000_000_000_000);
        let mut engine = Engine::new(config, Box::new(clock.clone()), [7; 16]);
        let client = engine.connect(ConnInfo::default());
        Bench { engine, client, clock }
    }

    /// Runs a command of the client; the reply as it goes over the wire.
    pub fn run<A: AsRef<[u8]>>(&mut self, argv: &[A]) -> String {
        self.run_as(self.client, argv)
    }

    /// The same for another client.
    pub fn run_as<A: AsRef<[u8]>>(&mut self, client: ClientId, argv: &[A]) -> String {
        let argv: Vec<&[u8]> = argv.iter().map(AsRef::as_ref).collect();
        let mut out = Vec::new();
        self.engine.wake();
        self.engine.execute(client, &argv, &mut out, &mut NoTicker);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Runs a command given as one line of words.
    pub fn line(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        self.run(&words)
    }
}
