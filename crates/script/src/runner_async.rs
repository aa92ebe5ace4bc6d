//! Calls on a target that does not block.

use crate::error::Error;
use crate::flow::{Flow, Form, Step};
use crate::native::{self, Natives};
use crate::observe;
use crate::pipeline::{Confirmed, Pipeline, PipelineReply};
use crate::reply::Call;
use crate::runner::{Answer, Fallback, Policy, Prepared};
use crate::script::Script;
use crate::target::{AsyncTarget, Node};
use crate::value::Value;
use crate::words::Words;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tracing::Instrument as _;

/// Calls scripts on a target that does not block. Clones share it, and many calls may run at the same time.
pub struct AsyncRunner<T> {
    shared: Arc<Shared<T>>,
    policy: Policy,
    named: bool,
    native: bool,
}

struct Shared<T> {
    target: T,
    eval: AtomicBool,
    confirmed: Mutex<Confirmed>,
    natives: Mutex<Natives>,
}

impl<T> Clone for AsyncRunner<T> {
    fn clone(&self) -> AsyncRunner<T> {
        let shared = self.shared.clone();
        AsyncRunner { shared, policy: self.policy, named: self.named, native: self.native }
    }
}

impl<T: AsyncTarget> AsyncRunner<T> {
    /// A runner with the usual [`Policy`].
    pub fn new(target: T) -> AsyncRunner<T> {
        let (confirmed, natives) = (Mutex::default(), Mutex::default());
        let shared = Shared { target, eval: AtomicBool::new(false), confirmed, natives };
        AsyncRunner { shared: Arc::new(shared), policy: Policy::default(), named: false, native: false }
    }

    /// The same target with another policy.
    pub fn with_policy(mut self, policy: Policy) -> AsyncRunner<T> {
        self.policy = policy;
        self
    }

    /// As [`crate::Runner::with_names`].
    pub fn with_names(mut self) -> AsyncRunner<T> {
        self.named = true;
        self
    }

    /// As [`crate::Runner::with_natives`].
    pub fn with_natives(mut self) -> AsyncRunner<T> {
        self.native = true;
        self
    }

    /// The target, for other commands.
    pub fn target(&self) -> &T {
        &self.shared.target
    }

    /// Calls a script.
    ///
    /// # Errors
    /// [`Error`]; a refusal by the script's own rule is a variant of the reply.
    pub async fn call<C: Call>(&self, call: &C) -> Result<C::Reply, Error> {
        let prepared = Prepared::of(call, self.shared.target.rendering())?;
        let (prepared, got) = match self.native(&prepared).await {
            Some(got) => (prepared, got),
            None => {
                let prepared = prepared.named(self.named);
                let got = self.send(&prepared).await;
                (prepared, got)
            }
        };
        let node = self.shared.target.node(prepared.slot);
        prepared.parse(&node, got)
    }

    /// Calls a script; when the server is the trouble, the caller's own reply stands in, and says so.
    ///
    /// # Errors
    /// [`Error`], other than no answer, not available, or out of memory.
    pub async fn call_or<C: Call>(
        &self,
        call: &C,
        fallback: Fallback<C::Reply>,
    ) -> Result<Answer<C::Reply>, Error> {
        let node = || self.shared.target.node(None);
        Answer::or(self.call(call).await, fallback, call.script(), node)
    }

