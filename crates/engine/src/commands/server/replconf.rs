//! REPLCONF: what replicas tell about themselves, and how far they have come. ACK and GETACK have no reply.
//!
//! ```transcript
//! # not embedded: there is no connection
//! > REPLCONF listening-port 6380
//! OK
//! > REPLCONF nosuch 1
//! (error) ERR Unrecognized REPLCONF option: nosuch
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::replication::{self, Announced, channel, Request, Without};
use crate::spec::{Flags, Group, Spec};
use crate::util::parse_i64;

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "replconf",
    -1,
    Group::Server,
    Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::LOADING).union(Flags::STALE).union(Flags::ALLOW_BUSY),
    run,
)
.doc("3.0.0", "O(1)", "Internal command of replication.").system();

/// Longest address that is taken, in bytes.
const LONGEST_IP: usize = 256;

fn run(cx: &mut Cx<'_>) -> Res {
    if cx.argc().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    for i in (1..cx.argc()).step_by(2) {
        let value = cx.args[i + 1];
        match cx.args[i].to_ascii_lowercase().as_slice() {
            b"ack" => {
                acknowledge(cx, i);
                return Ok(());
            }
            b"getack" => {
                if cx.sv.repl.upstream().is_some_and(|upstream| upstream.client.is_some()) {
                    cx.ticker.replicate(cx.ks, cx.sv, Request::Acknowledge).map_err(CmdError::owned)?;
                }
                return Ok(());
            }
            b"listening-port" => {
                let port = cx.int(i + 1)?;
                told(cx)?.port = u16::try_from(port).unwrap_or(0);
            }
            b"ip-address" => {
                if value.len() >= LONGEST_IP {
                    return Err(CmdError::owned(format!(
                        "ERR REPLCONF ip-address provided by replica instance is too long: {} bytes",
                        value.len()
                    )));
                }
                told(cx)?.ip = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"capa" => {
                let (eof, psync2) = (cx.is(i + 1, "eof"), cx.is(i + 1, "psync2"));
                let dual = cx.is(i + 1, "dual-channel") && takes_channels(cx);
                let told = told(cx)?;
                told.eof |= eof;
                told.psync2 |= psync2;
                told.dual |= dual;
            }
            b"rdb-channel" => {
                let on = crate::util::range_arg(value, 0, 1)?;
                told(cx)?.rdb_channel = on == 1;
            }
            b"set-rdb-client-id" => {
                let id = cx.int(i + 1)?;
                if !channel::is_known(cx.sv, id) {
                    return Err(CmdError::owned(format!("ERR Unrecognized RDB client id {id}")));
                }
                told(cx)?.rdb_client = Some(id);
            }
            b"rdb-only" => {
                let on = crate::util::range_arg(value, 0, 1)?;
                told(cx)?.rdb_only = on == 1;
            }
            b"rdb-filter-only" => told(cx)?.without = filter(value)?,
            b"version" => {
                let version = version(value).ok_or_else(|| {
                    CmdError::owned([b"ERR Unrecognized version format: ", value].concat())
                })?;
                told(cx)?.version = version;
            }
            _ => {
                return Err(CmdError::owned([b"ERR Unrecognized REPLCONF option: ", cx.args[i]].concat()));
            }
        }
    }
    cx.reply.ok();
    Ok(())
}

/// True when full syncs may use two connections.
fn takes_channels(cx: &mut Cx<'_>) -> bool {
    if cx.sv.config.dual_channel_replication && !cx.sv.config.repl_diskless_sync {
        let text = "Dual channel capability ignored: repl-diskless-sync disabled";
        cx.sv.log(crate::state::LogLevel::Notice, text);
    }
    cx.sv.config.dual_channel_replication && cx.sv.config.repl_diskless_sync
}

fn told<'a>(cx: &'a mut Cx<'_>) -> Res<&'a mut Announced> {
    Ok(cx.me()?.announced.get_or_insert_default())
}

/// Parts that are left out because they are not named.
fn filter(value: &[u8]) -> Res<Without> {
    let mut without = Without { data: true, functions: true };
    for word in value.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        if !word.eq_ignore_ascii_case(b"functions") {
            return Err(CmdError::owned([b"ERR Unsupported rdb-filter-only option: ", word].concat()));
        }
        without.functions = false;
    }
    Ok(without)
}

/// `a.b.c` as `0xaabbcc`.
fn version(text: &[u8]) -> Option<u32> {
    let mut parts = std::str::from_utf8(text).ok()?.split('.').map(|part| part.parse::<u8>().ok());
    let version = (0..3).try_fold(0, |version, _| Some(version << 8 | u32::from(parts.next()??)))?;
    parts.next().is_none().then_some(version)
}

fn acknowledge(cx: &mut Cx<'_>, i: usize) {
    let (ack, seconds) = (parse_i64(cx.args[i + 1]), cx.ks.now / 1000);
    let disk = if cx.is(i + 2, "fack") { cx.args.get(i + 3).map(|arg| parse_i64(arg)) } else { None };
    let client = cx.client;
    let (Some(ack), Some(replica)) = (ack, cx.sv.repl.replica_mut(client)) else { return };
    let offset = |n: i64| u64::try_from(n).unwrap_or(0);
    replica.ack = replica.ack.max(offset(ack));
    match disk {
        Some(Some(disk)) => replica.ack_aof = replica.ack_aof.max(offset(disk)),
        Some(None) => return,
        None => {}
    }
    replica.ack_time = seconds;
    replica.await_ack &= replica.state != replication::ReplicaState::Online;
    if replica.state == replication::ReplicaState::Loading {
        replica.state = replication::ReplicaState::Online;
        let name = replica.clone().name(cx.sv);
        let text = format!("Synchronization with replica {name} succeeded");
        cx.sv.log(crate::state::LogLevel::Notice, text);
    }
    cx.sv.repl.acked = true;
    replication::count_good(cx.sv);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_three_numbers() {
        assert_eq!(version(b"8.1.2"), Some(0x08_0102));
        assert_eq!(version(b"255.255.255"), Some(0xff_ffff));
        for bad in ["8.1", "8.1.2.3", "8.1.x", "256.0.0", "", "8.1."] {
            assert_eq!(version(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn filters_name_what_is_wanted() {
        assert_eq!(filter(b"functions"), Ok(Without { data: true, functions: false }));
        assert_eq!(filter(b""), Ok(Without { data: true, functions: true }));
        assert!(filter(b"keys").is_err());
    }
}
