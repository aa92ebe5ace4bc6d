//! The reviewed list of intended differences from the oracle: one file that the comparison obeys and that COMPAT.md
//! is generated from, so what is not documented is a failing test.

use crate::client::Command;
use crate::value::Value;
use crate::{print, words};
use regex_lite::Regex;

/// The list, as text: `command<TAB>theirs<TAB>ours<TAB>why`, the first three regular expressions. `=numbers` in the
/// place of the replies accepts replies that differ only in how they write the same numbers.
pub const TABLE: &str = include_str!("../../data/differences.tsv");

/// One intended difference.
#[derive(Debug)]
pub struct Difference {
    command: Regex,
    /// `None`: the replies hold the same numbers.
    replies: Option<[Regex; 2]>,
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
        let line = words::join(command);
        self.0.iter().filter(|d| d.command.is_match(&line)).any(|d| match &d.replies {
            None => same_numbers(ours, theirs),
            Some([t, o]) => t.is_match(&print::reply(theirs)) && o.is_match(&print::reply(ours)),
        })
    }

    /// The entries in file order.
    pub fn iter(&self) -> impl Iterator<Item = &Difference> {
        self.0.iter()
    }
}

fn same_numbers(ours: &Value, theirs: &Value) -> bool {
    let number = |v: &Value| v.bytes().and_then(|b| std::str::from_utf8(b).ok()?.parse::<f64>().ok());
    match (ours, theirs) {
        (Value::Bulk(a), Value::Bulk(b)) | (Value::Double(a), Value::Double(b)) => {
            a == b || number(ours).is_some_and(|n| number(theirs) == Some(n))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_numbers(a, b))
        }
        (a, b) => a == b,
    }
}

fn line(text: &'static str) -> Difference {
    let fields: Vec<&str> = text.split('\t').collect();
    let [command, theirs, ours, why] = fields[..] else {
        panic!("four fields, not {}: {text}", fields.len())
    };
    let regex = |r: &str| Regex::new(&format!("(?is)^(?:{r})$")).unwrap_or_else(|e| panic!("{r}: {e}"));
    let replies = (theirs != "=numbers").then(|| [regex(theirs), regex(ours)]);
    Difference { command: regex(command), replies, why }
}
