//! What the command table says of a command. One `const SPEC` per file under `commands/`.

use crate::cx::Cx;
use crate::error::Res;
use bitflags::bitflags;

bitflags! {
    /// Properties of a command, with the meaning that COMMAND INFO documents.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Flags: u32 {
        /// May change the data set.
        const WRITE = 1;
        /// Reads keys and changes nothing.
        const READONLY = 1 << 1;
        /// May need memory: refused when `maxmemory` is reached.
        const DENYOOM = 1 << 2;
        /// An administrator's command.
        const ADMIN = 1 << 3;
        /// Concerns publish/subscribe.
        const PUBSUB = 1 << 4;
        /// Not allowed in scripts.
        const NOSCRIPT = 1 << 5;
        /// May block the client.
        const BLOCKING = 1 << 6;
        /// Allowed while data is loaded.
        const LOADING = 1 << 7;
        /// Allowed on a replica that lost its primary.
        const STALE = 1 << 8;
        /// Not shown to MONITOR.
        const SKIP_MONITOR = 1 << 9;
        /// Not logged by SLOWLOG.
        const SKIP_SLOWLOG = 1 << 10;
        /// O(1) or O(log n).
        const FAST = 1 << 11;
        /// Allowed before authentication.
        const NO_AUTH = 1 << 12;
        /// May go to replicas though it writes no key.
        const MAY_REPLICATE = 1 << 13;
        /// Not allowed in MULTI.
        const NO_MULTI = 1 << 14;
        /// Keys lie at places the table cannot say; COMMAND GETKEYS asks the command.
        const MOVABLE_KEYS = 1 << 15;
        /// Served while a script is past `busy-reply-threshold`.
        const ALLOW_BUSY = 1 << 16;
        /// Reaches outside the keyspace, so it cannot be taken back: refused in a rollback scope.
        const NO_ROLLBACK = 1 << 17;
        /// Not propagated by the gate although it changes data (the handler propagates what it did).
        const NO_PROPAGATE = 1 << 18;
        /// Executed at once even in MULTI (EXEC, DISCARD, WATCH, …).
        const IMMEDIATE = 1 << 19;
        /// Runs a script: the time limit, OOM and read-only rules are judged by the script's own flags.
        const SCRIPT = 1 << 20;
        /// Refused while a replica loads beside the data that it serves. No file is loaded so here: it is only shown.
        const NO_ASYNC_LOADING = 1 << 21;
        /// No key is mandatory.
        const NO_MANDATORY_KEYS = 1 << 22;
        /// SUBSCRIBE and friends: allowed for a RESP2 client in subscribed state.
        const SUBSCRIBED = 1 << 23;
        /// Its arguments hold secrets: redacted in MONITOR and SLOWLOG.
        const SENSITIVE = 1 << 24;
        /// Not for users: COMMAND DOCS marks it so.
        const SYSTEM = 1 << 25;
    }
}

bitflags! {
    /// ACL categories beyond those that the flags imply.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Cat: u32 {
        /// `@keyspace`
        const KEYSPACE = 1;
        /// `@read`
        const READ = 1 << 1;
        /// `@write`
        const WRITE = 1 << 2;
        /// `@set`
        const SET = 1 << 3;
        /// `@sortedset`
        const SORTEDSET = 1 << 4;
        /// `@list`
        const LIST = 1 << 5;
        /// `@hash`
        const HASH = 1 << 6;
        /// `@string`
        const STRING = 1 << 7;
        /// `@bitmap`
        const BITMAP = 1 << 8;
        /// `@hyperloglog`
        const HYPERLOGLOG = 1 << 9;
        /// `@geo`
        const GEO = 1 << 10;
        /// `@stream`
        const STREAM = 1 << 11;
        /// `@pubsub`
        const PUBSUB = 1 << 12;
        /// `@admin`
        const ADMIN = 1 << 13;
        /// `@fast`
        const FAST = 1 << 14;
        /// `@slow`
        const SLOW = 1 << 15;
        /// `@blocking`
        const BLOCKING = 1 << 16;
        /// `@dangerous`
        const DANGEROUS = 1 << 17;
        /// `@connection`
        const CONNECTION = 1 << 18;
        /// `@transaction`
        const TRANSACTION = 1 << 19;
        /// `@scripting`
        const SCRIPTING = 1 << 20;
        /// No category: that of the command's group does not apply to it.
        const NOT_OF_GROUP = 1 << 21;
    }
}

