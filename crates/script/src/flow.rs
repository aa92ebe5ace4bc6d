//! The hot path of one call as a state machine without I/O: what to send next, given what came.
//!
//! EVALSHA first. On NOSCRIPT in the servers' own words (a script may answer NOSCRIPT itself, and must not run twice for it), SCRIPT LOAD and EVALSHA together on the same connection, at most once: LOAD pins the script,
//! EVAL would leave it where the server may evict it. EVAL only where LOAD is refused. MOVED and ASK are followed with the
//! script state of the new node. What was certainly not run is sent again; what may have been run, only if the header allows.

use crate::error::{Error, LinkError};
use crate::header::Retry;
use crate::runner::Policy;
use crate::value::Value;
use std::time::Duration;

/// What every server of the family answers for an unknown SHA1.
const UNKNOWN_SHA: &str = "NOSCRIPT No matching script";

/// Most redirections of one call.
const MAX_REDIRECTS: u32 = 8;

/// In which form the script is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Sha,
    LoadSha,
    Eval,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Send again, in the form that [`Flow`] has now.
    Send,
    /// A slot has moved: remember it, then send again.
    Moved { slot: u16, address: String },
    /// Wait, look where the data is now if `refresh`, then send again.
    Wait { time: Duration, refresh: bool },
    /// The answer.
    Done(Result<Value, Error>),
}

/// What happened on the way, for the metrics.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) noscript: u64,
    pub(crate) timeouts: u64,
}

#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) form: Form,
    /// Where to, when not where the slot is.
    pub(crate) address: Option<String>,
    pub(crate) asking: bool,
    /// LOAD was refused on the way.
    pub(crate) load_refused: bool,
    pub(crate) tally: Tally,
    retry: Retry,
    attempts: u32,
    backoff: Duration,
    max_backoff: Duration,
    redirects: u32,
    loads: u32,
}

impl Flow {
    pub(crate) fn new(retry: Retry, policy: &Policy, eval: bool) -> Flow {
        Flow {
            form: if eval { Form::Eval } else { Form::Sha },
            address: None,
            asking: false,
            load_refused: false,
            tally: Tally::default(),
            retry,
            attempts: policy.attempts.max(1),
            backoff: policy.backoff,
            max_backoff: policy.max_backoff,
            redirects: 0,
            loads: 0,
        }
    }

    /// What to do after this. `late` says that the time is up.
    pub(crate) fn feed(&mut self, got: Result<Vec<Value>, LinkError>, late: bool, after: Duration) -> Step {
        self.tally.sent += 1;
        match got {
            Ok(values) => self.replies(values, late),
            Err(why) => {
                self.tally.timeouts += u64::from(why == LinkError::Timeout);
                let unsent = why.unsent();
                let again = (unsent || self.retry != Retry::Unsafe) && !matches!(why, LinkError::Refused(_));
                let executed = unsent.then_some(false);
                if again && !late && self.spend() {
                    self.anew();
                    return Step::Wait { time: self.pause(), refresh: true };
                }
                Step::Done(Err(Error::NoAnswer { why, executed, after }))
            }
        }
    }

    fn replies(&mut self, mut values: Vec<Value>, late: bool) -> Step {
        let answer = values.pop().unwrap_or(Value::Nil);
        let Value::Error(text) = answer else { return Step::Done(Ok(answer)) };
        let word = text.split(' ').next().unwrap_or_default();
        match word {
            // In other words it may be the script's: then a second run must do no harm.
            "NOSCRIPT" if text.starts_with(UNKNOWN_SHA) || self.retry != Retry::Unsafe => {
                self.tally.noscript += 1;
                match self.form {
                    Form::Sha if !late && self.loads == 0 => {
                        self.loads += 1;
                        self.form = Form::LoadSha;
                        Step::Send
                    }
                    // Not run either: the server does not know the script because it refused to load it.
                    Form::LoadSha if !late && load_reply(&values, self.asking).is_some() => {
                        self.form = Form::Eval;
                        self.load_refused = true;
                        Step::Send
                    }
                    _ => Step::Done(Err(Error::Refused(text))),
                }
            }
            "MOVED" | "ASK" => self.redirect(&text, late),
            "TRYAGAIN" | "BUSY" | "LOADING" => self.wait(text, late, false),
            "CLUSTERDOWN" | "MASTERDOWN" | "READONLY" => self.wait(text, late, true),
            "SCRIPTARG" => Step::Done(Err(Error::ScriptArgument(text))),
            _ => Step::Done(Err(Error::Refused(text))),
        }
    }

