//! Cases: what a script promises, as data beside it, run on any target.
//!
//! ```text
//! case a free lock is given with the first token
//! given SET $2 41
//! run lock.acquire $1 $2 | ann 30000 r0
//! call | ann 30000 r1
//! reply 1 42 30000 1
//! check HGET $1 owner => ann
//! ttl $1 29000..30000
//! ```
//!
//! `call` runs the script; before `|` stand its keys (none: those of the templates), after it its arguments. `run` runs another
//! script, or this one, for its effect. `given` runs a command for its effect, `check` one whose reply matters. `$1` is
//! the first key. `*` stands for anything, `1..9` for a number in a range. After each call the reply is held against the
//! header, and keys that must end are looked at.

use crate::catalogue;
use crate::error::Error;
use crate::header::{ArgKind, ArgSpec, KeySpec, Life};
use crate::runner::Runner;
use crate::script::Script;
use crate::slot::slot;
use crate::target::{Node, Target};
use crate::value::Value;
use crate::words::Words;
use crate::wrapper::parse_result;
use std::collections::BTreeSet;
use std::time::Duration;

/// A case of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// A line of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its line in the file, from 1.
    pub line: usize,
    /// What it does.
    pub kind: StepKind,
}

/// What a line of a case does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepKind {
    /// Runs a command.
    Given(Vec<String>),
    /// Runs a script by its name, or this one.
    Run(Option<String>, Invocation),
    /// Runs this script and looks at the reply.
    Call(Invocation, Expect),
    /// Runs a command and looks at the reply.
    Check(Vec<String>, Vec<String>),
    /// Looks at a key's time to live, in ms.
    Ttl(String, i64, i64),
}

/// Keys and arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Keys; empty for those of the templates.
    pub keys: Vec<String>,
    /// Arguments.
    pub args: Vec<String>,
}

/// What a call must answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// These fields.
    Reply(Vec<String>),
    /// An error that begins so.
    Error(String),
}

/// Splits a line into words: blanks separate, `"…"` knows `\"`, `\\` and `\n`. The flag says that a word was quoted.
fn split(line: &str) -> Result<Vec<(String, bool)>, String> {
    let mut out = Vec::new();
    let mut chars = line.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let Some(&first) = chars.peek() else { return Ok(out) };
        let mut word = String::new();
        if first != '"' {
            while let Some(c) = chars.next_if(|c| !c.is_whitespace()) {
                word.push(c);
            }
            out.push((word, false));
            continue;
        }
        chars.next();
        loop {
            match chars.next() {
                None => return Err("a quote is not closed".into()),
                Some('"') => break,
                Some('\\') => match chars.next() {
                    Some('n') => word.push('\n'),
                    Some(c) => word.push(c),
                    None => return Err("a quote is not closed".into()),
                },
                Some(c) => word.push(c),
            }
        }
        out.push((word, true));
    }
}

fn plain(words: Vec<(String, bool)>) -> Vec<String> {
    words.into_iter().map(|(w, _)| w).collect()
}

/// The keys of a script's templates, as they stand.
pub fn template_keys(script: &Script) -> Vec<String> {
    script.header().keys.iter().filter(|k| !k.variadic).map(|k| k.template.clone()).collect()
}

/// Reads the cases of a script.
///
/// # Errors
/// The line and what is wrong with it.
pub fn parse(script: &Script, text: &str) -> Result<Vec<Case>, String> {
    let keys = template_keys(script);
    let mut cases: Vec<Case> = Vec::new();
    let mut open: Option<(usize, Invocation)> = None;
    for (line, raw) in (1..).zip(text.lines()) {
        let at = |why: String| format!("line {line}: {why}");
        let raw = raw.trim();
        if raw.is_empty() || raw.starts_with('#') {
            continue;
        }
        let (word, rest) = raw.split_once(' ').unwrap_or((raw, ""));
        if word == "case" {
            cases.push(Case { name: rest.into(), steps: Vec::new() });
            continue;
        }
        let case = cases.last_mut().ok_or_else(|| at("a line before the first case".into()))?;
        let mut rest = rest.to_string();
        for (i, key) in (1..).zip(&keys) {
            rest = rest.replace(&format!("${i}"), key);
        }
        let words = split(&rest).map_err(at)?;
        let kind = match (word, open.take()) {
            ("reply", Some((_, call))) => StepKind::Call(call, Expect::Reply(plain(words))),
            ("error", Some((_, call))) => StepKind::Call(call, Expect::Error(rest.clone())),
            (_, Some((line, _))) => return Err(format!("line {line}: no reply or error follows the call")),
            ("call", None) => {
                open = Some((line, invocation(words, &keys).map_err(at)?));
                continue;
            }
            ("run", None) => run(words, &keys).map_err(at)?,
            ("given", None) => StepKind::Given(plain(words)),
            ("check", None) => {
                let arrow = words.iter().position(|(w, q)| w == "=>" && !q);
                let arrow = arrow.ok_or_else(|| at("=> is missing".into()))?;
                let mut words = plain(words);
                let expect = words.split_off(arrow + 1);
                words.pop();
                StepKind::Check(words, expect)
            }
            ("ttl", None) => {
                let words = plain(words);
                let range = words.get(1).and_then(|r| bounds(r)).filter(|_| words.len() == 2);
                let (lo, hi) = range.ok_or_else(|| at("needs a key and a range".into()))?;
                StepKind::Ttl(words[0].clone(), lo, hi)
            }
            (other, None) => return Err(at(format!("unknown word {other}"))),
        };
        case.steps.push(Step { line, kind });
    }
    match open {
        Some((line, _)) => Err(format!("line {line}: no reply or error follows the call")),
        None => Ok(cases),
    }
}

