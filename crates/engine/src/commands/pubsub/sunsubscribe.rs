//! SUNSUBSCRIBE: no longer listens to shard channels; to none at all when none is named.
//!
//! ```transcript
//! # not resp3: there it answers with pushes
//! # not embedded: messages come to a connection
//! > SSUBSCRIBE orders
//! 1) "ssubscribe"
//! 2) "orders"
//! 3) (integer) 1
//! > SUNSUBSCRIBE orders
//! 1) "sunsubscribe"
//! 2) "orders"
//! 3) (integer) 0
//! ```

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
