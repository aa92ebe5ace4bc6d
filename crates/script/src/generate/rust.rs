//! The typed calls.

use super::Entry;
use crate::header::{ArgKind, ArgSpec, CodeSpec, KeySpec};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const MADE: &str = "// Made from the headers under scripts/ by `cargo xtask gen`; do not edit.\n\n";
const UP: &str = "../../../../scripts";

/// The texts that are built in.
pub(super) fn index(entries: &[Entry], library: &[String], seeds: &[Entry]) -> String {
    let mut out = format!("//! The scripts' texts.\n\n{MADE}");
    let _ = writeln!(
        out,
        "/// Name and text of each script, by name.\npub(super) static SCRIPTS: [(&str, &str); {}] = [",
        entries.len()
    );
    for e in entries {
        let _ = writeln!(out, "    ({:?}, include_str!(\"{UP}/{}.lua\")),", e.script.name(), e.place);
    }
    let _ = writeln!(
        out,
        "];\n\n/// Name and text of what they include.\npub(super) static LIBRARY: [(&str, &str); {}] = [",
        library.len()
    );
    for name in library {
        let _ = writeln!(out, "    ({name:?}, include_str!(\"{UP}/lib/{name}.lua\")),");
    }
    let _ = writeln!(
        out,
        "];\n\n/// Name, header and text of the seeds' scripts.\npub(super) static SEEDS: [(&str, &str, &str); {}] = [",
        seeds.len()
    );
    for e in seeds {
        let (name, place) = (e.script.name(), &e.place);
        let _ = writeln!(
            out,
            "    (\n        {name:?},\n        include_str!(\"{UP}/{place}.header\"),\n        include_str!(\"{UP}/{place}.lua\"),\n    ),"
        );
    }
    out + "];\n"
}

/// The list of modules.
pub(super) fn modules(families: &BTreeMap<String, Vec<&Entry>>) -> String {
    let mut out = MADE.to_string();
    for family in families.keys() {
        let _ = writeln!(out, "#[path = \"{family}/mod.rs\"]\npub mod {family};");
    }
    out
}

/// The list of a family's modules.
pub(super) fn family(family: &str, members: &[&Entry]) -> String {
    let mut out = format!("//! Calls of the scripts `{family}.…`.\n\n{MADE}");
    for e in members {
        let _ = writeln!(out, "mod {};", e.parts().1);
    }
    out.push('\n');
    for e in members {
        let _ = writeln!(out, "pub use {}::*;", e.parts().1);
    }
    out
}

/// The module of one script.
pub(super) fn script(entry: &Entry, all: &[Entry]) -> String {
    let at = all.iter().position(|o| o.script.name() == entry.script.name()).unwrap_or_default();
    let mut body = String::new();
    call(entry, at, &mut body);
    let http = if body.contains("Http::new") { "Http, " } else { "" };
    let check = if body.contains("check::") { ", check" } else { "" };
    format!(
        "//! `{}`.\n\n{MADE}use crate::error::Error;\nuse crate::reply::{{Call, {http}Reply{check}}};\n\
         use crate::script::Script;\nuse crate::words::Words;\n\n{body}",
        entry.script.name()
    )
}

fn camel(name: &str) -> String {
    let part = |p: &str| {
        let mut chars = p.chars();
        chars.next().map(|c| c.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    };
    name.split(['_', '.', '-']).map(part).collect()
}

fn code_name(c: &CodeSpec) -> String {
    camel(&c.name.to_lowercase())
}

/// A template in pieces: text, and names of parts.
fn pieces(template: &str) -> Vec<(bool, String)> {
    let mut out = vec![(false, String::new())];
    for c in template.chars() {
        let last = out.len() - 1;
        match c {
            '{' => {
                out[last].1.push('{');
                out.push((true, String::new()));
            }
            '}' => out.push((false, "}".into())),
            '<' => out.push((true, String::new())),
            '>' => out.push((false, String::new())),
            c => out[last].1.push(c),
        }
    }
    out.retain(|(_, s)| !s.is_empty());
    out
}

fn is_str(a: &ArgSpec) -> bool {
    matches!(a.kind, ArgKind::Text(_, hi) if hi <= 256)
}

struct Shape<'e> {
    entry: &'e Entry,
    name: String,
    /// Parts of fixed keys' names.
    parts: Vec<String>,
    /// Parts of the variadic key's name that are its own.
    item_parts: Vec<String>,
}

