//! Commands that do in one step what a script does, where the server has them.
//!
//! A native command is used for its success only: where it changed nothing, the script decides what to answer, so the
//! replies are the same with and without. Which commands a server has, it is asked once per node and epoch of the target.

use crate::error::{Error, LinkError};
use crate::header::Retry;
use crate::observe::{self, Mode};
use crate::runner::{Prepared, code_of, error_code};
use crate::value::Value;
use crate::words::Words;
use std::collections::HashMap;
use std::time::Duration;

/// Most nodes of which it is remembered what they can do.
const MAX_NODES: usize = 4096;

/// The largest integer whose neighbours doubles tell apart: what the scripts take for a counter.
const SAFE: i64 = (1 << 53) - 1;

/// What a server can do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Abilities {
    /// `SET key value IFEQ expected`
    set_ifeq: bool,
    /// `DELEX key IFEQ expected`
    delex: bool,
    /// `DELIFEQ key expected`
    delifeq: bool,
    /// `INCREX key BYINT n LBOUND lo UBOUND hi`
    increx: bool,
}

impl Abilities {
    /// By what INFO says of the server.
    pub(crate) fn of(info: &[u8]) -> Abilities {
        let text = String::from_utf8_lossy(info);
        let version = |name: &str| -> Option<(u32, u32)> {
            let rest = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            let mut parts = rest.trim().split('.').map(|part| part.parse().unwrap_or(0));
            Some((parts.next()?, parts.next().unwrap_or(0)))
        };
        if version("totality_version").is_some() {
            return Abilities { set_ifeq: true, delex: true, delifeq: true, increx: true };
        }
        // Valkey says a version of Redis as well, which tells nothing here; so do other servers.
        if let Some(valkey) = version("valkey_version") {
            return Abilities {
                set_ifeq: valkey >= (8, 1),
                delex: valkey >= (9, 2),
                delifeq: valkey >= (9, 0),
                increx: valkey >= (9, 2),
            };
        }
        let other = ["dragonfly_version", "garnet_version", "kvrocks_version", "keydb_version"];
        match version("redis_version").filter(|_| other.iter().all(|name| version(name).is_none())) {
            Some(redis) => Abilities {
                set_ifeq: redis >= (8, 4),
                delex: redis >= (8, 4),
                delifeq: false,
                increx: redis >= (8, 8),
            },
            None => Abilities::default(),
        }
    }
}

/// What is known of the commands that nodes have.
#[derive(Debug, Default)]
pub(crate) struct Natives {
    /// By node: the epoch in which it was asked, and what it said.
    nodes: HashMap<String, (u64, Abilities)>,
}

impl Natives {
    /// The question that [`Natives::learn`] takes the answer of.
    pub(crate) fn question() -> Words {
        Words::of(&["INFO", "server"])
    }

    /// What a node can do, if that is known for this epoch.
    pub(crate) fn of(&self, node: &str, epoch: u64) -> Option<Abilities> {
        self.nodes.get(node).filter(|(asked, _)| *asked == epoch).map(|(_, has)| *has)
    }

    /// Takes what a node says of itself.
    pub(crate) fn learn(&mut self, node: &str, epoch: u64, info: &[Value]) -> Abilities {
        let has = info.first().and_then(Value::bytes).map(Abilities::of).unwrap_or_default();
        self.set(node, epoch, has);
        has
    }

    fn set(&mut self, node: &str, epoch: u64, has: Abilities) {
        if self.nodes.len() >= MAX_NODES {
            self.nodes.clear();
        }
        self.nodes.insert(node.to_string(), (epoch, has));
    }

    /// What a native command's reply means for the caller. `None`: nothing was done, and the script is to be called.
    pub(crate) fn settle(
        &mut self,
        prepared: &Prepared,
        got: Result<Vec<Value>, LinkError>,
        node: &str,
        epoch: u64,
        took: Duration,
    ) -> Option<Result<Value, Error>> {
        let meters = prepared.script.meters();
        match got {
            Ok(values) => {
                let value = values.first()?;
                if value.error().is_some_and(|text| text.starts_with("NOPERM")) {
                    self.set(node, epoch, Abilities::default());
                }
                let answer = answer(prepared.script.name(), prepared.evalsha(), value)?;
                meters.executed(Mode::Native, node, took, code_of(&answer));
                Some(Ok(answer))
            }
            // Nothing was done, or may be done twice.
            Err(why) if why.unsent() || prepared.script.header().retry == Retry::Safe => None,
            Err(why) => {
                meters.executed(Mode::Native, node, took, None);
                let timeouts = u64::from(why == LinkError::Timeout);
                meters.count(observe::TIMEOUTS, Mode::Native, node, None, timeouts);
                let error = Error::NoAnswer { why, executed: None, after: took };
                meters.count(observe::ERRORS, Mode::Native, node, Some(error_code(&error)), 1);
                Some(Err(error))
            }
        }
    }
}

/// True for scripts that a native command may stand in for.
pub(crate) fn knows(script: &str) -> bool {
    matches!(script, "cas.delete" | "cas.set" | "counter.bounded")
}

