//! Many calls at once: pipelines and transactions.
//!
//! A pipeline is cut by node, in order. SCRIPT LOAD goes in front for each script that the node is not known to have. A
//! NOSCRIPT that comes nevertheless (SCRIPT FLUSH in between) is reported at its place: nothing is sent again out of order.
//! A transaction lives on one node; its scripts are loaded on the same connection right before MULTI.

use crate::error::{Error, LinkError};
use crate::observe::{self, Mode};
use crate::render::Rendering;
use crate::reply::{Call, Reply};
use crate::runner::{Prepared, code_of};
use crate::script::Script;
use crate::value::Value;
use crate::words::Words;
use std::collections::HashSet;
use std::time::Duration;

/// Most calls of one pipeline.
const MAX_CALLS: usize = 100_000;

/// How calls that go together are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineMode {
    /// By EVALSHA, loaded in front.
    Sha,
    /// By EVAL with the full text each time: nothing can be evicted in between.
    Eval,
    /// Between MULTI and EXEC: all on one node, nothing between them, no rollback.
    Transaction,
}

/// Calls that go together.
#[derive(Debug)]
pub struct Pipeline {
    mode: PipelineMode,
    calls: Vec<Prepared>,
}

impl Pipeline {
    /// An empty one.
    pub fn new(mode: PipelineMode) -> Pipeline {
        Pipeline { mode, calls: Vec::new() }
    }

    /// Adds a call and gives its place.
    ///
    /// # Errors
    /// What is wrong with its keys or arguments.
    pub fn add<C: Call>(&mut self, call: &C) -> Result<usize, Error> {
        self.push(Prepared::of(call, Rendering::Redis)?)
    }

    /// Adds a call of any script and gives its place.
    ///
    /// # Errors
    /// [`Error::CrossSlot`].
    pub fn add_script<K: AsRef<[u8]>, A: AsRef<[u8]>>(
        &mut self,
        script: &Script,
        keys: &[K],
        args: &[A],
    ) -> Result<usize, Error> {
        let (mut k, mut a) = (Words::new(), Words::new());
        keys.iter().for_each(|w| k.push(w.as_ref()));
        args.iter().for_each(|w| a.push(w.as_ref()));
        self.push(Prepared::new(script, Rendering::Redis, &k, &a)?)
    }

    fn push(&mut self, call: Prepared) -> Result<usize, Error> {
        if self.calls.len() >= MAX_CALLS {
            let why = format!("takes up to {MAX_CALLS} calls");
            return Err(Error::Argument { script: "pipeline".into(), name: "calls".into(), why });
        }
        self.calls.push(call);
        Ok(self.calls.len() - 1)
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = Option<u16>> {
        self.calls.iter().map(|c| c.slot)
    }

    /// Cuts it into parts, one for each node.
    pub(crate) fn plan(
        &self,
        nodes: &[String],
        epoch: u64,
        confirmed: &mut Confirmed,
        eval: bool,
    ) -> Result<Plan, Error> {
        confirmed.at(epoch);
        let transaction = self.mode == PipelineMode::Transaction;
        if transaction {
            let mut slots = self.slots().flatten();
            let first = slots.next();
            if let Some(other) = slots.find(|s| Some(*s) != first) {
                let key =
                    |slot| self.calls.iter().find(|c| c.slot == Some(slot)).and_then(|c| c.evalsha().get(3));
                let of = |slot| key(slot).unwrap_or_default().to_vec();
                return Err(Error::CrossSlot { first: of(first.unwrap_or(other)), second: of(other) });
            }
        }
        let mut parts: Vec<Part> = Vec::new();
        for (i, call) in self.calls.iter().enumerate() {
            let node = if transaction { &nodes[0] } else { &nodes[i] };
            let at = parts.iter().position(|p| p.node == *node).unwrap_or_else(|| {
                parts.push(Part::new(node.clone(), call.slot, transaction));
                parts.len() - 1
            });
            parts[at].calls.push(i);
        }
        let by_eval = eval || self.mode == PipelineMode::Eval;
        for part in &mut parts {
            let mut here = HashSet::new();
            for &i in &part.calls {
                let sha = self.calls[i].sha();
                // A transaction loads always: what was there a moment ago may be gone, and EXEC would commit the rest.
                let known = !transaction && confirmed.has(&part.node, sha);
                if !by_eval && !known && here.insert(sha) {
                    part.commands.push(self.calls[i].load());
                    part.loads.push(sha.to_string());
                }
            }
            if transaction {
                part.commands.push(Words::of(&["MULTI"]));
            }
            for &i in &part.calls {
                let call = &self.calls[i];
                part.commands.push(if by_eval { call.eval() } else { call.evalsha().clone() });
            }
            if transaction {
                part.commands.push(Words::of(&["EXEC"]));
            }
        }
        Ok(Plan { parts })
    }
}

/// Which scripts a node is known to have.
#[derive(Debug, Default)]
pub(crate) struct Confirmed {
    epoch: u64,
    known: HashSet<(String, String)>,
}

impl Confirmed {
    /// Forgets everything when a connection was made anew: it may be another server now.
    fn at(&mut self, epoch: u64) {
        if self.epoch != epoch || self.known.len() > 100_000 {
            self.known.clear();
            self.epoch = epoch;
        }
    }