fn invocation(words: Vec<(String, bool)>, keys: &[String]) -> Result<Invocation, String> {
    let bar = words.iter().position(|(w, q)| w == "|" && !q).ok_or("| is missing")?;
    let mut words = plain(words);
    let args = words.split_off(bar + 1);
    words.pop();
    Ok(Invocation { keys: if words.is_empty() { keys.to_vec() } else { words }, args })
}

fn run(mut words: Vec<(String, bool)>, keys: &[String]) -> Result<StepKind, String> {
    let named = words.first().is_some_and(|(w, _)| w.contains('.') && catalogue::get(w).is_some());
    let name = named.then(|| words.remove(0).0);
    Ok(StepKind::Run(name, invocation(words, keys)?))
}

fn bounds(text: &str) -> Option<(i64, i64)> {
    let (a, b) = text.split_once("..")?;
    Some((a.parse().ok()?, b.parse().ok()?))
}

fn matches(pattern: &str, got: &Value) -> bool {
    let text = match got {
        Value::Nil => "nil".into(),
        Value::Bulk(b) => String::from_utf8_lossy(b).into_owned(),
        other => other.show(),
    };
    let number = text.parse::<i64>().ok();
    pattern == "*"
        || pattern == text
        || bounds(pattern).zip(number).is_some_and(|((a, b), n)| a <= n && n <= b)
}

fn all_match(patterns: &[String], got: &Value) -> bool {
    match got {
        Value::Array(v) => v.len() == patterns.len() && patterns.iter().zip(v).all(|(p, v)| matches(p, v)),
        one => patterns.len() == 1 && matches(&patterns[0], one),
    }
}

/// Runs cases on a target. Keys of a case are deleted before and after it.
pub struct Bench<'r, T> {
    runner: &'r mut Runner<T>,
}

