//! SPUBLISH: sends a message to the subscribers of a shard channel.
//!
//! ```transcript
//! > SPUBLISH channel message
//! (integer) 0
//! ```

use super::publish::{FLAGS, publish};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Group, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("spublish", 3, Group::Pubsub, FLAGS, run).args("shardchannel:s message:s")
    .keys(&[KeySpec::one(1, KeyFlags::NOT_KEY)])
    .doc("7.0.0", "O(N) for N subscribers", "Sends a message to a shard channel.");

fn run(cx: &mut Cx<'_>) -> Res {
    publish(cx, true)
}
