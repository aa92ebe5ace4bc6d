//! The `redis` table beside `call` and `pcall`, and the sandbox that holds it.

use super::cache::hex;
use super::header::{ScriptFlags, valid_name};
use super::host::{Argv, Registered, Scratch, ScriptHost, arguments, fail};
use crate::propagate::Targets;
use crate::reply::Proto;
use crate::state::LogLevel;
use sha1::{Digest, Sha1};
use totality_lua::host::Reply as LuaReply;
use totality_lua::{Args, Flow, HostFn, SandboxBuilder, Tick, ValueRef};

/// `redis.call`
pub const CALL: HostFn = 0;
/// `redis.pcall`
pub const PCALL: HostFn = 1;
const ERROR_REPLY: HostFn = 2;
const STATUS_REPLY: HostFn = 3;
const SHA1HEX: HostFn = 4;
const LOG: HostFn = 5;
const SETRESP: HostFn = 6;
const SET_REPL: HostFn = 7;
const REPLICATE_COMMANDS: HostFn = 8;
const ACL_CHECK_CMD: HostFn = 9;
const BREAKPOINT: HostFn = 10;
const DEBUG: HostFn = 11;
const REGISTER_FUNCTION: HostFn = 12;

const LEVELS: [(&str, LogLevel); 4] = [
    ("LOG_DEBUG", LogLevel::Debug),
    ("LOG_VERBOSE", LogLevel::Verbose),
    ("LOG_NOTICE", LogLevel::Notice),
    ("LOG_WARNING", LogLevel::Warning),
];

/// Bits of `redis.set_repl`.
const REPL_AOF: i32 = 1;
const REPL_REPLICA: i32 = 2;

/// What EVAL and libraries share.
const NAMES: [(&str, HostFn); 9] = [
    ("call", CALL),
    ("pcall", PCALL),
    ("error_reply", ERROR_REPLY),
    ("status_reply", STATUS_REPLY),
    ("sha1hex", SHA1HEX),
    ("log", LOG),
    ("setresp", SETRESP),
    ("set_repl", SET_REPL),
    ("acl_check_cmd", ACL_CHECK_CMD),
];

const TABLE: &str = "redis";

/// The sandbox of EVAL (`library` false) or of a Functions library.
pub fn sandbox(library: bool) -> SandboxBuilder {
    let mut sandbox = SandboxBuilder::new();
    for (name, id) in NAMES {
        sandbox = sandbox.function(TABLE, name, id);
    }
    if library {
        // While it loads, a library finds little more than what registers its functions.
        let loading = SandboxBuilder::new()
            .function(TABLE, "register_function", REGISTER_FUNCTION)
            .function(TABLE, "log", LOG);
        sandbox = sandbox.without_inputs().while_loading(constants(loading).alias("server", TABLE));
    } else {
        for (name, id) in
            [("replicate_commands", REPLICATE_COMMANDS), ("breakpoint", BREAKPOINT), ("debug", DEBUG)]
        {
            sandbox = sandbox.function(TABLE, name, id);
        }
    }
    constants(sandbox)
        .savepoint(TABLE, "savepoint")
        .number(TABLE, "REPL_NONE", 0.0)
        .number(TABLE, "REPL_AOF", f64::from(REPL_AOF))
        .number(TABLE, "REPL_SLAVE", f64::from(REPL_REPLICA))
        .number(TABLE, "REPL_REPLICA", f64::from(REPL_REPLICA))
        .number(TABLE, "REPL_ALL", f64::from(REPL_AOF | REPL_REPLICA))
        .alias("server", TABLE)
}

/// What a library may read while it loads, too.
fn constants(mut sandbox: SandboxBuilder) -> SandboxBuilder {
    for (i, (level, _)) in LEVELS.iter().enumerate() {
        sandbox = sandbox.number(TABLE, level, i as f64);
    }
    sandbox.string(TABLE, "REDIS_VERSION", crate::REDIS_VERSION.as_bytes()).number(
        TABLE,
        "REDIS_VERSION_NUM",
        f64::from(version_number()),
    )
}

