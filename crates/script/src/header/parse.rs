//! Reading a header.

use super::{ArgKind, ArgSpec, CodeSpec, Field, Header, KeySpec, Life, Retry};
use std::fmt;

/// Longest header that is read, in lines.
const MAX_LINES: usize = 500;

/// A header that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderError {
    /// Line of the file, from 1; 0 when a line is missing.
    pub line: usize,
    /// Why.
    pub why: String,
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { f.write_str(&self.why) } else { write!(f, "line {}: {}", self.line, self.why) }
    }
}

impl std::error::Error for HeaderError {}

fn wrong<T>(line: usize, why: impl Into<String>) -> Result<T, HeaderError> {
    Err(HeaderError { line, why: why.into() })
}

/// A script's text, taken apart.
pub(crate) struct Split<'a> {
    /// What stands after `#!lua`, if the text begins so.
    pub(crate) shebang: Option<&'a str>,
    /// Tags with their lines.
    tags: Vec<(usize, &'a str, &'a str)>,
    /// Everything after the header.
    pub(crate) body: &'a str,
}

/// Takes a text apart.
pub(crate) fn split(source: &str) -> Result<Split<'_>, HeaderError> {
    let mut rest = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut shebang = None;
    let mut number = 1;
    if let Some(after) = rest.strip_prefix("#!") {
        let (first, tail) = after.split_once('\n').unwrap_or((after, ""));
        let Some(flags) = first.trim_end().strip_prefix("lua") else {
            return wrong(1, format!("unknown engine in #!{}", first.trim_end()));
        };
        (shebang, rest, number) = (Some(flags.trim()), tail, 2);
    }
    let mut tags = Vec::new();
    let mut body = rest;
    while number <= MAX_LINES {
        let (line, tail) = body.split_once('\n').unwrap_or((body, ""));
        let Some((tag, value)) = tag_of(line.trim_end()) else { break };
        if !tag.is_empty() {
            tags.push((number, tag, value));
        }
        (body, number) = (tail, number + 1);
        if body.is_empty() {
            break;
        }
    }
    Ok(Split { shebang, tags, body })
}

/// The tag and value of a header line: `--- @tag value`, or `-- name: value` of the plain form.
fn tag_of(line: &str) -> Option<(&str, &str)> {
    if let Some(rest) = line.strip_prefix("--- @") {
        let (tag, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        return Some((tag, value.trim()));
    }
    let (tag, value) = line.strip_prefix("-- ")?.split_once(':')?;
    const PLAIN: [&str; 6] = ["name", "version", "owner", "keys", "args", "return"];
    PLAIN.contains(&tag).then_some((tag, value.trim()))
}

impl Split<'_> {
    /// The header of this text.
    pub(crate) fn header(&self) -> Result<Header, HeaderError> {
        let mut h = Header::default();
        for &(line, tag, value) in &self.tags {
            h.tag(tag, value).or_else(|why| wrong(line, format!("@{tag}: {why}")))?;
        }
        if let Some(flags) = self.shebang.and_then(|s| s.strip_prefix("flags=")) {
            let more = flags.split(',').filter(|f| !f.is_empty()).map(String::from);
            h.flags.extend(more.filter(|f| !h.flags.contains(f)).collect::<Vec<_>>());
        }
        if h.name.is_empty() || h.version.is_empty() {
            return wrong(0, "the header gives no name (@script) or no version (@version)");
        }
        h.check()?;
        Ok(h)
    }
}

