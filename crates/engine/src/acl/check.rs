//! May this user run this command with these arguments?

use super::user::{Selector, User};
use crate::commands::{Command, TABLE};
use crate::keys::{self, KeyError, Keys};
use crate::script::Scripts;
use crate::spec::{Cat, Flags, Group, KEY_READ, KEY_STORE, KeyFlags};
use crate::state::ServerState;

/// What is refused. Of the reasons of several selectors the greatest is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The database.
    Database,
    /// The command.
    Command,
    /// The script or function.
    Script,
    /// A key.
    Key,
    /// A channel.
    Channel,
}

/// A refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Denial {
    /// What is refused.
    pub reason: Reason,
    /// The argument that is at fault; 0 when it is the command itself.
    pub at: usize,
}

const fn denial(reason: Reason, at: usize) -> Denial {
    Denial { reason, at }
}

/// What a command is judged by beside itself.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// The selected database.
    pub db: usize,
    /// Number of databases.
    pub dbs: usize,
    /// Scripts and functions that are there.
    pub scripts: &'a Scripts,
}

impl Around<'_> {
    /// In database `db` of this server.
    pub fn of(sv: &ServerState, db: usize) -> Around<'_> {
        Around { db, dbs: sv.config.databases as usize, scripts: &sv.scripts }
    }
}

/// Judges a command.
///
/// # Errors
/// What is refused.
#[cold]
pub fn check(user: &User, command: &Command, argv: &[&[u8]], around: Around<'_>) -> Result<(), Denial> {
    let mut keys = None;
    let mut worst = denial(Reason::Database, 0);
    for selector in user.selectors() {
        match selector.check(command, argv, around, &mut keys) {
            Ok(()) => return Ok(()),
            Err(found) => worst = worst.max(found),
        }
    }
    Err(worst)
}

/// True when the user may run the command and, with the same selector, read any key.
pub fn unrestricted_keys(user: &User, command: &Command, argv: &[&[u8]], around: Around<'_>) -> bool {
    let mut keys = None;
    user.selectors().iter().any(|selector| {
        let any = selector.all_keys || selector.keys.iter().any(|key| key.read && key.glob == b"*");
        any && selector.check(command, argv, around, &mut keys).is_ok()
    })
}

/// The text of a refusal, without its code; `verbose` names the key, channel or database.
pub fn denial_text(user: &User, command: &Command, argv: &[&[u8]], denial: Denial, verbose: bool) -> Vec<u8> {
    let object = argv.get(denial.at).copied().unwrap_or_default();
    let name = &user.name[..];
    match (denial.reason, verbose) {
        (Reason::Command, _) => {
            let command = command.full_name.as_bytes();
            [b"User ", name, b" has no permissions to run the '", command, b"' command"].concat()
        }
        (Reason::Script, _) => {
            [b"User ", name, b" has no permissions to run this script or function"].concat()
        }
        (Reason::Key, false) => b"No permissions to access a key".to_vec(),
        (Reason::Key, true) => {
            [b"User ", name, b" has no permissions to access the '", object, b"' key"].concat()
        }
        (Reason::Channel, false) => b"No permissions to access a channel".to_vec(),
        (Reason::Channel, true) => {
            [b"User ", name, b" has no permissions to access the '", object, b"' channel"].concat()
        }
        (Reason::Database, false) => b"No permissions to access database".to_vec(),
        (Reason::Database, true) => {
            [b"User ", name, b" has no permissions to access database ", object].concat()
        }
    }
}

impl Selector {
    fn check(
        &self,
        command: &Command,
        argv: &[&[u8]],
        around: Around<'_>,
        keys: &mut Option<Result<Keys, KeyError>>,
    ) -> Result<(), Denial> {
        if self.dbs.is_some() {
            self.check_databases(command, argv, around.db, around.dbs)?;
        }
        if !self.all_commands && !command.spec.flags.contains(Flags::NO_AUTH) && !self.has_bit(command.id) {
            let words = self.first_args.get(&command.id).map_or(&[][..], Vec::as_slice);
            if !argv.get(1).is_some_and(|arg| words.iter().any(|word| word.eq_ignore_ascii_case(arg))) {
                return Err(denial(Reason::Command, 0));
            }
        }
        if !self.may_run(command, argv, around.scripts) {
            return Err(denial(Reason::Script, 0));
        }
        if !self.all_keys && has_keys(command) {
            let keys = keys.get_or_insert_with(|| keys_of(command, argv));
            // Which keys it is about cannot be said: nobody may who may not touch any.
            let keys = keys.as_ref().map_err(|_| denial(Reason::Key, 0))?;
            for (at, flags) in keys {
                if !self.may_touch(argv[*at], *flags) {
                    return Err(denial(Reason::Key, *at));
                }
            }
        }
        if !self.all_channels && command.spec.group == Group::Pubsub {
            let (names, pattern) = channels(command.spec.name, argv.len());
            for at in names {
                if !self.may_hear(argv[at], pattern) {
                    return Err(denial(Reason::Channel, at));
                }
            }
        }
        Ok(())
    }

