//! Replies as the toolkit sees them.

/// A reply of a server or of the embedded engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Nil,
    /// An integer.
    Int(i64),
    /// A string of bytes.
    Bulk(Vec<u8>),
    /// A status such as `OK`.
    Status(String),
    /// An error, its code first.
    Error(String),
    /// An array, a set, a push, or a map as keys and values in turn.
    Array(Vec<Value>),
    /// Anything else that RESP3 knows, as text.
    Other(String),
}

impl Value {
    /// The text of an error reply.
    pub fn error(&self) -> Option<&str> {
        match self {
            Value::Error(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes of a string or status.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Bulk(b) => Some(b),
            Value::Status(s) => Some(s.as_bytes()),
            _ => None,
        }
    }

    /// Words for a reader: what `redis-cli` would show, on one line.
    pub fn show(&self) -> String {
        match self {
            Value::Nil => "nil".into(),
            Value::Int(n) => n.to_string(),
            Value::Bulk(b) => format!("\"{}\"", b.escape_ascii()),
            Value::Status(s) | Value::Other(s) => s.clone(),
            Value::Error(e) => format!("(error) {e}"),
            Value::Array(v) => v.iter().map(Value::show).collect::<Vec<_>>().join(" "),
        }
    }
}

#[cfg(feature = "embedded")]
impl From<totality::Frame> for Value {
    fn from(frame: totality::Frame) -> Value {
        use totality::Frame;
        let all = |v: Vec<Frame>| Value::Array(v.into_iter().map(Value::from).collect());
        match frame {
            Frame::Null | Frame::NullArray => Value::Nil,
            Frame::Int(n) => Value::Int(n),
            Frame::Bulk(b) | Frame::Verbatim(_, b) => Value::Bulk(b),
            Frame::Simple(s) => Value::Status(s),
            Frame::Error(e) => Value::Error(String::from_utf8_lossy(&e).into_owned()),
            Frame::Array(v) | Frame::Set(v) | Frame::Push(v) => all(v),
            Frame::Map(pairs) => {
                Value::Array(pairs.into_iter().flat_map(|(k, v)| [k.into(), v.into()]).collect())
            }
            other => Value::Other(format!("{other:?}")),
        }
    }
}

#[cfg(feature = "redis")]
impl From<redis::Value> for Value {
    fn from(value: redis::Value) -> Value {
        use redis::Value as R;
        match value {
            R::Nil => Value::Nil,
            R::Int(n) => Value::Int(n),
            R::BulkString(b) => Value::Bulk(b),
            R::SimpleString(s) => Value::Status(s),
            R::Okay => Value::Status("OK".into()),
            R::Array(v) | R::Set(v) => Value::Array(v.into_iter().map(Value::from).collect()),
            R::Map(pairs) => {
                Value::Array(pairs.into_iter().flat_map(|(k, v)| [k.into(), v.into()]).collect())
            }
            R::ServerError(e) => Value::Error(match e.details() {
                Some(details) => format!("{} {details}", e.code()),
                None => e.code().to_string(),
            }),
            other => Value::Other(format!("{other:?}")),
        }
    }
}
