//! How long things take: a histogram for each command, and the events of LATENCY.

use std::collections::BTreeMap;

/// Number of linear steps in each power of two.
const SUB: usize = 256;
const HALF: usize = SUB / 2;
/// Powers of two above the first that reach the greatest value.
const BUCKETS: usize = 23;
/// Greatest value, in nanoseconds: what takes longer counts as this.
const MAX: u64 = 1_000_000_000;

/// Counts of durations with an error of less than one percent, from a nanosecond to a second: the layout of an HDR
/// histogram with two significant digits, so that percentiles are those that Redis shows.
pub struct Histogram {
    counts: Box<[u64]>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: vec![0; (BUCKETS + 1) * HALF].into_boxed_slice(), total: 0 }
    }
}

/// The counter of a value.
fn index(ns: u64) -> usize {
    let bits = u64::BITS - (ns | (SUB as u64 - 1)).leading_zeros();
    let bucket = (bits - 8) as usize;
    let sub = (ns >> bucket) as usize;
    (bucket + 1) * HALF + sub - HALF
}

/// The greatest value that shares the counter `i`.
fn highest(i: usize) -> u64 {
    let (bucket, sub) = match i / HALF {
        0 => (0, i),
        n => (n - 1, HALF + i % HALF),
    };
    ((sub as u64 + 1) << bucket) - 1
}

impl Histogram {
    /// Counts a duration in microseconds.
    #[inline]
    pub fn record(&mut self, us: u64) {
        let ns = us.saturating_mul(1000).clamp(1, MAX);
        if let Some(count) = self.counts.get_mut(index(ns)) {
            *count += 1;
            self.total += 1;
        }
    }

    /// Number of durations.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The duration in microseconds that `percent` of all do not exceed.
    pub fn percentile(&self, percent: f64) -> f64 {
        let wanted = ((percent.min(100.0) / 100.0 * self.total as f64) + 0.5) as u64;
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                let value = if percent == 0.0 && i > 0 { highest(i - 1) + 1 } else { highest(i) };
                return value as f64 / 1000.0;
            }
        }
        0.0
    }

    /// Numbers of durations up to about 1, 2, 4, … microseconds, where they grow: (microseconds, number).
    pub fn cumulative(&self) -> Vec<(u64, u64)> {
        let mut out: Vec<(u64, u64)> = Vec::new();
        let (mut seen, mut next) = (0, 0);
        let mut level = 1024;
        while seen < self.total && next < self.counts.len() {
            let last = index(level).min(self.counts.len() - 1);
            seen += self.counts[next..=last].iter().sum::<u64>();
            if out.last().map_or(0, |(_, n)| *n) < seen {
                out.push((highest(last) / 1000, seen));
            }
            next = last + 1;
            level *= 2;
        }
        out
    }
}

/// Samples that an event keeps.
const SAMPLES: usize = 160;

/// The samples of one event.
#[derive(Debug, Clone, Default)]
pub struct Series {
    /// Seconds since the Unix epoch and milliseconds, oldest first; at most one a second, the worst.
    pub samples: std::collections::VecDeque<(i64, u64)>,
    /// The worst ever, in milliseconds.
    pub max: u64,
    /// All milliseconds together.
    pub sum: u64,
    /// Number of events.
    pub count: u64,
}

/// What LATENCY DOCTOR says of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Analysis {
    /// Number of samples.
    pub samples: u64,
    /// Their mean in milliseconds.
    pub average: u64,
    /// Mean absolute deviation from it.
    pub deviation: u64,
    /// Seconds from one to the next on average.
    pub period: f64,
}

impl Series {
    fn add(&mut self, now: i64, ms: u64) {
        self.max = self.max.max(ms);
        self.sum += ms;
        self.count += 1;
        match self.samples.back_mut() {
            Some((second, worst)) if *second == now => *worst = ms.max(*worst),
            _ => {
                if self.samples.len() == SAMPLES {
                    self.samples.pop_front();
                }
                self.samples.push_back((now, ms));
            }
        }
    }

