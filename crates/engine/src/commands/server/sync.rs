//! SYNC: turns the connection into a one-way stream of effects: an empty RDB file, then every change as commands.
//!
//! Nothing of the data set that exists is sent: it serves to watch what scripts and commands propagate. Real
//! replication does not exist yet.
//!
//! No transcript: what follows on the connection is no reply.

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "sync",
    1,
    Group::Server,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::NO_MULTI).union(Flags::NO_ROLLBACK),
    run,
)
.doc("1.0.0", "O(1)", "Streams the effects of commands.");

/// An RDB file of version 11 without keys: magic, end mark, and a checksum of zero, which means that it is not checked.
const EMPTY_RDB: &[u8] = b"REDIS0011\xff\0\0\0\0\0\0\0\0";

fn run(cx: &mut Cx<'_>) -> Res {
    let id = cx.client;
    let client = cx.me()?;
    if client.replica {
        return Ok(());
    }
    client.replica = true;
    client.stream_db = None;
    cx.sv.replicas.push(id);
    cx.ks.effects.recording = true;
    // The file goes out as the protocol of SYNC has it: a length, the bytes, no line break.
    let mut bytes = format!("${}\r\n", EMPTY_RDB.len()).into_bytes();
    bytes.extend_from_slice(EMPTY_RDB);
    cx.sv.send(id, bytes);
    Ok(())
}
