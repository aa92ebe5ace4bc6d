//! Replies as Rust values.

use crate::error::Error;
use std::collections::HashMap;
use std::hash::Hash;
use totality_engine::Frame;

/// A type that a reply can be turned into.
pub trait FromFrame: Sized {
    /// Converts a reply.
    ///
    /// # Errors
    /// [`Error::Type`] when the reply is of another type.
    fn from_frame(frame: Frame) -> Result<Self, Error>;
}

fn wrong<T>(wanted: &'static str, got: &Frame) -> Result<T, Error> {
    let mut got = format!("{got:?}");
    if let Some((end, _)) = got.char_indices().nth(200) {
        got.truncate(end);
    }
    Err(Error::Type { wanted, got })
}

impl FromFrame for Frame {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        Ok(frame)
    }
}

/// Any reply that is not an error.
impl FromFrame for () {
    fn from_frame(_: Frame) -> Result<Self, Error> {
        Ok(())
    }
}

impl FromFrame for Vec<u8> {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        match frame {
            Frame::Bulk(bytes) | Frame::Verbatim(_, bytes) => Ok(bytes),
            Frame::Simple(text) | Frame::BigNumber(text) => Ok(text.into_bytes()),
            other => wrong("a string", &other),
        }
    }
}

impl FromFrame for String {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        let bytes = Vec::<u8>::from_frame(frame)?;
        String::from_utf8(bytes).or_else(|e| wrong("UTF-8 text", &Frame::Bulk(e.into_bytes())))
    }
}

impl FromFrame for i64 {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        match &frame {
            Frame::Int(n) => Ok(*n),
            Frame::Bulk(b) => parse(b).map_or_else(|| wrong("an integer", &frame), Ok),
            _ => wrong("an integer", &frame),
        }
    }
}

impl FromFrame for f64 {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        match &frame {
            Frame::Double(d) => Ok(*d),
            Frame::Int(n) => Ok(*n as f64),
            Frame::Bulk(b) => parse(b).map_or_else(|| wrong("a number", &frame), Ok),
            _ => wrong("a number", &frame),
        }
    }
}

fn parse<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// True for 1, `true` and a status (`OK`); false for 0, `false` and null.
impl FromFrame for bool {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        match frame {
            Frame::Bool(b) => Ok(b),
            Frame::Int(n @ (0 | 1)) => Ok(n == 1),
            Frame::Simple(_) => Ok(true),
            Frame::Null | Frame::NullArray => Ok(false),
            other => wrong("a boolean", &other),
        }
    }
}

/// Null is `None`.
impl<T: FromFrame> FromFrame for Option<T> {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        match frame {
            Frame::Null | Frame::NullArray => Ok(None),
            other => T::from_frame(other).map(Some),
        }
    }
}

/// Elements of an array, a set or a push; a map gives its keys and values in turn.
struct Items(Vec<Frame>);

impl FromFrame for Items {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        match frame {
            Frame::Array(v) | Frame::Set(v) | Frame::Push(v) => Ok(Items(v)),
            Frame::Map(pairs) => Ok(Items(pairs.into_iter().flat_map(|(k, v)| [k, v]).collect())),
            other => wrong("an array", &other),
        }
    }
}

macro_rules! vec_of {
    ($($t:ty)*) => {$(
        impl FromFrame for Vec<$t> {
            fn from_frame(frame: Frame) -> Result<Self, Error> {
                Items::from_frame(frame)?.0.into_iter().map(FromFrame::from_frame).collect()
            }
        }
    )*};
}

// Not for every `T`: `Vec<u8>` is a string.
vec_of! { Frame String i64 f64 bool Vec<u8> Option<String> Option<i64> Option<Vec<u8>> }

/// A map, or an array of keys and values in turn.
impl<K: FromFrame + Eq + Hash, V: FromFrame> FromFrame for HashMap<K, V> {
    fn from_frame(frame: Frame) -> Result<Self, Error> {
        let mut items = Items::from_frame(frame)?.0.into_iter();
        let mut map = HashMap::new();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            map.insert(K::from_frame(key)?, V::from_frame(value)?);
        }
        Ok(map)
    }
}

macro_rules! tuple {
    ($n:literal $($t:ident)*) => {
        impl<$($t: FromFrame),*> FromFrame for ($($t,)*) {
            fn from_frame(frame: Frame) -> Result<Self, Error> {
                let items = Items::from_frame(frame)?.0;
                if items.len() != $n {
                    return wrong(concat!("an array of ", $n), &Frame::Array(items));
                }
                let mut items = items.into_iter();
                Ok(($($t::from_frame(items.next().unwrap_or(Frame::Null))?,)*))
            }
        }
    };
}

tuple! { 2 A B }
tuple! { 3 A B C }
tuple! { 4 A B C D }

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Frame {
        Frame::Bulk(text.into())
    }

    #[test]
    fn converts_what_scripts_return() {
        let reply = Frame::Array(vec![Frame::Int(1), bulk("7"), Frame::Null]);
        assert_eq!(<(i64, i64, Option<String>)>::from_frame(reply.clone()), Ok((1, 7, None)));
        assert!(<(i64, i64)>::from_frame(reply).is_err());
        let flat = Frame::Array(vec![bulk("a"), bulk("1")]);
        assert_eq!(HashMap::<String, i64>::from_frame(flat), Ok(HashMap::from([("a".into(), 1)])));
        assert_eq!(Option::<i64>::from_frame(Frame::Null), Ok(None));
        assert!(i64::from_frame(bulk("x")).is_err());
    }
}
