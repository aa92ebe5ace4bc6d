//! SUBSCRIBE: listens to channels.
//!
//! ```transcript
//! # not resp3: there it answers with pushes
//! # not embedded: messages come to a connection
//! > SUBSCRIBE news
//! 1) "subscribe"
//! 2) "news"
//! 3) (integer) 1
//! ```

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
