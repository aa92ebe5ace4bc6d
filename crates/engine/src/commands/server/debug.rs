//! DEBUG: what tests need and nobody else should use. Off unless `enable-debug-command` allows it.
//!
//! QUICKLIST-PACKED-THRESHOLD, DICT-RESIZING, CLIENT-ENFORCE-REPLY-LIST and REPLYBUFFER turn knobs of Redis's own memory
//! layout that have no counterpart here: they answer OK and change nothing.
//!
//! ```transcript
//! # not embedded: it is off unless the configuration allows it
//! # not resp2: it is off unless the configuration allows it
//! # not resp3: it is off unless the configuration allows it
//! # not multi: it is off unless the configuration allows it
//! > DEBUG SLEEP 0
//! OK
//! ```

use crate::commands::debug_digest;
use crate::cx::Cx;
use crate::error::{CmdError, NO_SUCH_KEY, Res, SYNTAX};
use crate::loading::LOADING;
use crate::persistence::Request;
use crate::spec::{Flags, Group, Spec};
use crate::value::Value;

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "debug",
    -2,
    Group::Server,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE),
    run,
)
.doc("1.0.0", "Depends on the subcommand", "Tools for tests.")
.no_rollback()
.system();

fn run(cx: &mut Cx<'_>) -> Res {
    let allowed = match cx.sv.config.enable_debug_command {
        0 => false,
        1 => true,
        _ => cx.me()?.conn.is_local(),
    };
    if !allowed {
        return Err(CmdError::new(
            "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.",
        ));
    }
    let word = cx.args[1].to_ascii_lowercase();
    match (word.as_slice(), cx.argc()) {
        (b"populate" | b"reload" | b"loadaof", _) if cx.sv.persist.loading.is_some() => Err(LOADING),
        (b"sleep", 3) => sleep(cx),
        (b"set-active-expire", 3) => {
            cx.sv.config.active_expire = cx.args[2] != b"0";
            cx.reply.ok();
            Ok(())
        }
        (b"reload", 2..=5) => reload(cx),
        (b"loadaof", 2) => {
            cx.ticker.persist(cx.ks, cx.sv, Request::ReloadLog).map_err(CmdError::owned)?;
            cx.reply.ok();
            Ok(())
        }
        (b"object", 3 | 4) => object(cx),
        (b"digest-value", 2..) => debug_digest::values(cx),
        (b"digest", 2) => debug_digest::all(cx),
        (b"protocol", 3) => protocol(cx),
        (b"populate", 3..=5) => populate(cx),
        (b"stringmatch-len", 4) => {
            let len = cx.int(2)?.clamp(0, 1 << 24) as usize;
            let text = vec![b'a'; len];
            let hit = totality_ds::glob::matches(cx.args[3], &text, false);
            cx.reply.int(i64::from(hit));
            Ok(())
        }
        (b"set-disable-deny-scripts", 3) => {
            cx.sv.deny_in_scripts = cx.args[2] == b"0";
            cx.reply.ok();
            Ok(())
        }
        (b"set-skip-checksum-validation", 3) => {
            cx.sv.skip_checksum = cx.args[2] != b"0";
            cx.reply.ok();
            Ok(())
        }
        (b"pause-cron", 3) => {
            cx.sv.cron_paused = cx.int(2)? != 0;
            cx.reply.ok();
            Ok(())
        }
        (b"aof-flush-sleep", 3) => {
            cx.sv.persist.flush_sleep = cx.int(2)?.clamp(0, 10_000_000).unsigned_abs();
            cx.reply.ok();
            Ok(())
        }
        (b"change-repl-id", 2) => {
            let repl = &mut cx.sv.repl;
            repl.new_id();
            repl.clear_id2();
            let text = format!("Changing replication IDs after receiving change-repl-id, my new id is '{}'", repl.id);
            cx.sv.log(crate::state::LogLevel::Notice, text);
            cx.reply.ok();
            Ok(())
        }
        (b"replicate", 3..) => {
            if cx.sv.repl.collects() {
                let mut bytes = Vec::new();
                crate::propagate::render(&cx.args[2..], &mut bytes);
                cx.sv.repl.feed(&bytes);
            }
            cx.reply.ok();
            Ok(())
        }
        (b"delay-rdb-client-free-seconds", 3) => {
            cx.sv.repl.grace = cx.int(2)?.clamp(0, 86_400);
            cx.reply.ok();
            Ok(())
        }
        (b"pause-after-fork", 3) => {
            cx.sv.repl.stops = cx.args[2] == b"1";
            cx.reply.ok();
            Ok(())
        }
        (b"protect-client", 3) => protect(cx, true),
        (b"unprotect-client", 3) => protect(cx, false),
        (b"help", 2) => help(cx),
        (b"htstats", 3 | 4) => table_stats(cx),
        (b"htstats-key", 3 | 4) => key_table_stats(cx),
        (b"listpack", 3) => listpack(cx),
        (b"error", 3) => Err(CmdError::owned(cx.args[2].to_vec())),
        (b"log", 3) => {
            let text = format!("DEBUG LOG: {}", crate::util::lossy(cx.args[2]));
            cx.sv.log(crate::state::LogLevel::Warning, text);
            cx.reply.ok();
            Ok(())
        }
        (b"client-enforce-reply-list", 3) => {
            cx.sv.reply_lists = cx.args[2] != b"0";
            cx.reply.ok();
            Ok(())
        }
        (b"quicklist-packed-threshold" | b"dict-resizing" | b"force-free-primary-async", 3)
        | (b"replybuffer", 4) => {
            cx.reply.ok();
            Ok(())
        }
        _ => {
            let text = [b"ERR unknown subcommand or wrong number of arguments for '", cx.args[1], b"'. Try DEBUG HELP."];
            Err(CmdError::owned(text.concat()))
        }
    }
}

