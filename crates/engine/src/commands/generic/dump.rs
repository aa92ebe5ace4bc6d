//! DUMP: the value of a key as bytes, which RESTORE takes here, on Redis and on Valkey.
//!
//! `rdb-version-compat` chooses the version of the format: 11, that of Redis 7.2 and Valkey 8, unless it says otherwise;
//! 10 for Redis 7.0. A hash with deadlines of fields needs a newer one: that of Valkey 9, or with 12 that of Redis 8.
//!
//! ```transcript
//! # since 7.2
//! > SET k 10
//! OK
//! > DUMP k
//! "\x00\xc0\n\x0b\x00\a@\xea6\xf31\x8a2"
//! > DUMP nokey
//! (nil)
//! ```

use crate::cx::Cx;
use crate::dump;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("dump", 2, Group::Generic, Flags::READONLY, run).args("key:k@0")
    .cats(Cat::KEYSPACE)
    .keys(&[KeySpec::one(1, KEY_READ)])
    .tips(&["nondeterministic_output"])
    .doc("2.6.0", "O(N) for N elements", "The value of a key as bytes.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (version, compress) = (cx.sv.config.rdb_version_compat as u16, cx.sv.config.rdbcompression);
    match cx.ks.read(cx.args[1]) {
        None => cx.reply.null(),
        Some(value) => {
            let payload = dump::dump(value, version, compress);
            cx.reply.bulk(&payload);
        }
    }
    Ok(())
}