impl<'r, T: Target> Bench<'r, T> {
    /// Runs on the target of this runner.
    pub fn new(runner: &'r mut Runner<T>) -> Bench<'r, T> {
        Bench { runner }
    }

    /// Runs a command on the node of its first key.
    ///
    /// # Errors
    /// When there is no reply.
    pub fn command(&mut self, words: &[impl AsRef<str>]) -> Result<Value, String> {
        let mut command = Words::new();
        words.iter().for_each(|w| command.push(w.as_ref().as_bytes()));
        let key = words.get(1).map(|k| slot(k.as_ref().as_bytes()));
        let got = self.runner.target().exchange(Node::Slot(key), &[command], Duration::from_secs(5));
        got.map_err(|e| e.to_string())?.pop().ok_or_else(|| "no reply".into())
    }

    /// Runs one case.
    ///
    /// # Errors
    /// The line and what differs.
    pub fn case(&mut self, script: &Script, case: &Case) -> Result<(), String> {
        self.clean(script, case)?;
        for step in &case.steps {
            self.step(script, &step.kind).map_err(|why| format!("line {}: {why}", step.line))?;
        }
        self.clean(script, case)
    }

    fn clean(&mut self, script: &Script, case: &Case) -> Result<(), String> {
        for key in keys_of(script, case) {
            self.command(&["DEL", &key])?;
        }
        Ok(())
    }

    fn step(&mut self, script: &Script, step: &StepKind) -> Result<(), String> {
        match step {
            StepKind::Given(words) => match self.command(words)? {
                Value::Error(e) => Err(e),
                _ => Ok(()),
            },
            StepKind::Run(name, call) => {
                let script = name.as_deref().and_then(catalogue::get).unwrap_or(script);
                let got = self.runner.run(script, &call.keys, &call.args).map_err(|e| e.to_string())?;
                parse_result(script, got).map(drop).map_err(|e| e.to_string())
            }
            StepKind::Call(call, expect) => self.call(script, call, expect),
            StepKind::Check(words, expect) => {
                let got = self.command(words)?;
                if all_match(expect, &got) { Ok(()) } else { Err(format!("got {}", got.show())) }
            }
            StepKind::Ttl(key, lo, hi) => match self.command(&["PTTL", key])? {
                Value::Int(n) if (*lo..=*hi).contains(&n) => Ok(()),
                got => Err(format!("the time to live is {}", got.show())),
            },
        }
    }

    fn call(&mut self, script: &Script, call: &Invocation, expect: &Expect) -> Result<(), String> {
        let got = self.runner.run(script, &call.keys, &call.args);
        match (expect, got) {
            (Expect::Error(start), Err(Error::ScriptArgument(e) | Error::Refused(e)))
                if e.starts_with(start) =>
            {
                Ok(())
            }
            (Expect::Reply(patterns), Ok(got)) if all_match(patterns, &got) => {
                let (ints, _) = parse_result(script, got).map_err(|e| e.to_string())?;
                // What another program left is left as it is.
                if ints.first() == Some(&-9) { Ok(()) } else { self.lives(script, call) }
            }
            (_, Ok(got)) => Err(format!("got {}", got.show())),
            (_, Err(e)) => Err(format!("got the error {e}")),
        }
    }

    /// Every key that must end has a time to live.
    fn lives(&mut self, script: &Script, call: &Invocation) -> Result<(), String> {
        for (key, spec) in call.keys.iter().zip(specs(script, call.keys.len())) {
            if spec.life == Life::Ttl && self.command(&["PTTL", key])? == Value::Int(-1) {
                return Err(format!("{key} has no time to live"));
            }
        }
        Ok(())
    }

    /// Calls the script with each argument missing, or of a kind that it must refuse, after the steps of a case up to its first
    /// call; each must be answered by SCRIPTARG and change nothing. Gives how many there were.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn bad_arguments(&mut self, script: &Script, case: &Case) -> Result<usize, String> {
        let Some(base) = self.prepare(script, case)? else { return Ok(0) };
        let before = self.dumps(&base.keys)?;
        let mut count = 0;
        let mut refused = |bench: &mut Self, args: &[String], what: &str| {
            count += 1;
            match bench.runner.run(script, &base.keys, args) {
                Err(Error::ScriptArgument(_)) => {}
                got => return Err(format!("{what} was not refused: {got:?}")),
            }
            if bench.dumps(&base.keys)? == before { Ok(()) } else { Err(format!("{what} changed something")) }
        };
        for (i, spec) in args_of(script, base.args.len()) {
            refused(self, &base.args[..i], &format!("{} missing", spec.name))?;
            for bad in bad_values(spec) {
                let mut args = base.args.clone();
                args[i].clone_from(&bad);
                refused(self, &args, &format!("{} = {bad:.40}", spec.name))?;
            }
        }
        self.clean(script, case)?;
        Ok(count)
    }

    /// Calls the script with each key being of another type; it must fail, or answer BAD_STATE, and change nothing.
    ///
    /// # Errors
    /// The first one that does not.
    pub fn wrong_types(&mut self, script: &Script, case: &Case) -> Result<usize, String> {
        let mut count = 0;
        let all = specs(script, 64);
        for (at, spec) in all.iter().enumerate() {
            let Some(base) = self.prepare(script, case)? else { return Ok(count) };
            let Some(key) = base.keys.get(at) else { continue };
            if spec.kind == "any" {
                continue;
            }
            self.command(&["DEL", key])?;
            if spec.kind == "string" {
                self.command(&["RPUSH", key, "x"])?;
            } else {
                self.command(&["SET", key, "x"])?;
            }
            let before = self.dumps(&base.keys)?;
            match self.runner.run(script, &base.keys, &base.args) {
                Err(Error::Refused(e)) if e.starts_with("WRONGTYPE") => {}
                Ok(Value::Array(v)) if v.first() == Some(&Value::Int(-9)) => {}
                // The answer was found before this key mattered.
                Ok(_) if self.dumps(&base.keys)? == before => {}
                got => return Err(format!("{key} of another type: {got:?}")),
            }
            if self.dumps(&base.keys)? != before {
                return Err(format!("{key} of another type: something was changed"));
            }
            count += 1;
            self.clean(script, case)?;
        }
        Ok(count)
    }

