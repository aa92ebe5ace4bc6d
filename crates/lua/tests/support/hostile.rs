//! The lists of hostile scripts.

use std::sync::Arc;
use std::time::Duration;
use totality_lua::{Args, Chunk, CompileLimits, Flow, Host, HostFn, Reply};

/// A host without functions.
pub struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }
}

/// Names and texts of the scripts of a kind: `stop` or `limit`.
pub fn scripts(kind: &str) -> Vec<(String, String)> {
    let lists = [include_str!("../data/hostile.tsv"), include_str!("../data/hostile_more.tsv")];
    let rows = lists.iter().flat_map(|l| l.lines()).filter(|l| !l.starts_with('#'));
    rows.filter_map(|l| {
        let mut c = l.split('\t');
        let (name, script, what) = (c.next()?, c.next()?, c.next()?);
        (what == kind).then(|| (name.to_owned(), script.to_owned()))
    })
    .collect()
}

pub fn chunk(script: &str) -> Arc<Chunk> {
    Chunk::compile(script.as_bytes(), "@user_script", CompileLimits::default())
        .unwrap_or_else(|e| panic!("{e}: {script}"))
}

/// Processor time of a thread of this process, named by [`this_thread`]. Other than the clock it does not count what
/// other programs took meanwhile.
pub fn cpu_of(thread: &str) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{thread}/schedstat")).unwrap_or_default();
    let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.expect("the kernel counts the time of threads"))
}

/// Where the kernel keeps what it knows of this thread, below `/proc`.
pub fn this_thread() -> String {
    let link = std::fs::read_link("/proc/thread-self").expect("Linux");
    link.to_str().expect("digits and slashes").to_owned()
}