    fn redirect(&mut self, text: &str, late: bool) -> Step {
        let mut words = text.split(' ');
        let ask = words.next() == Some("ASK");
        let place = words.next().and_then(|s| s.parse().ok()).zip(words.next());
        let Some((slot, address)) = place.filter(|_| self.redirects < MAX_REDIRECTS && !late) else {
            return Step::Done(Err(Error::Unavailable(text.to_string())));
        };
        self.redirects += 1;
        // Another node, which may or may not know the script.
        self.loads = 0;
        if self.form == Form::LoadSha {
            self.form = Form::Sha;
        }
        self.asking = ask;
        if ask {
            self.address = Some(address.to_string());
            return Step::Send;
        }
        self.address = None;
        Step::Moved { slot, address: address.to_string() }
    }

    /// The server says that it did not run it.
    fn wait(&mut self, text: String, late: bool, refresh: bool) -> Step {
        if late || !self.spend() {
            return Step::Done(Err(Error::Unavailable(text)));
        }
        if refresh {
            self.anew();
        }
        Step::Wait { time: self.pause(), refresh }
    }

    fn spend(&mut self) -> bool {
        self.attempts -= 1;
        self.attempts > 0
    }

    /// Begins again where the slot is now.
    fn anew(&mut self) {
        (self.address, self.asking, self.loads) = (None, false, 0);
        if self.form == Form::LoadSha {
            self.form = Form::Sha;
        }
    }

    fn pause(&mut self) -> Duration {
        let time = self.backoff;
        self.backoff = (time * 2).min(self.max_backoff);
        time
    }
}

