//! SUNSUBSCRIBE: no longer listens to shard channels; to none at all when none is named.
//!
//! No transcript: it answers with messages, one for each channel.

use super::super::pubsub_util::unsubscribe;
use crate::cx::Cx;
use crate::error::Res;
use crate::pubsub::Kind;
use crate::spec::{Group, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("sunsubscribe", -1, Group::Pubsub, super::super::pubsub_util::FLAGS, run).args("shardchannel:s?*")
    .keys(&[KeySpec::rest(1, KeyFlags::NOT_KEY)])
    .doc("7.0.0", "O(N) for N names", "Ends listening to shard channels.");

fn run(cx: &mut Cx<'_>) -> Res {
    unsubscribe(cx, Kind::Shard)
}
