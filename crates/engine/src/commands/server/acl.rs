//! ACL: users, their passwords and what they may do.
//!
//! A user has rules of its own and, in parentheses, selectors: a command is allowed when all of it is allowed by the
//! one or by the other. ACL DRYRUN asks without running anything, ACL LOG tells what was refused.
//!
//! ```transcript
//! > ACL SETUSER alice on >secret ~cache:* +get
//! OK
//! > ACL DRYRUN alice GET cache:1
//! OK
//! > ACL SETUSER alice +nosuch
//! (error) ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL
//! > ACL USERS
//! 1) "alice"
//! 2) "default"
//! > ACL WHOAMI
//! "default"
//! > ACL DELUSER alice
//! (integer) 1
//! > ACL DELUSER default
//! (error) ERR The 'default' user cannot be removed
//! > ACL GETUSER nobody
//! (nil)
//! > ACL CAT nosuch
//! (error) ERR Unknown category 'nosuch'
//! # since 7.2
//! > ACL SETUSER bob on nopass %R~cache:* +@all -get
//! OK
//! > ACL DRYRUN bob GET cache:1
//! "User bob has no permissions to run the 'get' command"
//! > ACL DRYRUN bob SET cache:1 v
//! "User bob has no permissions to access the 'cache:1' key"
//! > ACL DELUSER bob
//! (integer) 1
//! ```

use super::command::{CAT_NAMES, categories};
use crate::acl::{self, Selector, User};
use crate::commands;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::reply::Reply;
use crate::spec::{Flags, Group, Handler, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("acl", -2, Group::Server, Flags::empty(), crate::commands::container)
    .doc("6.0.0", "Depends on the subcommand", "Users and what they may do.")
    .subs(SUBS);

const EVERYONE: Flags = Flags::NOSCRIPT.union(Flags::LOADING).union(Flags::STALE);
const ADMIN: Flags = EVERYONE.union(Flags::ADMIN);
const SECRET: Flags = ADMIN.union(Flags::SENSITIVE);
const ALL_NODES: &[&str] = &["request_policy:all_nodes", "response_policy:all_succeeded"];

const fn sub(name: &'static str, arity: i32, flags: Flags, complexity: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Server, flags, run).doc("6.0.0", complexity, summary)
}

const SUBS: &[Spec] = &[
    sub("cat", -2, EVERYONE, "O(1)", "Categories of commands, or the commands of one.", cat).args("category:s?"),
    sub("deluser", -3, SECRET, "O(1) for each user", "Removes users and closes their connections.", deluser).args("username:s*").no_rollback()
        .tips(ALL_NODES),
    sub("dryrun", -4, ADMIN, "O(1)", "Tells whether a user may run a command.", dryrun).args("username:s command:s arg:s?*")
        .doc("7.0.0", "O(1)", "Tells whether a user may run a command."),
    sub("genpass", -2, EVERYONE, "O(1)", "Makes a password.", genpass).args("bits:i?"),
    sub("getuser", 3, SECRET, "O(N) for N rules", "The rules of a user.", getuser).args("username:s"),
    crate::commands::help_row(Group::Server, "6.0.0"),
    sub("list", 2, ADMIN, "O(N) for N users", "The users in the format of an ACL file.", list),
    sub("load", 2, ADMIN, "O(N) for N users", "Reads the ACL file again.", load).no_rollback(),
    sub("log", -2, ADMIN, "O(N) for N entries", "What was refused.", log).args("operation:o?(count:i reset:t'RESET')"),
    sub("save", 2, ADMIN, "O(N) for N users", "Writes the ACL file.", save).tips(ALL_NODES).no_rollback(),
    sub("setuser", -3, SECRET, "O(N) for N rules", "Makes a user or changes its rules.", setuser).args("username:s rule:s?*").tips(ALL_NODES).no_rollback(),
    sub("users", 2, ADMIN, "O(N) for N users", "Names of the users.", users),
    sub("whoami", 2, EVERYONE, "O(1)", "The connection's user.", whoami),
];

fn setuser(cx: &mut Cx<'_>) -> Res {
    let name = cx.args[2];
    if !acl::is_word(name) {
        return Err(CmdError::new("ERR Usernames can't contain spaces or null characters"));
    }
    let rules = acl::merge_selectors(&cx.args[3..]).map_err(|word| {
        CmdError::owned([b"ERR Unmatched parenthesis in acl selector starting at '", word, b"'."].concat())
    })?;
    let all_channels = cx.sv.config.acl_all_channels();
    let mut user = match cx.sv.acl.user(name) {
        Some(user) => User::clone(user),
        None => User::new(name, all_channels),
    };
    for rule in rules {
        user.apply(&rule, all_channels).map_err(|error| {
            let text = [b"ERR Error in ACL SETUSER modifier '", &rule[..], b"': ", error.text().as_bytes()];
            CmdError::owned(text.concat())
        })?;
    }
    acl::set_user(cx.sv, user, Some(cx.client));
    cx.reply.ok();
    Ok(())
}

fn deluser(cx: &mut Cx<'_>) -> Res {
    let names = &cx.args[2..];
    if names.contains(&acl::DEFAULT) {
        return Err(CmdError::new("ERR The 'default' user cannot be removed"));
    }
    let mut count = 0;
    for name in names {
        count += i64::from(acl::delete_user(cx.sv, name, cx.client));
    }
    cx.reply.int(count);
    Ok(())
}

fn getuser(cx: &mut Cx<'_>) -> Res {
    let Some(user) = cx.sv.acl.user(cx.args[2]).cloned() else {
        cx.reply.null();
        return Ok(());
    };
    let (root, others) = user.selectors().split_at(1);
    let reply = &mut cx.reply;
    reply.map(if root.iter().any(uses_runs) { 8 } else { 7 });
    reply.bulk(b"flags");
    reply.set(user.flags().count());
    user.flags().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"passwords");
    let hashes = user.hashes();
    reply.array(hashes.len());
    hashes.for_each(|hash| reply.bulk(hash.as_bytes()));
    root.iter().for_each(|selector| describe(reply, selector));
    reply.bulk(b"selectors");
    reply.array(others.len());
    for selector in others {
        reply.map(4 + usize::from(uses_runs(selector)));
        describe(reply, selector);
    }
    Ok(())
}

