//! Large values are written in pieces, so that nobody waits long for one.

use crate::value::Value;
use totality_ds::StreamId;

/// As many parts as there are.
pub(super) const ALL: usize = usize::MAX;
/// Bytes of a piece, nearly.
pub(super) const PIECE: usize = 64 * 1024;
/// Elements of a piece at most.
const ELEMENTS: usize = 512;
/// Pending entries of a piece.
pub(super) const PENDING: usize = 1024;

/// Elements above which a table is large, and bytes above which anything is but a string.
const LARGE_COUNT: usize = 2048;
const LARGE_BYTES: usize = 128 * 1024;
/// Bytes above which a string is large: it is not compressed then.
const LARGE_STRING: usize = 512 * 1024;

/// Where the writing of a value goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At its beginning.
    Start,
    /// At this byte of a string.
    Byte(usize),
    /// At this node of a list, or this element.
    Node(usize),
    /// At this hash of a set or a hash.
    Scan(u64),
    /// So many members of a sorted set are left; or were written, where they go upwards.
    Rank(usize),
    /// At this block of a stream, or this entry.
    Block(StreamId),
    /// At this group of a stream.
    Group(usize),
    /// At this pending entry of a group.
    Pending(usize, StreamId),
    /// At this consumer of a group, and this entry of those that it has not acknowledged. `None`: at its name.
    Consumer(usize, usize, Option<StreamId>),
    /// Behind it.
    End,
}

/// What follows a step of a walk through a table.
pub(super) fn next_scan(cursor: u64) -> Place {
    if cursor == 0 { Place::End } else { Place::Scan(cursor) }
}

/// True for a value that takes so long to write that it is written in pieces. `slow`: any value that has pieces, for
/// tests.
pub fn is_large(value: &Value, slow: bool) -> bool {
    let large = |elements: usize, bytes: usize| slow || elements > LARGE_COUNT || bytes > LARGE_BYTES;
    match value {
        Value::Int(_) => false,
        Value::Str(bytes) => bytes.len() > LARGE_STRING,
        Value::List(v) => v.quicklist().is_some() && large(0, v.mem()),
        Value::Set(v) => v.is_table() && large(v.len(), v.mem()),
        Value::Hash(v) => v.as_listpack().is_none() && large(v.len(), v.mem()),
        Value::ZSet(v) => v.listpack().is_none() && large(v.len(), v.mem()),
        Value::Stream(v) => large(0, v.mem()),
    }
}

/// How many parts of a value make a piece: nodes of a list, blocks of a stream, elements of others.
pub fn piece_of(value: &Value) -> usize {
    let parts = match value {
        Value::Str(_) | Value::Int(_) => 1,
        Value::List(v) => v.pieces(),
        Value::Set(v) => v.len(),
        Value::Hash(v) => v.len(),
        Value::ZSet(v) => v.len(),
        Value::Stream(v) => v.log().entries().blocks().len(),
    };
    let bytes_each = value.mem() / parts.max(1);
    (PIECE / bytes_each.max(1)).clamp(1, ELEMENTS)
}
