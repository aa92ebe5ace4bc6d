//! From a source file to the bytes that a server gets. The same source gives the same bytes, so the SHA1 is stable.

use crate::header::{Header, HeaderError, split};
use sha1::Digest as _;
use std::fmt::Write as _;

/// Longest script that is rendered, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// For which servers a script is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Rendering {
    /// Totality, Redis 7 and Valkey: `#!lua` with flags in front.
    #[default]
    Redis,
    /// Dragonfly: `--!df flags=…` in front, when the header has a `@df` line.
    Dragonfly,
    /// Everything else: no first line of a special meaning.
    Plain,
}

impl Rendering {
    /// All of them.
    pub const ALL: [Rendering; 3] = [Rendering::Redis, Rendering::Dragonfly, Rendering::Plain];

    /// Its name in `scripts.lock`.
    pub fn name(self) -> &'static str {
        match self {
            Rendering::Redis => "redis",
            Rendering::Dragonfly => "dragonfly",
            Rendering::Plain => "plain",
        }
    }
}

/// A text without byte order mark, with `\n` as line ends and exactly one at its end.
pub fn normal(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    format!("{}\n", text.trim_end_matches('\n'))
}

/// Renders a source for a kind of servers. `include` gives the text of what `@include` names.
///
/// A header with `@render verbatim` leaves the text as it is, to the byte.
///
/// # Errors
/// [`HeaderError`] when the header cannot be read or an include is missing, or the script is over 1 MiB.
pub fn render(
    source: &str,
    target: Rendering,
    include: &dyn Fn(&str) -> Option<String>,
) -> Result<String, HeaderError> {
    let source = normal(source);
    let parts = split(&source)?;
    let header = parts.header()?;
    let mut out = String::with_capacity(source.len() + 256);
    first_line(&header, target, &mut out);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "-- {}", header.id());
    let _ = writeln!(out, "--- @script {}\n--- @version {}", header.name, header.version);
    for (tag, value) in &header.server_tags {
        let _ = writeln!(out, "--- @{tag} {value}");
    }
    let private: Vec<String> =
        (1..).zip(&header.args).filter(|(_, a)| a.private).map(|(i, _)| i.to_string()).collect();
    if !private.is_empty() {
        let _ = writeln!(out, "--- @pii {}", private.join(" "));
    }
    for name in &header.includes {
        let text = include(name).ok_or_else(|| HeaderError {
            line: 0,
            why: format!("@include \"{name}\": there is no such file"),
        })?;
        out.push_str(&normal(&text).replace("SCRIPT_NAME", &header.name));
    }
    out.push_str(parts.body);
    if out.len() > MAX_BYTES {
        return Err(HeaderError { line: 0, why: "the script is over 1 MiB".into() });
    }
    Ok(out)
}

fn first_line(header: &Header, target: Rendering, out: &mut String) {
    let df = header.unknown.iter().find(|(tag, _)| tag == "df").map(|(_, flags)| flags);
    let _ = match (target, df) {
        (Rendering::Redis, _) if header.flags.is_empty() => writeln!(out, "#!lua"),
        (Rendering::Redis, _) => writeln!(out, "#!lua flags={}", header.flags.join(",")),
        (Rendering::Dragonfly, Some(flags)) => writeln!(out, "--!df flags={flags}"),
        _ => Ok(()),
    };
}

/// SHA1 in hexadecimal, as EVALSHA takes it.
pub(crate) fn sha1(text: &str) -> String {
    hex(&sha1::Sha1::digest(text.as_bytes()))
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    hex(&sha2::Sha256::digest(text.as_bytes()))
}

/// The first 16 digits of the SHA-256 of what callers depend on: keys, arguments, reply, codes, errors, retry class.
pub fn contract_hash(header: &Header) -> String {
    sha256(&header.contract())[..16].to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "--- @script a.b\n--- @version 1.0.0\n--- @arg x text 0..9 pii\n--- @flags no-writes\n\
        --- @rollback on\n--- @include \"lib\"\nreturn x()\n";

    fn lib(name: &str) -> Option<String> {
        (name == "lib").then(|| "local function x() return 'SCRIPT_NAME' end".to_string())
    }

    #[test]
    fn one_text_for_totality_redis_and_valkey() {
        let text = render(SOURCE, Rendering::Redis, &lib).unwrap();
        assert_eq!(
            text,
            "#!lua flags=no-writes\n-- a.b@1.0.0\n--- @script a.b\n--- @version 1.0.0\n--- @rollback on\n--- @pii 1\n\
             local function x() return 'a.b' end\nreturn x()\n"
        );
        assert!(render(SOURCE, Rendering::Plain, &lib).unwrap().starts_with("-- a.b@1.0.0\n"));
        assert!(render(SOURCE, Rendering::Plain, &|_| None).is_err());
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_editor() {
        let windows = format!("\u{feff}{}\r\n\r\n", SOURCE.trim_end().replace('\n', "\r\n"));
        assert_eq!(render(&windows, Rendering::Redis, &lib), render(SOURCE, Rendering::Redis, &lib));
    }
}
