//! ROLE: the server's part in replication: a primary's offset and replicas, a replica's primary, link and offset.
//!
//! ```transcript
//! > ROLE
//! 1) "master"
//! 2) (integer) 0
//! 3) (empty array)
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::replication::ReplicaState;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "role",
    1,
    Group::Server,
    Flags::FAST.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE),
    run,
)
.cats(Cat::ADMIN.union(Cat::DANGEROUS))
.doc("2.8.12", "O(1)", "The server's part in replication.");

fn run(cx: &mut Cx<'_>) -> Res {
    let repl = &cx.sv.repl;
    if let Some(upstream) = repl.upstream() {
        cx.reply.array(5);
        cx.reply.bulk(b"slave");
        cx.reply.bulk(upstream.host.as_bytes());
        cx.reply.int(i64::from(upstream.port));
        cx.reply.bulk(upstream.link.name().as_bytes());
        let known = upstream.client.is_some();
        cx.reply.int(if known { repl.offset as i64 } else { -1 });
        return Ok(());
    }
    let online = repl.replicas.iter().filter(|replica| replica.state == ReplicaState::Online);
    cx.reply.array(3);
    cx.reply.bulk(b"master");
    cx.reply.int(repl.offset as i64);
    cx.reply.array(online.clone().count());
    for replica in online {
        cx.reply.array(3);
        cx.reply.bulk(replica.address(cx.sv).as_bytes());
        cx.reply.bulk(replica.told.port.to_string().as_bytes());
        cx.reply.bulk(replica.ack.to_string().as_bytes());
    }
    Ok(())
}
