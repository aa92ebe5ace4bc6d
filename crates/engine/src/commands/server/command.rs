//! COMMAND: the table of commands, as clients read it.
//!
//! ```transcript
//! > COMMAND GETKEYS MSET a 1 b 2
//! 1) "a"
//! 2) "b"
//! > COMMAND INFO nosuchcommand
//! 1) (nil)
//! # since 7.2
//! > COMMAND GETKEYS PING
//! (error) ERR The command has no key arguments
//! > COMMAND GETKEYS SPUBLISH channel message
//! (error) ERR The command has no key arguments
//! ```

use crate::args::{self, Arg};
use crate::commands::{self, Command, TABLE};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::keys;
use crate::reply::Reply;
use crate::spec::{Begin, Cat, Find, Flags, Group, Handler, KeyFlags, KeySpec, Spec};

const FLAGS: Flags = Flags::LOADING.union(Flags::STALE);

/// The table's row. Without a subcommand it answers with all commands.
pub const SPEC: Spec = Spec::new("command", -1, Group::Server, FLAGS, all)
    .cats(Cat::CONNECTION)
    .tips(&["nondeterministic_output_order"])
    .doc("2.8.13", "O(N) for N commands", "The table of commands.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Server, FLAGS, run)
        .cats(Cat::CONNECTION)
        .doc(since, "O(N) for N commands", summary)
}

const SUBS: &[Spec] = &[
    sub("count", 2, "2.8.13", "Number of commands.", count),
    sub("docs", -2, "7.0.0", "Documentation of commands.", docs).args("command-name:s?*").tips(&["nondeterministic_output_order"]),
    sub("getkeys", -3, "2.8.13", "The keys among a command's arguments.", |cx| get_keys(cx, false)).args("command:s arg:s?*"),
    sub("getkeysandflags", -3, "7.0.0", "The keys of a command, with what is done to them.", |cx| get_keys(cx, true)).args("command:s arg:s?*"),
    crate::commands::help_row(Group::Server, "5.0.0").cats(Cat::CONNECTION),
    sub("info", -2, "2.8.13", "What the table says of commands.", info).args("command-name:s?*").tips(&["nondeterministic_output_order"]),
    sub("list", -2, "7.0.0", "Names of the commands.", list).args("filterby:o'FILTERBY'?(module-name:s'MODULE' category:s'ACLCAT' pattern:p'PATTERN')").tips(&["nondeterministic_output_order"]),
];

fn all(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(TABLE.len());
    for command in &commands::all()[..TABLE.len()] {
        describe(&mut cx.reply, command);
    }
    Ok(())
}

fn count(cx: &mut Cx<'_>) -> Res {
    cx.reply.len(TABLE.len());
    Ok(())
}

fn info(cx: &mut Cx<'_>) -> Res {
    if cx.argc() == 2 {
        return all(cx);
    }
    cx.reply.array(cx.argc() - 2);
    for name in &cx.args[2..] {
        match commands::by_full_name(name) {
            Some(command) => describe(&mut cx.reply, command),
            None => cx.reply.null(),
        }
    }
    Ok(())
}

const FLAG_NAMES: [(Flags, &str); 18] = [
    (Flags::WRITE, "write"),
    (Flags::READONLY, "readonly"),
    (Flags::DENYOOM, "denyoom"),
    (Flags::ADMIN, "admin"),
    (Flags::PUBSUB, "pubsub"),
    (Flags::NOSCRIPT, "noscript"),
    (Flags::BLOCKING, "blocking"),
    (Flags::LOADING, "loading"),
    (Flags::STALE, "stale"),
    (Flags::SKIP_MONITOR, "skip_monitor"),
    (Flags::SKIP_SLOWLOG, "skip_commandlog"),
    (Flags::FAST, "fast"),
    (Flags::NO_AUTH, "no_auth"),
    (Flags::NO_ASYNC_LOADING, "no_async_loading"),
    (Flags::NO_MANDATORY_KEYS, "no_mandatory_keys"),
    (Flags::NO_MULTI, "no_multi"),
    (Flags::MOVABLE_KEYS, "movablekeys"),
    (Flags::ALLOW_BUSY, "allow_busy"),
];

/// One entry of COMMAND: ten values.
fn describe(reply: &mut Reply<'_>, command: &Command) {
    let spec = command.spec;
    let (first, last, step) = legacy_range(spec);
    reply.array(10);
    reply.bulk(command.full_name.as_bytes());
    reply.int(i64::from(spec.arity));
    let has = if keys_move(spec) { spec.flags | Flags::MOVABLE_KEYS } else { spec.flags };
    let flags: Vec<&str> = FLAG_NAMES.iter().filter(|(f, _)| has.contains(*f)).map(|(_, n)| *n).collect();
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.simple(flag));
    reply.int(first);
    reply.int(last);
    reply.int(step);
    let cats = category_names(spec);
    reply.set(cats.len());
    cats.iter().for_each(|cat| reply.simple(&format!("@{cat}")));
    reply.set(spec.tips.len());
    spec.tips.iter().for_each(|tip| reply.bulk(tip.as_bytes()));
    reply.set(spec.keys.len());
    spec.keys.iter().for_each(|key| describe_key(reply, key));
    let subs = command.subcommands();
    reply.array(subs.len());
    subs.iter().for_each(|sub| describe(reply, sub));
}

