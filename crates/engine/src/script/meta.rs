//! What a script says of itself in its leading comment: its name and version, and which arguments nobody may read in a
//! log. Comments are all that this needs, so the same text runs on other servers.
//!
//! Tags are lines `--- @tag value`; `-- name: x` and `-- version: y` are read as well, and so is a line `-- x@y`.

use smallvec::SmallVec;

/// Longest name or version, in bytes; longer ones are cut.
const MAX_WORD: usize = 96;
/// Longest first line that is kept, in bytes.
const MAX_LINE: usize = 80;

/// What is shown in the place of an argument that nobody may read.
pub const REDACTED: &[u8] = b"(redacted)";

/// What a script says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    /// Its name; empty when it has none.
    pub name: String,
    /// Its version; empty when it has none.
    pub version: String,
    /// The name stands in a `--- @` tag: it is shown in errors, too.
    pub tagged: bool,
    /// The first line of its code.
    pub first_line: Vec<u8>,
    /// Arguments that nobody may read in a log.
    pub secret: Secret,
}

/// Which keys and arguments of a script are personal or secret.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Secret {
    /// Places among KEYS, counted from 0.
    keys: SmallVec<[u16; 2]>,
    /// Places among ARGV, counted from 0.
    args: SmallVec<[u16; 4]>,
    /// From this place on all of ARGV are.
    rest: Option<u16>,
}

impl Secret {
    /// True when every argument may be shown.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.args.is_empty() && self.rest.is_none()
    }

    /// True when argument `i` of the command that runs the script (its name is 0, its keys begin at 3) is to be hidden.
    pub fn hides(&self, i: usize, numkeys: usize) -> bool {
        let Some(place) = i.checked_sub(3) else { return false };
        let is = |list: &[u16], n: usize| list.iter().any(|p| usize::from(*p) == n);
        match place.checked_sub(numkeys) {
            None => is(&self.keys, place),
            Some(arg) => is(&self.args, arg) || self.rest.is_some_and(|from| arg >= usize::from(from)),
        }
    }
}

impl Meta {
    /// Reads the leading comment of a script.
    pub fn of_script(body: &[u8]) -> Meta {
        let lines = body.split(|b| *b == b'\n').skip(usize::from(body.starts_with(b"#!")));
        let mut reader = Reader::default();
        for line in lines.map(<[u8]>::trim_ascii) {
            if line.is_empty() {
                continue;
            }
            if !line.starts_with(b"--") || line.starts_with(b"--[") {
                break;
            }
            reader.line(line);
        }
        reader.end(first_line(body))
    }

    /// What a library says of its function `name`, registered at line `at` (counted from 1): the comment right above
    /// that line; name and version of the library's leading comment where that says nothing.
    pub fn of_function(code: &[u8], name: &[u8], at: u32) -> Meta {
        let lines: Vec<&[u8]> = code.split(|b| *b == b'\n').take((at as usize).saturating_sub(1)).collect();
        let comment = |line: &&&[u8]| line.trim_ascii().starts_with(b"--");
        let above = lines.iter().rev().take_while(comment).count();
        let mut reader = Reader::default();
        lines[lines.len() - above..].iter().for_each(|line| reader.line(line.trim_ascii()));
        let line = code.split(|b| *b == b'\n').nth((at as usize).saturating_sub(1)).unwrap_or_default();
        let mut meta = reader.end(clip(line.trim_ascii(), MAX_LINE).to_vec());
        if meta.version.is_empty() {
            meta.version = Meta::of_script(code).version;
        }
        meta.name = word(name);
        meta
    }