impl<'e> Shape<'e> {
    fn new(entry: &'e Entry) -> Shape<'e> {
        let h = entry.header();
        let words: BTreeSet<&str> =
            h.args.iter().filter(|a| matches!(a.kind, ArgKind::Word(_))).map(|a| a.name.as_str()).collect();
        let (mut parts, mut item_parts) = (Vec::new(), Vec::new());
        for key in &h.keys {
            let mut tag = true;
            for (named, name) in pieces(&key.template) {
                if !named {
                    tag = name.ends_with('{');
                    continue;
                }
                if words.contains(name.as_str()) || parts.contains(&name) {
                    continue;
                }
                if key.variadic && !tag { item_parts.push(name) } else { parts.push(name) }
            }
        }
        Shape { entry, name: camel(entry.parts().1), parts, item_parts }
    }

    fn args(&self, variadic: bool) -> impl Iterator<Item = &'e ArgSpec> {
        self.entry.header().args.iter().filter(move |a| a.variadic == variadic)
    }

    fn variadic(&self) -> Option<&'e KeySpec> {
        self.entry.header().keys.iter().find(|k| k.variadic)
    }

    fn field(&self, a: &ArgSpec) -> String {
        let kind = match &a.kind {
            ArgKind::Int(..) => "u64".to_string(),
            ArgKind::Sint(..) => "i64".to_string(),
            ArgKind::Text(..) if is_str(a) => "&'a str".to_string(),
            ArgKind::Text(..) => "&'a [u8]".to_string(),
            ArgKind::Word(_) => format!("{}{}", self.name, camel(&a.name)),
        };
        let mut doc = match &a.kind {
            ArgKind::Int(lo, hi) => format!("From {lo} to {hi}"),
            ArgKind::Sint(lo, hi) => format!("From {lo} to {hi}"),
            ArgKind::Text(lo, hi) => format!("{lo} to {hi} bytes"),
            ArgKind::Word(_) => "Which way".to_string(),
        };
        if a.reqid {
            doc += "; names the request, so that the same again has no second effect";
        }
        if let Some(value) = &a.default {
            doc += &format!("; usually {value}");
        }
        format!("    /// {doc}.\n    pub {}: {kind},\n", a.name)
    }
}

fn call(e: &Entry, at: usize, out: &mut String) {
    let shape = Shape::new(e);
    let h = e.header();
    let name = &shape.name;
    if let Some(key) = shape.variadic() {
        let _ = writeln!(
            out,
            "/// One of the {} of [`{name}`].\n#[derive(Debug, Clone, Copy)]\npub struct {name}Item<'a> {{",
            key.name
        );
        for part in &shape.item_parts {
            let _ = writeln!(
                out,
                "    /// Part of the key's name: `{}`.\n    pub {part}: &'a str,",
                key.template
            );
        }
        shape.args(true).for_each(|a| out.push_str(&shape.field(a)));
        out.push_str("}\n\n");
    }
    for a in h.args.iter() {
        if let ArgKind::Word(words) = &a.kind {
            word_enum(&shape, a, words, out);
        }
    }
    let _ = writeln!(out, "/// `{}`: {}.", h.name, h.summary);
    for note in &h.notes {
        let _ = writeln!(out, "///\n/// {note}");
    }
    let _ = writeln!(out, "#[derive(Debug, Clone, Copy)]\npub struct {name}<'a> {{");
    for part in &shape.parts {
        let of = h.keys.iter().find(|k| k.template.contains(part)).map_or("", |k| k.template.as_str());
        let _ = writeln!(out, "    /// Part of the keys' names, as in `{of}`.\n    pub {part}: &'a str,");
    }
    shape.args(false).filter(|a| !a.test).for_each(|a| out.push_str(&shape.field(a)));
    if let Some(key) = shape.variadic() {
        let _ = writeln!(out, "    /// The {}.\n    pub items: &'a [{name}Item<'a>],", key.name);
    }
    let _ = write!(out, "}}\n\nimpl Call for {name}<'_> {{\n    type Reply = {name}Reply;\n\n");
    let _ =
        write!(out, "    fn script(&self) -> &Script {{\n        crate::catalogue::nth({at})\n    }}\n\n");
    keys(&shape, out);
    args(&shape, out);
    out.push_str("}\n\n");
    reply(&shape, out);
}