/// True where first key, last key and step cannot say where all keys are.
fn keys_move(spec: &Spec) -> bool {
    let stays = |key: &KeySpec| matches!((key.begin, key.find), (Begin::Index(_), Find::Range { .. }));
    !spec.keys.iter().all(stays)
}

/// First key, last key and step as COMMAND had them before key specs.
fn legacy_range(spec: &Spec) -> (i64, i64, i64) {
    let Some(key) = spec.keys.first() else { return (0, 0, 0) };
    match (key.begin, key.find) {
        (Begin::Index(first), Find::Range { last, step, .. }) => {
            let first = i64::from(first);
            let last = if last >= 0 { first + i64::from(last) } else { i64::from(last) };
            // Several single keys in a row count as one range.
            let more = spec.keys[1..].iter().filter(|k| matches!((k.begin, k.find), (Begin::Index(_), Find::Range { .. })));
            let last = more.fold(last, |last, k| match (k.begin, k.find) {
                (Begin::Index(at), Find::Range { last: l, .. }) if last >= 0 && l >= 0 => last.max(i64::from(at + l)),
                (Begin::Index(_), Find::Range { last: l, .. }) if l < 0 => i64::from(l),
                _ => last,
            });
            (first, last, i64::from(step))
        }
        _ => (0, 0, 0),
    }
}

/// The ACL categories with their names, in the order in which they are shown.
pub(crate) const CAT_NAMES: [(Cat, &str); 21] = [
    (Cat::KEYSPACE, "keyspace"),
    (Cat::READ, "read"),
    (Cat::WRITE, "write"),
    (Cat::SET, "set"),
    (Cat::SORTEDSET, "sortedset"),
    (Cat::LIST, "list"),
    (Cat::HASH, "hash"),
    (Cat::STRING, "string"),
    (Cat::BITMAP, "bitmap"),
    (Cat::HYPERLOGLOG, "hyperloglog"),
    (Cat::GEO, "geo"),
    (Cat::STREAM, "stream"),
    (Cat::PUBSUB, "pubsub"),
    (Cat::ADMIN, "admin"),
    (Cat::FAST, "fast"),
    (Cat::SLOW, "slow"),
    (Cat::BLOCKING, "blocking"),
    (Cat::DANGEROUS, "dangerous"),
    (Cat::CONNECTION, "connection"),
    (Cat::TRANSACTION, "transaction"),
    (Cat::SCRIPTING, "scripting"),
];

/// The ACL categories: those that the table names and those that follow from flags and group.
pub fn categories(spec: &Spec) -> Cat {
    let flags = spec.flags;
    let mut cats = spec.cats;
    // A container is nothing by itself.
    let grouped = spec.subs.is_empty() && !cats.contains(Cat::NOT_OF_GROUP);
    cats |= match spec.group {
        _ if !grouped => Cat::empty(),
        Group::Generic => Cat::KEYSPACE,
        Group::String => Cat::STRING,
        Group::List => Cat::LIST,
        Group::Set => Cat::SET,
        Group::SortedSet => Cat::SORTEDSET,
        Group::Hash => Cat::HASH,
        Group::Bitmap => Cat::BITMAP,
        Group::Stream => Cat::STREAM,
        Group::Pubsub => Cat::PUBSUB,
        Group::Transactions => Cat::TRANSACTION,
        Group::Connection => Cat::CONNECTION,
        Group::Scripting => Cat::SCRIPTING,
        Group::Hyperloglog => Cat::HYPERLOGLOG,
        Group::Geo => Cat::GEO,
        Group::Server | Group::Cluster => Cat::empty(),
    };
    if flags.contains(Flags::WRITE) {
        cats |= Cat::WRITE;
    }
    if flags.contains(Flags::READONLY) && !cats.contains(Cat::SCRIPTING) {
        cats |= Cat::READ;
    }
    if flags.contains(Flags::ADMIN) {
        cats |= Cat::ADMIN | Cat::DANGEROUS;
    }
    if flags.contains(Flags::PUBSUB) {
        cats |= Cat::PUBSUB;
    }
    if flags.contains(Flags::BLOCKING) {
        cats |= Cat::BLOCKING;
    }
    cats | if flags.contains(Flags::FAST) { Cat::FAST } else { Cat::SLOW }
}

