//! When keys were used last: a clock for LRU, a logarithmic counter that decays for LFU. Both live in the 32 bits of
//! [`Entry::lru`].

use super::{Entry, Keyspace};

/// The access clock counts units of two to this power of microseconds: fine enough to tell keys apart that were used
/// within the same second, coarse enough not to come round for four years.
pub(super) const CLOCK_BITS: u32 = 15;

/// Counter of a key that was just made: it must not be evicted before it had a chance.
const LFU_INIT: u32 = 5;

/// Settings of the LFU counters, from `lfu-log-factor` and `lfu-decay-time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lfu {
    /// The larger, the more uses the counter needs to grow.
    pub log_factor: u64,
    /// Minutes after which an unused key's counter is one less; 0 for never.
    pub decay_time: u64,
}

impl Keyspace {
    /// Minutes, 16 bits: the clock of the LFU counters.
    fn lfu_clock(&self) -> u32 {
        ((self.now_us / 60_000_000) & 0xffff) as u32
    }

    /// The mark of a key that is made now.
    #[inline]
    pub(crate) fn access_new(&self) -> u32 {
        if self.lfu.is_none() { self.lru_clock } else { self.lfu_clock() << 8 | LFU_INIT }
    }

    /// The mark of a key that is used now and had `old`.
    #[inline]
    pub(crate) fn access_again(&mut self, old: u32) -> u32 {
        match self.lfu {
            None => self.lru_clock,
            Some(lfu) => self.access_lfu(lfu, old),
        }
    }

    fn access_lfu(&mut self, lfu: Lfu, old: u32) -> u32 {
        let counter = self.decayed(lfu, old);
        let grows = counter < 255 && {
            let base = u64::from(counter.saturating_sub(LFU_INIT));
            let odds = base.saturating_mul(lfu.log_factor).saturating_add(1);
            self.random().is_multiple_of(odds)
        };
        self.lfu_clock() << 8 | (counter + u32::from(grows))
    }

    fn decayed(&self, lfu: Lfu, mark: u32) -> u32 {
        let counter = mark & 0xff;
        let minutes = self.lfu_clock().wrapping_sub(mark >> 8) & 0xffff;
        let periods = u64::from(minutes).checked_div(lfu.decay_time).unwrap_or(0);
        counter.saturating_sub(u32::try_from(periods).unwrap_or(u32::MAX))
    }

    /// The mark of a key that was last used so many seconds ago; `None` under an LFU policy.
    pub(crate) fn access_idle(&self, seconds: i64) -> Option<u32> {
        let seconds = u64::try_from(seconds).unwrap_or(0);
        self.lfu.is_none().then(|| self.mark_idle(seconds))
    }

    /// The mark of a key whose LFU counter is `counter`; `None` under any other policy.
    pub(crate) fn access_freq(&self, counter: u8) -> Option<u32> {
        self.lfu.map(|_| self.mark_frequency(counter))
    }

    /// Seconds since the key was used last.
    pub fn idle_seconds(&self, entry: &Entry) -> u64 {
        (u64::from(self.lru_clock.wrapping_sub(entry.lru)) << CLOCK_BITS) / 1_000_000
    }

    /// The mark of a key that was used last so many seconds ago.
    pub fn mark_idle(&self, seconds: u64) -> u32 {
        // Rounded up, so that at least so many seconds are told.
        let units = seconds.saturating_mul(1_000_000).div_ceil(1 << CLOCK_BITS);
        self.lru_clock.wrapping_sub(u32::try_from(units).unwrap_or(u32::MAX / 2))
    }

    /// The mark of a key whose LFU counter is `counter`.
    pub fn mark_frequency(&self, counter: u8) -> u32 {
        self.lfu_clock() << 8 | u32::from(counter)
    }

    /// How much a key deserves to be evicted under LRU or LFU: time since its last use, or how rarely it is used.
    #[inline]
    pub(super) fn coldness(&self, mark: u32) -> u64 {
        match self.lfu {
            None => u64::from(self.lru_clock.wrapping_sub(mark)),
            Some(lfu) => u64::from(255 - self.decayed(lfu, mark)),
        }
    }

    /// The key's LFU counter, decayed up to now; 0 when the policy is no LFU one.
    pub fn frequency(&self, entry: &Entry) -> u8 {
        self.lfu.map_or(0, |lfu| self.decayed(lfu, entry.lru) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_grow_slower_and_slower_and_decay() {
        let mut ks = Keyspace::new(1, [3; 16]);
        ks.lfu = Some(Lfu { log_factor: 10, decay_time: 1 });
        ks.begin_unit(1_700_000_000_000_000);
        let mut mark = ks.access_new();
        for _ in 0..1000 {
            mark = ks.access_again(mark);
        }
        let after = mark & 0xff;
        assert!((12..40).contains(&after), "{after}");
        ks.begin_unit(1_700_000_000_000_000 + 3 * 60_000_000);
        assert_eq!(ks.decayed(Lfu { log_factor: 10, decay_time: 1 }, mark), after - 3);
        assert_eq!(ks.decayed(Lfu { log_factor: 10, decay_time: 0 }, mark), after);
        ks.lfu = None;
        assert_eq!(ks.access_again(mark), ks.lru_clock);
    }
}
