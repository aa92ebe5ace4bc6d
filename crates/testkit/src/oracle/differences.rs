//! The reviewed list of intended differences from the oracle: one file that the comparison obeys and that COMPAT.md
//! is generated from, so what is not documented is a failing test.

use crate::client::Command;
use crate::value::Value;
use crate::{print, words};
use regex_lite::Regex;

/// The list, as text: `command<TAB>theirs<TAB>ours<TAB>why`, the first three regular expressions.
pub const TABLE: &str = include_str!("../../data/differences.tsv");

/// One intended difference.
#[derive(Debug)]
pub struct Difference {
    command: Regex,
    theirs: Regex,
    ours: Regex,
    /// What differs and why, for COMPAT.md.
    pub why: &'static str,
}

/// All intended differences.
#[derive(Debug)]
pub struct Differences(Vec<Difference>);

impl Differences {
    /// Reads the list.
    ///
    /// # Panics
    /// When a line of it is malformed: it is part of this crate.
    pub fn load() -> Differences {
        Differences(TABLE.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(line).collect())
    }

    /// Is this difference listed? Commands and replies are matched as `redis-cli` would show them.
    pub fn allows(&self, command: &Command, ours: &Value, theirs: &Value) -> bool {
        let (line, ours, theirs) = (words::join(command), print::reply(ours), print::reply(theirs));
        self.0
            .iter()
            .any(|d| d.command.is_match(&line) && d.theirs.is_match(&theirs) && d.ours.is_match(&ours))
    }

    /// The entries in file order.
    pub fn iter(&self) -> impl Iterator<Item = &Difference> {
        self.0.iter()
    }
}

fn line(text: &'static str) -> Difference {
    let fields: Vec<&str> = text.split('\t').collect();
    let [command, theirs, ours, why] = fields[..] else {
        panic!("four fields, not {}: {text}", fields.len())
    };
    let regex = |r: &str| Regex::new(&format!("(?is)^(?:{r})$")).unwrap_or_else(|e| panic!("{r}: {e}"));
    Difference { command: regex(command), theirs: regex(theirs), ours: regex(ours), why }
}