    /// Means over the samples.
    pub fn analysis(&self, now: i64) -> Analysis {
        let samples = self.samples.len().max(1) as u64;
        let average = self.samples.iter().map(|(_, ms)| ms).sum::<u64>() / samples;
        let deviation = self.samples.iter().map(|(_, ms)| ms.abs_diff(average)).sum::<u64>() / samples;
        let oldest = self.samples.front().map_or(now, |(second, _)| *second);
        Analysis { samples, average, deviation, period: (now - oldest).max(1) as f64 / samples as f64 }
    }
}

/// The events that took `latency-monitor-threshold` milliseconds or more.
#[derive(Debug, Default)]
pub struct Events(BTreeMap<&'static str, Series>);

impl Events {
    /// Notes that `event` took so many microseconds at a time in microseconds since the Unix epoch, if that reaches
    /// the threshold in milliseconds; 0 notes nothing.
    #[inline]
    pub fn note(&mut self, threshold: u64, event: &'static str, us: u64, now_us: u64) {
        if threshold > 0 && us / 1000 >= threshold {
            self.0.entry(event).or_default().add((now_us / 1_000_000) as i64, us / 1000);
        }
    }

    /// The samples of an event.
    pub fn get(&self, event: &[u8]) -> Option<(&'static str, &Series)> {
        self.0.iter().find(|(name, _)| name.as_bytes() == event).map(|(name, series)| (*name, series))
    }

    /// All events.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, &Series)> {
        self.0.iter().map(|(name, series)| (*name, series))
    }

    /// Forgets one event or all; how many there were.
    pub fn reset(&mut self, event: Option<&[u8]>) -> usize {
        let before = self.0.len();
        self.0.retain(|name, _| event.is_some_and(|event| !name.as_bytes().eq_ignore_ascii_case(event)));
        before - self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_those_of_an_hdr_histogram() {
        // Pairs of a value and the greatest value of its counter, from hdr_histogram with two digits.
        for (value, top) in [(1, 1), (255, 255), (256, 257), (1000, 1003), (2000, 2007), (1024, 1031)] {
            assert_eq!(highest(index(value)), top, "{value}");
        }
        for value in [1, 7, 999, 4096, 1_000_000, MAX] {
            assert!(highest(index(value)) >= value);
            assert!(index(value) < (BUCKETS + 1) * HALF);
            assert!(index(value) == 0 || highest(index(value) - 1) < value);
        }
    }

    #[test]
    fn percentiles_and_sums() {
        let mut h = Histogram::default();
        (0..99).for_each(|_| h.record(1));
        h.record(5000);
        h.record(10_000_000);
        assert_eq!(h.percentile(50.0), 1.003);
        assert_eq!(h.percentile(99.0), 5013.503);
        let sums = h.cumulative();
        assert_eq!(sums.first(), Some(&(1, 99)));
        assert_eq!(sums.last().map(|(_, n)| *n), Some(101));
        assert_eq!(Histogram::default().cumulative(), []);
    }

    #[test]
    fn events_keep_the_worst_of_a_second() {
        let mut events = Events::default();
        events.note(0, "command", 5_000_000, 0);
        events.note(10, "command", 9_999, 0);
        assert_eq!(events.iter().len(), 0);
        for i in 0..200 {
            events.note(10, "command", 20_000 + i * 1000, 1_000_000 * i);
            events.note(10, "command", 10_000, 1_000_000 * i);
        }
        let (_, series) = events.get(b"command").unwrap();
        assert_eq!((series.samples.len(), series.count, series.max), (SAMPLES, 400, 219));
        assert_eq!(series.samples[0], (40, 60));
        assert_eq!(events.reset(Some(b"other")), 0);
        assert_eq!(events.reset(Some(b"COMMAND")), 1);
    }
}
