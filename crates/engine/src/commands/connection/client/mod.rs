//! CLIENT: what the server knows of its connections, and ways to act on them.
//!
//! ```transcript
//! > CLIENT SETNAME me
//! OK
//! > CLIENT GETNAME
//! "me"
//! > CLIENT SETNAME "a b"
//! (error) ERR Client names cannot contain spaces, newlines or special characters.
//! > CLIENT NO-EVICT on
//! OK
//! ```

pub(crate) use show::line as describe;
pub use show::HIDDEN;

mod filter;
mod manage;
mod show;
mod tracking;

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Cat, Flags, Group, Handler, Spec};

const BASE: Flags = Flags::NOSCRIPT.union(Flags::LOADING).union(Flags::STALE);

/// The table's row.
pub const SPEC: Spec = Spec::new("client", -2, Group::Connection, Flags::empty(), crate::commands::container)
    .doc("2.4.0", "Depends on the subcommand", "Shows connections and acts on them.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, flags: Flags, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Connection, BASE.union(flags), run)
        .cats(Cat::CONNECTION)
        .doc(since, "O(1)", summary)
}

const ADMIN: Flags = Flags::ADMIN;
const NONE: Flags = Flags::empty();
/// Served while a script is past its time.
const BUSY: Flags = Flags::ALLOW_BUSY;

