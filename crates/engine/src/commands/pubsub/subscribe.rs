//! SUBSCRIBE: listens to channels.
//!
//! No transcript: it answers with messages, one for each channel.

use super::super::pubsub_util::subscribe;
use crate::cx::Cx;
use crate::error::Res;
use crate::pubsub::Kind;
use crate::spec::{Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("subscribe", -2, Group::Pubsub, super::super::pubsub_util::FLAGS, run).args("channel:s*")
    .doc("2.0.0", "O(N) for N names", "Listens to channels.");

fn run(cx: &mut Cx<'_>) -> Res {
    subscribe(cx, Kind::Channel)
}
