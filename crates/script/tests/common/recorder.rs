//! A recorder of metrics for tests: sums by name and labels.

use metrics::{
    Counter, CounterFn, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

type Sums = Arc<Mutex<BTreeMap<String, u64>>>;

#[derive(Debug, Clone, Default)]
pub struct Sum(Sums);

struct One(Sums, String);

impl Sum {
    /// Each metric as `name{label=value,…}` with its sum (histograms: how many values).
    pub fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap().clone()
    }

    /// The sum over all metrics of this name whose text contains `part`.
    pub fn total(&self, name: &str, part: &str) -> u64 {
        let of = |k: &str| k.starts_with(&format!("{name}{{")) && k.contains(part);
        self.all().iter().filter(|(k, _)| of(k)).map(|(_, n)| n).sum()
    }

    fn one(&self, key: &Key) -> Arc<One> {
        let labels: Vec<String> = key.labels().map(|l| format!("{}={}", l.key(), l.value())).collect();
        Arc::new(One(self.0.clone(), format!("{}{{{}}}", key.name(), labels.join(","))))
    }
}

impl CounterFn for One {
    fn increment(&self, n: u64) {
        *self.0.lock().unwrap().entry(self.1.clone()).or_default() += n;
    }

    fn absolute(&self, n: u64) {
        self.0.lock().unwrap().insert(self.1.clone(), n);
    }
}

impl HistogramFn for One {
    fn record(&self, _: f64) {
        self.increment(1);
    }
}

impl Recorder for Sum {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.one(key))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.one(key))
    }
}
