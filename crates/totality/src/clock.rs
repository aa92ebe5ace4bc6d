//! The clock of the machine. The engine reads none itself.

use std::time::{SystemTime, UNIX_EPOCH};
use totality_engine::Clock;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_us(&self) -> u64 {
        // A clock before 1970 counts as 1970: nothing better can be said of it.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as u64)
    }
}