    fn has(&self, node: &str, sha: &str) -> bool {
        self.known.contains(&(node.to_string(), sha.to_string()))
    }
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) parts: Vec<Part>,
}

/// What goes to one node.
#[derive(Debug)]
pub(crate) struct Part {
    node: String,
    pub(crate) slot: Option<u16>,
    transaction: bool,
    pub(crate) commands: Vec<Words>,
    loads: Vec<String>,
    calls: Vec<usize>,
    got: Result<Vec<Value>, LinkError>,
    took: Duration,
}

impl Part {
    fn new(node: String, slot: Option<u16>, transaction: bool) -> Part {
        Part {
            node,
            slot,
            transaction,
            commands: Vec::new(),
            loads: Vec::new(),
            calls: Vec::new(),
            got: Ok(Vec::new()),
            took: Duration::ZERO,
        }
    }

    pub(crate) fn feed(&mut self, got: Result<Vec<Value>, LinkError>, took: Duration) {
        (self.got, self.took) = (got, took);
    }

    /// The replies of the calls of this part.
    fn replies(&mut self) -> Result<Vec<Result<Value, Error>>, Error> {
        let values = match std::mem::replace(&mut self.got, Ok(Vec::new())) {
            Ok(values) => values,
            Err(why) => {
                let executed = why.unsent().then_some(false);
                let lost = Error::NoAnswer { why, executed, after: self.took };
                return Ok(self.calls.iter().map(|_| Err(lost.clone())).collect());
            }
        };
        let mut values = values.into_iter().skip(self.loads.len());
        if !self.transaction {
            return Ok(values.zip(&self.calls).map(|(v, i)| answer(v, *i)).collect());
        }
        match values.next_back() {
            Some(Value::Array(v)) if v.len() == self.calls.len() => {
                Ok(v.into_iter().zip(&self.calls).map(|(v, i)| answer(v, *i)).collect())
            }
            Some(Value::Nil) => Err(Error::Aborted("a watched key has changed".into())),
            Some(Value::Error(text)) => Err(Error::Aborted(text)),
            _ => Err(Error::Contract { script: "EXEC".into(), why: "not one reply for each call".into() }),
        }
    }
}

fn answer(value: Value, index: usize) -> Result<Value, Error> {
    match value {
        Value::Error(text) => Err(match text.split(' ').next() {
            Some("NOSCRIPT") => Error::ScriptEvicted { index },
            Some("SCRIPTARG") => Error::ScriptArgument(text),
            Some("MOVED" | "ASK" | "TRYAGAIN" | "BUSY" | "LOADING" | "CLUSTERDOWN") => {
                Error::Unavailable(text)
            }
            _ => Error::Refused(text),
        }),
        value => Ok(value),
    }
}

