//! Calls on a blocking target.

use crate::error::{Error, LinkError};
use crate::flow::{Flow, Form, Step};
use crate::native::{self, Natives};
use crate::observe::{self, Mode};
use crate::pipeline::{Confirmed, Pipeline, PipelineReply};
use crate::render::Rendering;
use crate::reply::{Call, Reply};
use crate::script::Script;
use crate::slot::slot;
use crate::target::{Node, Target};
use crate::value::Value;
use crate::words::Words;
use std::time::{Duration, Instant};

/// How long and how often a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Time for a call with everything that it needs. Keep it below the time that your own caller waits.
    pub timeout: Duration,
    /// How often a call is sent, at most, when the server could not run it or when there was no answer and the script's
    /// retry class allows another try. Redirections and loading do not count.
    pub attempts: u32,
    /// The first pause before another try; it doubles each time.
    pub backoff: Duration,
    /// The longest pause.
    pub max_backoff: Duration,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            timeout: Duration::from_secs(2),
            attempts: 4,
            backoff: Duration::from_millis(20),
            max_backoff: Duration::from_millis(500),
        }
    }
}

/// What stands in for an answer when there is none, chosen by the caller for each call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fallback<R> {
    /// Let it pass, as with this reply: for limits whose failure must not stop the business.
    Open(R),
    /// Refuse it, as with this reply: for limits that protect something.
    Closed(R),
}

/// An answer, and whether the script gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<R> {
    /// The script's.
    Script(R),
    /// The caller's own, with the reason.
    Fallback(R, Error),
}

impl<R> Answer<R> {
    /// The reply, wherever it is from.
    pub fn reply(self) -> R {
        match self {
            Answer::Script(r) | Answer::Fallback(r, _) => r,
        }
    }

    /// True when the script did not answer.
    pub fn is_fallback(&self) -> bool {
        matches!(self, Answer::Fallback(..))
    }

    /// Counts it where the caller's reply stands in.
    pub(crate) fn or(
        got: Result<R, Error>,
        fallback: Fallback<R>,
        script: &Script,
        node: impl FnOnce() -> String,
    ) -> Result<Answer<R>, Error> {
        let (kind, instead) = match fallback {
            Fallback::Open(instead) => ("open", instead),
            Fallback::Closed(instead) => ("closed", instead),
        };
        let e = match got {
            Ok(reply) => return Ok(Answer::Script(reply)),
            Err(e) => e,
        };
        // Only where the server is the trouble: a wrong argument or a broken contract is a fault to be seen.
        let server = match &e {
            Error::NoAnswer { .. } | Error::Unavailable(_) => true,
            Error::Refused(text) => text.starts_with("OOM "),
            _ => false,
        };
        if !server {
            return Err(e);
        }
        script.meters().count(observe::FALLBACKS, Mode::Single, &node(), Some(kind), 1);
        Ok(Answer::Fallback(instead, e))
    }
}

/// A call in the form in which it is sent.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) script: Script,
    pub(crate) slot: Option<u16>,
    rendering: Rendering,
    evalsha: Words,
}

impl Prepared {
    pub(crate) fn new(
        script: &Script,
        rendering: Rendering,
        keys: &Words,
        args: &Words,
    ) -> Result<Prepared, Error> {
        let slot = common_slot(keys)?;
        let mut evalsha = Words::new();
        evalsha.push(if script.header().read_only() { b"EVALSHA_RO" } else { b"EVALSHA" });
        evalsha.push(script.sha(rendering).as_bytes());
        evalsha.push_int(keys.len());
        keys.iter().chain(args.iter()).for_each(|w| evalsha.push(w));
        Ok(Prepared { script: script.clone(), slot, rendering, evalsha })
    }

    /// Appends `name@version` as one argument more, which no script looks at, so that the slow log and MONITOR of any server
    /// show what ran. Not where the number of arguments says something.
    pub(crate) fn named(mut self, on: bool) -> Prepared {
        let header = self.script.header();
        if on && !header.args.iter().any(|arg| arg.variadic) {
            self.evalsha.push(header.id().as_bytes());
        }
        self
    }

