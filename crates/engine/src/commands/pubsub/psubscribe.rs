//! PSUBSCRIBE: listens to the channels that match glob patterns.
//!
//! ```transcript
//! # not resp3: there it answers with pushes
//! # not embedded: messages come to a connection
//! > PSUBSCRIBE news.*
//! 1) "psubscribe"
//! 2) "news.*"
//! 3) (integer) 1
//! ```

use super::super::pubsub_util::subscribe;
use crate::cx::Cx;
use crate::error::Res;
use crate::pubsub::Kind;
use crate::spec::{Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("psubscribe", -2, Group::Pubsub, super::super::pubsub_util::FLAGS, run).args("pattern:p*")
    .doc("2.0.0", "O(N) for N names", "Listens to channels that match patterns.");

fn run(cx: &mut Cx<'_>) -> Res {
    subscribe(cx, Kind::Pattern)
}
