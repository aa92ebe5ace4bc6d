//! FUNCTION: libraries of functions.
//!
//! ```transcript
//! > FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function() return 1 end)"
//! "lib"
//! > FUNCTION LOAD "#!lua name=lib\nredis.register_function('f', function() return 1 end)"
//! (error) ERR Library 'lib' already exists
//! > FUNCTION DELETE lib
//! OK
//! > FUNCTION DELETE lib
//! (error) ERR Library not found
//! > FUNCTION RESTORE "" ONCE
//! (error) ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.
//! > FUNCTION RESTORE ""
//! (error) ERR DUMP payload version or checksum are wrong
//! ```

use super::script::{flush_mode, stop};
use crate::cx::Cx;
use crate::dump::{Join, restore_functions};
use crate::error::{CmdError, Res};
use crate::script::load_library;
use crate::spec::{Flags, Group, Handler, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("function", -2, Group::Scripting, Flags::empty(), crate::commands::container)
    .doc("7.0.0", "Depends on the subcommand", "Libraries of functions.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, flags: Flags, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Scripting, Flags::NOSCRIPT.union(flags), run).doc("7.0.0", "O(N)", summary)
}

const SUBS: &[Spec] = &[
    sub("delete", 3, Flags::WRITE, "Deletes a library.", delete).args("library-name:s").tips(&["request_policy:all_shards", "response_policy:all_succeeded"]).no_rollback(),
    sub("dump", 2, Flags::empty(), "The libraries as bytes, for FUNCTION RESTORE.", dump),
    sub("flush", -2, Flags::WRITE, "Deletes all libraries.", flush).args("flush-type:o?(async:t'ASYNC' sync:t'SYNC')").tips(&["request_policy:all_shards", "response_policy:all_succeeded"]).no_rollback(),
    crate::commands::help_row(Group::Scripting, "7.0.0"),
    sub("kill", 2, Flags::ALLOW_BUSY, "Stops the function that runs, if it wrote nothing.", |cx| stop(cx, true)).tips(&["request_policy:all_shards", "response_policy:one_succeeded"]),
    sub("list", -2, Flags::empty(), "The libraries and their functions.", list).args("library-name-pattern:s'LIBRARYNAME'? withcode:t'WITHCODE'?").tips(&["nondeterministic_output_order"]),
    sub("load", -3, Flags::WRITE.union(Flags::DENYOOM), "Loads a library.", load).args("replace:t'REPLACE'? function-code:s").tips(&["request_policy:all_shards", "response_policy:all_succeeded"]).no_rollback(),
    sub("restore", -3, Flags::WRITE.union(Flags::DENYOOM), "Loads the libraries of FUNCTION DUMP.", restore).args("serialized-value:s policy:o?(flush:t'FLUSH' append:t'APPEND' replace:t'REPLACE')").tips(&["request_policy:all_shards", "response_policy:all_succeeded"]).no_rollback(),
    sub("stats", 2, Flags::ALLOW_BUSY, "What runs, and how much is loaded.", stats).tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"]),
];

fn load(cx: &mut Cx<'_>) -> Res {
    let mut replace = false;
    let mut i = 2;
    while i + 1 < cx.argc() {
        if !cx.is(i, "REPLACE") {
            return Err(CmdError::owned([b"ERR Unknown option given: ", cx.args[i]].concat()));
        }
        replace = true;
        i += 1;
    }
    if i >= cx.argc() {
        return Err(CmdError::new("ERR Function code is missing"));
    }
    let name = load_library(cx, cx.args[i], replace)?;
    cx.ks.dirty += 1;
    cx.reply.bulk(&name);
    Ok(())
}

fn stats(cx: &mut Cx<'_>) -> Res {
    if let Some(run) = cx.sv.running.as_ref().filter(|run| !run.function) {
        return Err(run.busy());
    }
    let now = cx.sv.clock.now_us();
    cx.reply.map(2);
    cx.reply.bulk(b"running_script");
    match &cx.sv.running {
        None => cx.reply.null(),
        Some(run) => {
            cx.reply.map(3);
            cx.reply.bulk(b"name");
            cx.reply.bulk(run.name().as_bytes());
            cx.reply.bulk(b"command");
            cx.reply.array(run.argv().len());
            run.argv().iter().for_each(|arg| cx.reply.bulk(arg));
            cx.reply.bulk(b"duration_ms");
            cx.reply.int((now.saturating_sub(run.since_us) / 1000) as i64);
        }
    }
    cx.reply.bulk(b"engines");
    cx.reply.map(1);
    cx.reply.bulk(b"LUA");
    cx.reply.map(2);
    cx.reply.bulk(b"libraries_count");
    cx.reply.len(cx.sv.scripts.libraries());
    cx.reply.bulk(b"functions_count");
    cx.reply.len(cx.sv.scripts.functions());
    Ok(())
}

fn delete(cx: &mut Cx<'_>) -> Res {
    if !cx.sv.scripts.libraries.delete(cx.args[2]) {
        return Err(CmdError::new("ERR Library not found"));
    }
    cx.ks.dirty += 1;
    cx.reply.ok();
    Ok(())
}

fn flush(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 3 {
        return Err(crate::commands::syntax_of_subcommand(cx.args));
    }
    flush_mode(cx, CmdError::new("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"))?;
    cx.sv.scripts.libraries.flush();
    cx.ks.dirty += 1;
    cx.reply.ok();
    Ok(())
}

fn dump(cx: &mut Cx<'_>) -> Res {
    let config = &cx.sv.config;
    let (version, compress) = (config.rdb_version_compat as u16, config.rdbcompression);
    let payload = crate::dump::dump_functions(&cx.sv.scripts.libraries, version, compress);
    cx.reply.bulk(&payload);
    Ok(())
}

fn restore(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 4 {
        return Err(crate::commands::syntax_of_subcommand(cx.args));
    }
    let join = match cx.args.get(3) {
        None => Join::Append,
        Some(_) if cx.is(3, "APPEND") => Join::Append,
        Some(_) if cx.is(3, "REPLACE") => Join::Replace,
        Some(_) if cx.is(3, "FLUSH") => Join::Flush,
        Some(_) => {
            return Err(CmdError::new(
                "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
            ));
        }
    };
    restore_functions(cx, cx.args[2], join)?;
    cx.ks.dirty += 1;
    cx.reply.ok();
    Ok(())
}

fn list(cx: &mut Cx<'_>) -> Res {
    let (mut with_code, mut pattern) = (false, None);
    let mut i = 2;
    while i < cx.argc() {
        if !with_code && cx.is(i, "WITHCODE") {
            with_code = true;
        } else if pattern.is_none() && cx.is(i, "LIBRARYNAME") {
            i += 1;
            let name = cx.args.get(i).ok_or(CmdError::new("ERR library name argument was not given"))?;
            pattern = Some(*name);
        } else {
            return Err(CmdError::owned([b"ERR Unknown argument ", cx.args[i]].concat()));
        }
        i += 1;
    }
    let shown: Vec<_> = cx
        .sv
        .scripts
        .libraries
        .iter()
        .filter(|lib| pattern.is_none_or(|p| totality_ds::glob::matches(p, &lib.name, true)))
        .collect();
    let reply = &mut cx.reply;
    reply.array(shown.len());
    for library in shown {
        reply.map(if with_code { 4 } else { 3 });
        reply.bulk(b"library_name");
        reply.bulk(&library.name);
        reply.bulk(b"engine");
        reply.bulk(b"LUA");
        reply.bulk(b"functions");
        reply.array(library.functions.len());
        for function in &library.functions {
            reply.map(3);
            reply.bulk(b"name");
            reply.bulk(&function.name);
            reply.bulk(b"description");
            match &function.description {
                Some(text) => reply.bulk(text),
                None => reply.null(),
            }
            reply.bulk(b"flags");
            reply.set(function.flags.names().count());
            function.flags.names().for_each(|flag| reply.simple(flag));
        }
        if with_code {
            reply.bulk(b"library_code");
            reply.bulk(&library.code);
        }
    }
    Ok(())
}
