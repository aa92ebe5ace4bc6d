//! PUBLISH: sends a message to the subscribers of a channel and of the patterns that match it. The message leaves when
//! the unit of execution ends.
//!
//! ```transcript
//! > PUBLISH channel message
//! (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, Spec};

/// Flags of PUBLISH and SPUBLISH.
pub(super) const FLAGS: Flags = Flags::PUBSUB
    .union(Flags::LOADING)
    .union(Flags::STALE)
    .union(Flags::FAST)
    .union(Flags::MAY_REPLICATE);

/// The table's row.
pub const SPEC: Spec = Spec::new("publish", 3, Group::Pubsub, FLAGS, run).args("channel:s message:s").doc(
    "2.0.0",
    "O(N+M) for N subscribers and M patterns",
    "Sends a message to a channel.",
);

fn run(cx: &mut Cx<'_>) -> Res {
    publish(cx, false)
}

pub(super) fn publish(cx: &mut Cx<'_>, sharded: bool) -> Res {
    let (channel, message) = (cx.args[1], cx.args[2]);
    let receivers = cx.sv.pubsub.receivers(channel, sharded);
    cx.ks.effects.publish(channel, message, sharded);
    cx.propagate_to_replicas();
    cx.reply.len(receivers);
    Ok(())
}