/// The names of its ACL categories.
pub fn category_names(spec: &Spec) -> Vec<&'static str> {
    let cats = categories(spec);
    CAT_NAMES.iter().filter(|(c, _)| cats.contains(*c)).map(|(_, n)| *n).collect()
}

const KEY_FLAG_NAMES: [(KeyFlags, &str); 11] = [
    (KeyFlags::RO, "RO"),
    (KeyFlags::RW, "RW"),
    (KeyFlags::OW, "OW"),
    (KeyFlags::RM, "RM"),
    (KeyFlags::ACCESS, "access"),
    (KeyFlags::UPDATE, "update"),
    (KeyFlags::INSERT, "insert"),
    (KeyFlags::DELETE, "delete"),
    (KeyFlags::NOT_KEY, "not_key"),
    (KeyFlags::INCOMPLETE, "incomplete"),
    (KeyFlags::VARIABLE, "variable_flags"),
];

fn key_flag_names(flags: KeyFlags) -> Vec<&'static str> {
    KEY_FLAG_NAMES.iter().filter(|(f, _)| flags.contains(*f)).map(|(_, n)| *n).collect()
}

fn describe_key(reply: &mut Reply<'_>, key: &KeySpec) {
    reply.map(3);
    reply.bulk(b"flags");
    let names = key_flag_names(key.flags);
    reply.set(names.len());
    names.iter().for_each(|name| reply.simple(name));
    reply.bulk(b"begin_search");
    reply.map(2);
    reply.bulk(b"type");
    match key.begin {
        Begin::Index(at) => {
            reply.bulk(b"index");
            reply.bulk(b"spec");
            numbers(reply, &[("index", at)]);
        }
        Begin::Keyword(word, from) => {
            reply.bulk(b"keyword");
            reply.bulk(b"spec");
            reply.map(2);
            reply.bulk(b"keyword");
            reply.bulk(word.as_bytes());
            reply.bulk(b"startfrom");
            reply.int(i64::from(from));
        }
        Begin::Unknown => {
            reply.bulk(b"unknown");
            reply.bulk(b"spec");
            reply.map(0);
        }
    }
    reply.bulk(b"find_keys");
    reply.map(2);
    reply.bulk(b"type");
    match key.find {
        Find::Range { last, step, limit } => {
            reply.bulk(b"range");
            reply.bulk(b"spec");
            numbers(reply, &[("lastkey", last), ("keystep", step), ("limit", limit)]);
        }
        Find::Count { at, first, step } => {
            reply.bulk(b"keynum");
            reply.bulk(b"spec");
            numbers(reply, &[("keynumidx", at), ("firstkey", first), ("keystep", step)]);
        }
        Find::Unknown => {
            reply.bulk(b"unknown");
            reply.bulk(b"spec");
            reply.map(0);
        }
    }
}

fn numbers(reply: &mut Reply<'_>, pairs: &[(&str, i32)]) {
    reply.map(pairs.len());
    for (name, n) in pairs {
        reply.bulk(name.as_bytes());
        reply.int(i64::from(*n));
    }
}

fn docs(cx: &mut Cx<'_>) -> Res {
    let map = cx.reply.map_deferred();
    let mut count = 0;
    if cx.argc() == 2 {
        for command in &commands::all()[..TABLE.len()] {
            document(&mut cx.reply, command);
            count += 1;
        }
    } else {
        for command in cx.args[2..].iter().filter_map(|name| commands::by_full_name(name)) {
            document(&mut cx.reply, command);
            count += 1;
        }
    }
    cx.reply.end(map, count);
    Ok(())
}

fn document(reply: &mut Reply<'_>, command: &Command) {
    let spec = command.spec;
    let subs = command.subcommands();
    let flags = [(spec.deprecated.is_some(), "deprecated"), (spec.flags.contains(Flags::SYSTEM), "syscmd")];
    let flags: Vec<&str> = flags.iter().filter_map(|(on, name)| on.then_some(*name)).collect();
    let texts = [
        ("summary", spec.summary),
        ("since", spec.since),
        ("group", spec.group.name()),
        ("complexity", spec.complexity),
    ];
    let texts = || texts.iter().filter(|(_, text)| !text.is_empty());
    reply.bulk(command.full_name.as_bytes());
    let more = [!flags.is_empty(), !spec.args.is_empty(), !subs.is_empty()];
    let more = more.iter().filter(|more| **more).count() + 2 * usize::from(spec.deprecated.is_some());
    reply.map(texts().count() + more);
    for (name, value) in texts() {
        reply.bulk(name.as_bytes());
        reply.bulk(value.as_bytes());
    }
    if !flags.is_empty() {
        reply.bulk(b"doc_flags");
        reply.set(flags.len());
        flags.iter().for_each(|flag| reply.simple(flag));
    }
    if let Some((since, instead)) = spec.deprecated {
        reply.bulk(b"deprecated_since");
        reply.bulk(since.as_bytes());
        reply.bulk(b"replaced_by");
        reply.bulk(format!("`{instead}`").as_bytes());
    }
    if !spec.args.is_empty() {
        reply.bulk(b"arguments");
        document_args(reply, &args::parse(spec.args));
    }
    if !subs.is_empty() {
        reply.bulk(b"subcommands");
        reply.map(subs.len());
        subs.iter().for_each(|sub| document(reply, sub));
    }
}

