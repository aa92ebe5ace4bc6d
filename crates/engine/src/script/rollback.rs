//! All or nothing: what a script asks for in its header comment, what the configuration says to that, and why a run was
//! taken back.

use super::header::ScriptFlags;
use crate::config::Config;
use crate::error::CmdError;

/// What a script asks for beyond its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tags {
    /// [`ScriptFlags::ROLLBACK`], [`ScriptFlags::RAISED`] or [`ScriptFlags::NO_ROLLBACK`].
    pub flags: ScriptFlags,
    /// `@deadline`: milliseconds that it may run; 0 for no such wish.
    pub deadline_ms: u32,
}

/// Reads the tags of a script's leading comment block: the lines that are blank or begin with `--`, after an optional
/// `#!` line. What other tags say is not looked at.
///
/// # Errors
/// `line: text`: a tag has a value that it cannot have.
pub fn tags(body: &[u8]) -> Result<Tags, String> {
    let mut tags = Tags::default();
    for (i, line) in body.split(|b| *b == b'\n').enumerate() {
        if i == 0 && line.starts_with(b"#!") {
            continue;
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        // A long comment may hold anything.
        if !line.starts_with(b"--") || line.starts_with(b"--[") {
            break;
        }
        tags.read(line).map_err(|text| format!("{}: {text}", i + 1))?;
    }
    Ok(tags)
}

/// Reads the tags of the comment lines right above line `at`, counted from 1.
///
/// # Errors
/// As [`tags`].
pub fn tags_above(code: &[u8], at: u32) -> Result<Tags, String> {
    let above: Vec<&[u8]> = code.split(|b| *b == b'\n').take((at as usize).saturating_sub(1)).collect();
    let mut tags = Tags::default();
    let comment = |line: &&&[u8]| line.trim_ascii().starts_with(b"--");
    for (i, line) in above.iter().rev().take_while(comment).enumerate() {
        tags.read(line.trim_ascii()).map_err(|text| format!("{}: {text}", above.len() - i))?;
    }
    Ok(tags)
}

impl Tags {
    /// Reads a line of a comment: `--- @name value`.
    fn read(&mut self, line: &[u8]) -> Result<(), String> {
        let Some(rest) = line.strip_prefix(b"---") else { return Ok(()) };
        let Some(tag) = rest.trim_ascii_start().strip_prefix(b"@") else { return Ok(()) };
        let end = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
        let (name, value) = (&tag[..end], tag[end..].trim_ascii());
        let shown = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"rollback" => {
                self.flags = match value {
                    b"on" => ScriptFlags::ROLLBACK,
                    b"raised" => ScriptFlags::ROLLBACK | ScriptFlags::RAISED,
                    b"off" => ScriptFlags::NO_ROLLBACK,
                    _ => return Err(format!("@rollback must be on, off or raised, not '{}'", shown())),
                };
            }
            b"deadline" => {
                let ms = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.deadline_ms = ms.filter(|ms| *ms > 0).ok_or_else(|| {
                    format!("@deadline must be a number of milliseconds, not '{}'", shown())
                })?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Values of `script-rollback`.
pub const POLICIES: [&str; 3] = ["never", "declared", "always"];

/// True when a run is all or nothing.
///
/// # Errors
/// The script asks for it and the configuration forbids it.
pub fn wanted(config: &Config, flags: ScriptFlags) -> Result<bool, CmdError> {
    let asks = flags.contains(ScriptFlags::ROLLBACK);
    match POLICIES.get(config.script_rollback) {
        Some(&"never") if asks => Err(CmdError::new(
            "ERR the script asks for a rollback, which script-rollback never does not allow",
        )),
        Some(&"never") => Ok(false),
        Some(&"always") => Ok(!flags.contains(ScriptFlags::NO_ROLLBACK)),
        _ => Ok(asks),
    }
}

/// Why what a script wrote was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// An error left the script.
    Error,
    /// It returned an error.
    ErrorReply,
    /// SCRIPT KILL or FUNCTION KILL.
    Kill,
    /// Its deadline.
    Deadline,
    /// A limit of the Lua runtime: its memory, mostly.
    Memory,
    /// The undo log's limit.
    Undo,
    /// The limit of its commands.
    Commands,
    /// A savepoint's function failed; the script went on.
    Savepoint,
    /// A command of a transaction failed.
    Transaction,
    /// SCRIPT EXPLAIN, which takes everything back.
    Explain,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 10] = [
        Reason::Error,
        Reason::ErrorReply,
        Reason::Kill,
        Reason::Deadline,
        Reason::Memory,
        Reason::Undo,
        Reason::Commands,
        Reason::Savepoint,
        Reason::Transaction,
        Reason::Explain,
    ];

    /// Its name, as statistics show it.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::Error => "error",
            Reason::ErrorReply => "error_reply",
            Reason::Kill => "kill",
            Reason::Deadline => "deadline",
            Reason::Memory => "memory",
            Reason::Undo => "undo",
            Reason::Commands => "commands",
            Reason::Savepoint => "savepoint",
            Reason::Transaction => "transaction",
            Reason::Explain => "explain",
        }
    }
}

