//! HELLO: chooses the protocol version, authenticates and names the connection, and tells about the server.
//!
//! ```transcript
//! > HELLO 4
//! (error) NOPROTO unsupported protocol version
//! > HELLO x
//! (error) ERR Protocol version is not an integer or out of range
//! ```

use super::auth::authenticate;
use super::client::valid_name;
use crate::cx::Cx;
use crate::error::{CmdError, NO_AUTH, Res};
use crate::reply::Proto;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "hello",
    -1,
    Group::Connection,
    Flags::FAST
        .union(Flags::LOADING)
        .union(Flags::STALE)
        .union(Flags::NO_AUTH)
        .union(Flags::NOSCRIPT)
        .union(Flags::ALLOW_BUSY)
        .union(Flags::SENSITIVE),
    run,
).args("arguments:b?(protover:i auth:b'AUTH'?(username:s password:s) clientname:s'SETNAME'?)")
.doc("6.0.0", "O(1)", "Chooses the protocol version and tells about the server.");

fn run(cx: &mut Cx<'_>) -> Res {
    let mut proto = None;
    let mut i = 1;
    if let Some(version) = cx.args.get(1) {
        proto = Some(match crate::util::parse_i64(version) {
            Some(2) => Proto::Resp2,
            Some(3) => Proto::Resp3,
            Some(_) => return Err(CmdError::new("NOPROTO unsupported protocol version")),
            None => return Err(CmdError::new("ERR Protocol version is not an integer or out of range")),
        });
        i = 2;
    }
    let (mut login, mut name) = (None, None);
    while i < cx.argc() {
        let left = cx.argc() - i - 1;
        if cx.is(i, "AUTH") && left >= 2 {
            login = Some((cx.args[i + 1], cx.args[i + 2]));
            i += 3;
        } else if cx.is(i, "SETNAME") && left >= 1 {
            name = Some(cx.args[i + 1]);
            i += 2;
        } else {
            let mut text = b"ERR Syntax error in HELLO option '".to_vec();
            text.extend_from_slice(cx.args[i]);
            text.push(b'\'');
            return Err(CmdError::owned(text));
        }
    }
    if let Some((user, password)) = login {
        authenticate(cx, user, password)?;
    }
    if !cx.me()?.authenticated {
        return Err(match NO_AUTH {
            _ if login.is_none() => CmdError::new(
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time",
            ),
            other => other,
        });
    }
    if let Some(name) = name {
        valid_name(name)?;
        cx.me()?.name = name.to_vec();
    }
    if let Some(proto) = proto {
        cx.me()?.proto = proto;
        cx.reply.set_proto(proto);
    }
    describe(cx);
    Ok(())
}

fn describe(cx: &mut Cx<'_>) {
    let version = if cx.reply.resp3() { 3 } else { 2 };
    let mode: &[u8] = if cx.sv.config.cluster_enabled { b"cluster" } else { b"standalone" };
    let zone = cx.sv.config.availability_zone.clone();
    cx.reply.map(7 + usize::from(!zone.is_empty()));
    cx.reply.bulk(b"server");
    cx.reply.bulk(b"redis");
    cx.reply.bulk(b"version");
    cx.reply.bulk(crate::REDIS_VERSION.as_bytes());
    cx.reply.bulk(b"proto");
    cx.reply.int(version);
    cx.reply.bulk(b"id");
    cx.reply.int(cx.client.id as i64);
    cx.reply.bulk(b"mode");
    cx.reply.bulk(mode);
    cx.reply.bulk(b"role");
    cx.reply.bulk(b"master");
    cx.reply.bulk(b"modules");
    cx.reply.array(0);
    if !zone.is_empty() {
        cx.reply.bulk(b"availability_zone");
        cx.reply.bulk(zone.as_bytes());
    }
}
