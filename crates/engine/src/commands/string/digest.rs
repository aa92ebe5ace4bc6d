//! DIGEST: a hash of a string, by which SET and DELEX can compare without the whole value.
//!
//! It is XXH3 with 64 bits, in 16 hexadecimal digits.
//!
//! ```transcript
//! # since 8.4
//! > SET k hello
//! OK
//! > DIGEST k
//! "9555e8555c62dcfd"
//! > DIGEST nokey
//! (nil)
//! ```

use crate::commands::string_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("digest", 2, Group::String, Flags::READONLY.union(Flags::FAST), run).args("key:k@0")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("8.4.0", "O(N) for N bytes of the value", "Returns a hash of the string value of a key.");

fn run(cx: &mut Cx<'_>) -> Res {
    match cx.ks.read_str(cx.args[1])? {
        Some(value) => cx.reply.bulk(&string_util::digest(&value)),
        None => cx.reply.null(),
    }
    Ok(())
}
