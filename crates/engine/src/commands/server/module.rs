//! MODULE: there are no modules, so the list is empty and none can be loaded.
//!
//! ```transcript
//! > MODULE LIST
//! (empty array)
//! # not embedded: it is off unless the configuration allows it
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Group, Handler, Spec};

const FLAGS: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::NO_ASYNC_LOADING);

/// The table's row.
pub const SPEC: Spec = Spec::new("module", -2, Group::Server, Flags::empty(), crate::commands::container)
    .doc("4.0.0", "Depends on the subcommand", "Modules, of which there are none.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Server, FLAGS, run).doc(since, "O(1)", summary)
}

const SUBS: &[Spec] = &[
    crate::commands::help_row(Group::Server, "5.0.0"),
    Spec::new("list", 2, Group::Server, Flags::ADMIN.union(Flags::NOSCRIPT), list)
        .tips(&["nondeterministic_output_order"])
        .doc("4.0.0", "O(1)", "The modules that are loaded: none."),
    sub("load", -3, "4.0.0", "Refuses to load a module.", load).args("path:s arg:s?*"),
    sub("loadex", -3, "7.0.0", "Refuses to load a module with parameters.", load).args("path:s configs:b'CONFIG'?*+(name:s value:s) args:s'ARGS'?*"),
    sub("unload", 3, "4.0.0", "Refuses to unload a module.", unload).args("name:s"),
];

fn list(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(0);
    Ok(())
}

/// The gate that Redis has in front of loading.
fn allowed(cx: &mut Cx<'_>) -> Res {
    let allowed = match cx.sv.config.enable_module_command {
        0 => false,
        1 => true,
        _ => cx.me()?.conn.is_local(),
    };
    if allowed {
        return Ok(());
    }
    Err(CmdError::new(
        "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.",
    ))
}

fn load(cx: &mut Cx<'_>) -> Res {
    allowed(cx)?;
    Err(CmdError::new("ERR Error loading the extension. Please check the server logs."))
}

fn unload(cx: &mut Cx<'_>) -> Res {
    allowed(cx)?;
    Err(CmdError::new("ERR Error unloading module: no such module with that name"))
}
