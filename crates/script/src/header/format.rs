//! Writing a header.

use super::{ArgKind, ArgSpec, CodeSpec, Header, HeaderError, KeySpec, split};
use std::fmt::Write as _;

/// The header as `--- @` lines in the usual order.
pub fn canonical(h: &Header) -> String {
    let mut out = String::new();
    let mut line = |tag: &str, value: &str| {
        if value.is_empty() {
            return;
        }
        // Writing to a String cannot fail.
        let _ = writeln!(out, "--- @{tag} {value}");
    };
    line("script", &h.name);
    line("version", &h.version);
    line("owner", &h.owner);
    line("summary", &h.summary);
    h.keys.iter().for_each(|k| line("key", &key(k)));
    h.args.iter().for_each(|a| line("arg", &arg(a)));
    line("reply", &reply(h));
    h.codes.iter().for_each(|c| line("code", &code(c)));
    h.errors.iter().for_each(|e| line("error", e));
    line("clock", &h.clock);
    line("slot", if h.same_slot { "same" } else { "" });
    line("retry", h.retry.word());
    line("cost", &h.cost);
    line("server", &h.servers.join(" "));
    h.natives.iter().for_each(|n| line("native", n));
    line("flags", &h.flags.join(" "));
    h.server_tags.iter().for_each(|(t, v)| line(t, v));
    h.allows.iter().for_each(|a| line("allow", a));
    h.notes.iter().for_each(|n| line("note", n));
    h.unknown.iter().for_each(|(t, v)| line(t, v));
    h.includes.iter().for_each(|i| line("include", &format!("\"{i}\"")));
    out
}

/// A script's text with its header rewritten in the usual form and order; the body stays as it is.
///
/// # Errors
/// [`HeaderError`] when there is no header that can be read.
pub fn format_source(source: &str) -> Result<String, HeaderError> {
    let parts = split(source)?;
    let header = parts.header()?;
    let first = if parts.shebang.is_some() { "#!lua\n" } else { "" };
    Ok(format!("{first}{}{}", canonical(&header), parts.body))
}

/// What callers depend on.
pub(super) fn contract(h: &Header) -> String {
    let mut out = format!("script {}\n", h.name);
    h.keys.iter().for_each(|k| out.push_str(&format!("key {}\n", key(k))));
    h.args.iter().for_each(|a| out.push_str(&format!("arg {}\n", arg(a))));
    out.push_str(&format!("reply {}\n", reply(h)));
    h.codes.iter().for_each(|c| out.push_str(&format!("code {} {}\n", c.code, c.name)));
    h.errors.iter().for_each(|e| out.push_str(&format!("error {e}\n")));
    out.push_str(&format!("retry {}\n", h.retry.word()));
    out
}

fn reply(h: &Header) -> String {
    let fields = h.reply.iter().flatten();
    let words: Vec<String> =
        fields.map(|f| format!("{}:{}", f.name, if f.bytes { "bytes" } else { "int" })).collect();
    words.join(" ")
}

fn key(k: &KeySpec) -> String {
    let dots = if k.variadic { "..." } else { "" };
    let access = if k.writes { "rw" } else { "r" };
    format!("{}{dots} {} {access} {} template=\"{}\"", k.name, k.kind, k.life.word(), k.template)
}

fn arg(a: &ArgSpec) -> String {
    let mut out = format!("{}{} ", a.name, if a.variadic { "..." } else { "" });
    out += &match &a.kind {
        ArgKind::Int(lo, hi) => format!("int {lo}..{hi}"),
        ArgKind::Sint(lo, hi) => format!("sint {lo}..{hi}"),
        ArgKind::Text(lo, hi) => format!("text {lo}..{hi}"),
        ArgKind::Word(words) => format!("word {}", words.join("|")),
    };
    if let Some(value) = &a.default {
        out += &format!(" default={value}");
    }
    for (on, word) in [(a.test, " test"), (a.reqid, " reqid"), (a.private, " pii")] {
        if on {
            out += word;
        }
    }
    out
}

fn code(c: &CodeSpec) -> String {
    let mut out = format!("{} {}", c.code, c.name);
    if let Some(status) = c.http {
        out += &format!(" http={status}");
    }
    if let Some(field) = &c.retry_after {
        out += &format!(" retry_after={field}");
    }
    if !c.text.is_empty() {
        out = format!("{out} {}", c.text);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "-- name: rate-limit-sliding-window\n-- version: 2026-07-11.1\n-- owner: backend-platform\n\
        -- keys: [rate-limit key]\n-- args: [nowMillis, windowMillis, maxRequests, member, ttlSeconds]\n\
        -- return: [allowed, currentCount, pttl]\nreturn 1\n";

    #[test]
    fn the_plain_form_is_read_and_rewritten() {
        let header = Header::parse(PLAIN).unwrap();
        assert_eq!(
            (header.name.as_str(), header.version.as_str()),
            ("rate-limit-sliding-window", "2026-07-11.1")
        );
        assert_eq!((header.keys.len(), header.args.len()), (1, 5));
        let text = format_source(PLAIN).unwrap();
        assert!(
            text.starts_with("--- @script rate-limit-sliding-window\n--- @version 2026-07-11.1\n"),
            "{text}"
        );
        assert!(text.ends_with("\nreturn 1\n"), "{text}");
        assert_eq!(Header::parse(&text).unwrap(), header);
        assert_eq!(format_source(&text).unwrap(), text);
    }

    #[test]
    fn unknown_tags_are_kept() {
        let h = Header::parse("--- @script a\n--- @version 1\n--- @weather fine today\nreturn 1").unwrap();
        assert_eq!(h.unknown, [("weather".to_string(), "fine today".to_string())]);
        assert!(canonical(&h).contains("--- @weather fine today\n"));
    }

    #[test]
    fn bad_lines_say_where() {
        let e = Header::parse("--- @script a\n--- @version 1\n--- @arg x int 5..1\n").unwrap_err();
        assert_eq!(e.to_string(), "line 3: @arg: needs a range such as 1..100");
        let e =
            Header::parse("--- @script a\n--- @version 1\n--- @arg x int 0..9007199254740992\n").unwrap_err();
        assert_eq!(e.line, 3);
        assert!(Header::parse("return 1").is_err());
        assert!(Header::parse("#!js\nreturn 1").is_err());
    }

    #[test]
    fn a_contract_leaves_prose_out() {
        let text = |summary: &str, hi: u32| {
            format!("--- @script a\n--- @version 1\n--- @summary {summary}\n--- @arg x int 0..{hi}\n")
        };
        let contract = |s: &str, hi| Header::parse(&text(s, hi)).unwrap().contract();
        assert_eq!(contract("one", 5), contract("two", 5));
        assert_ne!(contract("one", 5), contract("one", 6));
    }
}
