//! The values of keys.

use crate::error::{CmdError, WRONG_TYPE};
use crate::types::journal::{Changes, StrEdit, undo_string};
use crate::types::{Hash, List, Set, Stream, ZSet};
use smallvec::SmallVec;
use totality_ds::Bytes;

/// What a key holds. 24 bytes; everything larger is behind a pointer.
#[derive(Debug, Clone)]
pub enum Value {
    /// A string. Edited in place (APPEND, SETRANGE, SETBIT …) it has an allocation with room to spare, which is what
    /// tells encoding `raw` from `embstr` where the length does not.
    Str(Bytes),
    /// A string that is an integer: encoding `int`.
    Int(i64),
    /// A list.
    List(Box<List>),
    /// A set.
    Set(Box<Set>),
    /// A hash.
    Hash(Hash),
    /// A sorted set.
    ZSet(ZSet),
    /// A stream.
    Stream(Box<Stream>),
}

/// Types of values, as TYPE names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    String,
    List,
    Set,
    ZSet,
    Hash,
    Stream,
}

impl Type {
    /// All types.
    pub const ALL: [Type; 6] = [Type::String, Type::List, Type::Set, Type::ZSet, Type::Hash, Type::Stream];

    /// The name that TYPE answers and that SCAN's TYPE option takes.
    pub const fn name(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::List => "list",
            Type::Set => "set",
            Type::ZSet => "zset",
            Type::Hash => "hash",
            Type::Stream => "stream",
        }
    }
}

/// Longest string that Redis keeps in one allocation with its header: encoding `embstr`.
pub const EMBSTR_MAX: usize = 44;

/// The bytes of a string value; integers are rendered on the stack.
pub enum StrRef<'a> {
    /// Bytes of the value.
    Bytes(&'a [u8]),
    /// Digits of an integer.
    Digits(SmallVec<[u8; 20]>),
}

impl std::ops::Deref for StrRef<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            StrRef::Bytes(bytes) => bytes,
            StrRef::Digits(digits) => digits,
        }
    }
}

impl Value {
    /// A string value, an integer where Redis would keep one (`string2ll` accepts it and it has at most 20 digits).
    #[inline]
    pub fn from_bytes(bytes: &[u8]) -> Value {
        match crate::util::parse_i64(bytes) {
            Some(n) => Value::Int(n),
            None => Value::Str(Bytes::from(bytes)),
        }
    }

    /// A string with encoding `raw`, as commands leave it that compute a string.
    pub fn raw(bytes: Vec<u8>) -> Value {
        let mut bytes = Bytes::from(bytes);
        if bytes.len() <= EMBSTR_MAX {
            bytes.spill();
        }
        Value::Str(bytes)
    }

    /// The type.
    pub fn kind(&self) -> Type {
        match self {
            Value::Str(_) | Value::Int(_) => Type::String,
            Value::List(_) => Type::List,
            Value::Set(_) => Type::Set,
            Value::Hash(_) => Type::Hash,
            Value::ZSet(_) => Type::ZSet,
            Value::Stream(_) => Type::Stream,
        }
    }