    /// `name@version`, or the name alone; `None` without a name.
    pub fn label(&self) -> Option<String> {
        match (self.name.is_empty(), self.version.is_empty()) {
            (true, _) => None,
            (false, true) => Some(self.name.clone()),
            (false, false) => Some(format!("{}@{}", self.name, self.version)),
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.name.len() + self.version.len() + self.first_line.len()
    }
}

fn clip(text: &[u8], max: usize) -> &[u8] {
    &text[..text.len().min(max)]
}

/// A word as it may be shown anywhere: printable ASCII without blanks and quotes.
fn word(text: &[u8]) -> String {
    let plain =
        |b: &u8| if b.is_ascii_graphic() && !matches!(b, b'"' | b'\\') { char::from(*b) } else { '?' };
    clip(text, MAX_WORD).iter().map(plain).collect()
}

/// The first line that is neither blank nor comment nor `#!`.
fn first_line(body: &[u8]) -> Vec<u8> {
    let mut lines = body.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let code = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"--") && !line.starts_with(b"#!");
    clip(lines.find(code).unwrap_or_default(), MAX_LINE).to_vec()
}

/// Reads comment lines.
#[derive(Default)]
struct Reader {
    meta: Meta,
    /// Names of the keys and arguments so far.
    keys: Vec<Vec<u8>>,
    args: Vec<Vec<u8>>,
    /// The last `@key` (false) or `@arg` (true).
    last: Option<bool>,
    /// Names in `@pii` lines.
    named: Vec<Vec<u8>>,
    /// A lone `@pii` before any argument: all of ARGV.
    all: bool,
}

/// Most keys and arguments that a header declares.
const MAX_ARGS: usize = 1024;

impl Reader {
    fn line(&mut self, line: &[u8]) {
        if let Some(rest) = line.strip_prefix(b"---")
            && let Some(tag) = rest.trim_ascii_start().strip_prefix(b"@")
        {
            let end = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
            return self.tag(&tag[..end], tag[end..].trim_ascii());
        }
        let text = line.strip_prefix(b"--").unwrap_or(line).trim_ascii();
        for (field, is_name) in [(&b"name:"[..], true), (b"version:", false)] {
            if let Some(value) = text.strip_prefix(field) {
                let value = word(value.trim_ascii().trim_ascii_start());
                let slot = if is_name { &mut self.meta.name } else { &mut self.meta.version };
                if slot.is_empty() {
                    *slot = value;
                }
            }
        }
        // `name@version` as a line of its own, as the deployment tool writes it.
        if self.meta.name.is_empty()
            && !text.iter().any(u8::is_ascii_whitespace)
            && let Some(at) = text.iter().position(|b| *b == b'@').filter(|at| *at > 0 && at + 1 < text.len())
        {
            (self.meta.name, self.meta.version) = (word(&text[..at]), word(&text[at + 1..]));
        }
    }

    fn tag(&mut self, tag: &[u8], value: &[u8]) {
        let first = || value.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        match tag {
            b"script" | b"name" | b"function" => {
                self.meta.name = word(first());
                self.meta.tagged = true;
            }
            b"version" => self.meta.version = word(first()),
            b"key" | b"arg" => {
                let is_arg = tag == b"arg";
                let list = if is_arg { &mut self.args } else { &mut self.keys };
                if list.len() >= MAX_ARGS {
                    return;
                }
                list.push(first().to_vec());
                self.last = Some(is_arg);
                let marks = |w: &[u8]| matches!(w, b"pii" | b"secret" | b"@pii" | b"@secret");
                if value.split(u8::is_ascii_whitespace).skip(1).any(marks) {
                    self.mark_last();
                }
            }
            b"pii" | b"secret" if value.is_empty() => match self.last {
                None => self.all = true,
                Some(_) => self.mark_last(),
            },
            b"pii" | b"secret" => {
                let names = value.split(|b| b.is_ascii_whitespace() || *b == b',').filter(|w| !w.is_empty());
                self.named.extend(names.take(MAX_ARGS).map(<[u8]>::to_vec));
            }
            _ => {}
        }
    }

    fn mark_last(&mut self) {
        match self.last {
            Some(true) => self.hide_arg(self.args.len() - 1),
            Some(false) => self.meta.secret.keys.push((self.keys.len() - 1) as u16),
            None => {}
        }
    }

    fn hide_arg(&mut self, i: usize) {
        let variadic = self.args.get(i).is_some_and(|name| name.ends_with(b"..."));
        if variadic {
            self.meta.secret.rest = Some(i as u16);
        } else {
            self.meta.secret.args.push(i as u16);
        }
    }