    fn may_touch(&self, key: &[u8], flags: KeyFlags) -> bool {
        let writes = flags.intersects(KeyFlags::UPDATE.union(KeyFlags::INSERT).union(KeyFlags::DELETE));
        let reads = flags.contains(KeyFlags::ACCESS);
        self.keys.iter().any(|pattern| {
            (pattern.read || !reads)
                && (pattern.write || !writes)
                && totality_ds::glob::matches(&pattern.glob, key, false)
        })
    }

    /// A pattern must be one of those that are allowed, a name must match one.
    fn may_hear(&self, name: &[u8], is_pattern: bool) -> bool {
        may_hear(self.channels.iter(), name, is_pattern)
    }

    fn may_use(&self, db: usize) -> bool {
        self.dbs.as_ref().is_none_or(|dbs| dbs.iter().any(|n| *n as usize == db))
    }

    fn check_databases(
        &self,
        command: &Command,
        argv: &[&[u8]],
        db: usize,
        dbs: usize,
    ) -> Result<(), Denial> {
        let spec = command.spec;
        let has_keys = spec.keys.iter().any(|key| !key.flags.contains(KeyFlags::NOT_KEY));
        let named = usize::from(command.id) < TABLE.len();
        let all = match spec.name {
            "select" | "swapdb" | "move" | "copy" if named => {
                let bad = databases(spec.name, argv, dbs).into_iter().find(|(_, db)| !self.may_use(*db));
                if let Some((at, _)) = bad {
                    return Err(denial(Reason::Database, at));
                }
                if has_keys && !self.may_use(db) {
                    return Err(denial(Reason::Database, 0));
                }
                return Ok(());
            }
            "flushall" if named => true,
            _ => false,
        };
        let cats = crate::commands::server::command::categories(spec);
        let allowed = if all {
            (0..dbs).all(|db| self.may_use(db))
        } else {
            let touches = has_keys || cats.intersects(Cat::KEYSPACE | Cat::READ | Cat::WRITE);
            !touches || self.may_use(db)
        };
        if allowed { Ok(()) } else { Err(denial(Reason::Database, 0)) }
    }
}

/// True when a channel, or the pattern of PSUBSCRIBE, is among those that are allowed.
pub(super) fn may_hear<'a>(
    mut allowed: impl Iterator<Item = &'a Vec<u8>>,
    name: &[u8],
    is_pattern: bool,
) -> bool {
    allowed.any(|glob| if is_pattern { glob == name } else { totality_ds::glob::matches(glob, name, false) })
}

/// Places of channels among the arguments, and whether they are patterns.
fn channels(command: &str, argc: usize) -> (std::ops::Range<usize>, bool) {
    match command {
        "subscribe" | "ssubscribe" => (1..argc, false),
        "psubscribe" => (1..argc, true),
        "publish" | "spublish" => (1..argc.min(2), false),
        _ => (0..0, false),
    }
}

