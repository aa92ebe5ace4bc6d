//! CLUSTER: on a server without cluster only KEYSLOT answers, which needs none; the rest says so, as Redis does.
//!
//! ```transcript
//! > CLUSTER INFO
//! (error) ERR This instance has cluster support disabled
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Handler, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("cluster", -2, Group::Cluster, Flags::empty(), crate::commands::container)
    .doc("3.0.0", "Depends on the subcommand", "Cluster management.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Cluster, Flags::LOADING.union(Flags::STALE), run).doc("3.0.0", "O(N)", summary)
}

/// What changes a cluster is an administrator's and not for scripts.
const fn change(name: &'static str, arity: i32) -> Spec {
    let flags = Flags::ADMIN.union(Flags::STALE).union(Flags::NOSCRIPT);
    Spec::new(name, arity, Group::Cluster, flags, disabled).doc("3.0.0", "O(N)", "Changes a cluster.")
}

const SUBS: &[Spec] = &[
    change("addslots", -3),
    change("addslotsrange", -4),
    change("bumpepoch", 2),
    change("count-failure-reports", 3),
    change("delslots", -3),
    change("delslotsrange", -4),
    change("failover", -2),
    change("flushslots", 2),
    change("forget", 3),
    change("meet", -4),
    change("myshardid", 2),
    change("replicas", 3),
    change("replicate", -3),
    change("reset", -2),
    change("saveconfig", 2),
    change("set-config-epoch", 3),
    change("setslot", -4),
    change("slaves", 3),
    change("slot-stats", -4),
    sub("countkeysinslot", 3, "Number of keys in a slot.", disabled),
    sub("getkeysinslot", 4, "Keys of a slot.", disabled),
    sub("help", 2, "Lists the subcommands.", crate::commands::help),
    sub("info", 2, "State of the cluster.", disabled),
    sub("keyslot", 3, "The hash slot of a key.", key_slot),
    sub("links", 2, "Connections to other nodes.", disabled),
    sub("myid", 2, "This node's id.", disabled),
    sub("nodes", 2, "The nodes that this one knows.", disabled),
    sub("shards", 2, "Slots by shard.", disabled),
    sub("slots", 2, "Slots by node.", disabled),
];

fn disabled(_: &mut Cx<'_>) -> Res {
    Err(CmdError::new("ERR This instance has cluster support disabled"))
}

fn key_slot(cx: &mut Cx<'_>) -> Res {
    cx.reply.int(i64::from(totality_ds::crc::key_slot(cx.args[2])));
    Ok(())
}