bitflags! {
    /// What a command does with the keys of a [`KeySpec`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct KeyFlags: u16 {
        /// Read only.
        const RO = 1;
        /// Read and written.
        const RW = 1 << 1;
        /// Overwritten without being read.
        const OW = 1 << 2;
        /// Removed.
        const RM = 1 << 3;
        /// The value is returned or copied.
        const ACCESS = 1 << 4;
        /// The value is updated depending on what it was.
        const UPDATE = 1 << 5;
        /// Data is inserted.
        const INSERT = 1 << 6;
        /// Data is deleted.
        const DELETE = 1 << 7;
        /// Not a key, but to be treated as one (channel of a shard).
        const NOT_KEY = 1 << 8;
        /// The spec may miss keys.
        const INCOMPLETE = 1 << 9;
        /// Which of the flags hold depends on the arguments.
        const VARIABLE = 1 << 10;
    }
}

/// Where keys begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// At this argument (the command's name is 0).
    Index(i32),
    /// After this word, searched from `from` (negative: from the end, backwards).
    Keyword(&'static str, i32),
    /// It cannot be said.
    Unknown,
}

/// How keys go on from where they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Find {
    /// Up to `last` counted from the beginning (negative: from the end of the arguments), every `step`th, and only
    /// the first 1/`limit` of them when `limit` > 1.
    Range {
        /// Offset of the last key from the first; negative counts from the last argument.
        last: i32,
        /// Distance between two keys.
        step: i32,
        /// 0 or 1: no limit; 2: half of the remaining arguments, …
        limit: i32,
    },
    /// A number of keys stands at `at`, keys follow from `first` on (both relative to the beginning).
    Count {
        /// Offset of the number of keys.
        at: i32,
        /// Offset of the first key.
        first: i32,
        /// Distance between two keys.
        step: i32,
    },
    /// It cannot be said.
    Unknown,
}

/// One group of keys among the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySpec {
    /// Where they begin.
    pub begin: Begin,
    /// How they go on.
    pub find: Find,
    /// What is done with them.
    pub flags: KeyFlags,
}

impl KeySpec {
    /// One key at argument `at`.
    pub const fn one(at: i32, flags: KeyFlags) -> Self {
        KeySpec { begin: Begin::Index(at), find: Find::Range { last: 0, step: 1, limit: 0 }, flags }
    }
    /// Keys from argument `from` to the last argument.
    pub const fn rest(from: i32, flags: KeyFlags) -> Self {
        KeySpec { begin: Begin::Index(from), find: Find::Range { last: -1, step: 1, limit: 0 }, flags }
    }
    /// A range as COMMAND INFO gives it: from `first`, `last` relative (negative from the end), every `step`th.
    pub const fn range(first: i32, last: i32, step: i32, flags: KeyFlags) -> Self {
        KeySpec { begin: Begin::Index(first), find: Find::Range { last, step, limit: 0 }, flags }
    }
    /// The number of keys at argument `at`, the keys right after it.
    pub const fn counted(at: i32, flags: KeyFlags) -> Self {
        KeySpec { begin: Begin::Index(at), find: Find::Count { at: 0, first: 1, step: 1 }, flags }
    }
}

/// `RO | ACCESS`: a key whose value is returned.
pub const KEY_READ: KeyFlags = KeyFlags::RO.union(KeyFlags::ACCESS);
/// `RO`: a key of which only a property is returned.
pub const KEY_PEEK: KeyFlags = KeyFlags::RO;
/// `RW | UPDATE`: a key that is changed depending on what it was.
pub const KEY_UPDATE: KeyFlags = KeyFlags::RW.union(KeyFlags::UPDATE);
/// `RW | INSERT`: a key to which data is added.
pub const KEY_INSERT: KeyFlags = KeyFlags::RW.union(KeyFlags::INSERT);
/// `RW | DELETE`: a key from which data is removed.
pub const KEY_DELETE: KeyFlags = KeyFlags::RW.union(KeyFlags::DELETE);
/// `RW | ACCESS | DELETE`: a key from which data is taken.
pub const KEY_TAKE: KeyFlags = KeyFlags::RW.union(KeyFlags::ACCESS).union(KeyFlags::DELETE);
/// `OW | UPDATE`: a key that is overwritten.
pub const KEY_STORE: KeyFlags = KeyFlags::OW.union(KeyFlags::UPDATE);
/// `RM | DELETE`: a key that is removed.
pub const KEY_REMOVE: KeyFlags = KeyFlags::RM.union(KeyFlags::DELETE);

/// Groups of commands, as COMMAND DOCS names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Group {
    Generic,
    String,
    List,
    Set,
    SortedSet,
    Hash,
    Bitmap,
    Stream,
    Pubsub,
    Transactions,
    Connection,
    Server,
    Scripting,
    Hyperloglog,
    Geo,
    Cluster,
}

impl Group {
    /// The group's name in COMMAND DOCS.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Generic => "generic",
            Group::String => "string",
            Group::List => "list",
            Group::Set => "set",
            Group::SortedSet => "sorted-set",
            Group::Hash => "hash",
            Group::Bitmap => "bitmap",
            Group::Stream => "stream",
            Group::Pubsub => "pubsub",
            Group::Transactions => "transactions",
            Group::Connection => "connection",
            Group::Server => "server",
            Group::Scripting => "scripting",
            Group::Hyperloglog => "hyperloglog",
            Group::Geo => "geo",
            Group::Cluster => "cluster",
        }
    }
}