    /// Runs a case up to its first call with a reply and gives that call.
    fn prepare(&mut self, script: &Script, case: &Case) -> Result<Option<Invocation>, String> {
        self.clean(script, case)?;
        for step in &case.steps {
            if let StepKind::Call(call, Expect::Reply(_)) = &step.kind {
                return Ok(Some(call.clone()));
            }
            self.step(script, &step.kind).map_err(|why| format!("line {}: {why}", step.line))?;
        }
        Ok(None)
    }

    fn dumps(&mut self, keys: &[String]) -> Result<Vec<Value>, String> {
        keys.iter().map(|k| self.command(&["DUMP", k])).collect()
    }
}

/// The specs of so many keys.
fn specs(script: &Script, n: usize) -> Vec<KeySpec> {
    let keys = &script.header().keys;
    let last = keys.last().filter(|k| k.variadic);
    let fixed = keys.iter().filter(|k| !k.variadic);
    let more = n.saturating_sub(keys.iter().filter(|k| !k.variadic).count());
    fixed.cloned().chain(last.into_iter().cycle().take(more.min(64)).cloned()).collect()
}

/// The specs of so many arguments, with their places.
fn args_of(script: &Script, n: usize) -> Vec<(usize, &ArgSpec)> {
    let args = &script.header().args;
    let first = args.iter().position(|a| a.variadic).unwrap_or(args.len());
    let cycle = args[first..].iter().cycle();
    args[..first]
        .iter()
        .chain(cycle.take(if first < args.len() { 1000 } else { 0 }))
        .enumerate()
        .take(n)
        .collect()
}

/// Values that an argument of this kind must not have.
fn bad_values(spec: &ArgSpec) -> Vec<String> {
    const NEVER: [&str; 16] = [
        "",
        "abc",
        "1.5",
        "1e3",
        "007",
        " 1",
        "1 ",
        "+1",
        "0x10",
        "nan",
        "inf",
        "1\n",
        "--1",
        "-0",
        "99999999999999999999",
        "9007199254740993",
    ];
    let mut out: Vec<String> = Vec::new();
    match &spec.kind {
        ArgKind::Int(lo, hi) => {
            out.extend(NEVER.map(String::from));
            out.push("-1".into());
            out.push((hi + 1).to_string());
            out.extend(lo.checked_sub(1).map(|n| n.to_string()));
        }
        ArgKind::Sint(lo, hi) => {
            out.extend(NEVER.map(String::from));
            out.extend([hi.saturating_add(1).to_string(), lo.saturating_sub(1).to_string()]);
        }
        ArgKind::Word(_) => out.extend(["", "nothing", "0"].map(String::from)),
        ArgKind::Text(lo, hi) => {
            if *lo > 0 {
                out.push(String::new());
            }
            out.push("x".repeat(hi + 1));
        }
    }
    out
}

/// Every key that a case names.
fn keys_of(script: &Script, case: &Case) -> BTreeSet<String> {
    let mut out: BTreeSet<String> = template_keys(script).into_iter().collect();
    for step in &case.steps {
        match &step.kind {
            StepKind::Given(words) | StepKind::Check(words, _) => {
                out.extend(words.iter().skip(1).filter(|w| w.contains('{')).cloned());
            }
            StepKind::Run(_, call) | StepKind::Call(call, _) => out.extend(call.keys.iter().cloned()),
            StepKind::Ttl(key, ..) => {
                out.insert(key.clone());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read() {
        let script = Script::from_text(
            "--- @script a.b\n--- @version 1\n--- @key k string rw keep template=\"k:{t}\"\n",
        )
        .unwrap();
        let text = "case one\ngiven SET $1 \"a b\"\ncall | 1 \"|\"\nreply 1 2..3\ncheck GET $1 => \"\"\nttl $1 1..2\n";
        let cases = parse(&script, text).unwrap();
        let call = Invocation { keys: vec!["k:{t}".into()], args: vec!["1".into(), "|".into()] };
        assert_eq!(
            cases[0].steps[1].kind,
            StepKind::Call(call, Expect::Reply(vec!["1".into(), "2..3".into()]))
        );
        assert_eq!(
            cases[0].steps[2].kind,
            StepKind::Check(vec!["GET".into(), "k:{t}".into()], vec![String::new()])
        );
        for bad in
            ["call | 1", "reply 1", "case x\nttl a", "case x\ncall | 1\ncheck GET a => 1", "case x\nfly"]
        {
            assert!(parse(&script, bad).is_err(), "{bad}");
        }
    }
}
