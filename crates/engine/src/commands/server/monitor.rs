//! MONITOR: shows the connection every command that the server runs. It costs every command; not for a busy server.
//!
//! No transcript: what follows on the connection is no reply.

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "monitor",
    1,
    Group::Server,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE),
    run,
)
.doc("1.0.0", "", "Shows every command that the server runs.");

fn run(cx: &mut Cx<'_>) -> Res {
    if !cx.may_block() {
        return Err(CmdError::new("ERR MONITOR isn't allowed for DENY BLOCKING client"));
    }
    let id = cx.client;
    let client = cx.me()?;
    if !client.monitor {
        client.monitor = true;
        cx.sv.monitors.push(id);
    }
    cx.reply.ok();
    Ok(())
}