/// `0x00MMmmpp` of the version that clients are told.
fn version_number() -> u32 {
    crate::REDIS_VERSION.split('.').fold(0, |n, part| (n << 8) | part.parse::<u32>().unwrap_or(0))
}

/// Everything but `call` and `pcall`.
pub(super) fn call(host: &mut ScriptHost<'_>, id: HostFn, args: Args<'_>, reply: &mut LuaReply) -> Flow {
    match id {
        ERROR_REPLY => error_reply(args, reply),
        STATUS_REPLY => status_reply(args, reply),
        SHA1HEX => sha1hex(host, args, reply),
        LOG => log(host, args, reply),
        SETRESP => setresp(host, args, reply),
        SET_REPL => set_repl(host, args, reply),
        ACL_CHECK_CMD => acl_check_cmd(host, args, reply),
        REGISTER_FUNCTION => register_function(host, args, reply),
        REPLICATE_COMMANDS => {
            reply.bool(true);
            Flow::Return
        }
        BREAKPOINT => {
            let stops = host.run.debugger.as_mut().is_some_and(|debugger| debugger.breakpoint());
            reply.bool(stops);
            Flow::Return
        }
        DEBUG => {
            if let Some(debugger) = &mut host.run.debugger {
                debugger.show_arguments(args);
            }
            Flow::Return
        }
        _ => Flow::Return,
    }
}

const WRONG_ARGUMENTS: &str = "ERR wrong number or type of arguments";

/// `redis.error_reply`: a table with the field `err`. A single word gets the code `ERR`, a leading `-` goes.
fn error_reply(args: Args<'_>, reply: &mut LuaReply) -> Flow {
    let (1, Some(ValueRef::Str(text))) = (args.len(), args.get(0)) else {
        return fail(reply, WRONG_ARGUMENTS, false);
    };
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let text = text.split(|b| *b == 0).next().unwrap_or(b"");
    let trimmed = |s: &[u8]| -> Vec<u8> {
        let start = s.iter().position(|b| !matches!(b, b'\r' | b'\n')).unwrap_or(s.len());
        let end = s.iter().rposition(|b| !matches!(b, b'\r' | b'\n')).map_or(start, |at| at + 1);
        s[start..end].to_vec()
    };
    let (code, message) = match text.iter().position(|b| *b == b' ') {
        Some(at) => (&text[..at], trimmed(&text[at + 1..])),
        None => (&b"ERR"[..], trimmed(text)),
    };
    reply.table(0, 1);
    reply.key(b"err");
    reply.str(&[code, b" ", &message].concat());
    reply.end();
    Flow::Return
}

fn status_reply(args: Args<'_>, reply: &mut LuaReply) -> Flow {
    let (1, Some(ValueRef::Str(text))) = (args.len(), args.get(0)) else {
        return fail(reply, WRONG_ARGUMENTS, false);
    };
    reply.table(0, 1);
    reply.key(b"ok");
    reply.str(text);
    reply.end();
    Flow::Return
}

/// Bytes summed up between two looks at the interrupt word.
const SHA_PIECE: usize = 256 << 10;

fn sha1hex(host: &mut ScriptHost<'_>, args: Args<'_>, reply: &mut LuaReply) -> Flow {
    if args.len() != 1 {
        return fail(reply, "ERR wrong number of arguments", true);
    }
    let mut text = Vec::new();
    let bytes = match args.get(0) {
        Some(ValueRef::Str(s)) => s,
        Some(ValueRef::Number(n)) => {
            totality_lua::numfmt::number_to_string(n, &mut text);
            &text
        }
        _ => b"",
    };
    let mut sum = Sha1::new();
    let word = host.sv.scripts.interrupt();
    for piece in bytes.chunks(SHA_PIECE) {
        sum.update(piece);
        if word.obey(host) == Tick::Stop {
            return Flow::Stop;
        }
    }
    reply.str(&hex(&sum.finalize().into()));
    Flow::Return
}

