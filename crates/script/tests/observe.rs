//! Metrics and spans: their names, and that nothing private is in them.

mod common;

use common::recorder::Sum;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use totality::{Db, Options};
use totality_script::catalogue::{idem, rl};
use totality_script::{Embedded, Fallback, Pipeline, PipelineMode, Policy, Runner, Script, Single};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, field};

fn runner() -> Runner<Embedded> {
    Runner::new(Embedded::new(Db::open(Options::default()).unwrap().session().unwrap()))
}

/// One at a time: `tracing` decides once for the whole process whether anybody wants a span, and a test that has no
/// subscriber may be the one that asks while the other's is being installed.
static ALONE: Mutex<()> = Mutex::new(());

const SECRET: &str = "secret-of-ann";

fn calls() {
    let mut r = runner();
    let gcra = |cost| rl::Gcra { subject: SECRET, limit: 10, period_ms: 1000, burst: 2, cost };
    r.call(&gcra(1)).unwrap();
    r.call(&gcra(2)).unwrap();
    let (scope, key, fingerprint, owner) = ("s", SECRET, "f", SECRET);
    r.call(&idem::Begin { scope, key, fingerprint, owner, lease_ms: 1000, ttl_ms: 1000 }).unwrap();
    let result = SECRET.as_bytes();
    r.call(&idem::Complete { scope, key, fingerprint, owner, result, ttl_ms: 1000 }).unwrap();
    let bad =
        Script::from_text("--- @script my.bad\n--- @version 1\nreturn {err = 'My own ' .. ARGV[1]}").unwrap();
    r.run(&bad, &["k"], &[SECRET]).unwrap_err();
    let mut p = Pipeline::new(PipelineMode::Sha);
    p.add(&gcra(1)).unwrap();
    r.target().session().call(&["SCRIPT", "FLUSH"]).unwrap();
    r.pipeline(&p).unwrap();
    r.target().session().call(&["SCRIPT", "FLUSH"]).unwrap();
    assert!(r.pipeline(&p).unwrap().get::<rl::Gcra<'_>>(0).is_err());
}

#[test]
fn the_metrics_have_their_names() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let sum = Sum::default();
    metrics::with_local_recorder(&sum, calls);
    let all = sum.all();
    let text = format!("{all:#?}");
    assert_eq!(sum.total("redis.script.execution.count", "script=rl.gcra,"), 4, "{text}");
    assert_eq!(sum.total("redis.script.execution.latency", "script=rl.gcra,"), 4, "{text}");
    assert_eq!(sum.total("redis.script.result.code", "script=rl.gcra,"), 3, "{text}");
    assert_eq!(sum.total("redis.script.result.code", "code=ALLOWED"), 2, "{text}");
    assert_eq!(sum.total("redis.script.noscript.count", "script=rl.gcra,"), 1, "{text}");
    assert_eq!(sum.total("redis.script.retry.count", "script=rl.gcra,"), 1, "{text}");
    assert_eq!(sum.total("redis.script.evicted.count", "mode=pipeline"), 1, "{text}");
    assert_eq!(sum.total("redis.script.error.count", "script=my.bad,"), 1, "{text}");
    let labels = ["script=rl.gcra", "version=1.0.0", "sha8=", "mode=single", "node=embedded", "code="];
    assert!(all.keys().any(|k| labels.iter().all(|l| k.contains(l))), "{text}");
    assert!(!text.contains(SECRET) && !text.contains("My own"), "{text}");
}

#[test]
fn what_the_caller_answers_instead_is_counted() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let sum = Sum::default();
    metrics::with_local_recorder(&sum, || {
        let policy = Policy { attempts: 1, timeout: Duration::from_millis(200), ..Policy::default() };
        let mut r = Runner::new(Single::open("redis://127.0.0.1:1/").unwrap()).with_policy(policy);
        let call = rl::Gcra { subject: "s", limit: 10, period_ms: 1000, burst: 2, cost: 1 };
        let pass = rl::GcraReply::Allowed { remaining: 0, retry_ms: 0, reset_ms: 0 };
        let stop = rl::GcraReply::Rejected { remaining: 0, retry_ms: 1000, reset_ms: 0 };
        assert!(r.call_or(&call, Fallback::Open(pass.clone())).unwrap().is_fallback());
        assert!(r.call_or(&call, Fallback::Closed(stop)).unwrap().is_fallback());
        // A wrong argument is a fault, not a reason to let it pass.
        assert!(r.call_or(&rl::Gcra { burst: 0, ..call }, Fallback::Open(pass)).is_err());
    });
    let text = format!("{:#?}", sum.all());
    for code in ["code=open", "code=closed"] {
        assert_eq!(sum.total("redis.script.fallback.count", code), 1, "{text}");
    }
    assert_eq!(sum.total("redis.script.fallback.count", "script=rl.gcra,"), 2, "{text}");
    assert_eq!(sum.total("redis.script.error.count", "code=CONNECTION"), 2, "{text}");
}

/// Keeps every field of every span as text.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<String>>);

impl field::Visit for Spans {
    fn record_debug(&mut self, field: &field::Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn the_spans_have_their_fields() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let spans = Spans::default();
    tracing::subscriber::with_default(spans.clone(), calls);
    let text = spans.0.lock().unwrap().clone();
    for part in [
        "otel.name=EVALSHA rl.gcra",
        "db.system.name=\"redis\"",
        "db.stored_procedure.name=rl.gcra@1.0.0",
        "redis.script.sha=",
        "redis.script.code=1",
        "redis.script.code=0",
        "redis.script.retry=1",
        "redis.key_prefix=\"rl:\"",
        "server.address=\"embedded\"",
        "db.response.status_code=\"ERR\"",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains(SECRET), "{text}");
}
