//! What a script says about itself: the leading block of `--- @tag` comments.
//!
//! The block is plain comments, so every server takes the file as it is. It ends at the first line of another kind.
//! Repeated `@key` and `@arg` lines are in the order of KEYS and ARGV; a name that ends in `...` stands for any number.

mod format;
mod parse;

pub use format::{canonical, format_source};
pub use parse::HeaderError;

/// The parsed header of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// `@script`: a dotted name such as `rl.gcra`.
    pub name: String,
    /// `@version`: `1.2.3`, or a date with a counter such as `2026-07-11.1`.
    pub version: String,
    /// `@owner`: the team that answers for it.
    pub owner: String,
    /// `@summary`: one line.
    pub summary: String,
    /// `@key` lines, in the order of KEYS.
    pub keys: Vec<KeySpec>,
    /// `@arg` lines, in the order of ARGV.
    pub args: Vec<ArgSpec>,
    /// `@reply`; `None` for a script without a fixed shape.
    pub reply: Option<Vec<Field>>,
    /// `@code` lines.
    pub codes: Vec<CodeSpec>,
    /// `@error` lines: first words of error replies that the script gives itself.
    pub errors: Vec<String>,
    /// `@clock`: `server`, `key-ttl`, `client` or `none`.
    pub clock: String,
    /// `@slot same`: all keys share a hash tag.
    pub same_slot: bool,
    /// `@retry`.
    pub retry: Retry,
    /// `@cost`: free text.
    pub cost: String,
    /// `@server` words such as `redis>=7.0`.
    pub servers: Vec<String>,
    /// `@native` lines: commands that replace the script where they exist.
    pub natives: Vec<String>,
    /// `@flags`: script flags of the server, such as `no-writes`.
    pub flags: Vec<String>,
    /// `@include` names.
    pub includes: Vec<String>,
    /// `@allow` lines: lint rules that are set aside, with a reason.
    pub allows: Vec<String>,
    /// `@note` lines: what the script does not promise.
    pub notes: Vec<String>,
    /// `@rollback`, `@deadline`: tags that a Totality server reads itself.
    pub server_tags: Vec<(String, String)>,
    /// Tags that this version does not know, kept as they are.
    pub unknown: Vec<(String, String)>,
}

/// One `@key` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySpec {
    /// Its name.
    pub name: String,
    /// True for `name...`.
    pub variadic: bool,
    /// `string`, `hash`, `list`, `set`, `zset`, `stream` or `any`.
    pub kind: String,
    /// True when the script writes it (`rw`), false when it only reads it (`r`).
    pub writes: bool,
    /// What becomes of its time to live.
    pub life: Life,
    /// How the name is built: `{x}` is the hash tag, `<x>` a part without meaning for the slot.
    pub template: String,
}

/// What becomes of a key's time to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// `ttl`: the script sees to it that there is one.
    Ttl,
    /// `persistent`: business data or a counter that must not end.
    Persistent,
    /// `keep`: as the caller has it.
    Keep,
}

/// One `@arg` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgSpec {
    /// Its name.
    pub name: String,
    /// True for `name...`: it is repeated for every variadic key, in turn with the other variadic arguments.
    pub variadic: bool,
    /// Its type and range.
    pub kind: ArgKind,
    /// `default=`.
    pub default: Option<String>,
    /// `test`: only tests give another value than the default.
    pub test: bool,
    /// `reqid`: names the request, so that a retry with the same value has no second effect.
    pub reqid: bool,
    /// `pii` or `secret`: never logged, traced or counted.
    pub private: bool,
}

/// Type and range of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgKind {
    /// Decimal digits without sign and without leading zero.
    Int(u64, u64),
    /// The same with an optional minus.
    Sint(i64, i64),
    /// Bytes, with the least and the greatest length.
    Text(usize, usize),
    /// One of these words.
    Word(Vec<String>),
}

/// One field of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// True for `bytes`, false for `int`.
    pub bytes: bool,
}

/// One `@code` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSpec {
    /// The first integer of the reply.
    pub code: i64,
    /// Its name, in capitals.
    pub name: String,
    /// `http=`: the status that it maps to.
    pub http: Option<u16>,
    /// `retry_after=`: the field, in milliseconds, that Retry-After comes from.
    pub retry_after: Option<String>,
    /// What it means.
    pub text: String,
}

/// What a client may do when it does not know whether a call was carried out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retry {
    /// Repeat: a second run changes nothing more.
    Safe,
    /// Repeat with the same request id.
    Reqid,
    /// Do not repeat.
    #[default]
    Unsafe,
}

impl Retry {
    /// The word in the header.
    pub fn word(self) -> &'static str {
        match self {
            Retry::Safe => "safe",
            Retry::Reqid => "reqid",
            Retry::Unsafe => "unsafe",
        }
    }
}

impl Life {
    /// The word in the header.
    pub fn word(self) -> &'static str {
        match self {
            Life::Ttl => "ttl",
            Life::Persistent => "persistent",
            Life::Keep => "keep",
        }
    }
}

impl Header {
    /// Reads the header of a script's text; either form. The rest of the text is not looked at.
    ///
    /// # Errors
    /// [`HeaderError`] with the line, when a known tag is malformed or the name or the version is missing.
    pub fn parse(source: &str) -> Result<Header, HeaderError> {
        parse::split(source).and_then(|s| s.header())
    }

    /// True when the script never writes and may be called by EVALSHA_RO.
    pub fn read_only(&self) -> bool {
        self.flags.iter().any(|f| f == "no-writes")
    }

    /// `name@version`.
    pub fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// The spec of a code.
    pub fn code(&self, code: i64) -> Option<&CodeSpec> {
        self.codes.iter().find(|c| c.code == code)
    }

    /// The part of the first key before its tag: what may be shown of a key.
    pub fn key_prefix(&self) -> &str {
        self.keys.first().map_or("", |k| k.template.split(['{', '<']).next().unwrap_or_default())
    }

    /// The text that the contract hash is made of: keys, arguments, reply, codes and errors, not the prose.
    pub fn contract(&self) -> String {
        format::contract(self)
    }
}

/// A script's text in two: the header's lines, and where the body begins.
pub(crate) use parse::split;
