//! `maxmemory`: keys are evicted before a command runs, for at most a bounded time; what is left over is evicted
//! between the next commands.

use crate::execute;
use crate::keyspace::{Keyspace, Policy};
use crate::state::ServerState;

/// Keys that are evicted between two looks at the clock.
const STEP: usize = 16;

/// What [`make_room`] came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Memory is within the limit, or nobody may judge it now.
    Enough,
    /// The time was over before it was. The rest follows; commands may run.
    Later,
    /// Memory is over the limit and nothing can be evicted.
    No,
}

/// Bytes that count against `maxmemory`.
pub(crate) fn used(ks: &Keyspace, sv: &ServerState) -> u64 {
    (ks.used_memory() + sv.memory()) as u64
}

/// Evicts keys until memory is within `maxmemory`, the time is over or nothing is left to evict. To be called between
/// units of execution only: each eviction is an effect of its own.
pub(crate) fn make_room(ks: &mut Keyspace, sv: &mut ServerState) -> Room {
    sv.evicting = false;
    if ignores(sv) {
        return Room::Enough;
    }
    if sv.config.maxmemory == 0 || sv.held.any() || sv.pause.is_some_and(|pause| pause.until > ks.now) {
        return Room::Enough;
    }
    let room = if used(ks, sv) <= sv.config.maxmemory { Room::Enough } else { evict(ks, sv) };
    sv.evicting = room == Room::Later;
    note_time(sv, room);
    room
}

/// True on a replica that leaves it to its primary to keep within `maxmemory`.
#[inline]
pub(crate) fn ignores(sv: &ServerState) -> bool {
    sv.config.replica_ignore_maxmemory && !sv.repl.is_primary()
}

#[cold]
fn evict(ks: &mut Keyspace, sv: &mut ServerState) -> Room {
    let Policy::By { rank, volatile } = Policy::of(&sv.config) else { return Room::No };
    if sv.config.import_mode {
        return Room::No;
    }
    let samples = sv.config.maxmemory_samples as usize;
    let start = sv.clock.now_us();
    let until = time_limit(sv.config.maxmemory_eviction_tenacity).map(|limit| start.saturating_add(limit));
    let apart = std::mem::replace(&mut ks.effects.apart, true);
    let mut evicted = 0;
    let room = loop {
        if !ks.evict_one(rank, volatile, samples) {
            break Room::No;
        }
        evicted += 1;
        if used(ks, sv) <= sv.config.maxmemory {
            break Room::Enough;
        }
        if evicted % STEP == 0 && until.is_some_and(|until| sv.clock.now_us() > until) {
            break Room::Later;
        }
    };
    if !ks.effects.is_empty() {
        // Those who wait for keys are served at the end of the unit that follows.
        execute::release(ks, sv);
    }
    ks.effects.apart = apart;
    let now = sv.clock.now_us();
    sv.latency.note(sv.config.latency_monitor_threshold, "eviction-cycle", now.saturating_sub(start), now);
    room
}

/// Microseconds that one call may take, by `maxmemory-eviction-tenacity`; `None` for no limit. As in Redis: up to
/// 500 µs at 10, then 15 % more with each step.
fn time_limit(tenacity: u64) -> Option<u64> {
    match tenacity {
        0..=10 => Some(50 * tenacity),
        11..100 => Some((500.0 * 1.15f64.powi(tenacity as i32 - 10)) as u64),
        _ => None,
    }
}

/// Counts the time during which memory is over the limit.
fn note_time(sv: &mut ServerState, room: Room) {
    let (total, since) = &mut sv.stats.eviction_exceeded;
    match (room, *since) {
        (Room::Enough, Some(at)) => {
            *total += sv.stamp.saturating_sub(at);
            *since = None;
        }
        (Room::Later | Room::No, None) => *since = Some(sv.stamp),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_grows_with_the_tenacity() {
        assert_eq!((time_limit(0), time_limit(10), time_limit(100)), (Some(0), Some(500), None));
        assert_eq!(time_limit(11), Some(575));
        assert!(time_limit(99).is_some_and(|us| us > 100_000_000));
    }
}
