//! The contract pages.

use super::Entry;
use crate::cases::{Expect, StepKind};
use crate::header::{ArgKind, ArgSpec, Life};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const MADE: &str = "<!-- Made from the script's header and cases by `cargo xtask gen`; do not edit. -->\n\n";

/// The list of all pages.
pub(super) fn summary(families: &BTreeMap<String, Vec<&Entry>>, seeds: &[Entry]) -> String {
    let mut out = format!("# The catalogue\n\n{MADE}");
    out += "Each page is a script's contract: keys, arguments, reply, what it does not promise, and examples, which are the script's\n\
        cases and are run on every kind of server. The guides say when to use what: [../guides](../guides/README.md).\n";
    for (family, members) in families {
        let _ = write!(out, "\n## {family}\n\n");
        for e in members {
            let _ = writeln!(out, "- [{}]({}.md): {}", e.script.name(), e.place, e.header().summary);
        }
    }
    out += "\n## seed\n\nThe scripts that Totality was begun for, as their sources print them.\n\n";
    for e in seeds {
        let _ = writeln!(out, "- [{}]({}.md): {}", e.script.name(), e.place, e.header().summary);
    }
    out
}

/// The page of a script.
pub(super) fn page(entry: &Entry) -> String {
    let h = entry.header();
    let mut out = format!("# {}\n\n{MADE}{}.\n\n", h.name, h.summary);
    let read_only = if h.read_only() { ", never writes" } else { "" };
    let clock = if h.clock.is_empty() { "none" } else { &h.clock };
    let _ =
        writeln!(out, "Version {}, retry class `{}`, clock `{clock}`{read_only}.", h.version, h.retry.word());
    if !h.cost.is_empty() {
        let _ = writeln!(out, "Cost: {}.", h.cost);
    }
    if !h.servers.is_empty() {
        let _ = writeln!(out, "Servers: {}, Totality.", h.servers.join(", "));
    }
    let _ = writeln!(out, "Source: [`scripts/{0}.lua`](../../../scripts/{0}.lua).\n", entry.place);
    tables(entry, &mut out);
    let weak: Vec<&String> = h.unknown.iter().filter(|(t, _)| t == "weak").map(|(_, v)| v).collect();
    if !weak.is_empty() {
        out += "\n## Where it is weak\n\n";
        weak.iter().for_each(|w| out.push_str(&format!("- {w}\n")));
        if let Some((_, name)) = h.unknown.iter().find(|(t, _)| t == "mend") {
            let _ = writeln!(out, "\nUse [{name}](../{}.md) instead.", name.replace('.', "/"));
        }
    }
    if !h.notes.is_empty() || !h.natives.is_empty() {
        out += "\n## What to know\n\n";
        h.notes.iter().for_each(|n| out.push_str(&format!("- {n}\n")));
        h.natives.iter().for_each(|n| out.push_str(&format!("- Native: {n}\n")));
    }
    if !entry.cases.is_empty() {
        out += "\n## Examples\n\n`call` stands for EVALSHA; before the bar are the keys, after it the arguments.\n";
        entry.cases.iter().for_each(|case| example(case, &mut out));
    }
    out
}

fn tables(entry: &Entry, out: &mut String) {
    let h = entry.header();
    if !h.keys.is_empty() {
        out.push_str("| key | name | type | |\n|---|---|---|---|\n");
    }
    for k in &h.keys {
        let life = match (k.writes, k.life) {
            (false, _) => "read",
            (_, Life::Ttl) => "written, ends by itself",
            (_, Life::Persistent) => "written, does not end",
            (_, Life::Keep) => "written, ends as the caller has it",
        };
        let dots = if k.variadic { "…" } else { "" };
        let _ = writeln!(out, "| {}{dots} | `{}` | {} | {life} |", k.name, k.template, k.kind);
    }
    if !h.args.is_empty() {
        out.push_str("\n| argument | range | |\n|---|---|---|\n");
    }
    for a in &h.args {
        let dots = if a.variadic { "…" } else { "" };
        let _ = writeln!(out, "| {}{dots} | {} | {} |", a.name, range(a), words(a));
    }
    if let Some(reply) = &h.reply {
        let names: Vec<&str> = reply.iter().map(|f| f.name.as_str()).collect();
        let _ = writeln!(out, "\nReply: `{{{}}}`\n", names.join(", "));
        out.push_str("| code | | meaning | HTTP |\n|---|---|---|---|\n");
        for c in &h.codes {
            let mut http = c.http.map(|s| s.to_string()).unwrap_or_default();
            if let Some(field) = &c.retry_after {
                http += &format!(", Retry-After from {field}");
            }
            let _ = writeln!(out, "| {} | {} | {} | {http} |", c.code, c.name, c.text);
        }
    }
}

fn range(a: &ArgSpec) -> String {
    match &a.kind {
        ArgKind::Int(lo, hi) => format!("{lo} to {hi}"),
        ArgKind::Sint(lo, hi) => format!("{lo} to {hi}"),
        ArgKind::Text(lo, hi) => format!("{lo} to {hi} bytes"),
        ArgKind::Word(words) => words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", "),
    }
}

fn words(a: &ArgSpec) -> String {
    let mut out = Vec::new();
    if a.reqid {
        out.push("names the request: the same again has no second effect".to_string());
    }
    if a.test {
        out.push("0 is the server's clock, other values are for tests".to_string());
    }
    if a.private {
        out.push("never logged".to_string());
    }
    out.join("; ")
}

fn example(case: &crate::cases::Case, out: &mut String) {
    let quote = |w: &String| {
        let plain = !w.is_empty() && w.chars().all(|c| !c.is_whitespace() && c != '"' && c != '|');
        if plain { w.clone() } else { format!("{w:?}") }
    };
    let join = |words: &[String]| words.iter().map(quote).collect::<Vec<_>>().join(" ");
    let _ = write!(out, "\n{}:\n\n```text\n", capital(&case.name));
    for step in &case.steps {
        let _ = match &step.kind {
            StepKind::Given(words) => writeln!(out, "{}", join(words)),
            StepKind::Run(name, call) => {
                let name = name.as_deref().unwrap_or("call");
                writeln!(out, "{name} {} | {}", join(&call.keys), join(&call.args))
            }
            StepKind::Call(call, expect) => {
                let _ = writeln!(out, "call {} | {}", join(&call.keys), join(&call.args));
                match expect {
                    Expect::Reply(fields) => writeln!(out, "  → {}", join(fields)),
                    Expect::Error(text) => writeln!(out, "  → (error) {text}…"),
                }
            }
            StepKind::Check(words, got) => writeln!(out, "{}\n  → {}", join(words), join(got)),
            StepKind::Ttl(key, lo, hi) => writeln!(out, "PTTL {}\n  → {lo}..{hi}", quote(key)),
        };
    }
    out.push_str("```\n");
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