/// A command's implementation.
pub type Handler = fn(&mut Cx<'_>) -> Res;

/// Everything that the table knows of a command.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Lower-case name; of a subcommand, only its own word.
    pub name: &'static str,
    /// Number of arguments with the name (and the container's name, for a subcommand); negative: at least so many.
    pub arity: i32,
    /// Properties.
    pub flags: Flags,
    /// ACL categories beyond those that follow from the flags and the group.
    pub cats: Cat,
    /// Where keys are.
    pub keys: &'static [KeySpec],
    /// Group for documentation.
    pub group: Group,
    /// First version of Redis (or Valkey) that has it.
    pub since: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// Time complexity, as documented; empty where it makes no sense.
    pub complexity: &'static str,
    /// Tips of COMMAND INFO (`nondeterministic_output`, …).
    pub tips: &'static [&'static str],
    /// Arguments of COMMAND DOCS, in the notation of [`crate::args`].
    pub args: &'static str,
    /// The version that deprecated it and what to use instead.
    pub deprecated: Option<(&'static str, &'static str)>,
    /// The implementation; of a container, what answers when no subcommand matches is the gate's own error.
    pub handler: Handler,
    /// Subcommands of a container.
    pub subs: &'static [Spec],
}

impl Spec {
    /// A spec with the mandatory parts; the rest is filled with the builder methods in `const` context.
    pub const fn new(name: &'static str, arity: i32, group: Group, flags: Flags, handler: Handler) -> Self {
        Spec {
            name,
            arity,
            flags,
            cats: Cat::empty(),
            keys: &[],
            group,
            since: "1.0.0",
            summary: "",
            complexity: "O(1)",
            tips: &[],
            args: "",
            deprecated: None,
            handler,
            subs: &[],
        }
    }
    /// Sets where keys are.
    pub const fn keys(mut self, keys: &'static [KeySpec]) -> Self {
        self.keys = keys;
        self
    }
    /// Sets version, summary and complexity.
    pub const fn doc(mut self, since: &'static str, complexity: &'static str, summary: &'static str) -> Self {
        self.since = since;
        self.complexity = complexity;
        self.summary = summary;
        self
    }
    /// Adds ACL categories.
    pub const fn cats(mut self, cats: Cat) -> Self {
        self.cats = cats;
        self
    }
    /// Sets the tips.
    pub const fn tips(mut self, tips: &'static [&'static str]) -> Self {
        self.tips = tips;
        self
    }
    /// Marks it as reaching outside the keyspace: refused in a rollback scope.
    pub const fn no_rollback(mut self) -> Self {
        self.flags = self.flags.union(Flags::NO_ROLLBACK);
        self
    }
    /// Sets the arguments, in the notation of [`crate::args`].
    pub const fn args(mut self, args: &'static str) -> Self {
        self.args = args;
        self
    }
    /// Sets the version that deprecated it, and what to use instead.
    pub const fn deprecated(mut self, since: &'static str, instead: &'static str) -> Self {
        self.deprecated = Some((since, instead));
        self
    }
    /// Sets the version alone.
    pub const fn since(mut self, since: &'static str) -> Self {
        self.since = since;
        self
    }
    /// Adds properties.
    pub const fn also(mut self, flags: Flags) -> Self {
        self.flags = self.flags.union(flags);
        self
    }
    /// Marks it as not for users.
    pub const fn system(mut self) -> Self {
        self.flags = self.flags.union(Flags::SYSTEM);
        self
    }
    /// Makes it a container of subcommands.
    pub const fn subs(mut self, subs: &'static [Spec]) -> Self {
        self.subs = subs;
        self
    }

    /// Refuses, at compile time, a spec that contradicts itself.
    pub const fn check(&self) {
        assert!(!self.name.is_empty());
        assert!(self.arity != 0);
        let write = self.flags.contains(Flags::WRITE);
        assert!(
            !(write && self.flags.contains(Flags::READONLY)),
            "a command writes or is read-only, not both"
        );
        assert!(
            !self.flags.contains(Flags::DENYOOM)
                || write
                || self.flags.contains(Flags::SCRIPT)
                || self.keys.is_empty()
        );
        let mut i = 0;
        while i < self.name.len() {
            assert!(!self.name.as_bytes()[i].is_ascii_uppercase(), "names are lower case");
            i += 1;
        }
        let mut i = 0;
        while i < self.subs.len() {
            self.subs[i].check();
            i += 1;
        }
    }

    /// True when `argc` arguments (with the name) satisfy the arity.
    pub const fn accepts(&self, argc: usize) -> bool {
        if self.arity > 0 { argc == self.arity as usize } else { argc >= self.arity.unsigned_abs() as usize }
    }
}