/// The command that does what a call of a script does when all is as the caller hopes. `evalsha` is that call.
pub(crate) fn command(script: &str, evalsha: &Words, has: Abilities) -> Option<Words> {
    let key = evalsha.get(3)?;
    let arg = |i: usize| evalsha.get(4 + i);
    let int = |i: usize| std::str::from_utf8(arg(i)?).ok()?.parse::<i64>().ok();
    let mut out = Words::new();
    let mut push = |words: &[&[u8]]| words.iter().for_each(|word| out.push(word));
    match script {
        "cas.delete" if has.delex => push(&[b"DELEX", key, b"IFEQ", arg(0)?]),
        "cas.delete" if has.delifeq => push(&[b"DELIFEQ", key, arg(0)?]),
        "cas.set" if has.set_ifeq => {
            push(&[b"SET", key, arg(1)?, b"IFEQ", arg(0)?]);
            match int(2)? {
                0 => push(&[b"KEEPTTL"]),
                // Below, the script refuses.
                1000.. => push(&[b"PX", arg(2)?]),
                _ => return None,
            }
        }
        "counter.bounded" if has.increx => {
            let (by, lo, hi, ttl) = (int(0)?, int(1)?, int(2)?, int(3)?);
            // Whatever the counter was, it must have been one that the script takes.
            let safe = lo - by >= -SAFE && hi - by <= SAFE;
            if by == 0 || lo > hi || !safe {
                return None;
            }
            push(&[b"INCREX", key, b"BYINT", arg(0)?, b"LBOUND", arg(1)?, b"UBOUND", arg(2)?]);
            match ttl {
                0 => {}
                1000.. => push(&[b"PX", arg(3)?]),
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(out)
}

/// What the script would have answered, if the native command did its work.
fn answer(script: &str, evalsha: &Words, got: &Value) -> Option<Value> {
    match (script, got) {
        ("cas.delete", Value::Int(1)) => Some(Value::Array(vec![Value::Int(1)])),
        ("cas.set", Value::Status(ok)) if ok == "OK" => Some(Value::Array(vec![Value::Int(1)])),
        ("counter.bounded", Value::Array(pair)) => match pair.as_slice() {
            [Value::Int(now), Value::Int(added)] => {
                let by: i64 = std::str::from_utf8(evalsha.get(4)?).ok()?.parse().ok()?;
                (*added == by).then(|| Value::Array(vec![Value::Int(1), Value::Int(*now)]))
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_version() {
        let of = |text: &str| {
            let has = Abilities::of(text.as_bytes());
            [has.set_ifeq, has.delex, has.delifeq, has.increx]
        };
        assert_eq!(of("# Server\r\nredis_version:7.0.15\r\n"), [false; 4]);
        assert_eq!(of("redis_version:8.4.0\r\n"), [true, true, false, false]);
        assert_eq!(of("redis_version:8.10.1\r\n"), [true, true, false, true]);
        assert_eq!(of("redis_version:7.2.4\r\nvalkey_version:8.1.3\r\n"), [true, false, false, false]);
        assert_eq!(of("redis_version:7.2.4\r\nvalkey_version:9.1.2\r\n"), [true, false, true, false]);
        assert_eq!(of("redis_version:7.2.4\r\nvalkey_version:9.2.0\r\n"), [true; 4]);
        assert_eq!(of("redis_version:7.2.4\r\ntotality_version:0.1.0\r\n"), [true; 4]);
        assert_eq!(of("redis_version:8.4.0\r\ndragonfly_version:df-1.37\r\n"), [false; 4]);
        assert_eq!(of(""), [false; 4]);
    }

    #[test]
    fn what_the_script_would_refuse_is_left_to_it() {
        let all = Abilities { set_ifeq: true, delex: true, delifeq: true, increx: true };
        let shown = |script: &str, words: &str| {
            let call = Words::of(&words.split(' ').collect::<Vec<_>>());
            command(script, &call, all).map(|out| {
                out.iter().map(|w| String::from_utf8_lossy(w).into_owned()).collect::<Vec<_>>().join(" ")
            })
        };
        let is = |script: &str, words: &str, wanted: Option<&str>| {
            assert_eq!(shown(script, words).as_deref(), wanted, "{script} {words}");
        };
        is("cas.set", "EVALSHA sha 1 k old new 0 refuse", Some("SET k new IFEQ old KEEPTTL"));
        is("cas.set", "EVALSHA sha 1 k old new 5000 create", Some("SET k new IFEQ old PX 5000"));
        is("cas.set", "EVALSHA sha 1 k old new 5 create", None);
        is("cas.delete", "EVALSHA sha 1 k old", Some("DELEX k IFEQ old"));
        is("counter.bounded", "EVALSHA sha 1 k 5 0 10 0", Some("INCREX k BYINT 5 LBOUND 0 UBOUND 10"));
        is("counter.bounded", "EVALSHA sha 1 k 0 0 10 0", None);
        is("counter.bounded", "EVALSHA sha 1 k 5 10 0 0", None);
        is("counter.bounded", "EVALSHA sha 1 k 5 -9007199254740991 10 0", None);
        is("counter.bounded", "EVALSHA sha 1 k -5 0 9007199254740991 0", None);
        is("rl.gcra", "EVALSHA sha 1 k 5", None);
    }
}
