//! SSUBSCRIBE: listens to shard channels.
//!
//! ```transcript
//! # not resp3: there it answers with pushes
//! # not embedded: messages come to a connection
//! > SSUBSCRIBE orders
//! 1) "ssubscribe"
//! 2) "orders"
//! 3) (integer) 1
//! ```

use super::super::pubsub_util::subscribe;
use crate::cx::Cx;
use crate::error::Res;
use crate::pubsub::Kind;
use crate::spec::{Group, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("ssubscribe", -2, Group::Pubsub, super::super::pubsub_util::FLAGS, run).args("shardchannel:s*")
    .keys(&[KeySpec::rest(1, KeyFlags::NOT_KEY)])
    .doc("7.0.0", "O(N) for N names", "Listens to shard channels.");

fn run(cx: &mut Cx<'_>) -> Res {
    subscribe(cx, Kind::Shard)
}