fn log(host: &mut ScriptHost<'_>, args: Args<'_>, reply: &mut LuaReply) -> Flow {
    if args.len() < 2 {
        return fail(reply, "ERR server.log() requires two arguments or more.", true);
    }
    let Some(level) = args.get(0).and_then(number) else {
        return fail(reply, "ERR First argument must be a number (log level).", true);
    };
    let Some((_, level)) = LEVELS.get(level as i64 as usize).filter(|_| level > -1.0) else {
        return fail(reply, "ERR Invalid log level.", true);
    };
    if (*level as usize) < host.sv.config.loglevel {
        return Flow::Return;
    }
    let mut text = Vec::new();
    for i in 1..args.len() {
        match args.get(i) {
            Some(ValueRef::Str(s)) => {
                separate(&mut text, i);
                text.extend_from_slice(s);
            }
            Some(ValueRef::Number(n)) => {
                separate(&mut text, i);
                totality_lua::numfmt::number_to_string(n, &mut text);
            }
            _ => {}
        }
    }
    host.sv.log(*level, text);
    Flow::Return
}

fn separate(text: &mut Vec<u8>, i: usize) {
    if i > 1 {
        text.push(b' ');
    }
}

/// A number, or a string that reads as one, as Lua's own conversion takes it.
fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Number(n) => Some(n),
        ValueRef::Str(s) => totality_lua::numparse::str_to_number(s),
        _ => None,
    }
}

fn setresp(host: &mut ScriptHost<'_>, args: Args<'_>, reply: &mut LuaReply) -> Flow {
    if args.len() != 1 {
        return fail(reply, "ERR server.setresp() requires one argument.", true);
    }
    host.run.proto = match args.get(0).and_then(number).unwrap_or(0.0) as i64 {
        2 => Proto::Resp2,
        3 => Proto::Resp3,
        _ => return fail(reply, "ERR RESP version must be 2 or 3.", true),
    };
    Flow::Return
}

fn set_repl(host: &mut ScriptHost<'_>, args: Args<'_>, reply: &mut LuaReply) -> Flow {
    if args.len() != 1 {
        return fail(reply, "ERR server.set_repl() requires one argument.", true);
    }
    let flags = args.get(0).and_then(number).unwrap_or(0.0) as i64;
    if flags & !i64::from(REPL_AOF | REPL_REPLICA) != 0 {
        let text = "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.";
        return fail(reply, text, true);
    }
    let has = |flag: i32| flags & i64::from(flag) != 0;
    host.ks.effects.set_targets(Targets { log: has(REPL_AOF), replicas: has(REPL_REPLICA) });
    Flow::Return
}

/// May the caller's user run this command?
fn acl_check_cmd(host: &mut ScriptHost<'_>, args: Args<'_>, reply: &mut LuaReply) -> Flow {
    let mut scratch = Scratch::new();
    let mut argv = Argv::new();
    if let Err(text) = arguments(args, &mut scratch, &mut argv) {
        return fail(reply, text, true);
    }
    let Ok(command) = crate::commands::resolve_any_arity(&argv) else {
        return fail(reply, "ERR Invalid command passed to server.acl_check_cmd()", true);
    };
    let around = crate::acl::Around::of(host.sv, host.ks.cur);
    let user = host.sv.clients.get(host.client).map(|client| &client.user);
    reply.bool(user.is_some_and(|user| crate::acl::check(user, command, &argv, around).is_ok()));
    Flow::Return
}

