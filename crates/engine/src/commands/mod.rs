//! The one table of commands.
//!
//! A command is one file `commands/<group>/<command>.rs` with its documentation, its `SPEC`, its implementation and its
//! tests. One word in [`table!`] makes the module, the row and the id. Everything that is known of commands is read
//! from here: dispatch, COMMAND, ACL, cluster slots, scripts, MULTI, statistics, the linter, the documentation.

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::spec::{Flags, Spec};
use crate::util::until_nul;
use std::sync::LazyLock;

mod list_util;
mod zset_combine;
mod zset_range;
mod zset_util;

macro_rules! table {
    ($($group:ident { $($command:ident)* })*) => {
        $(pub mod $group { //! Commands of one group.
            $(pub mod $command;)*
        })*
        /// The commands, containers with their subcommands inside, in the order of their ids.
        pub static TABLE: &[Spec] = &[$($($group::$command::SPEC,)*)*];
        const NAMES: &[&str] = &[$($($group::$command::SPEC.name,)*)*];
        const _: () = { $($($group::$command::SPEC.check();)*)* };
    };
}

pub(crate) mod collection;
mod hash_ttl_util;
mod script_explain;
mod set_algebra;

table! {
    bitmap { bitcount bitfield bitfield_ro bitop bitpos getbit setbit }
    cluster { asking cluster clusterscan readonly readwrite }
    connection { auth client echo hello ping quit reset select }
    generic {
        copy del dump exists expire expireat expiretime keys migrate move_ object persist pexpire pexpireat pexpiretime pttl
        randomkey rename renamenx restore restore_asking scan sort sort_ro touch ttl type_ unlink wait waitaof
    }
    geo {
        geoadd geodist geohash geopos georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch
        geosearchstore
    }
    hash { hdel hexists hexpire hexpireat hexpiretime hget hgetall hgetdel hgetex hincrby hincrbyfloat hkeys hlen hmget hmset hpersist hpexpire hpexpireat hpexpiretime hpttl hrandfield hscan hset hsetex hsetnx hstrlen httl hvals }
    hyperloglog { pfadd pfcount pfdebug pfmerge pfselftest }
    list {
        blmove blmpop blpop brpop brpoplpush lindex linsert llen lmove lmpop lpop lpos lpush lpushx lrange lrem lset
        ltrim rpop rpoplpush rpush rpushx
    }
    pubsub { psubscribe publish pubsub punsubscribe spublish ssubscribe subscribe sunsubscribe unsubscribe }
    scripting { eval eval_ro evalsha evalsha_ro fcall fcall_ro function script }
    server {
        acl bgrewriteaof bgsave command commandlog config dbsize debug failover flushall flushdb info lastsave latency lolwut memory module monitor psync replconf replicaof role save shutdown slaveof slowlog swapdb sync
        time
    }
    sorted_set {
        bzmpop bzpopmax bzpopmin zadd zcard zcount zdiff zdiffstore zincrby zinter zintercard zinterstore zlexcount zmpop zmscore zpopmax zpopmin
        zrandmember zrange zrangebylex zrangebyscore zrangestore zrank zrem zremrangebylex zremrangebyrank
        zremrangebyscore zrevrange zrevrangebylex zrevrangebyscore zrevrank zscan zscore zunion zunionstore
    }
    string {
        append decr decrby delex delifeq digest get getdel getex getrange getset incr incrby incrbyfloat increx lcs mget
        mset msetex msetnx psetex set setex setnx setrange strlen substr
    }
    set {
        sadd scard sdiff sdiffstore sinter sintercard sinterstore sismember smembers smismember smove spop srandmember
        srem sscan sunion sunionstore
    }
    stream {
        xack xackdel xadd xautoclaim xclaim xdel xdelex xgroup xinfo xlen xpending xrange xread xreadgroup xrevrange xsetid xtrim
    }
    transactions { discard exec multi unwatch watch }
}

mod bitmap_util;
mod debug_digest;
pub(crate) mod generic_util;
mod geo_util;
mod hll_util;
mod info_replication;
mod pubsub_util;
mod script_info;
mod sort_util;
mod stream_read;
mod stream_util;
pub(crate) mod string_util;