/// How often something was taken back, by reason.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rollbacks([u64; Reason::ALL.len()]);

impl Rollbacks {
    /// Counts one.
    pub fn count(&mut self, reason: Reason) {
        self.0[reason as usize] += 1;
    }

    /// How often for this reason.
    pub fn of(&self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    /// How often a whole script was taken back because it did not end well.
    pub fn scripts(&self) -> u64 {
        let whole =
            |reason: &&Reason| !matches!(reason, Reason::Savepoint | Reason::Transaction | Reason::Explain);
        Reason::ALL.iter().filter(whole).map(|reason| self.of(*reason)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_count_in_the_leading_comment_only() {
        let on = Tags { flags: ScriptFlags::ROLLBACK, deadline_ms: 0 };
        assert_eq!(tags(b"--- @rollback on\nreturn 1"), Ok(on));
        assert_eq!(
            tags(b"#!lua flags=allow-oom\n\n-- what it does\r\n---   @rollback   on  \r\nreturn 1"),
            Ok(on)
        );
        assert_eq!(tags(b"-- @rollback on\nreturn 1"), Ok(Tags::default()));
        assert_eq!(tags(b"return 1\n--- @rollback on"), Ok(Tags::default()));
        assert_eq!(tags(b"--[[\n--- @rollback on\n]]"), Ok(Tags::default()));
        assert_eq!(tags(b"return [[\n--- @rollback x\n]]"), Ok(Tags::default()));
        let raised = Tags { flags: ScriptFlags::ROLLBACK | ScriptFlags::RAISED, deadline_ms: 50 };
        assert_eq!(tags(b"--- @name stock\n--- @rollback raised\n--- @deadline 50\n"), Ok(raised));
        assert_eq!(
            tags(b"--\n--- @rollback maybe\n"),
            Err("2: @rollback must be on, off or raised, not 'maybe'".to_owned())
        );
        assert!(tags(b"--- @deadline 0\n").is_err() && tags(b"--- @deadline soon\n").is_err());
    }

    #[test]
    fn tags_above_a_line() {
        let code =
            b"\n--- @rollback off\nlocal x\n-- about f\n--- @rollback on\nredis.register_function('f', f)";
        assert_eq!(tags_above(code, 6).unwrap().flags, ScriptFlags::ROLLBACK);
        assert_eq!(tags_above(code, 5).unwrap().flags, ScriptFlags::empty());
        assert_eq!(tags_above(code, 4).unwrap().flags, ScriptFlags::empty());
        assert_eq!(
            tags_above(b"--- @rollback x\nf()", 2).unwrap_err(),
            "1: @rollback must be on, off or raised, not 'x'"
        );
    }

    #[test]
    fn the_configuration_has_the_last_word() {
        let mut config = Config::default();
        let wants = |config: &Config| {
            [ScriptFlags::ROLLBACK, ScriptFlags::empty(), ScriptFlags::NO_ROLLBACK]
                .map(|flags| wanted(config, flags).ok())
        };
        assert_eq!(wants(&config), [Some(true), Some(false), Some(false)]);
        config.script_rollback = 2;
        assert_eq!(wants(&config), [Some(true), Some(true), Some(false)]);
        config.script_rollback = 0;
        assert_eq!(wants(&config), [None, Some(false), Some(false)]);
    }
}