/// Everything stands still meanwhile, which is what it is for.
fn sleep(cx: &mut Cx<'_>) -> Res {
    let seconds = cx.float(2)?;
    cx.ticker.sleep((seconds.clamp(0.0, 3600.0) * 1e6) as u64);
    cx.reply.ok();
    Ok(())
}

/// Subcommands, their arguments and what they do.
const HELP: [(&str, &str); 29] = [
    ("AOF-FLUSH-SLEEP <microseconds>", "Sleeps before each write to the append-only file."),
    ("CHANGE-REPL-ID", "Gives the stream of replication a new name: replicas need a full resync."),
    ("CLIENT-ENFORCE-REPLY-LIST <0|1>", "Counts the smallest reply as much, where unread replies are limited before AUTH."),
    (
        "DELAY-RDB-CLIENT-FREE-SECONDS <seconds>",
        "How long the stream is kept for a replica that has its snapshot from another connection.",
    ),
    ("DICT-RESIZING <0|1>", "Accepted; tables grow in small steps whatever it says."),
    ("DIGEST", "A digest of all data."),
    ("DIGEST-VALUE <key> [<key> ...]", "Digests of values."),
    ("ERROR <string>", "Answers with an error of this text."),
    ("FORCE-FREE-PRIMARY-ASYNC <0|1>", "Accepted; the connection of the primary is always closed later in the turn."),
    ("HTSTATS <dbid> [full]", "Facts about the table of a database."),
    ("HTSTATS-KEY <key> [full]", "Facts about the table of a value."),
    ("LISTPACK <key>", "The elements of a value that is one listpack."),
    ("LOADAOF", "Loads the append-only file again."),
    ("LOG <message>", "Writes a line into the log."),
    ("OBJECT <key> [fast]", "Facts about a value."),
    ("PAUSE-CRON <0|1>", "Stops what the server does by itself."),
    ("PAUSE-AFTER-FORK <0|1>", "The process stops when a snapshot for replicas has begun."),
    ("POPULATE <count> [<prefix>] [<size>]", "Creates string keys."),
    ("PROTOCOL <type>", "One reply of each kind."),
    ("QUICKLIST-PACKED-THRESHOLD <size>", "Accepted; large elements always have a node of their own."),
    ("RELOAD [NOSAVE] [NOFLUSH] [MERGE]", "Saves the data set and loads it again."),
    ("REPLICATE <command> [<arg> ...]", "Sends a command to replicas without executing it."),
    ("REPLYBUFFER <subcommand> <value>", "Accepted; reply buffers do not work this way here."),
    ("SET-ACTIVE-EXPIRE <0|1>", "Lets keys past their deadline be, or not."),
    ("SET-DISABLE-DENY-SCRIPTS <0|1>", "Lets scripts call what is not meant for them."),
    ("SET-SKIP-CHECKSUM-VALIDATION <0|1>", "Takes payloads of DUMP whatever their checksum."),
    ("SLEEP <seconds>", "Does nothing meanwhile."),
    ("STRINGMATCH-LEN <len> <pattern>", "Matches a string of so many letters a."),
    ("HELP", "Print this help."),
];