/// True when the rules for scripts are in use, which other servers do not have.
fn uses_runs(selector: &Selector) -> bool {
    !selector.run_rules().is_empty()
}

/// Four pairs, or five.
fn describe(reply: &mut Reply<'_>, selector: &Selector) {
    reply.bulk(b"commands");
    reply.bulk(&selector.command_rules());
    reply.bulk(b"keys");
    reply.bulk(&selector.key_rules());
    reply.bulk(b"channels");
    reply.bulk(&selector.channel_rules());
    reply.bulk(b"databases");
    reply.bulk(selector.database_rules().as_bytes());
    if uses_runs(selector) {
        reply.bulk(b"runs");
        reply.bulk(&selector.run_rules());
    }
}

fn list(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(cx.sv.acl.len());
    for user in cx.sv.acl.users() {
        let mut line = Vec::new();
        user.line(&mut line);
        cx.reply.bulk(&line);
    }
    Ok(())
}

fn users(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(cx.sv.acl.len());
    cx.sv.acl.users().for_each(|user| cx.reply.bulk(&user.name));
    Ok(())
}

fn whoami(cx: &mut Cx<'_>) -> Res {
    let user = cx.me()?.user.clone();
    cx.reply.bulk(&user.name);
    Ok(())
}

fn cat(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 3 {
        return Err(commands::syntax_of_subcommand(cx.args));
    }
    let Some(name) = cx.args.get(2) else {
        cx.reply.array(CAT_NAMES.len());
        CAT_NAMES.iter().for_each(|(_, name)| cx.reply.bulk(name.as_bytes()));
        return Ok(());
    };
    let known = CAT_NAMES.iter().find(|(_, word)| word.as_bytes().eq_ignore_ascii_case(name));
    let Some((cat, _)) = known else {
        let name = &name[..name.len().min(128)];
        return Err(CmdError::owned([b"ERR Unknown category '", name, b"'"].concat()));
    };
    let list = cx.reply.array_deferred();
    let mut count = 0;
    for command in commands::all().iter().filter(|command| categories(command.spec).contains(*cat)) {
        cx.reply.bulk(command.full_name.as_bytes());
        count += 1;
    }
    cx.reply.end(list, count);
    Ok(())
}