impl Plan {
    /// The replies in the order of the calls, and which slots have moved.
    pub(crate) fn finish(
        mut self,
        pipeline: &Pipeline,
        epoch: u64,
        confirmed: &mut Confirmed,
    ) -> (Result<PipelineReply, Error>, Vec<(u16, String)>) {
        let mut replies: Vec<Option<Result<Value, Error>>> = pipeline.calls.iter().map(|_| None).collect();
        let mut moved = Vec::new();
        // The connection may have been made just now; what was loaded by it counts.
        confirmed.at(epoch);
        for part in &mut self.parts {
            let got = match part.replies() {
                Ok(got) => got,
                Err(e) => return (Err(e), moved),
            };
            let mode = if part.transaction { Mode::Transaction } else { Mode::Pipeline };
            let evicted = got.iter().any(|r| matches!(r, Err(Error::ScriptEvicted { .. })));
            if evicted {
                confirmed.known.retain(|(node, _)| *node != part.node);
            } else if !got.iter().any(|r| matches!(r, Err(Error::NoAnswer { .. }))) {
                confirmed.known.extend(part.loads.iter().map(|sha| (part.node.clone(), sha.clone())));
            }
            for (i, reply) in part.calls.iter().zip(got) {
                let meters = pipeline.calls[*i].script.meters();
                let code = reply.as_ref().ok().and_then(code_of);
                meters.executed(mode, &part.node, part.took, code);
                if let Err(e) = &reply {
                    meters.count(observe::ERRORS, mode, &part.node, Some(crate::runner::error_code(e)), 1);
                    if matches!(e, Error::ScriptEvicted { .. }) {
                        meters.count(observe::EVICTED, mode, &part.node, None, 1);
                    }
                    moved.extend(moved_to(e));
                }
                replies[*i] = Some(reply);
            }
        }
        let missing = || Err(Error::Contract { script: "pipeline".into(), why: "a reply is missing".into() });
        let replies: Vec<_> = replies.into_iter().map(|r| r.unwrap_or_else(missing)).collect();
        let failed: Vec<(usize, String)> =
            (0..).zip(&replies).filter_map(|(i, r)| Some((i, r.as_ref().err()?.to_string()))).collect();
        let unanswered =
            replies.iter().find_map(|r| r.as_ref().err().filter(|e| matches!(e, Error::NoAnswer { .. })));
        if pipeline.mode == PipelineMode::Transaction && !failed.is_empty() {
            let e = unanswered.cloned().unwrap_or(Error::PartialTransaction { failed });
            return (Err(e), moved);
        }
        (Ok(PipelineReply { replies }), moved)
    }
}

fn moved_to(e: &Error) -> Option<(u16, String)> {
    let Error::Unavailable(text) = e else { return None };
    let mut words = text.strip_prefix("MOVED ")?.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?.to_string()))
}

/// The replies of a pipeline, by the places that [`Pipeline::add`] gave.
#[derive(Debug)]
pub struct PipelineReply {
    replies: Vec<Result<Value, Error>>,
}

impl PipelineReply {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.replies.len()
    }

    /// True for the replies of an empty pipeline.
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// The reply at a place, for the type of its call.
    ///
    /// # Errors
    /// What went wrong with this call; [`Error::ScriptEvicted`] when its script was gone.
    pub fn get<C: Call>(&self, index: usize) -> Result<C::Reply, Error> {
        C::Reply::parse("pipeline", self.value(index)?.clone())
    }

    /// The reply at a place as it came.
    ///
    /// # Errors
    /// What went wrong with this call.
    pub fn value(&self, index: usize) -> Result<&Value, Error> {
        match self.replies.get(index) {
            Some(Ok(value)) => Ok(value),
            Some(Err(e)) => Err(e.clone()),
            None => Err(Error::Argument {
                script: "pipeline".into(),
                name: "index".into(),
                why: "is not the place of a call".into(),
            }),
        }
    }
}
