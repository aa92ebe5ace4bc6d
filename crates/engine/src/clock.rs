//! Time, handed in by the engine's owner.

/// Source of wall-clock time. Read once per unit of execution, and once per command for the statistics.
pub trait Clock: Send {
    /// Microseconds since the Unix epoch.
    fn now_us(&self) -> u64;

    /// Microseconds of processor time that the calling thread used, where that can be known. Read for long scripts
    /// only.
    fn cpu_us(&self) -> Option<u64> {
        None
    }
}

impl<F: Fn() -> u64 + Send> Clock for F {
    fn now_us(&self) -> u64 {
        self()
    }
}

/// A clock that stands still until it is set, for tests and simulation.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(std::sync::Arc<std::sync::atomic::AtomicU64>);

impl ManualClock {
    /// A clock that shows `us` microseconds since the Unix epoch.
    pub fn new(us: u64) -> Self {
        let clock = Self::default();
        clock.set_us(us);
        clock
    }

    /// Sets the time, in microseconds since the Unix epoch.
    pub fn set_us(&self, us: u64) {
        self.0.store(us, std::sync::atomic::Ordering::Relaxed);
    }

    /// Moves the time forward by `ms` milliseconds.
    pub fn advance_ms(&self, ms: u64) {
        self.0.fetch_add(ms * 1000, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> u64 {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}
