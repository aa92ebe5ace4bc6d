//! XGROUP: creates, changes and removes consumer groups and consumers.
//!
//! ```transcript
//! > XGROUP CREATE s g $
//! (error) ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.
//! > XGROUP CREATE s g $ MKSTREAM
//! OK
//! > XGROUP CREATE s g 0
//! (error) BUSYGROUP Consumer Group name already exists
//! > XADD s 1-1 a 1
//! "1-1"
//! > XGROUP CREATECONSUMER s g ann
//! (integer) 1
//! > XGROUP CREATECONSUMER s g ann
//! (integer) 0
//! > XREADGROUP GROUP g ann STREAMS s >
//! 1) 1) "s"
//!    2) 1) 1) "1-1"
//!          2) 1) "a"
//!             2) "1"
//! # resp3
//! 1# "s" => 1) 1) "1-1"
//!       2) 1) "a"
//!          2) "1"
//! > XGROUP SETID s g 0 ENTRIESREAD 0
//! OK
//! > XGROUP SETID s nogroup 0
//! (error) NOGROUP No such consumer group 'nogroup' for key name 's'
//! > XGROUP DELCONSUMER s g ann
//! (integer) 1
//! > XGROUP DESTROY s g
//! (integer) 1
//! > XGROUP DESTROY s g
//! (integer) 0
//! > XGROUP CREATE s g 0 NOSUCH
//! (error) ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP.
//! ```

use crate::commands::stream_util::{any_id_arg, id_arg, no_group, subcommand_syntax};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::keyspace::WriteGuard;
use crate::notify::Event;
use crate::spec::{Flags, Group, Handler, KEY_DELETE, KEY_INSERT, KEY_UPDATE, KeySpec, Spec};
use crate::types::{self, Stream};
use totality_ds::StreamId;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("xgroup", -2, Group::Stream, Flags::empty(), crate::commands::container)
        .doc("5.0.0", "Depends on the subcommand", "Creates, changes and removes consumer groups.")
        .subs(SUBS);

const GROWS: Flags = Flags::WRITE.union(Flags::DENYOOM);

const fn sub(
    name: &'static str,
    arity: i32,
    flags: Flags,
    keys: &'static [KeySpec],
    summary: &'static str,
    run: Handler,
) -> Spec {
    Spec::new(name, arity, Group::Stream, flags, run).keys(keys).doc("5.0.0", "O(1)", summary)
}

const SUBS: &[Spec] = &[
    sub("create", -5, GROWS, &[KeySpec::one(2, KEY_INSERT)], "Creates a consumer group.", create).args("key:k@0 group:s id-selector:o(id:s new-id:t'$') mkstream:t'MKSTREAM'? entriesread/entries-read:i'ENTRIESREAD'?"),
    sub(
        "createconsumer",
        5,
        GROWS,
        &[KeySpec::one(2, KEY_INSERT)],
        "Creates a consumer in a group.",
        create_consumer,
    ).args("key:k@0 group:s consumer:s")
    .doc("6.2.0", "O(1)", "Creates a consumer in a group."),
    sub(
        "delconsumer",
        5,
        Flags::WRITE,
        &[KeySpec::one(2, KEY_DELETE)],
        "Removes a consumer of a group, and its pending entries.",
        delete_consumer,
    ).args("key:k@0 group:s consumer:s"),
    sub("destroy", 4, Flags::WRITE, &[KeySpec::one(2, KEY_DELETE)], "Removes a consumer group.", destroy).args("key:k@0 group:s")
        .doc("5.0.0", "O(N) for N pending entries", "Removes a consumer group."),
    crate::commands::help_row(Group::Stream, "5.0.0"),
    sub(
        "setid",
        -5,
        Flags::WRITE,
        &[KeySpec::one(2, KEY_UPDATE)],
        "Sets the id that a group was given last.",
        set_id,
    ).args("key:k@0 group:s id-selector:o(id:s new-id:t'$') entriesread/entries-read:i'ENTRIESREAD'?"),
];

const NO_KEY: CmdError = CmdError::new(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.",
);

/// Options of CREATE and SETID.
#[derive(Default)]
struct Options {
    create: bool,
    entries_read: Option<u64>,
}