/// The error that SCRIPT LOAD got, if it was refused.
fn load_reply(before: &[Value], asking: bool) -> Option<&str> {
    let load = if asking { before.len().checked_sub(2) } else { before.len().checked_sub(1) };
    before.get(load?).and_then(Value::error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(retry: Retry) -> Flow {
        let policy = Policy { attempts: 3, ..Policy::default() };
        Flow::new(retry, &policy, false)
    }

    fn error(text: &str) -> Result<Vec<Value>, LinkError> {
        Ok(vec![Value::Error(text.into())])
    }

    fn feed(f: &mut Flow, got: Result<Vec<Value>, LinkError>) -> Step {
        f.feed(got, false, Duration::ZERO)
    }

    #[test]
    fn noscript_loads_once_and_calls_again_together() {
        let mut f = flow(Retry::Unsafe);
        assert_eq!(feed(&mut f, error("NOSCRIPT No matching script. Please use EVAL.")), Step::Send);
        assert_eq!(f.form, Form::LoadSha);
        let answer = Ok(vec![Value::Bulk(b"sha".to_vec()), Value::Int(1)]);
        assert_eq!(feed(&mut f, answer), Step::Done(Ok(Value::Int(1))));
        assert_eq!(f.tally, Tally { sent: 2, noscript: 1, timeouts: 0 });
    }

    #[test]
    fn a_script_that_answers_noscript_itself_is_not_run_again() {
        let mine = || error("NOSCRIPT mine");
        let end = Step::Done(Err(Error::Refused("NOSCRIPT mine".into())));
        assert_eq!(feed(&mut flow(Retry::Unsafe), mine()), end);
        // Where a second run does no harm, it may be a server with words of its own.
        let mut f = flow(Retry::Safe);
        feed(&mut f, error("NOSCRIPT mine"));
        let got = Ok(vec![Value::Bulk(b"sha".to_vec()), Value::Error("NOSCRIPT mine".into())]);
        assert_eq!(feed(&mut f, got), Step::Done(Err(Error::Refused("NOSCRIPT mine".into()))));
        // NOSCRIPT must be the whole first word.
        let mut f = flow(Retry::Unsafe);
        let text = "NOSCRIPTS are fine";
        assert_eq!(feed(&mut f, error(text)), Step::Done(Err(Error::Refused(text.into()))));
    }

    #[test]
    fn where_load_is_refused_eval_is_used() {
        let mut f = flow(Retry::Unsafe);
        feed(&mut f, error("NOSCRIPT No matching script. Please use EVAL."));
        let no = Value::Error("NOPERM User app has no permissions to run the 'script|load' command".into());
        assert_eq!(
            feed(&mut f, Ok(vec![no, Value::Error("NOSCRIPT No matching script. Please use EVAL.".into())])),
            Step::Send
        );
        assert_eq!(f.form, Form::Eval);
        assert!(f.load_refused);
    }

    #[test]
    fn redirections_begin_with_the_script_state_of_the_new_node() {
        let mut f = flow(Retry::Unsafe);
        assert_eq!(feed(&mut f, error("ASK 7 127.0.0.1:7002")), Step::Send);
        assert_eq!((f.address.as_deref(), f.asking), (Some("127.0.0.1:7002"), true));
        assert_eq!(feed(&mut f, error("NOSCRIPT No matching script. Please use EVAL.")), Step::Send);
        assert_eq!((f.form, f.asking), (Form::LoadSha, true));
        let moved = Step::Moved { slot: 7, address: "127.0.0.1:7003".into() };
        assert_eq!(feed(&mut f, error("MOVED 7 127.0.0.1:7003")), moved);
        assert_eq!((f.form, f.asking, f.address.as_deref()), (Form::Sha, false, None));
        for _ in 0..6 {
            feed(&mut f, error("MOVED 7 a:1"));
        }
        let end = Step::Done(Err(Error::Unavailable("MOVED 7 a:1".into())));
        assert_eq!(feed(&mut f, error("MOVED 7 a:1")), end);
    }

    #[test]
    fn what_may_have_been_run_is_sent_again_only_if_the_header_allows() {
        let lost = || Err(LinkError::Lost("reset".into()));
        assert!(matches!(
            feed(&mut flow(Retry::Unsafe), lost()),
            Step::Done(Err(Error::NoAnswer { executed: None, .. }))
        ));
        assert!(matches!(feed(&mut flow(Retry::Reqid), lost()), Step::Wait { refresh: true, .. }));
        assert!(matches!(feed(&mut flow(Retry::Safe), Err(LinkError::Timeout)), Step::Wait { .. }));
        // Nothing was sent: every class may try again, but not for ever.
        let mut f = flow(Retry::Unsafe);
        let unconnected = || Err(LinkError::Unconnected("refused".into()));
        assert!(matches!(feed(&mut f, unconnected()), Step::Wait { .. }));
        assert!(matches!(feed(&mut f, unconnected()), Step::Wait { .. }));
        assert!(matches!(
            feed(&mut f, unconnected()),
            Step::Done(Err(Error::NoAnswer { executed: Some(false), .. }))
        ));
    }

    #[test]
    fn what_the_server_did_not_run_is_sent_again_with_a_pause() {
        for text in ["BUSY Redis is busy running a script.", "LOADING x", "TRYAGAIN x"] {
            let step = feed(&mut flow(Retry::Unsafe), error(text));
            assert!(matches!(step, Step::Wait { refresh: false, .. }), "{text}");
        }
        let step =
            feed(&mut flow(Retry::Unsafe), error("READONLY You can't write against a read only replica."));
        assert!(matches!(step, Step::Wait { refresh: true, .. }));
        let mut f = flow(Retry::Unsafe);
        let late = f.feed(error("BUSY x"), true, Duration::ZERO);
        assert_eq!(late, Step::Done(Err(Error::Unavailable("BUSY x".into()))));
    }
}
