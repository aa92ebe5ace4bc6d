//! A reply as an owned tree, for embedders that ask for one.

/// A reply value. Built only for callers that want a tree: neither the network nor scripts use it.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// Null, in RESP2 the null bulk string.
    Null,
    /// RESP2's null array (EXEC of a transaction that was given up, BLPOP that timed out).
    NullArray,
    /// A status such as `OK`.
    Simple(String),
    /// An error, code first.
    Error(Vec<u8>),
    /// An integer.
    Int(i64),
    /// A string.
    Bulk(Vec<u8>),
    /// A double.
    Double(f64),
    /// A boolean.
    Bool(bool),
    /// An array.
    Array(Vec<Frame>),
    /// A map, in order.
    Map(Vec<(Frame, Frame)>),
    /// A set.
    Set(Vec<Frame>),
    /// An out-of-band message.
    Push(Vec<Frame>),
    /// A text with its three-letter format.
    Verbatim(String, Vec<u8>),
    /// An integer of any size, in decimal digits.
    BigNumber(String),
}
