//! Scripts on the embedded engine with a clock that stands still, for the models.

use proptest::prelude::*;
use totality::{Db, ManualClock, Options};
use totality_script::{Call, Embedded, Runner, Value, catalogue};

/// The first moment, in milliseconds.
pub const START: u64 = 1_800_000_000_000;

pub struct World {
    pub runner: Runner<Embedded>,
    pub clock: ManualClock,
    /// Milliseconds since the start.
    pub now: u64,
}

impl World {
    pub fn new() -> World {
        let clock = ManualClock::new(START * 1000);
        let db = Db::open(Options::default().clock(clock.clone())).unwrap();
        World { runner: Runner::new(Embedded::new(db.session().unwrap())), clock, now: 0 }
    }

    /// A typed call.
    pub fn ask<C: Call>(&mut self, call: &C) -> C::Reply {
        self.runner.call(call).unwrap_or_else(|e| panic!("{}: {e}", call.script().name()))
    }

    /// Calls a script by its keys and arguments; the integers of its reply and the bytes at its end, if there are any.
    pub fn mixed(&mut self, script: &str, keys: &[&str], args: &[&dyn ToString]) -> (Vec<i64>, Vec<u8>) {
        let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
        let got = self.runner.run(catalogue::get(script).unwrap(), keys, &args).unwrap();
        let Value::Array(items) = got else { panic!("{script} {args:?}: {got:?}") };
        let (mut ints, mut bytes) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                Value::Int(n) => ints.push(n),
                other => bytes = other.bytes().unwrap_or_else(|| panic!("{script}: {other:?}")).to_vec(),
            }
        }
        (ints, bytes)
    }

    /// The same for a reply of nothing but integers.
    pub fn ints(&mut self, script: &str, keys: &[&str], args: &[&dyn ToString]) -> Vec<i64> {
        let (ints, bytes) = self.mixed(script, keys, args);
        assert!(bytes.is_empty(), "{script}: {bytes:?}");
        ints
    }

    pub fn wait_ms(&mut self, ms: u64) {
        self.clock.advance_ms(ms);
        self.now += ms;
    }

    /// Moves the time in steps of 10 ms: leases of the models end between two steps.
    pub fn wait(&mut self, steps: u64) {
        self.wait_ms(steps * 10);
    }

    pub fn command(&mut self, words: &[&str]) {
        self.runner.target().session().call(words).unwrap();
    }

    pub fn number(&mut self, key: &str) -> i64 {
        self.runner.target().session().query(&["GET", key]).unwrap()
    }
}

/// A step: what, with what, and how long before it.
pub type Op = (u8, u8, u8, u16);

pub fn ops(n: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), 0u16..200), 1..n)
}

pub fn name(i: u8) -> &'static str {
    ["a", "b", "c", "d"][usize::from(i % 4)]
}

/// Something that ends.
pub type Timed<T> = Option<(T, u64)>;

/// Takes away what has ended.
pub fn forget<T>(value: &mut Timed<T>, now: u64) {
    if value.as_ref().is_some_and(|(_, end)| *end <= now) {
        *value = None;
    }
}

/// How long something lasts from now on.
pub fn left(end: u64, now: u64) -> i64 {
    end.saturating_sub(now) as i64
}

/// `prop_assert!` would take the braces of a pattern for a format.
#[macro_export]
macro_rules! sure {
    ($e:expr) => {
        proptest::prop_assert!($e, "line {}", line!())
    };
}
