//! SYNC: turns the connection into a replica's, as PSYNC does, for old replicas and tools: a snapshot of the data set,
//! then every change as commands. Nothing is acknowledged.
//!
//! In an engine that is embedded the snapshot is an empty one and the changes are what follows: it serves to watch what
//! scripts and commands propagate.
//!
//! No transcript: what follows on the connection is no reply.

use super::psync::FLAGS;
use crate::cx::Cx;
use crate::error::Res;
use crate::replication::{self, sync};
use crate::spec::{Group, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("sync", 1, Group::Server, FLAGS, run).doc("1.0.0", "", "Streams the effects of commands.");

/// An RDB file of version 11 without keys: magic, end mark, and a checksum of zero, which means that it is not checked.
const EMPTY_RDB: &[u8] = b"REDIS0011\xff\0\0\0\0\0\0\0\0";

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.me()?.replica {
        return Ok(());
    }
    sync::check(cx)?;
    if cx.sv.repl.available {
        sync::full(cx, true);
        return Ok(());
    }
    let id = cx.client;
    replication::follow(cx.ks, cx.sv, id);
    // The file goes out as the protocol of SYNC has it: a length, the bytes, no line break.
    let mut bytes = format!("${}\r\n", EMPTY_RDB.len()).into_bytes();
    bytes.extend_from_slice(EMPTY_RDB);
    cx.sv.send(id, bytes);
    Ok(())
}