const SUBS: &[Spec] = &[
    sub("caching", 3, BUSY, "6.0.0", "Whether the next command's keys are tracked.", tracking::caching).args("mode:o(yes:t'YES' no:t'NO')").args("mode:o(yes:t'YES' no:t'NO')"),
    sub("capa", -3, BUSY, "8.0.0", "Says what the client understands.", capa).args("capability:s*"),
    sub("getname", 2, BUSY, "2.6.9", "The connection's name.", get_name),
    sub("getredir", 2, BUSY, "6.0.0", "Where invalidation messages are redirected to.", tracking::get_redir),
    crate::commands::help_row(Group::Connection, "5.0.0"),
    sub("id", 2, BUSY, "5.0.0", "The connection's number.", id),
    sub("import-source", 3, NONE, "8.1.0", "Lets the connection see keys past their deadline in import mode.", import_source).args("enabled:o(on:t'ON' off:t'OFF')").args("enabled:o(on:t'ON' off:t'OFF')"),
    sub("info", 2, NONE, "6.2.0", "A line about this connection.", show::info).tips(&["nondeterministic_output"]),
    sub("kill", -3, ADMIN, "2.4.0", "Closes connections.", manage::kill).args("filter:o(old-format/ip;port:s!2.8.12 new-format:o*(client-id:i'ID'?*^2.8.12 client-type:o'TYPE'?^2.8.12(normal:t'NORMAL' master:t'MASTER'^3.2.0 primary:t'PRIMARY'^8.0.0 slave:t'SLAVE' replica:t'REPLICA'^5.0.0 pubsub:t'PUBSUB') username:s'USER'? addr/ip;port:s'ADDR'? laddr/ip;port:s'LADDR'?^6.2.0 skipme:o'SKIPME'?(yes:t'YES' no:t'NO') maxage:i'MAXAGE'?^8.0.0 name:s'NAME'?^9.0.0 idle:i'IDLE'?^9.0.0 flags:s'FLAGS'?^9.0.0 lib-name:s'LIB-NAME'?^9.0.0 lib-ver:s'LIB-VER'?^9.0.0 db:i'DB'?^9.0.0 capa:s'CAPA'?^9.0.0 ip:s'IP'?^9.0.0 not-client-type:o'NOT-TYPE'?^9.0.0(normal:t'NORMAL' master:t'MASTER' primary:t'PRIMARY' slave:t'SLAVE' replica:t'REPLICA' pubsub:t'PUBSUB') not-client-id:i'NOT-ID'?*^9.0.0 not-username:s'NOT-USER'?^9.0.0 not-addr/ip;port:s'NOT-ADDR'?^9.0.0 not-laddr/ip;port:s'NOT-LADDR'?^9.0.0 not-name:s'NOT-NAME'?^9.0.0 not-flags:s'NOT-FLAGS'?^9.0.0 not-lib-name:s'NOT-LIB-NAME'?^9.0.0 not-lib-ver:s'NOT-LIB-VER'?^9.0.0 not-db:i'NOT-DB'?^9.0.0 not-capa:s'NOT-CAPA'?^9.0.0 not-ip:s'NOT-IP'?^9.0.0))").no_rollback(),
    sub("list", -2, ADMIN, "2.4.0", "A line about each connection.", show::list).args("client-type:o'TYPE'?^5.0.0(normal:t'NORMAL' master:t'MASTER' replica:t'REPLICA' pubsub:t'PUBSUB') client-id:i'ID'?*^6.2.0 username:s'USER'?^8.1.0 addr/ip;port:s'ADDR'?^8.1.0 laddr/ip;port:s'LADDR'?^8.1.0 skipme:o'SKIPME'?^8.1.0(yes:t'YES' no:t'NO') maxage:i'MAXAGE'?^8.1.0 name:s'NAME'?^9.0.0 idle:i'IDLE'?^9.0.0 flags:s'FLAGS'?^9.0.0 lib-name:s'LIB-NAME'?^9.0.0 lib-ver:s'LIB-VER'?^9.0.0 db:i'DB'?^9.0.0 capa:s'CAPA'?^9.0.0 ip:s'IP'?^9.0.0 not-client-type:o'NOT-TYPE'?^9.0.0(normal:t'NORMAL' master:t'MASTER' replica:t'REPLICA' pubsub:t'PUBSUB') not-client-id:i'NOT-ID'?*^9.0.0 not-username:s'NOT-USER'?^9.0.0 not-addr/ip;port:s'NOT-ADDR'?^9.0.0 not-laddr/ip;port:s'NOT-LADDR'?^9.0.0 not-name:s'NOT-NAME'?^9.0.0 not-flags:s'NOT-FLAGS'?^9.0.0 not-lib-name:s'NOT-LIB-NAME'?^9.0.0 not-lib-ver:s'NOT-LIB-VER'?^9.0.0 not-db:i'NOT-DB'?^9.0.0 not-capa:s'NOT-CAPA'?^9.0.0 not-ip:s'NOT-IP'?^9.0.0").tips(&["nondeterministic_output"]),
    sub("no-evict", 3, ADMIN.union(BUSY), "7.0.0", "Exempts the connection from eviction.", no_evict).args("enabled:o(on:t'ON' off:t'OFF')"),
    sub("no-touch", 3, BUSY, "7.2.0", "Makes the connection's reads leave access times alone.", no_touch).args("enabled:o(on:t'ON' off:t'OFF')"),
    sub("pause", -3, ADMIN, "3.0.0", "Makes commands of clients wait.", manage::pause).args("timeout:i mode:o?^6.2.0(write:t'WRITE' all:t'ALL')").no_rollback(),
    sub("reply", 3, BUSY.union(Flags::NO_MULTI), "3.2.0", "Switches replies on or off.", manage::reply).args("action:o(on:t'ON' off:t'OFF' skip:t'SKIP')"),
    sub("setinfo", 4, BUSY, "7.2.0", "Sets the library's name or version.", set_info).args("attr:o(libname:s'LIB-NAME' libver:s'LIB-VER')").tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]),
    sub("setname", 3, BUSY, "2.6.9", "Names the connection.", set_name).args("connection-name:s").tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]),
    sub("tracking", -3, NONE, "6.0.0", "Switches messages about changed keys on or off.", tracking::tracking).args("status:o(on:t'ON' off:t'OFF') client-id:i'REDIRECT'? prefix:s'PREFIX'?*+ bcast:t'BCAST'? optin:t'OPTIN'? optout:t'OPTOUT'? noloop:t'NOLOOP'?").args("status:o(on:t'ON' off:t'OFF') client-id:i'REDIRECT'? prefix:s'PREFIX'?*+ bcast:t'BCAST'? optin:t'OPTIN'? optout:t'OPTOUT'? noloop:t'NOLOOP'?"),
    sub("trackinginfo", 2, NONE, "6.2.0", "How the connection tracks keys.", tracking::tracking_info),
    sub("unblock", -3, ADMIN, "5.0.0", "Ends another connection's blocking command.", manage::unblock).args("client-id:i unblock-type:o?(timeout:t'TIMEOUT' error:t'ERROR')").no_rollback(),
    sub("unpause", 2, ADMIN, "6.2.0", "Ends CLIENT PAUSE.", manage::unpause).no_rollback(),
];

