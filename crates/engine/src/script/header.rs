//! What a script says of itself before its first statement: the `#!` line with its flags.

use super::rollback;
use crate::error::CmdError;
use bitflags::bitflags;

bitflags! {
    /// Flags of a script or function.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct ScriptFlags: u16 {
        /// It never writes.
        const NO_WRITES = 1;
        /// It may run past `maxmemory`.
        const ALLOW_OOM = 1 << 1;
        /// It may run on a replica that lost its primary.
        const ALLOW_STALE = 1 << 2;
        /// It refuses to run in a cluster.
        const NO_CLUSTER = 1 << 3;
        /// It may access keys of several slots.
        const ALLOW_CROSS_SLOT_KEYS = 1 << 4;
        /// What it wrote is taken back when it does not end well.
        const ROLLBACK = 1 << 5;
        /// With `ROLLBACK`: an error that it returns is a good end.
        const RAISED = 1 << 6;
        /// Nothing is taken back, whatever the configuration says.
        const NO_ROLLBACK = 1 << 7;
        /// Some of its arguments may not be shown in logs.
        const SECRET = 1 << 8;
        /// No `#!` line: the rules of servers before 7.0.
        const COMPAT = 1 << 15;
    }
}

const NAMES: [(&str, ScriptFlags); 5] = [
    ("no-writes", ScriptFlags::NO_WRITES),
    ("allow-oom", ScriptFlags::ALLOW_OOM),
    ("allow-stale", ScriptFlags::ALLOW_STALE),
    ("no-cluster", ScriptFlags::NO_CLUSTER),
    ("allow-cross-slot-keys", ScriptFlags::ALLOW_CROSS_SLOT_KEYS),
];

/// The flag that only functions can have: other servers know it neither here nor in a `#!` line.
const ROLLBACK: (&str, ScriptFlags) = ("rollback", ScriptFlags::ROLLBACK);

impl ScriptFlags {
    /// The flag of this name that a function has.
    pub fn of_function(name: &[u8]) -> Option<ScriptFlags> {
        let rollback = ROLLBACK.0.as_bytes().eq_ignore_ascii_case(name).then_some(ROLLBACK.1);
        rollback.or_else(|| ScriptFlags::by_name(name, true))
    }

    /// The flag of this name.
    pub fn by_name(name: &[u8], any_case: bool) -> Option<ScriptFlags> {
        let same = |n: &str| {
            if any_case { n.as_bytes().eq_ignore_ascii_case(name) } else { n.as_bytes() == name }
        };
        NAMES.iter().find(|(n, _)| same(n)).map(|(_, flag)| *flag)
    }

    /// Names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().chain([&ROLLBACK]).filter(move |(_, flag)| self.contains(*flag)).map(|(name, _)| *name)
    }
}

/// What a script's `#!` line and leading comment say, and where its code begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Flags; [`ScriptFlags::COMPAT`] without a `#!` line.
    pub flags: ScriptFlags,
    /// Milliseconds that it may run, from `@deadline`; 0 for no such wish.
    pub deadline_ms: u32,
    /// Offset of the line break that ends the `#!` line, so that line numbers stay; 0 without one.
    pub code: usize,
}

/// Reads the `#!` line and the leading comment of a script for EVAL.
///
/// # Errors
/// In Redis's words, what is wrong with the line; what a tag of the comment cannot say.
pub fn parse(body: &[u8]) -> Result<Header, CmdError> {
    let header = parse_line(body)?;
    if !header.flags.contains(ScriptFlags::COMPAT) || body.trim_ascii_start().starts_with(b"--") {
        let tags = rollback::tags(body).map_err(|text| {
            CmdError::owned(format!("ERR Error compiling script (new function): user_script:{text}"))
        })?;
        return Ok(Header { flags: header.flags | tags.flags, deadline_ms: tags.deadline_ms, ..header });
    }
    Ok(header)
}

