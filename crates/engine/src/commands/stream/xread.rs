//! XREAD: messages that came after an id, of one or more streams; waits for some with BLOCK.
//!
//! `$` is the last id at the time of the call, `+` asks for the last message. BLOCK has milliseconds, 0 waits without
//! end. In MULTI and in scripts it answers at once.
//!
//! ```transcript
//! > XADD a 1-1 f 1
//! "1-1"
//! > XADD b 2-1 g 2
//! "2-1"
//! > XREAD COUNT 1 STREAMS a b 0 0
//! 1) 1) "a"
//!    2) 1) 1) "1-1"
//!          2) 1) "f"
//!             2) "1"
//! 2) 1) "b"
//!    2) 1) 1) "2-1"
//!          2) 1) "g"
//!             2) "2"
//! # resp3
//! 1# "a" => 1) 1) "1-1"
//!       2) 1) "f"
//!          2) "1"
//! 2# "b" => 1) 1) "2-1"
//!       2) 1) "g"
//!          2) "2"
//! > XREAD STREAMS a 1-1
//! (nil)
//! > XREAD BLOCK -1 STREAMS a 0
//! (error) ERR timeout is negative
//! > XREAD COUNT 1 a
//! (error) ERR syntax error
//! > XREAD STREAMS a >
//! (error) ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.
//! # since 7.2
//! > XREAD STREAMS a b 0
//! (error) ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified.
//! ```

use crate::commands::stream_read::read;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Begin, Find, Flags, Group, KEY_READ, KeySpec, Spec};

/// Keys are the first half of what follows STREAMS, which is searched from argument `from` on.
pub(super) const fn streams(from: i32) -> KeySpec {
    KeySpec {
        begin: Begin::Keyword("STREAMS", from),
        find: Find::Range { last: -1, step: 1, limit: 2 },
        flags: KEY_READ,
    }
}

/// The table's row.
pub const SPEC: Spec = Spec::new("xread", -4, Group::Stream, Flags::READONLY.union(Flags::BLOCKING).union(Flags::MOVABLE_KEYS), run).args("count:i'COUNT'? milliseconds:i'BLOCK'? streams:b'STREAMS'(key:k@0* id:s*)")
    .keys(&[streams(1)])
    .doc("5.0.0", "O(M) for M messages returned of each stream", "Messages after an id; waits for some when there are none.");

fn run(cx: &mut Cx<'_>) -> Res {
    read(cx, false)
}