    /// The bytes of a string, or WRONGTYPE.
    #[inline]
    pub fn as_str(&self) -> Result<StrRef<'_>, CmdError> {
        match self {
            Value::Str(bytes) => Ok(StrRef::Bytes(bytes)),
            Value::Int(n) => {
                Ok(StrRef::Digits(SmallVec::from_slice(itoa::Buffer::new().format(*n).as_bytes())))
            }
            _ => Err(WRONG_TYPE),
        }
    }

    /// Length of a string in bytes, or WRONGTYPE.
    pub fn str_len(&self) -> Result<usize, CmdError> {
        match self {
            Value::Str(bytes) => Ok(bytes.len()),
            Value::Int(n) => Ok(itoa::Buffer::new().format(*n).len()),
            _ => Err(WRONG_TYPE),
        }
    }

    /// Edits a string in place (an integer becomes its digits), or WRONGTYPE. Afterwards the encoding is `raw`. What
    /// changes is noted in `changes`.
    pub(crate) fn edit<R>(
        &mut self,
        changes: Option<&mut Changes>,
        f: impl FnOnce(&mut StrEdit<'_>) -> R,
    ) -> Result<R, CmdError> {
        if let Value::Int(n) = self {
            *self = Value::Str(Bytes::from(itoa::Buffer::new().format(*n).as_bytes()));
        }
        let Value::Str(bytes) = self else { return Err(WRONG_TYPE) };
        let journal = match changes {
            Some(Changes::Str(journal)) => Some(&mut **journal),
            _ => None,
        };
        let result = f(&mut StrEdit::new(bytes, journal));
        bytes.spill();
        Ok(result)
    }

    /// True for a value of which only the changes are noted before it is changed. Streams always note them.
    fn is_large(&self) -> bool {
        match self {
            Value::Int(_) => false,
            Value::Str(bytes) => bytes.len() > SMALL_STRING,
            Value::List(v) => v.quicklist().is_some(),
            Value::Set(v) => v.is_table(),
            Value::Hash(v) => v.as_listpack().is_none(),
            Value::ZSet(v) => v.listpack().is_none(),
            Value::Stream(_) => true,
        }
    }

    /// Gives a large value a journal to note its changes in: the one it had, or a new one. A small value gives back
    /// what it got: it is to be kept whole. A long string's journal is not inside of it: it is given back as well, and
    /// handed to [`Value::edit`].
    pub(crate) fn keep_changes(&mut self, changes: Option<Changes>) -> Kept {
        macro_rules! keep {
            ($variant:ident, $value:expr) => {{
                $value.keep_changes(match changes {
                    Some(Changes::$variant(journal)) => journal,
                    _ => Default::default(),
                });
                Kept::Inside
            }};
        }
        match self {
            _ if !self.is_large() => Kept::Small(changes),
            Value::Int(_) => Kept::Small(changes),
            Value::Str(_) => Kept::Beside(match changes {
                Some(Changes::Str(journal)) => Changes::Str(journal),
                _ => Changes::Str(Box::default()),
            }),
            Value::List(v) => keep!(List, v),
            Value::Set(v) => keep!(Set, v),
            Value::Hash(v) => keep!(Hash, v),
            Value::ZSet(v) => keep!(ZSet, v),
            Value::Stream(v) => keep!(Stream, v),
        }
    }

    /// Takes the journal away that [`Value::keep_changes`] gave.
    pub(crate) fn take_changes(&mut self) -> Option<Changes> {
        match self {
            Value::Str(_) | Value::Int(_) => None,
            Value::List(v) => v.take_journal().map(Changes::List),
            Value::Set(v) => v.take_journal().map(Changes::Set),
            Value::Hash(v) => v.take_journal().map(Changes::Hash),
            Value::ZSet(v) => v.take_journal().map(Changes::ZSet),
            Value::Stream(v) => v.take_journal().map(Changes::Stream),
        }
    }

    /// Takes changes back.
    pub(crate) fn undo(&mut self, changes: Changes) {
        match (self, changes) {
            (Value::Str(bytes), Changes::Str(journal)) => undo_string(bytes, *journal),
            (Value::List(v), Changes::List(journal)) => v.undo(*journal),
            (Value::Set(v), Changes::Set(journal)) => v.undo(*journal),
            (Value::Hash(v), Changes::Hash(journal)) => v.undo(*journal),
            (Value::ZSet(v), Changes::ZSet(journal)) => v.undo(*journal),
            (Value::Stream(v), Changes::Stream(journal)) => v.undo(*journal),
            _ => debug_assert!(false, "changes of another type"),
        }
    }

    /// Bytes of memory behind the value, beyond its place in the key table. O(1).
    #[inline]
    pub fn mem(&self) -> usize {
        match self {
            Value::Str(bytes) => bytes.heap_bytes(),
            Value::Int(_) => 0,
            Value::List(v) => size_of::<List>() + v.mem(),
            Value::Set(v) => size_of::<Set>() + v.mem(),
            Value::Hash(v) => v.mem(),
            Value::ZSet(v) => v.mem(),
            Value::Stream(v) => size_of::<Stream>() + v.mem(),
        }
    }

    /// The same as [`Value::mem`], counted again from scratch as far as the type can: O(N). For tests.
    pub fn recount(&self) -> usize {
        match self {
            Value::List(v) => size_of::<List>() + v.recount(),
            Value::Set(v) => size_of::<Set>() + v.recount(),
            Value::Hash(v) => v.recount(),
            Value::ZSet(v) => v.recount(),
            _ => self.mem(),
        }
    }

    /// The encoding, with the name that OBJECT ENCODING answers.
    pub fn encoding(&self) -> &'static str {
        match self {
            Value::Int(_) => "int",
            Value::Str(bytes) if bytes.len() <= EMBSTR_MAX && !bytes.is_spilled() => "embstr",
            Value::Str(_) => "raw",
            Value::List(v) => v.encoding(),
            Value::Set(v) => v.encoding(),
            Value::Hash(v) => v.encoding(),
            Value::ZSet(v) => v.encoding(),
            Value::Stream(v) => v.encoding(),
        }
    }

    /// True when freeing the value could take long: it goes to the outbox instead of being dropped in place. As in
    /// Redis, more than 64 allocations are long; a string is when giving its pages back is.
    #[inline]
    pub fn is_big(&self) -> bool {
        const PIECES: usize = 64;
        match self {
            Value::Int(_) => false,
            Value::Str(bytes) => bytes.heap_bytes() > 1 << 20,
            Value::List(v) => v.pieces() > PIECES,
            Value::Set(v) => v.is_table() && v.len() > PIECES,
            Value::Hash(v) => v.as_listpack().is_none() && v.len() > PIECES,
            Value::ZSet(v) => v.listpack().is_none() && v.len() > PIECES,
            Value::Stream(v) => v.pieces() > PIECES,
        }
    }
}