/// A command or subcommand with its number.
#[derive(Debug)]
pub struct Command {
    /// Index into the statistics.
    pub id: u16,
    /// What the table says.
    pub spec: &'static Spec,
    /// `get`, or `config|get` for a subcommand.
    pub full_name: String,
    /// Number of the first subcommand of a container.
    first_sub: u16,
}

impl Command {
    /// Subcommands of a container.
    pub fn subcommands(&self) -> &'static [Command] {
        let first = self.first_sub as usize;
        &all()[first..first + self.spec.subs.len()]
    }
}

static ALL: LazyLock<Vec<Command>> = LazyLock::new(|| {
    let mut all: Vec<Command> = Vec::new();
    let mut next = TABLE.len();
    for (id, spec) in TABLE.iter().enumerate() {
        all.push(Command { id: id as u16, spec, full_name: spec.name.to_owned(), first_sub: next as u16 });
        next += spec.subs.len();
    }
    for spec in TABLE {
        for sub in spec.subs {
            let id = all.len() as u16;
            all.push(Command {
                id,
                spec: sub,
                full_name: format!("{}|{}", spec.name, sub.name),
                first_sub: 0,
            });
        }
    }
    all
});

/// All commands and subcommands; the index is the id. The first [`TABLE`]`.len()` are the commands themselves.
#[inline]
pub fn all() -> &'static [Command] {
    &ALL
}

const SLOTS: usize = 2048;

/// Four letters from `at` on, in lower case.
const fn word(name: &[u8], at: usize) -> u64 {
    let word = u32::from_le_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]]);
    (word | 0x2020_2020) as u64
}

/// The first and the last four letters: few names share them, and they take no loop.
const fn hash(name: &[u8]) -> usize {
    let n = name.len();
    let ends = match n {
        0 => 0,
        1..=3 => {
            (name[0] | 0x20) as u64 | ((name[n / 2] | 0x20) as u64) << 8 | ((name[n - 1] | 0x20) as u64) << 32
        }
        _ => word(name, 0) | word(name, n - 4) << 32,
    };
    ((ends ^ n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOTS.trailing_zeros())) as usize
}

/// Names that consist of letters alone.
static LETTERS: [bool; NAMES.len()] = {
    let mut all = [true; NAMES.len()];
    let mut i = 0;
    while i < NAMES.len() {
        let name = NAMES[i].as_bytes();
        let mut at = 0;
        while at < name.len() {
            all[i] &= name[at].is_ascii_alphabetic();
            at += 1;
        }
        i += 1;
    }
    all
};

/// Whether `name` is that of command `id`, whatever its case.
#[inline]
fn is_name(id: usize, name: &[u8]) -> bool {
    let own = NAMES[id].as_bytes();
    let n = own.len();
    if n != name.len() {
        return false;
    }
    // Setting the bit of lower case makes only the two cases of a letter equal.
    match n {
        4..=8 if LETTERS[id] => word(own, 0) == word(name, 0) && word(own, n - 4) == word(name, n - 4),
        _ => own.eq_ignore_ascii_case(name),
    }
}

/// Open-addressed index of the names, made at compile time; `u16::MAX` is an empty slot.
static INDEX: [u16; SLOTS] = {
    let mut index = [u16::MAX; SLOTS];
    let mut i = 0;
    while i < NAMES.len() {
        let mut slot = hash(NAMES[i].as_bytes());
        while index[slot] != u16::MAX {
            slot = (slot + 1) % SLOTS;
        }
        index[slot] = i as u16;
        i += 1;
    }
    index
};

