//! RESTORE: makes a key of what DUMP gave, here or elsewhere.
//!
//! Payloads of every version up to Redis 8 and Valkey 9 are taken. Each is checked to its last element before anything
//! is changed, whatever `sanitize-dump-payload` would say.
//!
//! ```transcript
//! > RESTORE k 0 "\x00\xc0\n\x09\x00\xbem\x06\x89Z(\x00\n"
//! OK
//! > GET k
//! "10"
//! > RESTORE k 0 "\x00\xc0\n\x09\x00\xbem\x06\x89Z(\x00\n"
//! (error) BUSYKEY Target key name already exists.
//! > RESTORE k 0 "\x00\xc0\n\x09\x00\xbem\x06\x89Z(\x00\x0b" REPLACE
//! (error) ERR DUMP payload version or checksum are wrong
//! > RESTORE k -1 "" REPLACE
//! (error) ERR Invalid TTL value, must be >= 0
//! > RESTORE k 0 "" FREQ 256
//! (error) ERR Invalid FREQ value, must be >= 0 and <= 255
//! ```

use crate::cx::{Cx, Origin};
use crate::dump::{self, Refused};
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::{DEL, Event};
use crate::spec::{Cat, Flags, Group, KEY_STORE, KeySpec, Spec};
use crate::state::LogLevel;

/// The table's row.
pub const SPEC: Spec = Spec::new("restore", -4, Group::Generic, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 ttl:i serialized-value:s replace:t'REPLACE'?^3.0.0 absttl:t'ABSTTL'?^5.0.0 seconds:i'IDLETIME'?^5.0.0 frequency:i'FREQ'?^5.0.0")
    .cats(Cat::KEYSPACE.union(Cat::DANGEROUS))
    .keys(&[KeySpec::one(1, KEY_STORE)])
    .doc("2.6.0", "O(N) for N elements", "Makes a key of what DUMP gave.");

#[derive(Default)]
struct Options {
    replace: bool,
    absolute: bool,
    idle: Option<i64>,
    freq: Option<i64>,
}

fn options(cx: &Cx<'_>) -> Res<Options> {
    let mut o = Options::default();
    let mut i = 4;
    while i < cx.argc() {
        let more = i + 1 < cx.argc();
        if cx.is(i, "REPLACE") {
            o.replace = true;
        } else if cx.is(i, "ABSTTL") {
            o.absolute = true;
        } else if cx.is(i, "IDLETIME") && more && o.freq.is_none() {
            i += 1;
            let idle = cx.int(i)?;
            if idle < 0 {
                return Err(CmdError::new("ERR Invalid IDLETIME value, must be >= 0"));
            }
            o.idle = Some(idle);
        } else if cx.is(i, "FREQ") && more && o.idle.is_none() {
            i += 1;
            let freq = cx.int(i)?;
            if !(0..=255).contains(&freq) {
                return Err(CmdError::new("ERR Invalid FREQ value, must be >= 0 and <= 255"));
            }
            o.freq = Some(freq);
        } else {
            return Err(SYNTAX);
        }
        i += 1;
    }
    Ok(o)
}

fn run(cx: &mut Cx<'_>) -> Res {
    let o = options(cx)?;
    let key = cx.args[1];
    if !o.replace && cx.ks.exists(key) {
        return Err(CmdError::new("BUSYKEY Target key name already exists."));
    }
    let ttl = cx.int(2)?;
    if ttl < 0 {
        return Err(CmdError::new("ERR Invalid TTL value, must be >= 0"));
    }
    let strict = cx.sv.config.rdb_version_check == 0;
    let restored = dump::restore(cx.args[3], strict, !cx.sv.skip_checksum, cx.ks);
    let value = restored.map_err(|why| match why {
        Refused::Sealed => CmdError::new("ERR DUMP payload version or checksum are wrong"),
        Refused::Foreign(ty) => CmdError::owned(format!("ERR Unsupported foreign data type: {ty}")),
        Refused::Bad(why) => {
            cx.sv.log(LogLevel::Verbose, format!("RESTORE refuses a payload: {why}"));
            CmdError::new("ERR Bad data format")
        }
    })?;
    let now = cx.ks.now;
    let deadline = (ttl != 0).then(|| if o.absolute { ttl } else { ttl.saturating_add(now) });
    if deadline.is_some_and(|at| at <= now) && cx.origin != Origin::Replay && !cx.ks.keeps_past() {
        // It would be gone at once.
        if cx.ks.delete_as(key, DEL) {
            let del: &[u8] = if cx.sv.config.lazyfree[2] { b"UNLINK" } else { b"DEL" };
            cx.propagate_as(&[del, key]);
        }
        cx.reply.ok();
        return Ok(());
    }
    let mark = o.freq.map(|n| cx.ks.access_freq(n as u8)).or(o.idle.map(|n| cx.ks.access_idle(n)));
    let mut guard = cx.ks.write(key);
    guard.remove();
    guard.set(value);
    guard.set_deadline(deadline);
    if let Some(mark) = mark.flatten() {
        guard.set_access(mark);
    }
    guard.signal();
    guard.changed(Event::generic("restore"), 1);
    drop(guard);
    if let (Some(at), false) = (deadline, o.absolute) {
        let digits = at.to_string();
        let mut argv = cx.args.to_vec();
        argv[2] = digits.as_bytes();
        argv.push(b"ABSTTL");
        cx.propagate_as(&argv);
    }
    cx.reply.ok();
    Ok(())
}
