//! Transcripts: examples in the documentation of commands that are executed.
//!
//! A fenced block marked `transcript` holds lines `> COMMAND` (words as `redis-cli` reads them), each followed by the
//! reply as `redis-cli` prints it over RESP2. Besides:
//!
//! - `# resp3` starts another form of the reply above, expected over RESP3 where it is not simply the same data;
//! - a reply line that starts with `~` is a regular expression for the whole line (`~\(integer\) (99|100)`);
//! - `# since 8.4`: the rest of the block needs that version and is not compared with an older oracle;
//! - `# not script: why` (or `multi`, `embedded`, `resp2`, `resp3`, `oracle`): the block does not run that way.
//!
//! Every block starts from an empty data set.

pub mod run;

use crate::client::Command;
use crate::words;
use std::path::{Path, PathBuf};

/// A block of one file.
#[derive(Debug, Clone)]
pub struct Block {
    /// The source file.
    pub file: PathBuf,
    /// Line of the fence, from 1.
    pub line: usize,
    /// Its commands with their replies.
    pub steps: Vec<Step>,
    /// Ways in which it may not run, with the reason.
    pub not: Vec<(String, String)>,
}

/// One command and what it must answer.
#[derive(Debug, Clone)]
pub struct Step {
    /// Line of the command in its file, from 1.
    pub line: usize,
    /// The command's words.
    pub command: Command,
    /// The reply as `redis-cli` prints it.
    pub reply: Vec<String>,
    /// The reply over RESP3 where the transcript gives one.
    pub resp3: Option<Vec<String>>,
    /// First version that has what the command uses, when the transcript says one.
    pub since: Option<Version>,
}

/// A version such as 7.0.15, as three numbers.
pub type Version = [u32; 3];

/// Reads `8.4` or `7.0.15`.
pub fn version(text: &str) -> Option<Version> {
    let mut parts = text.trim().split('.').map(|p| p.parse().ok());
    let [a, b, c] = [parts.next()??, parts.next().unwrap_or(Some(0))?, parts.next().unwrap_or(Some(0))?];
    Some([a, b, c])
}

/// All blocks of a file's doc comments.
pub fn blocks(file: &Path, source: &str) -> Result<Vec<Block>, String> {
    let mut out = Vec::new();
    let mut open: Option<Builder> = None;
    for (i, text) in source.lines().enumerate() {
        let text = text.trim_start();
        let Some(doc) = text.strip_prefix("//!").or_else(|| text.strip_prefix("///")) else { continue };
        let doc = doc.strip_prefix(' ').unwrap_or(doc);
        let at = |why: &str| format!("{}:{}: {why}", file.display(), i + 1);
        match (&mut open, doc.trim_end()) {
            (None, "```transcript") => open = Some(Builder::new(file, i + 1)),
            (None, fence) if fence.starts_with("```transcript") => {
                return Err(at("nothing may follow the word"));
            }
            (Some(_), "```") => out.extend(open.take().map(|b| b.block)),
            (Some(builder), line) => builder.line(line, i + 1).map_err(|e| at(&e))?,
            (None, _) => {}
        }
    }
    match open {
        Some(b) => Err(format!("{}:{}: the transcript is not closed", file.display(), b.block.line)),
        None => Ok(out),
    }
}

struct Builder {
    block: Block,
    since: Option<Version>,
    resp3: bool,
}

impl Builder {
    fn new(file: &Path, line: usize) -> Self {
        let block = Block { file: file.into(), line, steps: Vec::new(), not: Vec::new() };
        Builder { block, since: None, resp3: false }
    }

    fn line(&mut self, text: &str, line: usize) -> Result<(), String> {
        if let Some(command) = text.strip_prefix("> ") {
            let command = words::split(command).ok_or("unbalanced quotes")?;
            self.resp3 = false;
            self.block.steps.push(Step { line, command, reply: Vec::new(), resp3: None, since: self.since });
        } else if let Some(mark) = text.strip_prefix("# ") {
            return self.mark(mark.trim());
        } else if let Some(step) = self.block.steps.last_mut() {
            let reply = if self.resp3 { step.resp3.get_or_insert_default() } else { &mut step.reply };
            if !(text.is_empty() && reply.is_empty()) {
                reply.push(text.to_string());
            }
        } else if !text.is_empty() {
            return Err("a reply without a command".into());
        }
        Ok(())
    }

    fn mark(&mut self, mark: &str) -> Result<(), String> {
        if mark == "resp3" {
            self.resp3 = true;
        } else if let Some(v) = mark.strip_prefix("since ") {
            self.since = Some(version(v).ok_or("not a version")?);
        } else if let Some((way, why)) = mark.strip_prefix("not ").and_then(|m| m.split_once(':')) {
            if !run::Way::ALL.iter().any(|w| w.name() == way) {
                return Err(format!("no way is called {way}"));
            }
            self.block.not.push((way.to_string(), why.trim().to_string()));
        } else {
            return Err(format!("unknown mark {mark:?}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_marks_and_alternatives() {
        let source = "//! Text\n//! ```transcript\n//! > SET k \"a b\"\n//! OK\n//! > HGETALL h\n//! 1) \"f\"\n//! # resp3\n//! 1# \"f\" => \"v\"\n//! # since 8.4\n//! > DELEX k\n//! ~.*\n//! # not script: because\n//! ```\n";
        let blocks = blocks(Path::new("x.rs"), source).unwrap();
        let [block] = &blocks[..] else { panic!("{blocks:?}") };
        assert_eq!(block.steps.len(), 3);
        assert_eq!(block.steps[0].command[2], b"a b");
        assert_eq!(block.steps[1].resp3.as_deref(), Some(&["1# \"f\" => \"v\"".to_string()][..]));
        assert_eq!(block.steps[2].since, Some([8, 4, 0]));
        assert_eq!(block.not, [("script".to_string(), "because".to_string())]);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in ["# soon 1", "> GET \"x", "(nil)", "# not nowhere: x"] {
            let source = format!("//! ```transcript\n//! {bad}\n//! ```\n");
            assert!(blocks(Path::new("x.rs"), &source).is_err(), "{bad}");
        }
        assert!(blocks(Path::new("x.rs"), "//! ```transcript\n//! > GET k\n").is_err());
    }
}
