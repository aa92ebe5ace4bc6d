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

mod filter;
mod manage;
mod show;

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Cat, Flags, Group, Handler, Spec};

const BASE: Flags = Flags::NOSCRIPT.union(Flags::LOADING).union(Flags::STALE);

/// The table's row.
pub const SPEC: Spec = Spec::new("client", -2, Group::Connection, Flags::NOSCRIPT, crate::commands::container)
    .cats(Cat::CONNECTION)
    .doc("2.4.0", "Depends on the subcommand", "Shows connections and acts on them.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, flags: Flags, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Connection, BASE.union(flags), run)
        .cats(Cat::CONNECTION)
        .doc(since, "O(1)", summary)
}

const ADMIN: Flags = Flags::ADMIN;
const NONE: Flags = Flags::empty();

const SUBS: &[Spec] = &[
    sub("capa", -3, NONE, "8.0.0", "Says what the client understands.", capa),
    sub("getname", 2, NONE, "2.6.9", "The connection's name.", get_name),
    sub("getredir", 2, NONE, "6.0.0", "Where invalidation messages are redirected to.", get_redir),
    sub("help", 2, NONE, "5.0.0", "Lists the subcommands.", crate::commands::help),
    sub("id", 2, NONE, "5.0.0", "The connection's number.", id),
    sub("info", 2, NONE, "6.2.0", "A line about this connection.", show::info),
    sub("kill", -3, ADMIN, "2.4.0", "Closes connections.", manage::kill).no_rollback(),
    sub("list", -2, ADMIN, "2.4.0", "A line about each connection.", show::list),
    sub("no-evict", 3, ADMIN, "7.0.0", "Exempts the connection from eviction.", no_evict),
    sub("no-touch", 3, NONE, "7.2.0", "Makes the connection's reads leave access times alone.", no_touch),
    sub("pause", -3, ADMIN, "3.0.0", "Makes commands of clients wait.", manage::pause).no_rollback(),
    sub("reply", 3, NONE, "3.2.0", "Switches replies on or off.", manage::reply),
    sub("setinfo", 4, NONE, "7.2.0", "Sets the library's name or version.", set_info),
    sub("setname", 3, NONE, "2.6.9", "Names the connection.", set_name),
    sub("unblock", -3, ADMIN, "5.0.0", "Ends another connection's blocking command.", manage::unblock).no_rollback(),
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

fn get_redir(cx: &mut Cx<'_>) -> Res {
    cx.reply.int(-1);
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