/// A string of at most so many bytes is kept whole before it is edited.
const SMALL_STRING: usize = 16 * 1024;

/// What [`Value::keep_changes`] did.
pub(crate) enum Kept {
    /// Nothing: the value is small.
    Small(Option<Changes>),
    /// The value has the journal.
    Inside,
    /// The caller keeps the journal: the value is a long string.
    Beside(Changes),
}

/// A collection that can be a key's value.
pub trait Collection: Sized {
    /// The collection inside a value; `None` for another type.
    fn of(value: &Value) -> Option<&Self>;
    /// The same, to be changed.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    /// Makes it a value.
    fn into_value(self) -> Value;
    /// True when nothing is left: the key must go, unless it is a stream.
    fn is_empty(&self) -> bool;
}

macro_rules! collection {
    ($($type:ident),*) => {$(
        impl Collection for $type {
            fn of(value: &Value) -> Option<&Self> {
                match value { Value::$type(v) => Some(v), _ => None }
            }
            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                match value { Value::$type(v) => Some(v), _ => None }
            }
            fn into_value(self) -> Value { Value::$type(self.into()) }
            fn is_empty(&self) -> bool { self.len() == 0 }
        }
    )*};
}
collection!(List, Set, Hash, ZSet, Stream);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_24_bytes() {
        assert_eq!(size_of::<Value>(), 24);
    }

    #[test]
    fn strings_that_are_integers_are_kept_as_such() {
        assert_eq!(Value::from_bytes(b"12").encoding(), "int");
        assert_eq!(Value::from_bytes(b"012").encoding(), "embstr");
        assert_eq!(Value::from_bytes(b"-0").encoding(), "embstr");
        assert_eq!(Value::from_bytes(&[b'x'; 45]).encoding(), "raw");
        assert_eq!(Value::from_bytes(&[b'x'; 44]).encoding(), "embstr");
        let mut value = Value::Int(12);
        value.edit(None, |bytes| bytes.push_slice(b"3")).unwrap();
        assert_eq!((value.encoding(), &*value.as_str().unwrap()), ("raw", &b"123"[..]));
    }
}
