//! XLEN: number of messages in a stream.
//!
//! ```transcript
//! > XADD s 1-1 a b
//! "1-1"
//! > XLEN s
//! (integer) 1
//! > XLEN nokey
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_PEEK, KeySpec, Spec};
use crate::types::Stream;

/// The table's row.
pub const SPEC: Spec = Spec::new("xlen", 2, Group::Stream, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_PEEK)])
    .doc("5.0.0", "O(1)", "Number of messages in a stream.");

fn run(cx: &mut Cx<'_>) -> Res {
    let len = cx.ks.read_as::<Stream>(cx.args[1])?.map_or(0, Stream::len);
    cx.reply.len(len);
    Ok(())
}
