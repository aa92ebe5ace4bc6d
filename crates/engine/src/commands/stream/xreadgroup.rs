//! XREADGROUP: messages for a consumer of a group.
//!
//! `>` asks for messages that no consumer of the group has had; they are pending until XACK, unless NOACK is given.
//! Another id asks for the consumer's own pending messages after it; of those that were deleted only the id is left.
//!
//! ```transcript
//! > XADD s 1-1 f 1
//! "1-1"
//! > XGROUP CREATE s g 0
//! OK
//! > XREADGROUP GROUP g ann COUNT 1 STREAMS s >
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) 1) "f"
//!             2) "1"
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) 1) "f"
//!          2) "1"
//! > XREADGROUP GROUP g ann STREAMS s >
//! (nil)
//! > XDEL s 1-1
//! (integer) 1
//! > XREADGROUP GROUP g ann STREAMS s 0
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) (nil)
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) (nil)
//! > XREADGROUP GROUP nogroup ann STREAMS s >
//! (error) NOGROUP No such key 's' or consumer group 'nogroup' in XREADGROUP with GROUP option
//! > XREADGROUP COUNT 1 NOACK NOACK STREAMS s >
//! (error) ERR Missing GROUP option for XREADGROUP
//! ```

use super::xread::streams;
use crate::commands::stream_read::read;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("xreadgroup", -7, Group::Stream, Flags::WRITE.union(Flags::BLOCKING).union(Flags::MOVABLE_KEYS), run).args("group-block:b'GROUP'(group:s consumer:s) count:i'COUNT'? milliseconds:i'BLOCK'? noack:t'NOACK'? streams:b'STREAMS'(key:k@0* id:s*)")
    .keys(&[streams(4)])
    .doc("5.0.0", "O(M) for M messages returned of each stream", "Messages for a consumer of a group; waits for some when there are none.");

fn run(cx: &mut Cx<'_>) -> Res {
    read(cx, true)
}
