//! Which scripts and functions a user may run: the rules `run:PATTERN`, `resetrun` and `allrun`.
//!
//! A pattern is matched with the name of a function, and with the SHA1 and the name (`--- @script name`) of a script that
//! is in the cache. A text that is not there yet may call itself anything, so its SHA1 alone counts: a user with such
//! rules runs what others loaded, and cannot load anything himself.

use super::user::Selector;
use crate::commands::Command;
use crate::script::{Scripts, cache};
use std::borrow::Cow;

/// What a command runs.
enum Subject<'a> {
    /// No script.
    Nothing,
    /// It brings scripts of any name.
    Load,
    /// The script with this SHA1.
    Script(cache::Sha),
    /// This function.
    Function(&'a [u8]),
}

fn subject<'a>(command: &Command, argv: &[&'a [u8]], scripts: &Scripts) -> Subject<'a> {
    let at = |i: usize| argv.get(i).copied().unwrap_or_default();
    match command.full_name.as_str() {
        "eval" | "eval_ro" => Subject::Script(cache::sha_of(at(1))),
        "evalsha" | "evalsha_ro" => cache::parse_hex(at(1)).map_or(Subject::Nothing, Subject::Script),
        "script|load" => Subject::Script(cache::sha_of(at(2))),
        "script|explain" => {
            let known = cache::parse_hex(at(2)).filter(|sha| scripts.cache.contains(sha));
            Subject::Script(known.unwrap_or_else(|| cache::sha_of(at(2))))
        }
        "fcall" | "fcall_ro" => Subject::Function(at(1)),
        "function|load" | "function|restore" => Subject::Load,
        _ => Subject::Nothing,
    }
}

/// The name of what a command runs: of a function, or of a script in the cache; else its SHA1.
pub(super) fn name_of<'a>(command: &Command, argv: &[&'a [u8]], scripts: &Scripts) -> Cow<'a, [u8]> {
    match subject(command, argv, scripts) {
        Subject::Nothing | Subject::Load => Cow::Owned(command.full_name.clone().into_bytes()),
        Subject::Function(name) => Cow::Borrowed(name),
        Subject::Script(sha) => match scripts.cache.peek(&sha) {
            Some(script) if !script.meta.name.is_empty() => script.meta.name.clone().into_bytes().into(),
            _ => cache::hex(&sha).to_vec().into(),
        },
    }
}

impl Selector {
    /// May the command run what it runs?
    pub(super) fn may_run(&self, command: &Command, argv: &[&[u8]], scripts: &Scripts) -> bool {
        let Some(patterns) = &self.runs else { return true };
        let matches = |name: &[u8]| patterns.iter().any(|glob| totality_ds::glob::matches(glob, name, false));
        match subject(command, argv, scripts) {
            Subject::Nothing => true,
            Subject::Load => false,
            Subject::Function(name) => matches(name),
            Subject::Script(sha) => {
                let cached = scripts.cache.peek(&sha);
                let by_name = cached.is_some_and(|script| matches(script.meta.name.as_bytes()));
                // What is not there cannot be run by its SHA1: the answer is NOSCRIPT.
                let absent = cached.is_none() && command.spec.name.starts_with("evalsha");
                by_name || absent || matches(&cache::hex(&sha))
            }
        }
    }

    /// The rules: `run:a run:b`, `resetrun`, or nothing when they are not used.
    pub fn run_rules(&self) -> Vec<u8> {
        match &self.runs {
            None => Vec::new(),
            Some(patterns) if patterns.is_empty() => b"resetrun".to_vec(),
            Some(patterns) => patterns
                .iter()
                .map(|glob| [b"run:", glob.as_slice()].concat())
                .collect::<Vec<_>>()
                .join(&b' '),
        }
    }
}