/// Databases that a command names, with their places; none when its arguments make no sense.
fn databases(command: &str, argv: &[&[u8]], dbs: usize) -> Vec<(usize, usize)> {
    let mut places: Vec<usize> = match command {
        "select" => vec![1],
        "swapdb" => vec![1, 2],
        "move" => vec![2],
        _ => Vec::new(),
    };
    if command == "copy" {
        let mut i = 3;
        while i < argv.len() {
            if argv[i].eq_ignore_ascii_case(b"db") && i + 1 < argv.len() {
                places.push(i + 1);
                i += 1;
            } else if !argv[i].eq_ignore_ascii_case(b"replace") {
                return Vec::new();
            }
            i += 1;
        }
    }
    let number = |at: usize| {
        let n = crate::util::parse_i64(argv.get(at)?)?;
        usize::try_from(n).ok().filter(|n| *n < dbs).map(|n| (at, n))
    };
    places.into_iter().map(number).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// True for commands that may name keys.
fn has_keys(command: &Command) -> bool {
    !command.spec.keys.is_empty() || command.spec.name == "debug"
}

/// The keys with what this very call does to them.
fn keys_of(command: &Command, argv: &[&[u8]]) -> Result<Keys, KeyError> {
    if command.spec.name == "debug" {
        return Ok(debugged(argv));
    }
    let mut keys = keys::find(command.spec, argv)?;
    for (_, flags) in &mut keys {
        if flags.contains(KeyFlags::VARIABLE) {
            *flags = flags_of_call(command.spec.name, argv).unwrap_or(*flags);
        }
    }
    Ok(keys)
}

/// Keys that DEBUG shows something of. The table has none for it, as in Redis, so that COMMAND GETKEYS finds none.
fn debugged(argv: &[&[u8]]) -> Keys {
    const ONE: [&[u8]; 4] = [b"object", b"listpack", b"htstats-key", b"digest-value"];
    let Some(word) = argv.get(1).filter(|word| ONE.iter().any(|one| word.eq_ignore_ascii_case(one))) else {
        return Keys::new();
    };
    let end = if word.eq_ignore_ascii_case(b"digest-value") { argv.len() } else { argv.len().min(3) };
    (2..end).map(|at| (at, KEY_READ)).collect()
}

/// What a command does to its key, where that depends on the arguments. A comparison reads the key.
fn flags_of_call(command: &str, argv: &[&[u8]]) -> Option<KeyFlags> {
    let has = |words: &[&[u8]]| {
        argv.get(3..).unwrap_or_default().iter().any(|arg| words.iter().any(|w| arg.eq_ignore_ascii_case(w)))
    };
    match command {
        "set" if !has(&[b"get"]) => Some(KEY_STORE),
        "delex" if argv.len() > 2 => Some(KeyFlags::RW.union(KeyFlags::ACCESS).union(KeyFlags::DELETE)),
        "bitfield" => {
            let mut i = 2;
            while i < argv.len() {
                let left = argv.len() - i - 1;
                if argv[i].eq_ignore_ascii_case(b"get") && left >= 2 {
                    i += 3;
                } else if argv[i].eq_ignore_ascii_case(b"overflow") && left >= 1 {
                    i += 2;
                } else {
                    return None;
                }
            }
            Some(KEY_READ)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;

    fn verdict(rules: &str, line: &str) -> Option<(Reason, usize)> {
        let mut user = User::new(b"u", false);
        let words: Vec<&[u8]> = rules.split(' ').map(str::as_bytes).collect();
        for rule in super::super::merge_selectors(&words).unwrap() {
            user.apply(&rule, false).unwrap();
        }
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let command = commands::resolve_any_arity(&argv).unwrap();
        check(&user, command, &argv, Around { db: 0, dbs: 16, scripts: &Scripts::default() })
            .err()
            .map(|d| (d.reason, d.at))
    }

    #[test]
    fn verdicts() {
        use Reason::*;
        for (rules, line, want) in [
            ("+get ~k*", "GET k", None),
            ("+get ~k*", "GET x", Some((Key, 1))),
            ("+get ~k*", "SET k v", Some((Command, 0))),
            ("+select|0", "SELECT 0", None),
            ("+select|0", "SELECT 1", Some((Command, 0))),
            ("+@all -select", "SELECT 1", Some((Command, 0))),
            ("+config|get", "CONFIG SET a b", Some((Command, 0))),
            ("+config|get", "CONFIG GET a", None),
            ("+@all %R~k", "SET k v", Some((Key, 1))),
            ("+@all %W~k", "SET k v", None),
            ("+@all %W~k", "SET k v GET", Some((Key, 1))),
            ("+@all %R~k", "BITFIELD k GET u8 0", None),
            ("+@all %R~k", "BITFIELD k SET u8 0 1", Some((Key, 1))),
            ("+@all %R~r %W~w", "COPY r w", None),
            ("+@all %R~r %W~w", "COPY w r", Some((Key, 1))),
            ("+@all %W~k", "EXISTS k", None),
            ("+@all ~k", "MSET k 1 o 2", Some((Key, 3))),
            ("+@all ~k", "EVAL x 1 o", Some((Key, 3))),
            ("+get ~a (+set ~b)", "SET b v", None),
            ("+get ~a (+set ~b)", "SET a v", Some((Key, 1))),
            ("+@all ~*", "PUBLISH c m", Some((Channel, 1))),
            ("+@all &c*", "PUBLISH c1 m", None),
            ("+@all &c*", "PSUBSCRIBE c1", Some((Channel, 1))),
            ("+@all &c*", "PSUBSCRIBE c*", None),
            ("+@all &c*", "SPUBLISH x m", Some((Channel, 1))),
            ("-@all", "AUTH x", None),
            ("+@all ~* db=1", "GET k", Some((Database, 0))),
            ("+@all ~* db=1", "SELECT 1", None),
            ("+@all ~* db=1", "SELECT 2", Some((Database, 1))),
            ("+@all ~* db=0", "FLUSHALL", Some((Database, 0))),
            ("+@all ~* db=0", "COPY a b DB 0 DB 1", Some((Database, 6))),
        ] {
            assert_eq!(verdict(rules, line), want, "{rules}: {line}");
        }
    }
}
