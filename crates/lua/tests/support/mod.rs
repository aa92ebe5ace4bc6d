//! What the corpus, its generator and the differential tests share: snippets in a wrapper that shows all their
//! results as one string, and how a server's reply is written down.

#![allow(dead_code, reason = "each user needs a part of it")]

pub mod generate;
pub mod hostile;
pub mod mechanisms;
pub mod ours;
pub mod plain;
pub mod program;
pub mod random;
pub mod random_data;
pub mod redis;
pub mod rng;
pub mod typed;

use redis::{Redis, Reply};
use std::path::PathBuf;

/// Shows every result of `T` with its type: numbers with 17 digits, tables in the order of `next`.
const SHOW: &str = r#"
local N=0 local function S(v,d)
  local t=type(v)
  if t=='number' then return string.format('%.17g',v) end
  if t=='string' then return "'"..v.."'" end
  if t=='nil' or t=='boolean' then return tostring(v) end
  if t=='table' then
    N=N+1 if d>4 or N>300 then return '{..}' end
    local o,n={},0
    local k,x=next(v)
    while k~=nil and n<80 do n=n+1 o[n]=S(k,d+1)..'='..S(x,d+1) k,x=next(v,k) end
    return '{'..table.concat(o,',')..'}'
  end
  return t
end
local function P(ok,...)
  local o={}
  for i=1,select('#',...) do o[i]=S((select(i,...)),0) end
  return (ok and '' or 'ERR:')..table.concat(o,'|')
end
return P(pcall(T))"#;

/// The script that runs a snippet. It stops the collector first: that forgets keys whose values are nil, which changes
/// the order of a table later, at a moment that nobody can foretell.
pub fn wrap(body: &str) -> String {
    format!("collectgarbage('stop') local function T(...) {body}\nend{SHOW}")
}

/// One snippet with the replies of the servers.
#[derive(Debug, Clone)]
pub struct Row {
    /// Stable name, for messages
    pub id: String,
    /// The Lua text, run inside a function
    pub body: String,
    /// Redis 8's reply
    pub reply: String,
    /// Redis 7.0's, where it differs
    pub old: Option<String>,
}

/// Directory of the corpus files.
pub fn corpus_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Reads a corpus file; the replies stay escaped.
pub fn parse_corpus(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let mut fields = line.split('\t');
        let mut field = || fields.next().unwrap_or_default().to_owned();
        let (id, body, reply, old) = (field(), field(), field(), field());
        rows.push(Row { id, body: unescape(&body), reply, old: (!old.is_empty()).then_some(old) });
    }
    rows
}

/// Bytes as one line of ASCII.
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::new();
    for b in bytes {
        match b {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(*b)),
            _ => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out
}

/// Undoes [`escape`] for scripts, which are UTF-8.
pub fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let mut chars = text.bytes();
    while let Some(c) = chars.next() {
        if c != b'\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'x') => {
                let hex: String = chars.by_ref().take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&hex, 16).expect("two hexadecimal digits"));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    String::from_utf8(out).expect("scripts are UTF-8")
}

/// Replaces addresses by `PTR`.
pub fn normalise(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let kind = ["table: 0x", "function: 0x", "thread: 0x", "userdata: 0x"]
            .into_iter()
            .find(|k| rest.starts_with(k.as_bytes()));
        if let Some(kind) = kind {
            out.extend_from_slice(&kind.as_bytes()[..kind.len() - 2]);
            out.extend_from_slice(b"PTR");
            rest = &rest[kind.len()..];
            let hex = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            rest = &rest[hex..];
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    out
}

/// True when a reply shows an address that [`normalise`] does not know: in capitals, reversed, cut; or a table as a key,
/// whose place in the order is its address.
pub fn shows_address(reply: &str) -> bool {
    if reply.contains("}=") {
        return true;
    }
    let text = reply.to_ascii_lowercase();
    let hex = |s: &str| s.len() >= 6 && s.bytes().all(|b| b.is_ascii_hexdigit());
    text.match_indices("0x").any(|(i, _)| text.get(i + 2..i + 8).is_some_and(hex))
        || text.match_indices("x0").any(|(i, _)| i >= 6 && text.get(i - 6..i).is_some_and(hex))
}

/// A server's reply to EVAL in the form of the corpus: the string itself, `-TEXT` for an error, `LOADERR:TEXT` when the
/// script does not compile.
pub fn reply_text(reply: &Reply) -> String {
    const COMPILE: &[u8] = b"ERR Error compiling script (new function): ";
    match reply {
        Reply::Bulk(bytes) => escape(&normalise(bytes)),
        Reply::Error(text) => match text.strip_prefix(COMPILE) {
            // Servers replace line ends in error replies by blanks; the script's own text may hold some.
            Some(text) => format!("LOADERR:{}", escape(&normalise(text))),
            None => format!("-{}", escape(&normalise(text))),
        },
        Reply::Nil => "(nil)".into(),
        Reply::Other(text) => text.clone(),
    }
}

/// Runs wrapped snippets on a server, many at a time. Redis keeps cjson's settings from one script to the next, so they
/// are put back after each.
pub fn eval_all(server: &mut Redis, bodies: &[String]) -> std::io::Result<Vec<String>> {
    let eval = |script: String| vec![b"EVAL".to_vec(), script.into_bytes(), b"0".to_vec()];
    let mut out = Vec::with_capacity(bodies.len());
    for some in bodies.chunks(64) {
        let commands: Vec<_> =
            some.iter().flat_map(|b| [eval(wrap(b)), eval(generate::CJSON_RESET.into())]).collect();
        out.extend(server.pipeline(&commands)?.iter().step_by(2).map(reply_text));
        // Servers keep every script they have seen.
        server.pipeline(&[vec![b"SCRIPT".to_vec(), b"FLUSH".to_vec()]])?;
    }
    Ok(out)
}

/// Says loudly that a test cannot run, also to `cargo xtask test`; with `CI=true` that is a failure.
pub fn skip(test: &str, why: &str) {
    note_skip(test, why);
    let ci = std::env::var("CI").is_ok_and(|v| v == "true");
    assert!(!ci, "{test} may not be skipped in CI: {why}");
}

/// Says it as loudly, for what is not on every machine.
pub fn note_skip(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
    record(&format!("skipped\t1\t{test}: {why}"));
}

/// Tells `cargo xtask test` how many cases inside a test passed.
pub fn count(test: &str, passed: usize) {
    println!("{test}: {passed} cases");
    record(&format!("passed\t{passed}\t{test}"));
}

fn record(line: &str) {
    let Some(path) = std::env::var_os("TOTALITY_TEST_LOG") else { return };
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
        let _ = std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes());
    }
}
