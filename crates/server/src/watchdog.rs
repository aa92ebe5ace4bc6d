//! The thread that reminds a long script of the world outside: every millisecond of a run it sets the bit upon which
//! the script calls back into the loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use totality_engine::Interrupt;

/// Between two reminders, and the age at which a run is long.
const TICK: Duration = Duration::from_millis(1);
/// Between two looks while scripts come and go.
const LOOK: Duration = Duration::from_millis(2);
/// Looks without any script after which the thread goes to sleep.
const QUIET_LOOKS: u32 = 50;

/// What the loop and the thread share.
#[derive(Debug, Default)]
struct Shared {
    /// Commands so far that may run a script.
    scripts: AtomicU64,
    asleep: AtomicBool,
    end: AtomicBool,
}

/// The running thread; ended when dropped. While no scripts are run it sleeps without waking up.
#[derive(Debug)]
pub struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts the thread. `runs` is odd while a script runs and changes with every run.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(interrupt: Interrupt, runs: Arc<AtomicU64>) -> std::io::Result<Watchdog> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || watch(&theirs, &interrupt, &runs))?;
        Ok(Watchdog { shared, thread: Some(thread) })
    }

    /// A script may start now. Costs a system call only after a time without scripts.
    #[inline]
    pub fn script_ahead(&self) {
        // In this order, and the other way round in the thread: one of the two sees the other's mark.
        self.shared.scripts.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        self.shared.asleep.store(false, Ordering::SeqCst);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed already.
            let _ = thread.join();
        }
    }
}

fn watch(shared: &Shared, interrupt: &Interrupt, runs: &AtomicU64) {
    let (mut last_run, mut last_scripts, mut quiet) = (0, 0, 0);
    while !shared.end.load(Ordering::SeqCst) {
        let run = runs.load(Ordering::Acquire);
        let on = run % 2 == 1;
        if on && run == last_run {
            interrupt.set(Interrupt::TICK);
        }
        last_run = run;
        let scripts = shared.scripts.load(Ordering::SeqCst);
        quiet = if on || scripts != last_scripts { 0 } else { quiet + 1 };
        last_scripts = scripts;
        if quiet < QUIET_LOOKS {
            thread::sleep(if on { TICK } else { LOOK });
            continue;
        }
        shared.asleep.store(true, Ordering::SeqCst);
        while shared.asleep.load(Ordering::SeqCst) && shared.scripts.load(Ordering::SeqCst) == last_scripts {
            thread::park();
        }
        shared.asleep.store(false, Ordering::SeqCst);
        quiet = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn ticks_within(interrupt: &Interrupt, limit: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < limit {
            if interrupt.get() & Interrupt::TICK != 0 {
                return true;
            }
            thread::sleep(Duration::from_micros(100));
        }
        false
    }

    #[test]
    fn reminds_long_runs_only_and_sleeps_in_between() {
        let (interrupt, runs) = (Interrupt::new(), Arc::new(AtomicU64::new(0)));
        let dog = Watchdog::start(interrupt.clone(), Arc::clone(&runs)).unwrap();
        for _ in 0..3 {
            // Long enough to fall asleep.
            let began = Instant::now();
            while !dog.shared.asleep.load(Ordering::SeqCst) {
                assert!(began.elapsed() < Duration::from_secs(20));
                thread::sleep(TICK);
            }
            assert_eq!(interrupt.get(), 0, "no reminder while nothing runs");
            dog.script_ahead();
            runs.fetch_add(1, Ordering::Release);
            for _ in 0..3 {
                assert!(ticks_within(&interrupt, Duration::from_secs(20)));
                interrupt.clear(Interrupt::TICK);
            }
            runs.fetch_add(1, Ordering::Release);
            thread::sleep(LOOK * 3);
            interrupt.clear(Interrupt::TICK);
        }
    }

    #[test]
    fn ends_when_dropped_asleep_or_awake() {
        for sleep in [Duration::ZERO, LOOK * (QUIET_LOOKS + 20)] {
            let dog = Watchdog::start(Interrupt::new(), Arc::default()).unwrap();
            thread::sleep(sleep);
            drop(dog);
        }
    }
}