const MAX_BITS: i64 = 4096;

fn genpass(cx: &mut Cx<'_>) -> Res {
    let bits = match cx.argc() {
        2 => 256,
        3 => cx.int(2)?,
        _ => return Err(commands::syntax_of_subcommand(cx.args)),
    };
    if !(1..=MAX_BITS).contains(&bits) {
        return Err(CmdError::owned(format!(
            "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to {MAX_BITS}"
        )));
    }
    let password = cx.sv.acl.generate_password(bits as usize);
    cx.reply.bulk(password.as_bytes());
    Ok(())
}

fn log(cx: &mut Cx<'_>) -> Res {
    if cx.argc() > 3 {
        return Err(commands::syntax_of_subcommand(cx.args));
    }
    if cx.is(2, "RESET") {
        cx.sv.acl.log.clear();
        cx.reply.ok();
        return Ok(());
    }
    let count = if cx.argc() == 3 { cx.int(2)?.max(0) as usize } else { 10 };
    let count = count.min(cx.sv.acl.log.len());
    cx.reply.array(count);
    for entry in cx.sv.acl.log.iter().take(count) {
        let reply = &mut cx.reply;
        reply.map(10);
        reply.bulk(b"count");
        reply.int(entry.count as i64);
        for (name, value) in [
            (&b"reason"[..], entry.reason.as_bytes()),
            (b"context", entry.place.word().as_bytes()),
            (b"object", &entry.object),
            (b"username", &entry.user),
        ] {
            reply.bulk(name);
            reply.bulk(value);
        }
        reply.bulk(b"age-seconds");
        reply.double((cx.ks.now - entry.updated) as f64 / 1000.0);
        reply.bulk(b"client-info");
        reply.bulk(&entry.client);
        for (name, value) in [
            (&b"entry-id"[..], entry.id as i64),
            (b"timestamp-created", entry.created),
            (b"timestamp-last-updated", entry.updated),
        ] {
            reply.bulk(name);
            reply.int(value);
        }
    }
    Ok(())
}

fn dryrun(cx: &mut Cx<'_>) -> Res {
    let Some(user) = cx.sv.acl.user(cx.args[2]).cloned() else {
        return Err(CmdError::owned([b"ERR User '", cx.args[2], b"' not found"].concat()));
    };
    let argv = &cx.args[3..];
    let Ok(command) = commands::resolve_any_arity(argv) else {
        return Err(CmdError::owned([b"ERR Command '", argv[0], b"' not found"].concat()));
    };
    commands::check_arity(command, argv.len())?;
    match acl::check(&user, command, argv, acl::Around::of(cx.sv, cx.ks.cur)) {
        Ok(()) => cx.reply.ok(),
        Err(denial) => cx.reply.bulk(&acl::denial_text(&user, command, argv, denial, true)),
    }
    Ok(())
}

const NO_FILE: CmdError = CmdError::new(
    "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration.",
);

fn load(cx: &mut Cx<'_>) -> Res {
    let path = cx.sv.config.aclfile.clone();
    if path.is_empty() {
        return Err(NO_FILE);
    }
    let users = cx
        .ticker
        .read_acl_file(&path)
        .map_err(|why| format!("Error loading ACLs, opening file '{path}': {why}"))
        .and_then(|text| acl::parse_file(&path, &text, cx.sv.config.acl_all_channels()));
    let users = users.map_err(|text| CmdError::owned(format!("ERR {text}")))?;
    acl::replace_all(cx.sv, users, Some(cx.client));
    cx.reply.ok();
    Ok(())
}

fn save(cx: &mut Cx<'_>) -> Res {
    let path = &cx.sv.config.aclfile;
    if path.is_empty() {
        return Err(NO_FILE);
    }
    if cx.ticker.write_acl_file(path, &cx.sv.acl.file()).is_err() {
        return Err(CmdError::new(
            "ERR There was an error trying to save the ACLs. Please check the server logs for more information",
        ));
    }
    cx.reply.ok();
    Ok(())
}