fn document_args(reply: &mut Reply<'_>, list: &[Arg<'_>]) {
    reply.array(list.len());
    for arg in list {
        let nested = matches!(arg.kind, "oneof" | "block");
        let texts = [("token", arg.token), ("since", arg.since), ("deprecated_since", arg.deprecated)];
        let flags = arg.flags();
        let some = texts.iter().filter(|(_, text)| text.is_some()).count();
        reply.map(3 + usize::from(arg.key.is_some()) + some + usize::from(!flags.is_empty()));
        reply.bulk(b"name");
        reply.bulk(arg.name.as_bytes());
        reply.bulk(b"type");
        reply.bulk(arg.kind.as_bytes());
        if !nested {
            reply.bulk(b"display_text");
            reply.bulk(arg.display.replace(';', ":").as_bytes());
        }
        if let Some(key) = arg.key {
            reply.bulk(b"key_spec_index");
            reply.int(key);
        }
        for (name, text) in texts {
            if let Some(text) = text {
                reply.bulk(name.as_bytes());
                reply.bulk(text.as_bytes());
            }
        }
        if !flags.is_empty() {
            reply.bulk(b"flags");
            reply.set(flags.len());
            flags.iter().for_each(|flag| reply.simple(flag));
        }
        if nested {
            reply.bulk(b"arguments");
            document_args(reply, &arg.args);
        }
    }
}

fn list(cx: &mut Cx<'_>) -> Res {
    let mut keep: Box<dyn Fn(&Command) -> bool> = Box::new(|_| true);
    if cx.argc() > 2 {
        if cx.argc() != 5 || !cx.is(2, "FILTERBY") {
            return Err(SYNTAX);
        }
        let value = cx.args[4];
        if cx.is(3, "MODULE") {
            keep = Box::new(|_| false);
        } else if cx.is(3, "ACLCAT") {
            let cat = CAT_NAMES.iter().find(|(_, n)| n.as_bytes().eq_ignore_ascii_case(value)).map(|(c, _)| *c);
            keep = Box::new(move |command| cat.is_some_and(|cat| categories(command.spec).contains(cat)));
        } else if cx.is(3, "PATTERN") {
            keep = Box::new(move |command| totality_ds::glob::matches(value, command.full_name.as_bytes(), true));
        } else {
            return Err(SYNTAX);
        }
    }
    let names: Vec<&Command> = commands::all().iter().filter(|c| keep(c)).collect();
    // A list of some is an array also in RESP3: that is how Redis tells it.
    if cx.argc() > 2 {
        cx.reply.array(names.len());
    } else {
        cx.reply.set(names.len());
    }
    names.iter().for_each(|command| cx.reply.bulk(command.full_name.as_bytes()));
    Ok(())
}

const INVALID: CmdError = CmdError::new("ERR Invalid arguments specified for command");

fn get_keys(cx: &mut Cx<'_>, with_flags: bool) -> Res {
    let argv = &cx.args[2..];
    let command = commands::resolve_any_arity(argv).map_err(|_| CmdError::new("ERR Invalid command specified"))?;
    // What is routed like a key is none.
    if command.spec.keys.iter().all(|key| key.flags.contains(KeyFlags::NOT_KEY)) {
        return Err(CmdError::new("ERR The command has no key arguments"));
    }
    if !command.spec.accepts(argv.len()) {
        return Err(CmdError::new("ERR Invalid number of arguments specified for command"));
    }
    let optional = command.spec.flags.contains(Flags::NO_MANDATORY_KEYS);
    // Where no key is mandatory, a number of keys that makes no sense is none.
    let keys = match keys::find(command.spec, argv) {
        Ok(keys) => keys,
        Err(_) if optional => Default::default(),
        Err(_) => return Err(INVALID),
    };
    if keys.is_empty() && !optional {
        return Err(INVALID);
    }
    cx.reply.array(keys.len());
    for (at, flags) in keys {
        if with_flags {
            cx.reply.array(2);
        }
        cx.reply.bulk(argv[at]);
        if with_flags {
            let names = key_flag_names(flags);
            cx.reply.set(names.len());
            names.iter().for_each(|name| cx.reply.simple(name));
        }
    }
    Ok(())
}