fn word_enum(shape: &Shape<'_>, a: &ArgSpec, words: &[String], out: &mut String) {
    let name = format!("{}{}", shape.name, camel(&a.name));
    let _ = writeln!(
        out,
        "/// The argument {} of [`{}`].\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub enum {name} {{",
        a.name, shape.name
    );
    for w in words {
        let _ = writeln!(out, "    /// `{w}`\n    {},", camel(w));
    }
    let _ =
        write!(out, "}}\n\nimpl {name} {{\n    fn word(self) -> &'static str {{\n        match self {{\n");
    for w in words {
        let _ = writeln!(out, "            {name}::{} => {w:?},", camel(w));
    }
    out.push_str("        }\n    }\n}\n\n");
}

/// An expression for a template: the parts of a key's name.
fn key_parts(shape: &Shape<'_>, key: &KeySpec) -> String {
    let h = shape.entry.header();
    let part = |(named, text): (bool, String)| {
        if !named {
            return format!("b{text:?}");
        }
        if h.args.iter().any(|a| a.name == text && matches!(a.kind, ArgKind::Word(_))) {
            return format!("self.{text}.word().as_bytes()");
        }
        let of = if shape.item_parts.contains(&text) { "item" } else { "self" };
        format!("check::part({:?}, {text:?}, {of}.{text})?", h.name)
    };
    pieces(&key.template).into_iter().map(part).collect::<Vec<_>>().join(", ")
}

fn keys(shape: &Shape<'_>, out: &mut String) {
    let h = shape.entry.header();
    out.push_str("    fn keys(&self, out: &mut Words) -> Result<(), Error> {\n");
    for key in h.keys.iter().filter(|k| !k.variadic) {
        let _ = writeln!(out, "        out.push_parts(&[{}]);", key_parts(shape, key));
    }
    if let Some(key) = shape.variadic() {
        let limit =
            h.cost.split("max_keys=").nth(1).and_then(|n| n.split(' ').next()).and_then(|n| n.parse().ok());
        let limit: usize = limit.unwrap_or(16);
        let fixed = h.keys.len() - 1;
        let _ = writeln!(
            out,
            "        check::count({:?}, \"items\", self.items.len(), {})?;",
            h.name,
            limit - fixed
        );
        let _ = writeln!(
            out,
            "        for item in self.items {{\n            out.push_parts(&[{}]);\n        }}",
            key_parts(shape, key)
        );
    }
    out.push_str("        Ok(())\n    }\n\n");
}

fn args(shape: &Shape<'_>, out: &mut String) {
    let h = shape.entry.header();
    let unused = if h.args.is_empty() { "_" } else { "out" };
    let _ = writeln!(out, "    fn args(&self, {unused}: &mut Words) -> Result<(), Error> {{");
    let push = |a: &ArgSpec, of: &str| {
        let (s, n) = (&h.name, &a.name);
        match &a.kind {
            _ if a.test => format!("out.push(b\"{}\");", a.default.as_deref().unwrap_or("0")),
            ArgKind::Int(lo, hi) => format!("check::int(out, {s:?}, {n:?}, {of}.{n}, {lo}, {hi})?;"),
            ArgKind::Sint(lo, hi) => format!("check::sint(out, {s:?}, {n:?}, {of}.{n}, {lo}, {hi})?;"),
            ArgKind::Text(lo, hi) => {
                let bytes = if is_str(a) { format!("{of}.{n}.as_bytes()") } else { format!("{of}.{n}") };
                format!("check::text(out, {s:?}, {n:?}, {bytes}, {lo}, {hi})?;")
            }
            ArgKind::Word(_) => format!("out.push({of}.{n}.word().as_bytes());"),
        }
    };
    for a in shape.args(false) {
        let _ = writeln!(out, "        {}", push(a, "self"));
    }
    if shape.args(true).next().is_some() {
        out.push_str("        for item in self.items {\n");
        for a in shape.args(true) {
            let _ = writeln!(out, "            {}", push(a, "item"));
        }
        out.push_str("        }\n");
    }
    out.push_str("        Ok(())\n    }\n");
}