/// The command of this name, whatever its case; not a subcommand.
#[inline]
pub fn lookup(name: &[u8]) -> Option<&'static Command> {
    let mut slot = hash(name);
    loop {
        let id = INDEX[slot];
        if id == u16::MAX {
            return None;
        }
        if is_name(id as usize, name) {
            return Some(&all()[id as usize]);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The command that `argv` names, subcommand included, with the right number of arguments.
#[inline]
pub fn resolve(argv: &[&[u8]]) -> Res<&'static Command> {
    let command = resolve_any_arity(argv)?;
    check_arity(command, argv.len())?;
    Ok(command)
}

/// The same where `rename-command` gave commands other names, or none.
#[inline]
pub fn resolve_renamed(argv: &[&[u8]], renames: &Renames) -> Res<&'static Command> {
    if renames.is_empty() {
        return resolve(argv);
    }
    let Some(command) = lookup_renamed(argv[0], renames) else { return Err(unknown_command(argv)) };
    let command = with_subcommand(command, argv)?;
    check_arity(command, argv.len())?;
    Ok(command)
}

/// What `rename-command` said: old names in lower case with their new ones; an empty one takes the command away.
pub type Renames = [(String, String)];

/// The command that has this name now.
#[inline]
pub fn lookup_renamed(name: &[u8], renames: &Renames) -> Option<&'static Command> {
    if renames.is_empty() {
        return lookup(name);
    }
    let is = |other: &String| !other.is_empty() && other.as_bytes().eq_ignore_ascii_case(name);
    match renames.iter().find(|(_, new)| is(new)) {
        Some((old, _)) => lookup(old.as_bytes()),
        None if renames.iter().any(|(old, _)| is(old)) => None,
        None => lookup(name),
    }
}

/// Refuses a wrong number of arguments.
#[inline]
pub fn check_arity(command: &'static Command, argc: usize) -> Res {
    if command.spec.accepts(argc) { Ok(()) } else { Err(CmdError::arity(&command.full_name)) }
}

/// The command that `argv` names, subcommand included.
#[inline]
pub fn resolve_any_arity(argv: &[&[u8]]) -> Res<&'static Command> {
    let Some(command) = lookup(argv[0]) else { return Err(unknown_command(argv)) };
    with_subcommand(command, argv)
}

/// The subcommand that `argv` names, or the command itself where it has none.
#[inline]
pub(crate) fn with_subcommand(command: &'static Command, argv: &[&[u8]]) -> Res<&'static Command> {
    if command.spec.subs.is_empty() || argv.len() < 2 {
        return Ok(command);
    }
    command
        .subcommands()
        .iter()
        .find(|sub| sub.spec.name.as_bytes().eq_ignore_ascii_case(argv[1]))
        .ok_or_else(|| unknown_subcommand(command, argv[1]))
}

/// `get`, or `config|get` for a subcommand; whatever its case.
pub(crate) fn by_full_name(name: &[u8]) -> Option<&'static Command> {
    let mut parts = name.splitn(2, |b| *b == b'|');
    let command = lookup(parts.next()?)?;
    match parts.next() {
        None => Some(command),
        Some(sub) => command.subcommands().iter().find(|s| s.spec.name.as_bytes().eq_ignore_ascii_case(sub)),
    }
}

/// A subcommand got arguments that it does not take.
pub(crate) fn syntax_of_subcommand(argv: &[&[u8]]) -> CmdError {
    let word = argv.get(1).map_or(&b""[..], |word| &word[..word.len().min(128)]);
    let container = argv.first().copied().unwrap_or_default().to_ascii_uppercase();
    let text: [&[u8]; 5] = [
        b"ERR unknown subcommand or wrong number of arguments for '",
        word,
        b"'. Try ",
        &container,
        b" HELP.",
    ];
    CmdError::owned(text.concat())
}

/// The subcommand of this name, or the container itself for words that Redis does not list as subcommands.
fn unknown_subcommand(command: &Command, word: &[u8]) -> CmdError {
    let word = until_nul(&word[..word.len().min(128)]);
    let mut text = b"ERR unknown subcommand '".to_vec();
    text.extend_from_slice(word);
    text.extend_from_slice(format!("'. Try {} HELP.", command.spec.name.to_ascii_uppercase()).as_bytes());
    CmdError::owned(text)
}

