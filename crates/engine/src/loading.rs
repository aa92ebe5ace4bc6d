//! A data set is being loaded: how far it is, and what clients are told meanwhile.

use crate::busy::Busy;
use crate::client::Client;
use crate::commands::Command;
use crate::engine::Ticker;
use crate::error::CmdError;
use crate::keyspace::Keyspace;
use crate::spec::Flags;
use crate::state::ServerState;

/// What is refused is answered with this.
pub const LOADING: CmdError = CmdError::new("LOADING Redis is loading the dataset in memory");

/// Microseconds between two looks at the connections, at most.
const INTERVAL_US: u64 = 4000;

/// How far the loading is, for INFO.
#[derive(Debug, Clone, Default)]
pub struct Loading {
    /// Unix time in seconds at which it began.
    pub since: i64,
    /// Bytes to be read; 0 when nobody knows.
    pub total: u64,
    /// Bytes of memory that the data set took where it was written; 0 when the file does not say.
    pub used_memory: u64,
    /// Bytes of the files that are done with.
    pub before: u64,
    /// Bytes read so far.
    pub loaded: u64,
    /// The old data set is there meanwhile: only what changes functions and the like is refused.
    pub beside: bool,
    /// The server is to end: nothing more is read.
    pub stop: bool,
    /// When connections were last looked at: microseconds since the Unix epoch, and bytes read.
    served: (u64, u64),
}

impl Loading {
    /// Percentage that is read, and the seconds that the rest takes if it goes on like that.
    pub fn estimate(&self, now: i64) -> (f64, i64) {
        let percent = |all: u64| self.loaded as f64 / all as f64 * 100.0;
        let (percent, left) = match (self.total, self.used_memory) {
            (0, 0) => (0.0, 1),
            // It is only a guess at the size of the file.
            (0, used) => (percent(used).min(99.99), used.saturating_sub(self.loaded).max(1)),
            (total, _) => (percent(total), total.saturating_sub(self.loaded)),
        };
        let elapsed = now - self.since;
        if elapsed <= 0 {
            return (percent, 1);
        }
        (percent, (i128::from(elapsed) * i128::from(left) / (i128::from(self.loaded) + 1)) as i64)
    }
}

/// Loading begins: clients are refused until [`end`]. `total`: bytes to be read, 0 when nobody knows.
pub fn begin(sv: &mut ServerState, total: u64) {
    sv.stamp = sv.clock.now_us();
    sv.persist.loaded = (0, 0);
    sv.persist.loading = Some(Box::new(Loading {
        since: (sv.stamp / 1_000_000) as i64,
        total,
        served: (sv.stamp, 0),
        ..Loading::default()
    }));
}

/// Loading has ended, or was given up.
pub fn end(sv: &mut ServerState) {
    sv.persist.loading = None;
}

/// A file was read to its end; the next one is counted on top of it.
pub fn next_file(sv: &mut ServerState) {
    if let Some(loading) = &mut sv.persist.loading {
        loading.before = loading.loaded;
    }
}

/// Called every few keys: `offset` bytes of the present file were read. Now and then it lets the owner serve his
/// connections. False when loading is to stop.
pub fn go_on(ks: &mut Keyspace, sv: &mut ServerState, offset: u64, ticker: &mut dyn Ticker) -> bool {
    let now = sv.clock.now_us();
    let interval = sv.config.loading_interval_bytes;
    let Some(loading) = &mut sv.persist.loading else { return true };
    loading.loaded = loading.before + offset;
    let (at, bytes) = loading.served;
    if now.saturating_sub(at) < INTERVAL_US && loading.loaded.saturating_sub(bytes) < interval {
        return !loading.stop;
    }
    loading.served = (now, loading.loaded);
    sv.stamp = now;
    let used = ks.used_memory() + sv.memory();
    sv.stats.peak_memory = sv.stats.peak_memory.max(used);
    ticker.tick(&mut Busy { ks, sv });
    sv.persist.loading.as_ref().is_some_and(|loading| !loading.stop)
}

/// `key-load-delay`, for tests: so many microseconds per key, or (below zero) one in so many keys.
pub fn delay(sv: &ServerState, keys: u64, ticker: &mut dyn Ticker) {
    match sv.config.key_load_delay {
        0 => {}
        us @ 1.. => ticker.sleep(us.unsigned_abs()),
        every if keys.is_multiple_of(every.unsigned_abs()) => ticker.sleep(1),
        _ => {}
    }
}

/// Is the command refused while data is loaded? Of EXEC, what is queued decides.
#[cold]
pub(crate) fn refuses(loading: &Loading, client: &Client, command: &Command) -> bool {
    let refused = |command: &Command| match loading.beside {
        true => command.spec.flags.contains(Flags::NO_ASYNC_LOADING),
        false => !command.spec.flags.contains(Flags::LOADING),
    };
    let queued = client.multi.as_ref().filter(|_| command.spec.name == "exec");
    refused(command) || queued.is_some_and(|multi| multi.queue.iter().any(|q| refused(q.command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_goes_by_what_is_known() {
        let at = |total, used_memory, loaded| Loading {
            since: 10,
            total,
            used_memory,
            loaded,
            ..Loading::default()
        };
        assert_eq!(at(0, 0, 500).estimate(20), (0.0, 0));
        assert_eq!(at(1000, 0, 500).estimate(10), (50.0, 1));
        assert_eq!(at(1000, 9, 499).estimate(20), (49.9, 10));
        assert_eq!(at(0, 1000, 250).estimate(20).0, 25.0);
        // A stream may be longer than the memory that it fills.
        assert_eq!(at(0, 1000, 2000).estimate(20), (99.99, 0));
    }
}
