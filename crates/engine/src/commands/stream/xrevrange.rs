//! XREVRANGE: messages with ids in an interval, descending. The greater id comes first.
//!
//! ```transcript
//! > XADD s 1-1 a 1
//! "1-1"
//! > XADD s 2-0 b 2
//! "2-0"
//! > XREVRANGE s + - COUNT 1
//! 1) 1) "2-0"
//!    2) 1) "b"
//!       2) "2"
//! > XREVRANGE s (2-0 -
//! 1) 1) "1-1"
//!    2) 1) "a"
//!       2) "1"
//! > XREVRANGE s + (0-0
//! 1) 1) "2-0"
//!    2) 1) "b"
//!       2) "2"
//! 2) 1) "1-1"
//!    2) 1) "a"
//!       2) "1"
//! > XREVRANGE s (0-0 -
//! (error) ERR invalid end ID for the interval
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("xrevrange", -4, Group::Stream, Flags::READONLY, run).args("key:k@0 end:s start:s count:i'COUNT'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("5.0.0", "O(log N + M), M the messages returned", "Messages with ids in an interval, descending.");

fn run(cx: &mut Cx<'_>) -> Res {
    super::xrange::range(cx, true)
}