/// Refuses names with spaces, line breaks or other bytes outside of printable ASCII.
pub fn valid_name(name: &[u8]) -> Res {
    if name.iter().all(u8::is_ascii_graphic) {
        return Ok(());
    }
    Err(CmdError::new("ERR Client names cannot contain spaces, newlines or special characters."))
}

fn get_name(cx: &mut Cx<'_>) -> Res {
    let name = cx.me()?.name.clone();
    if name.is_empty() {
        cx.reply.null();
    } else {
        cx.reply.bulk(&name);
    }
    Ok(())
}

fn set_name(cx: &mut Cx<'_>) -> Res {
    let name = cx.args[2];
    valid_name(name)?;
    cx.me()?.name = name.to_vec();
    cx.reply.ok();
    Ok(())
}

fn set_info(cx: &mut Cx<'_>) -> Res {
    let (attribute, value) = (cx.args[2], cx.args[3]);
    let is_name = attribute.eq_ignore_ascii_case(b"lib-name");
    if !is_name && !attribute.eq_ignore_ascii_case(b"lib-ver") {
        return Err(CmdError::owned([b"ERR Unrecognized option '", attribute, b"'"].concat()));
    }
    if !value.iter().all(u8::is_ascii_graphic) {
        let text = [b"ERR ", attribute, b" cannot contain spaces, newlines or special characters."].concat();
        return Err(CmdError::owned(text));
    }
    let client = cx.me()?;
    if is_name {
        client.lib.0 = value.to_vec();
    } else {
        client.lib.1 = value.to_vec();
    }
    cx.reply.ok();
    Ok(())
}

fn id(cx: &mut Cx<'_>) -> Res {
    cx.reply.int(cx.client.id as i64);
    Ok(())
}

/// What is not known is no mistake.
fn capa(cx: &mut Cx<'_>) -> Res {
    let redirect = cx.args[2..].iter().any(|arg| arg.eq_ignore_ascii_case(b"redirect"));
    cx.me()?.capa_redirect |= redirect;
    cx.reply.ok();
    Ok(())
}

/// Sync tools see what is past its deadline while the server is in import mode.
fn import_source(cx: &mut Cx<'_>) -> Res {
    if !cx.sv.config.import_mode && !cx.is(2, "off") {
        return Err(CmdError::new("ERR Server is not in import mode"));
    }
    let on = on_off(cx)?;
    cx.me()?.import_source = on;
    cx.reply.ok();
    Ok(())
}

fn on_off(cx: &Cx<'_>) -> Res<bool> {
    if cx.is(2, "on") {
        Ok(true)
    } else if cx.is(2, "off") {
        Ok(false)
    } else {
        Err(SYNTAX)
    }
}

fn no_evict(cx: &mut Cx<'_>) -> Res {
    let on = on_off(cx)?;
    cx.me()?.no_evict = on;
    cx.reply.ok();
    Ok(())
}

fn no_touch(cx: &mut Cx<'_>) -> Res {
    let on = on_off(cx)?;
    cx.me()?.no_touch = on;
    cx.reply.ok();
    Ok(())
}
