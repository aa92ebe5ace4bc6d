//! MIGRATE: moves keys to another server.
//!
//! What DUMP gives of the keys goes to the target as RESTORE; what it took is deleted here, unless COPY says otherwise.
//! Everything stands still meanwhile, at most for the timeout (milliseconds; 1000 when it is 0 or less) at each step.
//! Each call makes its own connection. The replicas see a DEL.
//!
//! What Redis 7.0 can read is sent so that it does. Streams, and hashes whose fields have deadlines, are sent in the format
//! that `rdb-version-compat` names: a target that does not know it answers `DUMP payload version or checksum are wrong`
//! and the keys stay here.
//!
//! ```transcript
//! # not embedded: an embedded engine has no connections
//! > MIGRATE 127.0.0.1 1 nokey 0 100
//! NOKEY
//! > SET k v
//! OK
//! > MIGRATE 127.0.0.1 1 k 0 x
//! (error) ERR value is not an integer or out of range
//! > MIGRATE 127.0.0.1 1 k 0 100 KEYS k
//! (error) ERR When using MIGRATE KEYS option, the key argument must be set to the empty string
//! > MIGRATE 127.0.0.1 1 k 0 100 AUTH
//! (error) ERR syntax error
//! ```

use crate::cx::Cx;
use crate::dump;
use crate::engine::{Broken, Exchange};
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Begin, Cat, Find, Flags, Group, KEY_TAKE, KeyFlags, KeySpec, Spec};
use totality_resp::write;

/// The table's row.
pub const SPEC: Spec = Spec::new("migrate", -6, Group::Generic, Flags::WRITE, run)
    .args("host:s port:i key-selector:o(key:k@0 empty-string:t'\"\"'^3.0.6) destination-db:i timeout:i copy:t'COPY'?^3.0.0 replace:t'REPLACE'?^3.0.0 authentication:o?(auth/password:s'AUTH'^4.0.7 auth2:b'AUTH2'^6.0.0(username:s password:s)) keys/key:k@1'KEYS'?*^3.0.6")
    .cats(Cat::DANGEROUS)
    .keys(&[
        KeySpec::one(3, KEY_TAKE),
        KeySpec {
            begin: Begin::Keyword("KEYS", -2),
            find: Find::Range { last: -1, step: 1, limit: 0 },
            flags: KEY_TAKE.union(KeyFlags::INCOMPLETE),
        },
    ])
    .tips(&["nondeterministic_output"])
    .doc("2.6.0", "O(N) for N elements, and the way to the target", "Moves keys to another server.")
    .no_rollback();

/// What was asked for.
#[derive(Default)]
struct Options<'a> {
    copy: bool,
    replace: bool,
    /// User, if one was named, and password.
    auth: Option<(Option<&'a [u8]>, &'a [u8])>,
    /// Index of the first key.
    first: usize,
    keys: usize,
}

fn options<'a>(cx: &Cx<'a>) -> Res<Options<'a>> {
    let mut o = Options { first: 3, keys: 1, ..Options::default() };
    let mut i = 6;
    while i < cx.argc() {
        let left = cx.argc() - 1 - i;
        if cx.is(i, "COPY") {
            o.copy = true;
        } else if cx.is(i, "REPLACE") {
            o.replace = true;
        } else if cx.is(i, "AUTH") && left >= 1 {
            o.auth = Some((None, cx.args[i + 1]));
            i += 1;
        } else if cx.is(i, "AUTH2") && left >= 2 {
            o.auth = Some((Some(cx.args[i + 1]), cx.args[i + 2]));
            i += 2;
        } else if cx.is(i, "KEYS") {
            if !cx.args[3].is_empty() {
                return Err(CmdError::new(
                    "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string",
                ));
            }
            (o.first, o.keys) = (i + 1, left);
            break;
        } else {
            return Err(SYNTAX);
        }
        i += 1;
    }
    Ok(o)
}

fn run(cx: &mut Cx<'_>) -> Res {
    let o = options(cx)?;
    let timeout = match cx.int(5)? {
        ms if ms > 0 => ms as u64,
        _ => 1000,
    };
    let db = cx.int(4)?;
    let (request, keys) = request(cx, &o, db);
    if keys.is_empty() {
        cx.reply.simple("NOKEY");
        return Ok(());
    }
    let before = 1 + usize::from(o.auth.is_some());
    let host = String::from_utf8_lossy(cx.args[1]).into_owned();
    let port = crate::util::parse_i64(cx.args[2]).and_then(|port| u16::try_from(port).ok()).unwrap_or(0);
    let Exchange { replies, broken } =
        cx.ticker.exchange((&host, port), timeout, &request, before + keys.len());
    let error = replies.iter().find(|line| line.first() == Some(&b'-'));
    // The keys behind AUTH and SELECT that the target took.
    let refused = replies.iter().take(before).any(|line| line.first() == Some(&b'-'));
    let taken: Vec<&[u8]> = keys
        .iter()
        .zip(replies.iter().skip(before))
        .filter(|(_, line)| !refused && line.first() == Some(&b'+'))
        .map(|(key, _)| *key)
        .collect();
    if !o.copy && !taken.is_empty() {
        let mut argv: Vec<&[u8]> = vec![b"DEL"];
        for key in taken {
            cx.ks.delete(key);
            argv.push(key);
        }
        cx.propagate_as(&argv);
    }
    if let Some(line) = error {
        return Err(CmdError::owned([b"ERR Target instance replied with error: ", &line[1..]].concat()));
    }
    match broken {
        None => {
            cx.reply.ok();
            Ok(())
        }
        Some(Broken::Connecting) => Err(CmdError::new("IOERR error or timeout connecting to the client")),
        Some(Broken::Writing) => Err(CmdError::new("IOERR error or timeout writing to target instance")),
        Some(Broken::Reading) => Err(CmdError::new("IOERR error or timeout reading from target instance")),
    }
}

/// What is sent, and the keys that are in it.
fn request<'a>(cx: &mut Cx<'a>, o: &Options<'a>, db: i64) -> (Vec<u8>, Vec<&'a [u8]>) {
    let mut out = Vec::new();
    match o.auth {
        Some((Some(user), password)) => write::command(&mut out, &[b"AUTH", user, password]),
        Some((None, password)) => write::command(&mut out, &[b"AUTH", password]),
        None => {}
    }
    write::command(&mut out, &[b"SELECT", db.to_string().as_bytes()]);
    let (version, compress) = (cx.sv.config.rdb_version_compat as u16, cx.sv.config.rdbcompression);
    let restore: &[u8] = if cx.sv.config.cluster_enabled { b"RESTORE-ASKING" } else { b"RESTORE" };
    let now = cx.ks.now;
    let mut keys = Vec::new();
    for key in &cx.args[o.first..o.first + o.keys] {
        let Some(value) = cx.ks.read(key) else { continue };
        let payload = dump::dump(value, dump::portable_version(value, version), compress);
        let left = cx.ks.deadline(key).flatten().map_or(0, |at| (at - now).max(1));
        let left = left.to_string();
        let mut argv: Vec<&[u8]> = vec![restore, key, left.as_bytes(), &payload];
        if o.replace {
            argv.push(b"REPLACE");
        }
        write::command(&mut out, &argv);
        keys.push(*key);
    }
    (out, keys)
}
