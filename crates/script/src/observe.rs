//! Metrics and spans. Names are fixed; of keys only the template's first part is shown; arguments never are.

use crate::header::Header;
use metrics::{Key, Label, Level, Metadata, SharedString};
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// Calls that were made.
pub const EXECUTIONS: &str = "redis.script.execution.count";
/// How long calls took, in seconds, retries included.
pub const LATENCY: &str = "redis.script.execution.latency";
/// Calls without an answer, by `code`.
pub const ERRORS: &str = "redis.script.error.count";
/// Replies that began with NOSCRIPT.
pub const NOSCRIPT: &str = "redis.script.noscript.count";
/// Calls without a reply in time.
pub const TIMEOUTS: &str = "redis.script.timeout.count";
/// Answers by `code`, the name of the code in the script's header.
pub const RESULTS: &str = "redis.script.result.code";
/// Sendings after the first one.
pub const RETRIES: &str = "redis.script.retry.count";
/// Replies that broke the contract.
pub const PARSE_ERRORS: &str = "redis.script.reply.parse_error.count";
/// Answers that the caller's own reply stood in for, by `code`: `open` or `closed`.
pub const FALLBACKS: &str = "redis.script.fallback.count";
/// Calls of a pipeline whose script was gone.
pub const EVICTED: &str = "redis.script.evicted.count";

static META: Metadata<'static> = Metadata::new("totality_script", Level::INFO, Some(module_path!()));

/// More nodes than this share one label: labels must not grow without bound.
const MAX_NODES: usize = 64;

/// How a call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Single,
    /// A native command stood in for the script.
    Native,
    Pipeline,
    Transaction,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Single => "single",
            Mode::Native => "native",
            Mode::Pipeline => "pipeline",
            Mode::Transaction => "transaction",
        }
    }
}

/// The metrics' keys of one script, made once.
#[derive(Debug)]
pub(crate) struct Meters {
    labels: [Label; 3],
    codes: Vec<(i64, SharedString)>,
    nodes: RwLock<Vec<Arc<Keys>>>,
}

#[derive(Debug)]
pub(crate) struct Keys {
    mode: Mode,
    node: String,
    executions: Key,
    latency: Key,
    results: Vec<(i64, Key)>,
}

impl Meters {
    pub(crate) fn new(header: &Header, sha: &str) -> Meters {
        let label =
            |name: &'static str, value: &str| Label::new(name, SharedString::from_shared(Arc::from(value)));
        let labels =
            [label("script", &header.name), label("version", &header.version), label("sha8", &sha[..8])];
        let codes = header
            .codes
            .iter()
            .map(|c| (c.code, SharedString::from_shared(Arc::from(c.name.as_str()))))
            .collect();
        Meters { labels, codes, nodes: RwLock::default() }
    }

    fn labels(&self, mode: Mode, node: &str) -> Vec<Label> {
        let mut labels = self.labels.to_vec();
        labels.push(Label::from_static_parts("mode", mode.name()));
        labels.push(Label::new("node", SharedString::from_shared(Arc::from(node))));
        labels
    }

    fn keys(&self, mode: Mode, node: &str) -> Arc<Keys> {
        let found = |all: &[Arc<Keys>]| all.iter().find(|k| k.mode == mode && k.node == node).cloned();
        // A panic while the lock was held left at most a missing entry.
        let nodes = self.nodes.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(keys) = found(&nodes) {
            return keys;
        }
        let full = nodes.len() >= MAX_NODES;
        drop(nodes);
        let node = if full { "other" } else { node };
        let labels = self.labels(mode, node);
        let result = |(code, name): &(i64, SharedString)| {
            let mut labels = labels.clone();
            labels.push(Label::new("code", name.clone()));
            (*code, Key::from_parts(RESULTS, labels))
        };
        let keys = Arc::new(Keys {
            mode,
            node: node.into(),
            executions: Key::from_parts(EXECUTIONS, labels.clone()),
            latency: Key::from_parts(LATENCY, labels.clone()),
            results: self.codes.iter().map(result).collect(),
        });
        let mut nodes = self.nodes.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(keys) = found(&nodes) {
            return keys;
        }
        nodes.push(keys.clone());
        keys
    }

    /// Counts a call that was answered, or not.
    pub(crate) fn executed(&self, mode: Mode, node: &str, took: Duration, code: Option<i64>) {
        let keys = self.keys(mode, node);
        metrics::with_recorder(|r| {
            r.register_counter(&keys.executions, &META).increment(1);
            r.register_histogram(&keys.latency, &META).record(took.as_secs_f64());
            if let Some((_, key)) = keys.results.iter().find(|(c, _)| Some(*c) == code) {
                r.register_counter(key, &META).increment(1);
            }
        });
    }

    /// Counts one of the rarer things; `code` is the first word of an error.
    pub(crate) fn count(&self, name: &'static str, mode: Mode, node: &str, code: Option<&str>, n: u64) {
        if n == 0 {
            return;
        }
        let mut labels = self.labels(mode, node);
        if let Some(code) = code {
            labels.push(Label::new("code", SharedString::from_owned(code.to_string())));
        }
        let key = Key::from_parts(name, labels);
        metrics::with_recorder(|r| r.register_counter(&key, &META).increment(n));
    }
}

/// The span of a call, named as OpenTelemetry's conventions for databases have it.
pub(crate) fn span(header: &Header, sha: &str, node: &str) -> tracing::Span {
    tracing::info_span!(
        "redis.script",
        otel.name = format_args!("EVALSHA {}", header.name),
        otel.kind = "client",
        db.system.name = "redis",
        db.operation.name = if header.read_only() { "EVALSHA_RO" } else { "EVALSHA" },
        db.stored_procedure.name = format_args!("{}@{}", header.name, header.version),
        server.address = node,
        redis.script.sha = sha,
        redis.key_prefix = header.key_prefix(),
        redis.script.code = tracing::field::Empty,
        redis.script.retry = tracing::field::Empty,
        db.response.status_code = tracing::field::Empty,
    )
}