    /// Calls any script by its keys and arguments. The slot is checked, the reply is not.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn run<K: AsRef<[u8]>, A: AsRef<[u8]>>(
        &self,
        script: &Script,
        keys: &[K],
        args: &[A],
    ) -> Result<Value, Error> {
        let (mut k, mut a) = (Words::new(), Words::new());
        keys.iter().for_each(|w| k.push(w.as_ref()));
        args.iter().for_each(|w| a.push(w.as_ref()));
        let prepared = Prepared::new(script, self.shared.target.rendering(), &k, &a)?.named(self.named);
        self.send(&prepared).await
    }

    /// Runs a pipeline or a transaction.
    ///
    /// # Errors
    /// As [`crate::Runner::pipeline`].
    pub async fn pipeline(&self, pipeline: &Pipeline) -> Result<PipelineReply, Error> {
        let target = &self.shared.target;
        let nodes: Vec<String> = pipeline.slots().map(|s| target.node(s)).collect();
        let eval = self.shared.eval.load(Ordering::Relaxed);
        let confirmed = || self.shared.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut plan = pipeline.plan(&nodes, target.epoch(), &mut confirmed(), eval)?;
        for part in &mut plan.parts {
            let began = Instant::now();
            let got = target.exchange(Node::Slot(part.slot), &part.commands, self.policy.timeout).await;
            part.feed(got, began.elapsed());
        }
        let (reply, moved) = plan.finish(pipeline, target.epoch(), &mut confirmed());
        moved.iter().for_each(|(slot, address)| target.moved(*slot, address));
        reply
    }

    /// Tries a native command. `None`: the script is to be called.
    async fn native(&self, prepared: &Prepared) -> Option<Result<Value, Error>> {
        let target = &self.shared.target;
        if !self.native || !native::knows(prepared.script.name()) || !target.names_nodes() {
            return None;
        }
        let natives = || self.shared.natives.lock().unwrap_or_else(PoisonError::into_inner);
        let (place, timeout, began) = (Node::Slot(prepared.slot), self.policy.timeout, Instant::now());
        let (node, epoch) = (target.node(prepared.slot), target.epoch());
        let known = natives().of(&node, epoch);
        let (node, epoch, has) = match known {
            Some(has) => (node, epoch, has),
            None => {
                let info = target.exchange(place, &[Natives::question()], timeout).await.ok()?;
                let (node, epoch) = (target.node(prepared.slot), target.epoch());
                let has = natives().learn(&node, epoch, &info);
                (node, epoch, has)
            }
        };
        let words = native::command(prepared.script.name(), prepared.evalsha(), has)?;
        let got = target.exchange(place, &[words], timeout.saturating_sub(began.elapsed())).await;
        natives().settle(prepared, got, &node, epoch, began.elapsed())
    }

    async fn send(&self, prepared: &Prepared) -> Result<Value, Error> {
        let node = self.shared.target.node(prepared.slot);
        let span = observe::span(prepared.script.header(), prepared.sha(), &node);
        let began = Instant::now();
        let eval = self.shared.eval.load(Ordering::Relaxed);
        let mut flow = Flow::new(prepared.script.header().retry, &self.policy, eval);
        let got = self.turn(prepared, &mut flow, began).instrument(span.clone()).await;
        if flow.load_refused && got.is_ok() {
            self.shared.eval.store(true, Ordering::Relaxed);
        }
        prepared.observe(&flow, &node, began.elapsed(), &got, &span);
        got
    }

    async fn turn(&self, prepared: &Prepared, flow: &mut Flow, began: Instant) -> Result<Value, Error> {
        let target = &self.shared.target;
        loop {
            let left = self.policy.timeout.saturating_sub(began.elapsed());
            let address = flow.address.clone();
            let node = address.as_deref().map_or(Node::Slot(prepared.slot), Node::Address);
            let got = if flow.form == Form::Sha && !flow.asking {
                target.exchange(node, std::slice::from_ref(prepared.evalsha()), left).await
            } else {
                target.exchange(node, &prepared.commands(flow), left).await
            };
            let took = began.elapsed();
            match flow.feed(got, took >= self.policy.timeout, took) {
                Step::Send => {}
                Step::Moved { slot, address } => target.moved(slot, &address),
                Step::Wait { time, refresh } => {
                    tokio::time::sleep(time.min(self.policy.timeout.saturating_sub(took))).await;
                    if refresh {
                        target.refresh();
                    }
                }
                Step::Done(got) => return got,
            }
        }
    }
}