    pub(crate) fn of<C: Call>(call: &C, rendering: Rendering) -> Result<Prepared, Error> {
        let (mut keys, mut args) = (Words::new(), Words::new());
        call.keys(&mut keys)?;
        call.args(&mut args)?;
        Prepared::new(call.script(), rendering, &keys, &args)
    }

    pub(crate) fn evalsha(&self) -> &Words {
        &self.evalsha
    }

    pub(crate) fn sha(&self) -> &str {
        self.script.sha(self.rendering)
    }

    pub(crate) fn load(&self) -> Words {
        Words::of(&["SCRIPT", "LOAD", self.script.text(self.rendering)])
    }

    pub(crate) fn eval(&self) -> Words {
        let mut out = Words::new();
        out.push(if self.script.header().read_only() { b"EVAL_RO" } else { b"EVAL" });
        out.push(self.script.text(self.rendering).as_bytes());
        self.evalsha.iter().skip(2).for_each(|w| out.push(w));
        out
    }

    /// What to send in the flow's present form.
    pub(crate) fn commands(&self, flow: &Flow) -> Vec<Words> {
        let mut out = Vec::with_capacity(3);
        if flow.form == Form::LoadSha {
            out.push(self.load());
        }
        if flow.asking {
            out.push(Words::of(&["ASKING"]));
        }
        out.push(if flow.form == Form::Eval { self.eval() } else { self.evalsha.clone() });
        out
    }

    /// Counts a call and what happened on its way.
    pub(crate) fn observe(
        &self,
        flow: &Flow,
        node: &str,
        took: Duration,
        got: &Result<Value, Error>,
        span: &tracing::Span,
    ) {
        let meters = self.script.meters();
        let code = got.as_ref().ok().and_then(code_of);
        meters.executed(Mode::Single, node, took, code);
        let tally = flow.tally;
        meters.count(observe::NOSCRIPT, Mode::Single, node, None, tally.noscript);
        meters.count(observe::TIMEOUTS, Mode::Single, node, None, tally.timeouts);
        meters.count(observe::RETRIES, Mode::Single, node, None, tally.sent.saturating_sub(1));
        if let Err(e) = got {
            meters.count(observe::ERRORS, Mode::Single, node, Some(error_code(e)), 1);
            span.record("db.response.status_code", error_code(e));
        }
        if tally.sent > 1 {
            span.record("redis.script.retry", tally.sent - 1);
        }
        if let Some(code) = code {
            span.record("redis.script.code", code);
        }
    }

    pub(crate) fn parse<R: Reply>(&self, node: &str, got: Result<Value, Error>) -> Result<R, Error> {
        let parsed = R::parse(self.script.name(), got?);
        if parsed.is_err() {
            self.script.meters().count(observe::PARSE_ERRORS, Mode::Single, node, None, 1);
        }
        parsed
    }
}

pub(crate) fn code_of(value: &Value) -> Option<i64> {
    match value {
        Value::Array(v) => v.first().and_then(code_of),
        Value::Int(n) => Some(*n),
        _ => None,
    }
}

/// The label of an error: its first word, or what kind it is. Never its text.
pub(crate) fn error_code(e: &Error) -> &str {
    match e {
        Error::ScriptArgument(text) | Error::Refused(text) | Error::Unavailable(text) => {
            let word = text.split(' ').next().unwrap_or_default();
            // A word of a script's own making could be anything.
            let plain = word.len() <= 20 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
            if plain && !word.is_empty() { word } else { "ERR" }
        }
        Error::NoAnswer { why: LinkError::Timeout, .. } => "TIMEOUT",
        Error::NoAnswer { .. } => "CONNECTION",
        Error::Contract { .. } | Error::UnknownCode { .. } => "CONTRACT",
        Error::ScriptEvicted { .. } => "NOSCRIPT",
        _ => "CLIENT",
    }
}

fn common_slot(keys: &Words) -> Result<Option<u16>, Error> {
    let mut all = keys.iter();
    let Some(first) = all.next() else { return Ok(None) };
    let wanted = slot(first);
    match all.find(|k| slot(k) != wanted) {
        None => Ok(Some(wanted)),
        Some(second) => Err(Error::CrossSlot { first: first.to_vec(), second: second.to_vec() }),
    }
}

