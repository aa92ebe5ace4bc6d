//! An embedded session as a target of transcripts.

use crate::client::Command;
use crate::transcript::run::Target;
use crate::value::Value;
use totality::{Error, Frame, Session};

impl Target for Session {
    fn call(&mut self, command: &Command) -> Result<Value, String> {
        match Session::call(self, command) {
            Ok(frame) => Ok(value(frame)),
            Err(Error::Command(text)) => Ok(Value::Error(text.into_bytes())),
            Err(other) => Err(other.to_string()),
        }
    }
}

/// The tree as the tests' own type.
pub fn value(frame: Frame) -> Value {
    let all = |v: Vec<Frame>| v.into_iter().map(value).collect();
    match frame {
        Frame::Null | Frame::NullArray => Value::Nil,
        Frame::Simple(text) => Value::Status(text.into_bytes()),
        Frame::Error(text) => Value::Error(text),
        Frame::Int(n) => Value::Int(n),
        Frame::Bulk(bytes) => Value::Bulk(bytes),
        Frame::Double(d) => {
            let mut text = Default::default();
            totality_engine::util::format_double(d, &mut text);
            Value::Double(text.to_vec())
        }
        Frame::Bool(b) => Value::Bool(b),
        Frame::Array(v) => Value::Array(all(v)),
        Frame::Set(v) => Value::Set(all(v)),
        Frame::Push(v) => Value::Push(all(v)),
        Frame::Map(m) => Value::Map(m.into_iter().map(|(k, v)| (value(k), value(v))).collect()),
        Frame::Verbatim(_, text) => Value::Verbatim(text),
        Frame::BigNumber(digits) => Value::Big(digits.into_bytes()),
    }
}
