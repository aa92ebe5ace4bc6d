//! Command errors: their texts are interface and match Redis to the byte.

use std::borrow::Cow;

/// Result of a command handler. A handler that returns an error has written nothing to its reply.
pub type Res<T = ()> = Result<T, CmdError>;

/// An error reply, with its code (`ERR`, `WRONGTYPE`, …) as first word and without the leading `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CmdError(Cow<'static, [u8]>);

impl CmdError {
    /// An error with a constant text.
    pub const fn new(text: &'static str) -> Self {
        CmdError(Cow::Borrowed(text.as_bytes()))
    }

    /// An error whose text is made at run time and may hold bytes of the client.
    pub fn owned(text: impl Into<Vec<u8>>) -> Self {
        CmdError(Cow::Owned(text.into()))
    }

    /// The whole text, code first. Line breaks have not been replaced yet.
    pub fn text(&self) -> &[u8] {
        &self.0
    }

    /// The first word: what `errorstats` counts by.
    pub fn code(&self) -> &[u8] {
        self.0.split(|b| *b == b' ').next().unwrap_or(b"")
    }

    /// `ERR wrong number of arguments for 'x' command`
    pub fn arity(name: &str) -> Self {
        CmdError::owned(format!("ERR wrong number of arguments for '{name}' command"))
    }

    /// `ERR invalid expire time in 'x' command`
    pub fn invalid_expire(name: &str) -> Self {
        CmdError::owned(format!("ERR invalid expire time in '{name}' command"))
    }
}

/// The operation met a key that holds another type.
pub const WRONG_TYPE: CmdError =
    CmdError::new("WRONGTYPE Operation against a key holding the wrong kind of value");
/// An option or its place is unknown.
pub const SYNTAX: CmdError = CmdError::new("ERR syntax error");
/// A number was expected.
pub const NOT_INTEGER: CmdError = CmdError::new("ERR value is not an integer or out of range");
/// A finite or infinite floating point number was expected.
pub const NOT_FLOAT: CmdError = CmdError::new("ERR value is not a valid float");
/// A key was expected to exist.
pub const NO_SUCH_KEY: CmdError = CmdError::new("ERR no such key");
/// An index past the end.
pub const OUT_OF_RANGE: CmdError = CmdError::new("ERR index out of range");
/// An increment would leave the range of 64-bit integers.
pub const OVERFLOW: CmdError = CmdError::new("ERR increment or decrement would overflow");
/// An increment gave a number that cannot be stored.
pub const NAN_OR_INF: CmdError = CmdError::new("ERR increment would produce NaN or Infinity");
/// A count or offset below zero.
pub const NOT_POSITIVE: CmdError = CmdError::new("ERR value is out of range, must be positive");
/// A string would grow past `proto-max-bulk-len`.
pub const STRING_TOO_BIG: CmdError =
    CmdError::new("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
/// The memory limit is reached and nothing can be evicted.
pub const OOM: CmdError = CmdError::new("OOM command not allowed when used memory > 'maxmemory'.");
/// `min-replicas-to-write` asks for more replicas than there are.
pub const NO_REPLICAS: CmdError = CmdError::new("NOREPLICAS Not enough good replicas to write.");
/// The connection has not authenticated.
pub const NO_AUTH: CmdError = CmdError::new("NOAUTH Authentication required.");
/// EXEC after a command that could not be queued.
pub const EXEC_ABORT: CmdError = CmdError::new("EXECABORT Transaction discarded because of previous errors.");
/// EVALSHA of a script that is not in the cache.
pub const NO_SCRIPT: CmdError = CmdError::new("NOSCRIPT No matching script. Please use EVAL.");