fn help(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(1 + 2 * HELP.len());
    cx.reply.simple("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
    for (usage, summary) in HELP {
        cx.reply.simple(usage);
        cx.reply.simple(&format!("    {summary}"));
    }
    Ok(())
}

fn table_stats(cx: &mut Cx<'_>) -> Res {
    let number = cx.int(2).map_err(|_| CmdError::new("ERR Out of range database"))?;
    let db = usize::try_from(number).ok().and_then(|db| cx.ks.dbs().get(db));
    let Some(db) = db else { return Err(CmdError::new("ERR Out of range database")) };
    let text = format!(
        "[Dictionary HT]\nHash table 0 stats (main hash table):\n table size: {}\n number of elements: {}\n bytes: {}\n\
         [Expires HT]\n number of elements: {}\n",
        db.dict().buckets(),
        db.len(),
        db.dict().mem_bytes(),
        db.expires()
    );
    cx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

fn key_table_stats(cx: &mut Cx<'_>) -> Res {
    let Some(entry) = cx.ks.view(cx.args[2]) else { return Err(NO_SUCH_KEY) };
    let (count, table) = match &entry.value {
        Value::Set(set) => (set.len(), set.encoding() == "hashtable"),
        Value::Hash(hash) => (hash.len(), hash.encoding() == "hashtable"),
        Value::ZSet(set) => (set.len(), set.encoding() == "skiplist"),
        _ => (0, false),
    };
    if !table {
        return Err(CmdError::new("ERR The value stored at the specified key is not represented using an hash table"));
    }
    let text = format!(
        "Hash table 0 stats (main hash table):\n number of entries: {count}\n bytes: {}\n",
        entry.value.mem()
    );
    cx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

/// The elements, in the log: they may be many.
/// Holds back the end of a client, or lets it come.
fn protect(cx: &mut Cx<'_>, on: bool) -> Res {
    let id = cx.int(2)?;
    let found = cx.sv.clients.iter().find(|client| client.id.id as i64 == id).map(|client| client.id);
    let Some(client) = found.and_then(|found| cx.sv.clients.get_mut(found)) else {
        return Err(CmdError::new("ERR Client not found"));
    };
    client.protected = on;
    if let (false, true, Some(client)) = (on, client.close, found) {
        crate::acl::kill_client(cx.sv, client, Some(cx.client));
    }
    cx.reply.ok();
    Ok(())
}

fn listpack(cx: &mut Cx<'_>) -> Res {
    let Some(entry) = cx.ks.view(cx.args[2]) else { return Err(NO_SUCH_KEY) };
    if entry.value.encoding() != "listpack" {
        return Err(CmdError::new("ERR Not a listpack encoded object."));
    }
    let bytes = entry.value.mem();
    cx.sv.log(crate::state::LogLevel::Notice, format!("DEBUG LISTPACK: {bytes} bytes"));
    cx.reply.simple("Listpack structure printed on stdout");
    Ok(())
}

/// What is said of a quicklist beyond other values.
fn quicklist_facts(value: &Value, compress: i64) -> String {
    let Value::List(list) = value else { return String::new() };
    let Some(quicklist) = list.quicklist() else { return String::new() };
    let nodes = quicklist.nodes().len();
    format!(
        " ql_nodes:{nodes} ql_avg_node:{:.2} ql_listpack_max:{} ql_compressed:{} ql_uncompressed_size:{}",
        list.len() as f64 / nodes.max(1) as f64,
        quicklist.fill(),
        u8::from(compress > 0),
        quicklist.mem_bytes()
    )
}

/// `DEBUG RELOAD [NOSAVE|NOFLUSH|MERGE]`: saves the data set and loads it again.
fn reload(cx: &mut Cx<'_>) -> Res {
    let (mut save, mut flush, mut merge) = (true, true, false);
    for i in 2..cx.argc() {
        if cx.is(i, "NOSAVE") {
            save = false;
        } else if cx.is(i, "NOFLUSH") {
            flush = false;
        } else if cx.is(i, "MERGE") {
            merge = true;
        } else {
            return Err(CmdError::new(
                "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.",
            ));
        }
    }
    cx.ticker.persist(cx.ks, cx.sv, Request::Reload { save, flush, merge }).map_err(CmdError::owned)?;
    cx.reply.ok();
    Ok(())
}

fn object(cx: &mut Cx<'_>) -> Res {
    // What is past its deadline but not yet deleted is shown, too.
    let Some(entry) = cx.ks.db().dict().get_key(cx.args[2]) else { return Err(NO_SUCH_KEY) };
    let more = quicklist_facts(&entry.value, cx.ks.enc.list_compress);
    let text = format!(
        "Value at:0x0 refcount:1 encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{}{more}",
        entry.value.encoding(),
        entry.value.mem().max(1),
        entry.lru,
        cx.ks.idle_seconds(entry)
    );
    cx.reply.simple(&text);
    Ok(())
}

/// One reply of each kind, for tests of clients.
fn protocol(cx: &mut Cx<'_>) -> Res {
    match cx.args[2].to_ascii_lowercase().as_slice() {
        b"string" => cx.reply.bulk(b"Hello World"),
        b"integer" => cx.reply.int(12345),
        #[allow(clippy::approx_constant)] // the number that Redis sends
        b"double" => cx.reply.double(3.141),
        b"null" => cx.reply.null(),
        b"array" => {
            cx.reply.array(3);
            (0..3).for_each(|i| cx.reply.int(i));
        }
        b"set" => {
            cx.reply.set(3);
            (0..3).for_each(|i| cx.reply.int(i));
        }
        b"map" => {
            cx.reply.map(3);
            for i in 0..3 {
                cx.reply.int(i);
                cx.reply.bool(i == 1);
            }
        }
        b"attrib" => {
            if cx.reply.attribute(1) {
                cx.reply.bulk(b"key-popularity");
                cx.reply.array(2);
                cx.reply.bulk(b"key:123");
                cx.reply.int(90);
            }
            cx.reply.bulk(b"Some real reply following the attribute");
        }
        b"push" => {
            cx.reply.push(2);
            cx.reply.bulk(b"server-cpu-usage");
            cx.reply.int(42);
        }
        b"true" => cx.reply.bool(true),
        b"false" => cx.reply.bool(false),
        b"verbatim" => cx.reply.verbatim("txt", b"This is a verbatim\nstring"),
        b"bignum" => cx.reply.big_number(b"1234567999999999999999999999999999999"),
        _ => {
            return Err(CmdError::new(
                "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
            ));
        }
    }
    Ok(())
}

/// `DEBUG POPULATE count [prefix] [size]`: keys `prefix:0` … with values `value:0` … padded with zero bytes.
fn populate(cx: &mut Cx<'_>) -> Res {
    let count = cx.int(2)?;
    let prefix = cx.args.get(3).copied().unwrap_or(b"key");
    let size = match cx.args.get(4) {
        Some(size) => crate::util::int_arg(size)?.clamp(0, 1 << 20) as usize,
        None => 0,
    };
    if count < 0 {
        return Err(SYNTAX);
    }
    for i in 0..count.min(100_000_000) {
        let key = [prefix, b":", i.to_string().as_bytes()].concat();
        if cx.ks.exists(&key) {
            continue;
        }
        let mut value = format!("value:{i}").into_bytes();
        if size > 0 {
            value.resize(size, 0);
        }
        let mut guard = cx.ks.write(&key);
        guard.overwrite(Value::from_bytes(&value));
        guard.changed(crate::notify::Event::string("set"), 1);
    }
    cx.propagate_nothing();
    cx.reply.ok();
    Ok(())
}