fn unknown_command(argv: &[&[u8]]) -> CmdError {
    let mut args = Vec::new();
    for arg in &argv[1..] {
        if args.len() >= 128 {
            break;
        }
        let room = 128 - args.len();
        args.push(b'\'');
        args.extend_from_slice(until_nul(&arg[..arg.len().min(room)]));
        args.extend_from_slice(b"' ");
    }
    let mut text = b"ERR unknown command '".to_vec();
    text.extend_from_slice(until_nul(&argv[0][..argv[0].len().min(128)]));
    text.extend_from_slice(b"', with args beginning with: ");
    text.extend_from_slice(&args);
    CmdError::owned(text)
}

/// True for a command that only reads, as EVAL_RO and read-only functions may call.
pub fn is_read_only(command: &Command) -> bool {
    !command.spec.flags.intersects(Flags::WRITE.union(Flags::MAY_REPLICATE))
}

/// Handler of containers: the gate resolves subcommands, so it only runs when none was named.
pub fn container(cx: &mut Cx<'_>) -> Res {
    Err(CmdError::arity(cx.command.spec.name))
}

/// The row of every HELP subcommand.
pub const fn help_row(group: crate::spec::Group, since: &'static str) -> Spec {
    let own = match group {
        crate::spec::Group::Connection | crate::spec::Group::Scripting | crate::spec::Group::Stream => {
            crate::spec::Cat::empty()
        }
        _ => crate::spec::Cat::NOT_OF_GROUP,
    };
    Spec::new("help", 2, group, Flags::LOADING.union(Flags::STALE), help).cats(own).doc(
        since,
        "O(1)",
        "Lists the subcommands.",
    )
}

/// Handler of every HELP subcommand: lists the subcommands that the table has.
pub fn help(cx: &mut Cx<'_>) -> Res {
    let Some(command) = lookup(cx.args[0]) else { return Err(unknown_command(cx.args)) };
    let name = command.spec.name.to_ascii_uppercase();
    let subs = command.spec.subs.iter().filter(|sub| sub.name != "help");
    cx.reply.array(3 + 2 * subs.clone().count());
    cx.reply.simple(&format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    for sub in subs {
        let usage = crate::args::synopsis(&crate::args::parse(sub.args));
        cx.reply.simple(format!("{} {usage}", sub.name.to_ascii_uppercase()).trim_end());
        cx.reply.simple(&format!("    {}", sub.summary));
    }
    cx.reply.simple("HELP");
    cx.reply.simple("    Print this help.");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_by_its_name_in_any_case() {
        for (id, spec) in TABLE.iter().enumerate() {
            assert_eq!(lookup(spec.name.as_bytes()).unwrap().id as usize, id);
            assert_eq!(lookup(spec.name.to_ascii_uppercase().as_bytes()).unwrap().id as usize, id);
        }
        assert!(lookup(b"no-such-command").is_none());
        assert!(lookup(b"").is_none());
    }

    #[test]
    fn every_command_is_found_by_its_name_in_any_case_and_by_no_other() {
        for (id, name) in NAMES.iter().enumerate() {
            let found = |name: &[u8]| lookup(name).map(|command| command.id as usize);
            assert_eq!(found(name.as_bytes()), Some(id), "{name}");
            assert_eq!(found(name.to_ascii_uppercase().as_bytes()), Some(id), "{name}");
            for at in 0..name.len() {
                for byte in 0..=255u8 {
                    let mut other = name.as_bytes().to_vec();
                    other[at] = byte;
                    let own = NAMES.iter().position(|name| name.as_bytes().eq_ignore_ascii_case(&other));
                    assert_eq!(found(&other), own, "{name}: {byte} at {at}");
                }
            }
            assert_eq!(
                found(&[name.as_bytes(), b"x"].concat()),
                NAMES.iter().position(|n| *n == format!("{name}x"))
            );
        }
        assert!(lookup(b"").is_none());
    }

    #[test]
    fn an_unknown_command_is_named_with_its_arguments() {
        let error = resolve(&[b"foo", b"a", b"b"]).unwrap_err();
        assert_eq!(error.text(), b"ERR unknown command 'foo', with args beginning with: 'a' 'b' ");
    }
}
