//! Wall-clock time that is cheap enough to be read after every command.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use totality_engine::Clock;

/// Nanoseconds after which the system's clock is asked again: a set clock is noticed after that time.
const TRUST_NS: u64 = 10_000_000;

/// The processor's counter, set by the system's clock. Reading the system's clock for every command costs a fifth of a
/// pipelined GET; the counter costs less than half of that, and is set so often that its drift stays below a
/// microsecond. Where there is no steady counter, the crate below reads the system's monotonic clock.
#[derive(Debug)]
pub struct WallClock {
    counter: quanta::Clock,
    /// Counter and microseconds since the Unix epoch at the same moment.
    set: (AtomicU64, AtomicU64),
}

impl WallClock {
    /// A clock, set.
    pub fn new() -> WallClock {
        let clock = WallClock { counter: quanta::Clock::new(), set: (AtomicU64::new(0), AtomicU64::new(0)) };
        clock.set();
        clock
    }

    #[cold]
    fn set(&self) -> u64 {
        let us = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64);
        self.set.0.store(self.counter.raw(), Ordering::Relaxed);
        self.set.1.store(us, Ordering::Relaxed);
        us
    }
}

impl Clock for WallClock {
    #[inline]
    fn now_us(&self) -> u64 {
        let ns = self.counter.delta_as_nanos(self.set.0.load(Ordering::Relaxed), self.counter.raw());
        if ns > TRUST_NS { self.set() } else { self.set.1.load(Ordering::Relaxed) + ns / 1000 }
    }

    fn cpu_us(&self) -> Option<u64> {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Some(time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_with_the_systems_clock() {
        let clock = WallClock::new();
        for _ in 0..200 {
            let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
            let shown = clock.now_us();
            let after = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
            // The slack is for a thread that was put aside between setting and reading.
            assert!(shown + 1000 >= before && shown <= after + 1000, "{before} {shown} {after}");
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
    }
}