/// Calls scripts on a target.
#[derive(Debug)]
pub struct Runner<T> {
    target: T,
    policy: Policy,
    /// SCRIPT LOAD was refused: EVAL is used.
    eval: bool,
    confirmed: Confirmed,
    named: bool,
    natives: Option<Natives>,
}

impl<T: Target> Runner<T> {
    /// A runner with the usual [`Policy`].
    pub fn new(target: T) -> Runner<T> {
        Runner {
            target,
            policy: Policy::default(),
            eval: false,
            confirmed: Confirmed::default(),
            named: false,
            natives: None,
        }
    }

    /// Lets native commands stand in for scripts where the server has them (`SET … IFEQ`, DELEX, DELIFEQ, INCREX): one
    /// command instead of a script, with the same replies. Each node is asked for its version (INFO) before its first such
    /// call and again after a connection was made anew; nodes of a cluster may differ. Used by [`Runner::call`] on every
    /// target but a connection of the caller's own, which may lead anywhere. The user needs the right to run these commands
    /// beside EVALSHA.
    pub fn with_natives(mut self) -> Runner<T> {
        self.natives = Some(Natives::default());
        self
    }

    /// Sends `name@version` as one argument more with every call, so that the slow log and MONITOR of any server show which
    /// script it was, not only its SHA1. Totality shows names by itself. Scripts with repeated arguments are called as they
    /// are.
    pub fn with_names(mut self) -> Runner<T> {
        self.named = true;
        self
    }

    /// The same with another policy.
    pub fn with_policy(mut self, policy: Policy) -> Runner<T> {
        self.policy = policy;
        self
    }