fn reply(shape: &Shape<'_>, out: &mut String) {
    let h = shape.entry.header();
    let name = format!("{}Reply", shape.name);
    let fields = h.reply.clone().unwrap_or_default();
    let (ints, bytes) = (fields.iter().filter(|f| !f.bytes).count(), fields.iter().any(|f| f.bytes));
    let rest = &fields[1.min(fields.len())..];
    let _ = writeln!(
        out,
        "/// What [`{}`] answers.\n#[derive(Debug, Clone, PartialEq, Eq)]\npub enum {name} {{",
        shape.name
    );
    for c in &h.codes {
        let text = if c.text.is_empty() { c.name.clone() } else { format!("{}: {}", c.name, c.text) };
        let _ = writeln!(out, "    /// Code {}, {text}.", c.code);
        if rest.is_empty() {
            let _ = writeln!(out, "    {},", code_name(c));
            continue;
        }
        let _ = writeln!(out, "    {} {{", code_name(c));
        for f in rest {
            let kind = if f.bytes { "Vec<u8>" } else { "i64" };
            let _ = writeln!(out, "        /// The field `{0}`.\n        {0}: {kind},", f.name);
        }
        out.push_str("    },\n");
    }
    let _ = write!(
        out,
        "}}\n\nimpl Reply for {name} {{\n    const INTS: usize = {ints};\n    const BYTES: bool = {bytes};\n\n"
    );
    let used = if bytes { "bytes" } else { "_" };
    let _ = writeln!(
        out,
        "    fn build(ints: &[i64], {used}: Vec<u8>) -> Option<Self> {{\n        Some(match *ints.first()? {{"
    );
    for c in &h.codes {
        let value = |(i, f): (usize, &crate::header::Field)| {
            if f.bytes {
                format!("{}: bytes", f.name).replace("bytes: bytes", "bytes")
            } else {
                format!("{}: *ints.get({})?", f.name, i + 1)
            }
        };
        let inner: Vec<String> = rest.iter().enumerate().map(value).collect();
        let body = if rest.is_empty() { String::new() } else { format!(" {{ {} }}", inner.join(", ")) };
        let _ = writeln!(out, "            {} => {name}::{}{body},", c.code, code_name(c));
    }
    out.push_str("            _ => return None,\n        })\n    }\n\n    fn code(&self) -> i64 {\n        match self {\n");
    let dots = if rest.is_empty() { "" } else { " { .. }" };
    for c in &h.codes {
        let _ = writeln!(out, "            {name}::{}{dots} => {},", code_name(c), c.code);
    }
    out.push_str("        }\n    }\n");
    http(shape, &name, dots, out);
    out.push_str("}\n\n");
}

fn http(shape: &Shape<'_>, name: &str, dots: &str, out: &mut String) {
    let h = shape.entry.header();
    let mapped: Vec<(&CodeSpec, u16)> = h.codes.iter().filter_map(|c| Some((c, c.http?))).collect();
    if mapped.is_empty() {
        return;
    }
    out.push_str("\n    fn http(&self) -> Option<Http> {\n        match self {\n");
    for (c, status) in &mapped {
        match &c.retry_after {
            Some(field) => {
                let _ = writeln!(
                    out,
                    "            {name}::{} {{ {field}, .. }} => Some(Http::new({status}, *{field})),",
                    code_name(c)
                );
            }
            None => {
                let _ = writeln!(
                    out,
                    "            {name}::{}{dots} => Some(Http::new({status}, -1)),",
                    code_name(c)
                );
            }
        }
    }
    if mapped.len() < h.codes.len() {
        out.push_str("            _ => None,\n");
    }
    out.push_str("        }\n    }\n");
}
