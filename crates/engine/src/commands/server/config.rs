//! CONFIG: reads and changes the parameters.
//!
//! ```transcript
//! > CONFIG SET slowlog-max-len 100
//! OK
//! > CONFIG GET slowlog-max-len
//! 1) "slowlog-max-len"
//! 2) "100"
//! > CONFIG SET slowlog-max-len 128
//! OK
//! > CONFIG GET nosuchparameter
//! (empty array)
//! ```

use crate::config::{Config, Param, params};
use crate::cx::Cx;
use crate::engine::Outgoing;
use crate::error::{CmdError, Res, SYNTAX};
use crate::loading::LOADING;
use crate::spec::{Flags, Group, Handler, Spec};
use crate::state::LogLevel;
use crate::stats::Log;
use crate::util::until_nul;
use std::borrow::Cow;
use std::collections::BTreeMap;

const FLAGS: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE);

/// The table's row.
pub const SPEC: Spec = Spec::new("config", -2, Group::Server, Flags::empty(), crate::commands::container)
    .doc("2.0.0", "Depends on the subcommand", "Reads and changes the parameters.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Server, FLAGS, run).doc("2.0.0", "O(N) for N parameters", summary)
}

const SUBS: &[Spec] = &[
    sub("get", -3, "Values of the parameters that match.", get).args("parameter:s*"),
    crate::commands::help_row(Group::Server, "5.0.0"),
    sub("resetstat", 2, "Sets the statistics back.", reset_stat).tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]).no_rollback(),
    sub("rewrite", 2, "Writes the parameters to the configuration file.", rewrite).since("2.8.0").tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]).no_rollback(),
    sub("set", -4, "Changes parameters, all or none.", set).args("data:b*(parameter:s value:s)").tips(&["request_policy:all_nodes", "response_policy:all_succeeded"]).no_rollback(),
];

fn get(cx: &mut Cx<'_>) -> Res {
    // Accessors need a copy that may be changed; one does for all.
    let mut config = cx.sv.config.clone();
    let mut shown: BTreeMap<Cow<'static, [u8]>, String> = BTreeMap::new();
    for pattern in &cx.args[2..] {
        if !pattern.iter().any(|b| matches!(b, b'[' | b'*' | b'?')) {
            if let Some(param) = Config::param(pattern) {
                shown.entry(pattern.to_vec().into()).or_insert_with(|| param.show(&mut config));
            }
            continue;
        }
        for param in params().filter(|param| !param.hidden) {
            for name in std::iter::once(&param.name).chain(param.aliases) {
                if totality_ds::glob::matches(pattern, name.as_bytes(), true) {
                    shown.entry(name.as_bytes().into()).or_insert_with(|| param.show(&mut config));
                }
            }
        }
    }
    cx.reply.map(shown.len());
    for (name, value) in shown {
        cx.reply.bulk(&name);
        cx.reply.bulk(value.as_bytes());
    }
    Ok(())
}

/// The parameters that CONFIG SET names, each once and each one that may be set.
fn named(cx: &Cx<'_>) -> Res<Vec<&'static Param>> {
    let mut found: Vec<&'static Param> = Vec::new();
    for name in cx.args[2..].iter().step_by(2) {
        let Some(param) = Config::param(name) else {
            return Err(CmdError::owned(
                [b"ERR Unknown option or number of arguments for CONFIG SET - '", until_nul(name), b"'"].concat(),
            ));
        };
        if !param.mutable {
            return Err(failed(name, "can't set immutable config"));
        }
        if param.protected && !is_allowed(cx, cx.sv.config.enable_protected_configs) {
            return Err(failed(name, "can't set protected config"));
        }
        // A parameter may be named by its old and by its new name at once, as in Redis: the last value counts.
        let before = cx.args[2..].iter().step_by(2).take(found.len());
        if before.into_iter().any(|earlier| earlier.eq_ignore_ascii_case(name)) {
            return Err(failed(name, "duplicate parameter"));
        }
        found.push(param);
    }
    Ok(found)
}

/// What `enable-…` parameters say: no, yes, or only to connections from this machine.
fn is_allowed(cx: &Cx<'_>, choice: usize) -> bool {
    match choice {
        0 => false,
        1 => true,
        _ => cx.sv.client(cx.client).is_some_and(|client| client.conn.is_local()),
    }
}

/// What a data set that is being loaded goes by.
const FIXED_WHILE_LOADING: [&str; 3] = ["dir", "appendonly", "repl-diskless-load"];

fn set(cx: &mut Cx<'_>) -> Res {
    if !cx.argc().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    let changed = named(cx)?;
    if cx.sv.persist.loading.is_some() && changed.iter().any(|param| FIXED_WHILE_LOADING.contains(&param.name)) {
        return Err(LOADING);
    }
    let mut next: Config = cx.sv.config.clone();
    for (param, pair) in changed.iter().zip(cx.args[2..].chunks(2)) {
        param.set(&mut next, &pair[1..]).map_err(|text| failed(&pair[0].to_ascii_lowercase(), &text))?;
    }
    for (i, param) in changed.iter().enumerate() {
        if let Err(text) = cx.ticker.configure(param.name, &next) {
            // All or nothing: what was changed before it goes back.
            for done in changed[..i].iter().rev() {
                if let Err(text) = cx.ticker.configure(done.name, &cx.sv.config) {
                    cx.sv.log(LogLevel::Warning, format!("{} cannot be set back: {text}", done.name));
                }
            }
            return Err(failed(param.name.as_bytes(), &text));
        }
    }
    cx.sv.config = next;
    apply(cx);
    if changed.iter().any(|param| param.name == "requirepass") {
        let password = cx.sv.config.requirepass.clone();
        crate::acl::set_default_password(cx.sv, &password);
    }
    // What is too much now is evicted when the command is over.
    cx.sv.evicting |= changed.iter().any(|param| param.name == "maxmemory");
    for param in changed {
        cx.sv.outgoing.push_back(Outgoing::ConfigChanged { name: param.name });
    }
    cx.reply.ok();
    Ok(())
}

fn failed(name: &[u8], why: &str) -> CmdError {
    let mut text = b"ERR CONFIG SET failed (possibly related to argument '".to_vec();
    text.extend_from_slice(name);
    text.extend_from_slice(b"') - ");
    text.extend_from_slice(why.as_bytes());
    CmdError::owned(text)
}

/// Copies what the keyspace keeps of the configuration.
fn apply(cx: &mut Cx<'_>) {
    cx.ks.configure(&cx.sv.config);
    // A limit that was lowered is kept without a command that asks for memory.
    cx.sv.evicting = cx.sv.config.maxmemory > 0;
    for (_, log) in Log::ALL {
        cx.sv.stats.logs[log as usize].entries.truncate(log.max_len(&cx.sv.config));
    }
}

fn reset_stat(cx: &mut Cx<'_>) -> Res {
    cx.sv.stats.reset();
    cx.sv.acl.denied = Default::default();
    cx.ks.stats = Default::default();
    cx.sv.cluster.usage.reset();
    cx.sv.lazy_free.freed.store(0, std::sync::atomic::Ordering::Relaxed);
    cx.reply.ok();
    Ok(())
}

fn rewrite(cx: &mut Cx<'_>) -> Res {
    let config = Config { users: crate::acl::declarations(cx.sv), ..cx.sv.config.clone() };
    cx.ticker.rewrite(&config).map_err(|text| CmdError::owned(format!("ERR {text}")))?;
    cx.reply.ok();
    Ok(())
}