    /// The policy, to be changed between calls.
    pub fn policy(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// The target, for other commands.
    pub fn target(&mut self) -> &mut T {
        &mut self.target
    }

    /// Calls a script.
    ///
    /// # Errors
    /// [`Error`]; a refusal by the script's own rule is a variant of the reply.
    pub fn call<C: Call>(&mut self, call: &C) -> Result<C::Reply, Error> {
        let began = Instant::now();
        let prepared = Prepared::of(call, self.target.rendering())?;
        if let Some(got) = self.native(&prepared, began) {
            let node = self.target.node(prepared.slot);
            return prepared.parse(&node, got);
        }
        let prepared = prepared.named(self.named);
        let got = self.send(&prepared, began);
        if got.is_ok() {
            return C::Reply::parse(prepared.script.name(), got?).inspect_err(|_| {
                let node = self.target.node(prepared.slot);
                prepared.script.meters().count(observe::PARSE_ERRORS, Mode::Single, &node, None, 1);
            });
        }
        let node = self.target.node(prepared.slot);
        prepared.parse(&node, got)
    }

    /// Calls a script; when the server is the trouble, the caller's own reply stands in, and says so.
    ///
    /// # Errors
    /// [`Error`], other than no answer, not available, or out of memory.
    pub fn call_or<C: Call>(
        &mut self,
        call: &C,
        fallback: Fallback<C::Reply>,
    ) -> Result<Answer<C::Reply>, Error> {
        let got = self.call(call);
        Answer::or(got, fallback, call.script(), || self.target.node(None))
    }

    /// Calls any script by its keys and arguments. The slot is checked, the reply is not.
    ///
    /// # Errors
    /// [`Error`].
    pub fn run<K: AsRef<[u8]>, A: AsRef<[u8]>>(
        &mut self,
        script: &Script,
        keys: &[K],
        args: &[A],
    ) -> Result<Value, Error> {
        let (mut k, mut a) = (Words::new(), Words::new());
        keys.iter().for_each(|w| k.push(w.as_ref()));
        args.iter().for_each(|w| a.push(w.as_ref()));
        let prepared = Prepared::new(script, self.target.rendering(), &k, &a)?.named(self.named);
        self.send(&prepared, Instant::now())
    }

    /// Loads a script on the node that serves a key (any node without one), so that its first call finds it. Calls do it by
    /// themselves where it is missing.
    ///
    /// # Errors
    /// [`Error::Refused`] with the server's text, [`Error::NoAnswer`].
    pub fn load(&mut self, script: &Script, key: Option<&[u8]>) -> Result<(), Error> {
        let rendering = self.target.rendering();
        let words = Words::of(&["SCRIPT", "LOAD", script.text(rendering)]);
        let node = Node::Slot(key.map(slot));
        match self.target.exchange(node, &[words], self.policy.timeout) {
            Ok(values) => match values.into_iter().next() {
                Some(Value::Error(text)) => Err(Error::Refused(text)),
                _ => Ok(()),
            },
            Err(why) => {
                let executed = why.unsent().then_some(false);
                Err(Error::NoAnswer { why, executed, after: self.policy.timeout })
            }
        }
    }

    /// Runs a pipeline or a transaction.
    ///
    /// # Errors
    /// [`Error::CrossSlot`] for a transaction over several slots, [`Error::NoAnswer`] when a part had none,
    /// [`Error::PartialTransaction`], [`Error::Aborted`].
    pub fn pipeline(&mut self, pipeline: &Pipeline) -> Result<PipelineReply, Error> {
        let nodes: Vec<String> = pipeline.slots().map(|s| self.target.node(s)).collect();
        let mut plan = pipeline.plan(&nodes, self.target.epoch(), &mut self.confirmed, self.eval)?;
        for part in &mut plan.parts {
            let began = Instant::now();
            let got = self.target.exchange(Node::Slot(part.slot), &part.commands, self.policy.timeout);
            part.feed(got, began.elapsed());
        }
        let (reply, moved) = plan.finish(pipeline, self.target.epoch(), &mut self.confirmed);
        for (slot, address) in moved {
            self.target.moved(slot, &address);
        }
        reply
    }

    /// Tries a native command. `None`: the script is to be called.
    fn native(&mut self, prepared: &Prepared, began: Instant) -> Option<Result<Value, Error>> {
        let natives = self.natives.as_mut().filter(|_| self.target.names_nodes())?;
        if !native::knows(prepared.script.name()) {
            return None;
        }
        let (place, timeout) = (Node::Slot(prepared.slot), self.policy.timeout);
        let (node, epoch) = (self.target.node(prepared.slot), self.target.epoch());
        let (node, epoch, has) = match natives.of(&node, epoch) {
            Some(has) => (node, epoch, has),
            None => {
                let info = self.target.exchange(place, &[Natives::question()], timeout).ok()?;
                // The first exchange may have found another node than was thought.
                let (node, epoch) = (self.target.node(prepared.slot), self.target.epoch());
                let has = natives.learn(&node, epoch, &info);
                (node, epoch, has)
            }
        };
        let words = native::command(prepared.script.name(), prepared.evalsha(), has)?;
        let got = self.target.exchange(place, &[words], timeout.saturating_sub(began.elapsed()));
        natives.settle(prepared, got, &node, epoch, began.elapsed())
    }

    fn send(&mut self, prepared: &Prepared, began: Instant) -> Result<Value, Error> {
        let node = self.target.node(prepared.slot);
        let span = observe::span(prepared.script.header(), prepared.sha(), &node);
        let _entered = span.enter();
        let mut flow = Flow::new(prepared.script.header().retry, &self.policy, self.eval);
        let got = self.turn(prepared, &mut flow, began);
        self.eval |= flow.load_refused && got.is_ok();
        prepared.observe(&flow, &node, began.elapsed(), &got, &span);
        got
    }

    fn turn(&mut self, prepared: &Prepared, flow: &mut Flow, began: Instant) -> Result<Value, Error> {
        loop {
            let left = self.policy.timeout.saturating_sub(began.elapsed());
            let node = flow.address.as_deref().map_or(Node::Slot(prepared.slot), Node::Address);
            let got = if flow.form == Form::Sha && !flow.asking {
                self.target.exchange(node, std::slice::from_ref(prepared.evalsha()), left)
            } else {
                self.target.exchange(node, &prepared.commands(flow), left)
            };
            let took = began.elapsed();
            match flow.feed(got, took >= self.policy.timeout, took) {
                Step::Send => {}
                Step::Moved { slot, address } => self.target.moved(slot, &address),
                Step::Wait { time, refresh } => {
                    std::thread::sleep(time.min(self.policy.timeout.saturating_sub(took)));
                    if refresh {
                        self.target.refresh();
                    }
                }
                Step::Done(got) => return got,
            }
        }
    }
}