fn parse_line(body: &[u8]) -> Result<Header, CmdError> {
    if !body.starts_with(b"#!") {
        return Ok(Header { flags: ScriptFlags::COMPAT, deadline_ms: 0, code: 0 });
    }
    let (line, end) = shebang(body).ok_or(CmdError::new("ERR Invalid script shebang"))?;
    let parts = totality_resp::split_args(line).ok().filter(|parts| !parts.is_empty());
    let parts = parts.ok_or(CmdError::new("ERR Invalid engine in script shebang"))?;
    if parts[0] != b"#!lua" {
        return Err(error("Unexpected engine in script shebang: ", &parts[0]));
    }
    let mut flags = ScriptFlags::empty();
    for part in &parts[1..] {
        let Some(list) = part.strip_prefix(b"flags=") else {
            return Err(error("Unknown lua shebang option: ", part));
        };
        for name in list.split(|b| *b == b',') {
            if list.is_empty() {
                break;
            }
            flags |= ScriptFlags::by_name(name, false)
                .ok_or_else(|| error("Unexpected flag in script shebang: ", name))?;
        }
    }
    Ok(Header { flags, deadline_ms: 0, code: end })
}

/// Reads the `#!` line of a library: engine and name.
///
/// # Errors
/// In Redis's words, what is wrong with the line.
pub fn parse_library(code: &[u8]) -> Result<(Vec<u8>, usize), CmdError> {
    const INVALID: CmdError = CmdError::new("ERR Invalid library metadata");
    if !code.starts_with(b"#!") {
        return Err(CmdError::new("ERR Missing library metadata"));
    }
    let (line, end) = shebang(code).ok_or(INVALID)?;
    let parts = totality_resp::split_args(line).ok().filter(|parts| !parts.is_empty()).ok_or(INVALID)?;
    let mut name = None;
    for part in &parts[1..] {
        if part.len() < 5 || !part[..5].eq_ignore_ascii_case(b"name=") {
            return Err(error("Invalid metadata value given: ", part));
        }
        if name.is_some() {
            return Err(CmdError::new("ERR Invalid metadata value, name argument was given multiple times"));
        }
        name = Some(part[5..].to_vec());
    }
    let name = name.ok_or(CmdError::new("ERR Library name was not given"))?;
    if !valid_name(&name) {
        return Err(CmdError::new(
            "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long",
        ));
    }
    let engine = &parts[0][2..];
    if !engine.eq_ignore_ascii_case(b"lua") {
        return Err(CmdError::owned([b"ERR Engine '", engine, b"' not found"].concat()));
    }
    Ok((name, end))
}

/// Letters, digits and underscores, at least one.
pub fn valid_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

fn shebang(body: &[u8]) -> Option<(&[u8], usize)> {
    let end = body.iter().position(|b| *b == b'\n')?;
    Some((&body[..end], end))
}

fn error(text: &str, word: &[u8]) -> CmdError {
    CmdError::owned([b"ERR ", text.as_bytes(), word].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_and_unknown_ones_refused() {
        let header = parse(b"#!lua flags=no-writes,allow-stale\nreturn 1").unwrap();
        assert_eq!(header.flags, ScriptFlags::NO_WRITES | ScriptFlags::ALLOW_STALE);
        assert_eq!(header.code, 33);
        assert_eq!(parse(b"return 1").unwrap().flags, ScriptFlags::COMPAT);
        assert_eq!(parse(b"#!lua").unwrap_err().text(), b"ERR Invalid script shebang");
        assert_eq!(
            parse(b"#!lua flags=x\n").unwrap_err().text(),
            b"ERR Unexpected flag in script shebang: x"
        );
        assert_eq!(parse(b"#!js\n").unwrap_err().text(), b"ERR Unexpected engine in script shebang: #!js");
        assert_eq!(parse(b"#!lua name=x\n").unwrap_err().text(), b"ERR Unknown lua shebang option: name=x");
    }

    #[test]
    fn a_library_needs_a_name() {
        assert_eq!(parse_library(b"#!lua name=lib\n").unwrap().0, b"lib");
        assert_eq!(parse_library(b"return 1").unwrap_err().text(), b"ERR Missing library metadata");
        assert_eq!(parse_library(b"#!lua\n").unwrap_err().text(), b"ERR Library name was not given");
        assert_eq!(parse_library(b"#!js name=x\n").unwrap_err().text(), b"ERR Engine 'js' not found");
    }
}
