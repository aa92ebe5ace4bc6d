//! PUNSUBSCRIBE: no longer listens to patterns; to none at all when none is named.
//!
//! ```transcript
//! # not resp3: there it answers with pushes
//! # not embedded: messages come to a connection
//! > PSUBSCRIBE news.*
//! 1) "psubscribe"
//! 2) "news.*"
//! 3) (integer) 1
//! > PUNSUBSCRIBE news.*
//! 1) "punsubscribe"
//! 2) "news.*"
//! 3) (integer) 0
//! ```

use super::super::pubsub_util::unsubscribe;
use crate::cx::Cx;
use crate::error::Res;
use crate::pubsub::Kind;
use crate::spec::{Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("punsubscribe", -1, Group::Pubsub, super::super::pubsub_util::FLAGS, run).args("pattern:p?*")
    .doc("2.0.0", "O(N) for N names", "Ends listening to patterns.");

fn run(cx: &mut Cx<'_>) -> Res {
    unsubscribe(cx, Kind::Pattern)
}