/// `redis.register_function(name, callback)` or `redis.register_function{function_name=…, callback=…, …}`.
fn register_function(host: &mut ScriptHost<'_>, args: Args<'_>, reply: &mut LuaReply) -> Flow {
    if !matches!(args.len(), 1 | 2) {
        return fail(reply, "ERR wrong number of arguments to server.register_function", true);
    }
    let Some(code) = host.run.loading else {
        // A library kept the function from when it was loaded.
        let text = "ERR server.register_function can only be called on FUNCTION LOAD command";
        return fail(reply, text, true);
    };
    let function = if args.len() == 1 { named(args) } else { positional(args) };
    let mut function = match function {
        Ok(function) => function,
        Err(text) => return fail(reply, &format!("ERR {text}"), true),
    };
    let line = args.position().map_or(0, |(_, line)| line);
    function.line = line;
    match super::rollback::tags_above(code, line) {
        Ok(tags) => {
            function.flags |= tags.flags;
            function.deadline_ms = tags.deadline_ms;
        }
        Err(text) => return fail(reply, &format!("ERR user_function:{text}"), true),
    }
    if !valid_name(&function.name) {
        let text = "ERR Function names can only contain letters, numbers, or underscores(_) and must be at least one character long";
        return fail(reply, text, true);
    }
    if host.run.registered.iter().any(|f| f.name == function.name) {
        return fail(reply, "ERR Function already exists in the library", true);
    }
    host.run.registered.push(function);
    Flow::Return
}

fn text_of(value: Option<ValueRef<'_>>) -> Option<Vec<u8>> {
    match value? {
        ValueRef::Str(s) => Some(s.to_vec()),
        ValueRef::Number(n) => {
            let mut text = Vec::new();
            totality_lua::numfmt::number_to_string(n, &mut text);
            Some(text)
        }
        _ => None,
    }
}

fn positional(args: Args<'_>) -> Result<Registered, &'static str> {
    let name = text_of(args.get(0)).ok_or("first argument to server.register_function must be a string")?;
    let Some(ValueRef::Function(callback)) = args.get(1) else {
        return Err("second argument to server.register_function must be a function");
    };
    Ok(Registered { name, callback, description: None, flags: ScriptFlags::empty(), deadline_ms: 0, line: 0 })
}

fn named(args: Args<'_>) -> Result<Registered, &'static str> {
    let Some(ValueRef::Table(table)) = args.get(0) else {
        return Err(
            "calling server.register_function with a single argument is only applicable to Lua table (representing named arguments).",
        );
    };
    let (mut name, mut callback, mut description, mut flags) = (None, None, None, ScriptFlags::empty());
    let mut cursor = 0;
    while let Some((next, key, value)) = table.next(cursor) {
        cursor = next;
        let Some(key) = text_of(Some(key)) else {
            return Err("named argument key given to server.register_function is not a string");
        };
        match key.to_ascii_lowercase().as_slice() {
            b"function_name" => {
                let text = text_of(Some(value));
                name = Some(
                    text.ok_or("function_name argument given to server.register_function must be a string")?,
                );
            }
            b"description" => {
                let text = text_of(Some(value));
                description = Some(
                    text.ok_or("description argument given to server.register_function must be a string")?,
                );
            }
            b"callback" => match value {
                ValueRef::Function(f) => callback = Some(f),
                _ => return Err("callback argument given to server.register_function must be a function"),
            },
            b"flags" => {
                let ValueRef::Table(list) = value else {
                    return Err(
                        "flags argument to server.register_function must be a table representing function flags",
                    );
                };
                for i in 1.. {
                    match list.index(i) {
                        ValueRef::Nil => break,
                        ValueRef::Str(word) => {
                            flags |= ScriptFlags::of_function(word).ok_or("unknown flag given")?;
                        }
                        _ => return Err("unknown flag given"),
                    }
                }
            }
            _ => return Err("unknown argument given to server.register_function"),
        }
    }
    let name = name.ok_or("server.register_function must get a function name argument")?;
    let callback = callback.ok_or("server.register_function must get a callback argument")?;
    Ok(Registered { name, callback, description, flags, deadline_ms: 0, line: 0 })
}