fn options(cx: &Cx<'_>, may_create: bool) -> Res<Options> {
    let mut options = Options::default();
    let mut i = 5;
    while i < cx.argc() {
        if may_create && cx.is(i, "MKSTREAM") {
            options.create = true;
            i += 1;
        } else if cx.is(i, "ENTRIESREAD") && i + 1 < cx.argc() {
            let n = cx.int(i + 1)?;
            if n < -1 {
                return Err(CmdError::new("ERR value for ENTRIESREAD must be positive or -1"));
            }
            options.entries_read = u64::try_from(n).ok();
            i += 2;
        } else {
            return Err(subcommand_syntax(cx));
        }
    }
    Ok(options)
}

fn create(cx: &mut Cx<'_>) -> Res {
    let options = options(cx, true)?;
    let id = id_arg(cx.args[4]);
    let too_many = cx.argc() > 8;
    let syntax = if too_many { Some(subcommand_syntax(cx)) } else { None };
    let (name, last) = (cx.args[3], cx.args[4] == b"$");
    let mut guard = cx.ks.write(cx.args[2]);
    let stream = guard.get::<Stream>()?;
    if stream.is_none() && !options.create {
        return Err(NO_KEY);
    }
    if let Some(error) = syntax {
        return Err(error);
    }
    let id = if last { stream.map_or(StreamId::MIN, |stream| stream.log().last_id) } else { id? };
    let is_new = !guard.exists();
    let stream = guard.get_or_create(Stream::new)?;
    if !stream.add_group(name, types::Group::new(id, options.entries_read)) {
        return Err(CmdError::new("BUSYGROUP Consumer Group name already exists"));
    }
    note(&mut guard, "xgroup-create", is_new);
    cx.reply.ok();
    Ok(())
}

/// A change of groups is no change of the key for those who watch it, but a new key is.
fn note(guard: &mut WriteGuard<'_>, event: &'static str, new_key: bool) {
    if new_key {
        guard.changed(Event::stream(event), 1);
    } else {
        guard.changed_quietly(1);
        guard.event(Event::stream(event));
    }
}

/// The stream, which must have the group.
fn with_group<'g>(guard: &'g mut WriteGuard<'_>, name: &[u8]) -> Res<&'g mut Stream> {
    let key = guard.key();
    let stream = guard.get::<Stream>()?.ok_or(NO_KEY)?;
    if stream.group(name).is_none() {
        return Err(no_group(key, name));
    }
    Ok(stream)
}

fn set_id(cx: &mut Cx<'_>) -> Res {
    let options = options(cx, false)?;
    let syntax = if cx.argc() > 7 { Some(subcommand_syntax(cx)) } else { None };
    let name = cx.args[3];
    let mut guard = cx.ks.write(cx.args[2]);
    let stream = with_group(&mut guard, name)?;
    if let Some(error) = syntax {
        return Err(error);
    }
    let id = match cx.args[4] {
        b"$" => stream.log().last_id,
        id => any_id_arg(id, 0)?,
    };
    stream.with_group(name, |group, _| (group.last_id, group.entries_read) = (id, options.entries_read));
    note(&mut guard, "xgroup-setid", false);
    cx.reply.ok();
    Ok(())
}

fn destroy(cx: &mut Cx<'_>) -> Res {
    let mut guard = cx.ks.write(cx.args[2]);
    let removed = guard.get::<Stream>()?.ok_or(NO_KEY)?.remove_group(cx.args[3]);
    if removed {
        note(&mut guard, "xgroup-destroy", false);
        // Those who wait in XREADGROUP hear that their group is gone.
        guard.signal();
    }
    cx.reply.int(i64::from(removed));
    Ok(())
}

fn create_consumer(cx: &mut Cx<'_>) -> Res {
    let (name, consumer, now) = (cx.args[3], cx.args[4], cx.ks.now);
    let mut guard = cx.ks.write(cx.args[2]);
    let stream = with_group(&mut guard, name)?;
    let created = stream.with_group(name, |group, _| group.ensure_consumer(consumer, now).1) == Some(true);
    if created {
        note(&mut guard, "xgroup-createconsumer", false);
    }
    cx.reply.int(i64::from(created));
    Ok(())
}

fn delete_consumer(cx: &mut Cx<'_>) -> Res {
    let (name, consumer) = (cx.args[3], cx.args[4]);
    let mut guard = cx.ks.write(cx.args[2]);
    let stream = with_group(&mut guard, name)?;
    let pending = stream.with_group(name, |group, _| group.delete_consumer(consumer)).flatten();
    if pending.is_some() {
        note(&mut guard, "xgroup-delconsumer", false);
    }
    cx.reply.len(pending.unwrap_or(0));
    Ok(())
}