impl Header {
    fn tag(&mut self, tag: &str, value: &str) -> Result<(), String> {
        let text = || value.to_string();
        match tag {
            "script" | "name" => self.name = name(value)?,
            "version" => self.version = version(value)?,
            "owner" => self.owner = text(),
            "summary" => self.summary = text(),
            "key" => self.keys.push(key(value)?),
            "arg" => self.args.push(arg(value)?),
            "keys" => self.keys = list(value)?.into_iter().map(plain_key).collect(),
            "args" => self.args = list(value)?.into_iter().map(plain_arg).collect(),
            "return" => {
                // The plain form names the fields only; that they are integers is not said.
                list(value)?;
                self.unknown.push(("return".into(), text()));
            }
            "reply" => self.reply = Some(reply(value)?),
            "code" => self.codes.push(code(value)?),
            "error" => self.errors.push(text()),
            "clock" => self.clock = text(),
            "slot" => self.same_slot = one_of(value, &["same", "any"])? == "same",
            "retry" => {
                self.retry = match one_of(value, &["safe", "reqid", "unsafe"])? {
                    "safe" => Retry::Safe,
                    "reqid" => Retry::Reqid,
                    _ => Retry::Unsafe,
                }
            }
            "cost" => self.cost = text(),
            "server" => self.servers.extend(value.split_whitespace().map(String::from)),
            "native" => self.natives.push(text()),
            "flags" => {
                let words = value.split([' ', ',']).filter(|f| !f.is_empty()).map(String::from);
                self.flags.extend(words);
            }
            "include" => self.includes.push(quoted(value)?),
            "allow" => self.allows.push(text()),
            "note" => self.notes.push(text()),
            "rollback" | "deadline" => self.server_tags.push((tag.into(), text())),
            _ => self.unknown.push((tag.into(), text())),
        }
        Ok(())
    }

    /// What one line alone cannot show.
    fn check(&self) -> Result<(), HeaderError> {
        let variadic = self.keys.iter().filter(|k| k.variadic).count();
        if variadic > 1 || (variadic == 1 && !self.keys.last().is_some_and(|k| k.variadic)) {
            return wrong(0, "only the last key may be variadic");
        }
        let first = self.args.iter().position(|a| a.variadic).unwrap_or(self.args.len());
        if self.args[first..].iter().any(|a| !a.variadic) {
            return wrong(0, "variadic arguments come last");
        }
        if first < self.args.len() && variadic == 0 {
            return wrong(0, "variadic arguments need a variadic key");
        }
        let tags: Vec<&str> = self.keys.iter().filter_map(|k| tag_part(&k.template)).collect();
        if self.same_slot && self.keys.len() > 1 && tags.len() != self.keys.len() {
            return wrong(0, "@slot same, but a key's template has no {tag}");
        }
        if self.same_slot && tags.windows(2).any(|w| w[0] != w[1]) {
            return wrong(0, "@slot same, but the templates have different tags");
        }
        if self.retry == Retry::Reqid && !self.args.iter().any(|a| a.reqid) {
            return wrong(0, "@retry reqid, but no argument is marked reqid");
        }
        if let Some(fields) = &self.reply {
            let bad = |f: &[Field]| f.first().is_none_or(|f| f.bytes || f.name != "code");
            if bad(fields) || fields[..fields.len() - 1].iter().any(|f| f.bytes) {
                return wrong(0, "@reply begins with code:int, and only its last field may be bytes");
            }
            if self.codes.is_empty() {
                return wrong(0, "@reply without @code");
            }
        }
        Ok(())
    }
}

/// The `{x}` of a template.
fn tag_part(template: &str) -> Option<&str> {
    let (_, rest) = template.split_once('{')?;
    rest.split_once('}').map(|(tag, _)| tag)
}

fn name(value: &str) -> Result<String, String> {
    let ok = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if ok { Ok(value.into()) } else { Err("letters, digits, '.', '_' and '-' make a name".into()) }
}

fn version(value: &str) -> Result<String, String> {
    let ok = value.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b));
    let digit = value.bytes().next().is_some_and(|b| b.is_ascii_digit());
    if ok && digit { Ok(value.into()) } else { Err(format!("{value} is not a version")) }
}

fn one_of<'a>(value: &'a str, words: &[&str]) -> Result<&'a str, String> {
    if words.contains(&value) { Ok(value) } else { Err(format!("must be one of {}", words.join(", "))) }
}