    /// Resolves the names of `@pii` lines: names of arguments, or `ARGV[n]`, `KEYS[n]`, or a bare number.
    fn end(mut self, first_line: Vec<u8>) -> Meta {
        for name in std::mem::take(&mut self.named) {
            let number = |text: &[u8]| {
                let n = std::str::from_utf8(text).ok()?.parse::<u16>().ok()?;
                n.checked_sub(1)
            };
            let inside = |prefix: &[u8]| name.strip_prefix(prefix)?.strip_suffix(b"]").and_then(number);
            if let Some(i) = self.args.iter().position(|arg| *arg == name) {
                self.hide_arg(i);
            } else if let Some(i) = self.keys.iter().position(|key| *key == name) {
                self.meta.secret.keys.push(i as u16);
            } else if let Some(i) = inside(b"KEYS[") {
                self.meta.secret.keys.push(i);
            } else if let Some(i) = inside(b"ARGV[").or_else(|| number(&name)) {
                self.meta.secret.args.push(i);
            } else {
                // A name that nobody declared: better hide too much.
                self.all = true;
            }
        }
        if self.all {
            self.meta.secret.rest = Some(0);
        }
        self.meta.first_line = first_line;
        self.meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(body: &str, numkeys: usize) -> Vec<usize> {
        let meta = Meta::of_script(body.as_bytes());
        (0..9).filter(|i| meta.secret.hides(*i, numkeys)).collect()
    }

    #[test]
    fn names_and_versions_in_all_their_forms() {
        let label = |body: &str| Meta::of_script(body.as_bytes()).label();
        assert_eq!(label("--- @script a.b\n--- @version 2.1\nreturn 1").as_deref(), Some("a.b@2.1"));
        assert_eq!(label("#!lua flags=no-writes\n-- a.b@2.1\nreturn 1").as_deref(), Some("a.b@2.1"));
        assert_eq!(
            label("-- name: unlock\n-- version: 2026-07-11.1\nreturn 1").as_deref(),
            Some("unlock@2026-07-11.1")
        );
        assert_eq!(label("-- name: unlock\nreturn 1").as_deref(), Some("unlock"));
        assert_eq!(label("return 1 --- @script x"), None);
        assert_eq!(label("--[[\n--- @script x\n]] return 1"), None);
        assert_eq!(label("-- mail me: a b@c\nreturn 1"), None);
    }

    #[test]
    fn the_first_line_is_of_code() {
        let meta = Meta::of_script(b"#!lua\n\n-- about\nlocal x = 1\nreturn x");
        assert_eq!(meta.first_line, b"local x = 1");
        assert_eq!(Meta::of_script(b"").first_line, b"");
    }

    #[test]
    fn marked_arguments_are_hidden() {
        assert_eq!(hidden("--- @arg a int\n--- @arg mail string pii\nreturn 1", 1), [5]);
        assert_eq!(hidden("--- @key k string @pii\n--- @arg a\n--- @pii\nreturn 1", 1), [3, 4]);
        assert_eq!(hidden("--- @arg a\n--- @arg b\n--- @pii b\nreturn 1", 0), [4]);
        assert_eq!(hidden("--- @pii ARGV[2], KEYS[1]\nreturn 1", 1), [3, 5]);
        assert_eq!(hidden("--- @arg a\n--- @arg rest... pii\nreturn 1", 0), [4, 5, 6, 7, 8]);
        assert_eq!(hidden("--- @pii\nreturn 1", 2), [5, 6, 7, 8]);
        assert_eq!(hidden("--- @pii nosuch\nreturn 1", 0), [3, 4, 5, 6, 7, 8]);
        assert_eq!(hidden("return 1", 0), [0usize; 0]);
    }

    #[test]
    fn a_function_has_the_comment_above_it() {
        let code = b"#!lua name=l\n--- @version 3\nlocal x\n--- @arg a pii\nredis.register_function('f', f)";
        let meta = Meta::of_function(code, b"f", 5);
        assert_eq!(meta.label().as_deref(), Some("f@3"));
        assert!(meta.secret.hides(3, 0));
        assert_eq!(Meta::of_function(code, b"g", 3).secret, Secret::default());
    }
}
