//! Typed calls and strict replies.

use crate::error::Error;
use crate::script::Script;
use crate::value::Value;
use crate::words::Words;
use std::time::Duration;

/// Most integers that a reply may have.
pub(crate) const MAX_FIELDS: usize = 8;

/// A call of a script with all its values. The catalogue's types implement it; write your own for your own scripts.
pub trait Call {
    /// What it answers.
    type Reply: Reply;

    /// The script.
    fn script(&self) -> &Script;

    /// Appends the names of the keys, in order.
    ///
    /// # Errors
    /// [`Error::Key`] or [`Error::Argument`].
    fn keys(&self, out: &mut Words) -> Result<(), Error>;

    /// Appends the arguments, in order.
    ///
    /// # Errors
    /// [`Error::Argument`].
    fn args(&self, out: &mut Words) -> Result<(), Error>;
}

/// The reply of a script as a closed type.
pub trait Reply: Sized {
    /// How many integers there are, the code among them.
    const INTS: usize;
    /// Whether a string follows them.
    const BYTES: bool;

    /// The variant of a code with its fields; `None` for an unknown code.
    fn build(ints: &[i64], bytes: Vec<u8>) -> Option<Self>;

    /// The code.
    fn code(&self) -> i64;

    /// How this answer maps to HTTP, if the script's header says so.
    fn http(&self) -> Option<Http> {
        None
    }

    /// Reads a reply, strictly.
    ///
    /// # Errors
    /// [`Error::Contract`] when the shape is another one, [`Error::UnknownCode`].
    fn parse(script: &str, value: Value) -> Result<Self, Error> {
        let mut ints = [0; MAX_FIELDS];
        let (n, bytes) = fields(script, value, Self::INTS, Self::BYTES, &mut ints)?;
        let code = ints[0];
        Self::build(&ints[..n], bytes).ok_or_else(|| Error::UnknownCode { script: script.into(), code })
    }
}

/// An HTTP status and when to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Http {
    /// The status.
    pub status: u16,
    /// For `Retry-After`; `None` when coming back is of no use.
    pub retry_after: Option<Duration>,
}

impl Http {
    /// A status with a time in milliseconds; a negative one means never.
    pub fn new(status: u16, retry_ms: i64) -> Http {
        Http { status, retry_after: u64::try_from(retry_ms).ok().map(Duration::from_millis) }
    }

    /// The value of a `Retry-After` header: whole seconds, rounded up, at least 1.
    pub fn retry_after_secs(&self) -> Option<u64> {
        self.retry_after.map(|d| d.as_millis().div_ceil(1000).max(1) as u64)
    }
}

fn fields(
    script: &str,
    value: Value,
    ints: usize,
    has_bytes: bool,
    out: &mut [i64; MAX_FIELDS],
) -> Result<(usize, Vec<u8>), Error> {
    let contract = |why: String| Error::Contract { script: script.into(), why };
    let Value::Array(items) = value else {
        return Err(contract(format!("not an array but {}", kind(&value))));
    };
    let wanted = ints + usize::from(has_bytes);
    if items.len() != wanted || ints > MAX_FIELDS {
        return Err(contract(format!("{} fields instead of {wanted}", items.len())));
    }
    let mut bytes = Vec::new();
    for (i, item) in items.into_iter().enumerate() {
        match item {
            Value::Int(n) if i < ints => out[i] = n,
            Value::Bulk(b) if i == ints => bytes = b,
            other => return Err(contract(format!("field {} is {}", i + 1, kind(&other)))),
        }
    }
    Ok((ints, bytes))
}

/// What a value is, without its content.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Int(_) => "an integer",
        Value::Bulk(_) => "a string",
        Value::Status(_) => "a status",
        Value::Error(_) => "an error",
        Value::Array(_) => "an array",
        Value::Other(_) => "of a kind that scripts do not return",
    }
}

/// Checks of arguments, for the generated calls.
pub(crate) mod check {
    use crate::error::Error;
    use crate::words::Words;

    pub(crate) fn int(out: &mut Words, s: &str, name: &str, n: u64, lo: u64, hi: u64) -> Result<(), Error> {
        if n < lo || n > hi {
            return Err(argument(s, name, format!("must be from {lo} to {hi}")));
        }
        out.push_int(n);
        Ok(())
    }

    pub(crate) fn sint(out: &mut Words, s: &str, name: &str, n: i64, lo: i64, hi: i64) -> Result<(), Error> {
        if n < lo || n > hi {
            return Err(argument(s, name, format!("must be from {lo} to {hi}")));
        }
        out.push_int(n);
        Ok(())
    }

    pub(crate) fn text(
        out: &mut Words,
        s: &str,
        name: &str,
        t: &[u8],
        lo: usize,
        hi: usize,
    ) -> Result<(), Error> {
        if t.len() < lo || t.len() > hi {
            return Err(argument(s, name, format!("must have {lo} to {hi} bytes")));
        }
        out.push(t);
        Ok(())
    }

    /// A part of a key: with a brace in it the slot would be another one than the template promises.
    pub(crate) fn part<'a>(script: &str, name: &str, part: &'a str) -> Result<&'a [u8], Error> {
        if part.is_empty() || part.contains(['{', '}']) {
            return Err(Error::Key { script: script.into(), name: name.into() });
        }
        Ok(part.as_bytes())
    }

    pub(crate) fn count(script: &str, name: &str, n: usize, hi: usize) -> Result<(), Error> {
        if n == 0 || n > hi {
            return Err(argument(script, name, format!("must be 1 to {hi}")));
        }
        Ok(())
    }

    fn argument(script: &str, name: &str, why: String) -> Error {
        Error::Argument { script: script.into(), name: name.into(), why }
    }
}