fn quoted(value: &str) -> Result<String, String> {
    let inner = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    let ok = inner.filter(|v| v.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-/".contains(&b)));
    ok.map(String::from).ok_or_else(|| "a name in double quotes is needed".into())
}

fn list(value: &str) -> Result<Vec<&str>, String> {
    let inner = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')).ok_or("must be a list in [ ]")?;
    Ok(inner.split(',').map(str::trim).filter(|s| !s.is_empty()).collect())
}

fn plain_key(name: &str) -> KeySpec {
    let name = name.replace([' ', '-'], "_");
    let template = format!("<{name}>");
    KeySpec { name, variadic: false, kind: "any".into(), writes: true, life: Life::Keep, template }
}

fn plain_arg(name: &str) -> ArgSpec {
    ArgSpec {
        name: name.replace([' ', '-'], "_"),
        variadic: false,
        kind: ArgKind::Text(0, 1 << 20),
        default: None,
        test: false,
        reqid: false,
        private: false,
    }
}

fn variadic(word: &str) -> (String, bool) {
    match word.strip_suffix("...") {
        Some(name) => (name.into(), true),
        None => (word.into(), false),
    }
}

fn key(value: &str) -> Result<KeySpec, String> {
    let (head, template) = value.split_once("template=\"").ok_or("template=\"…\" is missing")?;
    let template = template.strip_suffix('"').ok_or("the template's closing quote is missing")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let [first, kind, access, life] = words[..] else {
        return Err("needs: name type r|rw ttl|persistent|keep template=\"…\"".into());
    };
    let (name, variadic) = variadic(first);
    one_of(kind, &["string", "hash", "list", "set", "zset", "stream", "any"])?;
    let life = match one_of(life, &["ttl", "persistent", "keep"])? {
        "ttl" => Life::Ttl,
        "persistent" => Life::Persistent,
        _ => Life::Keep,
    };
    let writes = one_of(access, &["r", "rw"])? == "rw";
    if template.matches('{').count() > 1 || template.contains("{}") {
        return Err("a template has one {tag} at most, and it has a name".into());
    }
    Ok(KeySpec { name, variadic, kind: kind.into(), writes, life, template: template.into() })
}

fn range<T: std::str::FromStr + PartialOrd>(text: Option<&str>) -> Result<(T, T), String> {
    let parsed =
        text.and_then(|t| t.split_once("..")).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match parsed {
        Some((lo, hi)) if lo <= hi => Ok((lo, hi)),
        _ => Err("needs a range such as 1..100".into()),
    }
}

fn arg(value: &str) -> Result<ArgSpec, String> {
    let mut words = value.split_whitespace();
    let (name, variadic) = variadic(words.next().ok_or("needs a name")?);
    let kind = match words.next().ok_or("needs a type")? {
        "int" => {
            let (lo, hi) = range::<u64>(words.next())?;
            if hi >= 1 << 53 {
                return Err("integers stay below 2^53: the script would round larger ones".into());
            }
            ArgKind::Int(lo, hi)
        }
        "sint" => {
            let (lo, hi) = range::<i64>(words.next())?;
            ArgKind::Sint(lo, hi)
        }
        "text" => {
            let (lo, hi) = range(words.next())?;
            ArgKind::Text(lo, hi)
        }
        "word" => {
            ArgKind::Word(words.next().ok_or("needs its words")?.split('|').map(String::from).collect())
        }
        other => return Err(format!("unknown type {other}: int, sint, text or word")),
    };
    let mut out = ArgSpec { name, variadic, kind, default: None, test: false, reqid: false, private: false };
    for word in words {
        match word {
            "test" => out.test = true,
            "reqid" => out.reqid = true,
            "pii" | "secret" => out.private = true,
            _ => match word.strip_prefix("default=") {
                Some(value) => out.default = Some(value.into()),
                None => return Err(format!("unknown word {word}")),
            },
        }
    }
    Ok(out)
}

fn reply(value: &str) -> Result<Vec<Field>, String> {
    let field = |word: &str| match word.split_once(':') {
        Some((name, "int")) => Ok(Field { name: name.into(), bytes: false }),
        Some((name, "bytes")) => Ok(Field { name: name.into(), bytes: true }),
        _ => Err(format!("{word} is not name:int or name:bytes")),
    };
    value.split_whitespace().map(field).collect()
}

fn code(value: &str) -> Result<CodeSpec, String> {
    let (number, rest) = value.split_once(' ').ok_or("needs a number and a name")?;
    let code = number.parse().map_err(|_| "the code is no number")?;
    let (name, mut rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let capitals = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if name.is_empty() || !capitals {
        return Err("the name of a code is in capitals".into());
    }
    let mut out = CodeSpec { code, name: name.into(), http: None, retry_after: None, text: String::new() };
    loop {
        let (word, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        match word.split_once('=') {
            Some(("http", status)) => out.http = Some(status.parse().map_err(|_| "http= needs a status")?),
            Some(("retry_after", field)) => out.retry_after = Some(field.into()),
            _ => break,
        }
        rest = tail;
    }
    out.text = rest.trim().into();
    Ok(out)
}
