//! A replica asks for the stream: from where it stopped, or with a snapshot before it. The snapshot itself is made and
//! sent by the owner of the connections, who finds the replica in the state [`ReplicaState::WaitStart`].

use super::{Announced, FailoverState, LinkState, Replica, ReplicaState, Request, channel};
use crate::client::ClientId;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::persistence::Job;
use crate::state::{LogLevel, ServerState};

/// A client's name in the log: the address that it told as a replica, or its number.
pub(crate) fn name(sv: &ServerState, id: ClientId) -> String {
    let told = sv.clients.get(id).and_then(|client| client.announced.as_deref()).cloned();
    Replica::new(id, told.unwrap_or_default(), ReplicaState::WaitStart, 0, 0).name(sv)
}

/// May the client become a replica now?
pub(crate) fn check(cx: &mut Cx<'_>) -> Res {
    if cx.sv.repl.failover.state != FailoverState::None {
        return Err(CmdError::new("NOMASTERLINK Can't SYNC while failing over"));
    }
    if cx.sv.repl.upstream().is_some_and(|upstream| upstream.link != LinkState::Connected) {
        return Err(CmdError::new("NOMASTERLINK Can't SYNC while not connected with my master"));
    }
    // What follows on the connection must not stand behind replies of older commands.
    if cx.reply.written().is_some_and(|bytes| bytes > 0) {
        return Err(CmdError::new("ERR SYNC and PSYNC are invalid with pending output"));
    }
    let told = cx.me()?.announced.as_deref().cloned().unwrap_or_default();
    if told.without.any() && !told.eof {
        return Err(CmdError::new("ERR Filtered replica requires EOF capability"));
    }
    let text = format!("Replica {} asks for synchronization", name(cx.sv, cx.client));
    cx.sv.log(LogLevel::Notice, text);
    Ok(())
}

/// `PSYNC … FAILOVER`: the primary asks this replica of its to take over.
pub(crate) fn take_over(cx: &mut Cx<'_>) -> Res {
    let asked = String::from_utf8_lossy(cx.args[1]).into_owned();
    cx.sv.log(LogLevel::Notice, format!("Failover request received for replid {asked}."));
    if cx.sv.repl.is_primary() {
        return Err(CmdError::new("ERR PSYNC FAILOVER can't be sent to a master."));
    }
    if !asked.eq_ignore_ascii_case(&cx.sv.repl.id) {
        return Err(CmdError::new("ERR PSYNC FAILOVER replid must match my replid."));
    }
    super::become_primary(cx.ks, cx.sv);
    cx.ticker.replicate(cx.ks, cx.sv, Request::Relink).map_err(CmdError::owned)?;
    let by = cx.me()?.conn.addr.clone();
    let text = format!("PRIMARY MODE enabled (failover request from '{by}')");
    cx.sv.log(LogLevel::Notice, text);
    Ok(())
}

/// Lets the client go on from an offset, if the backlog reaches back so far.
pub(crate) fn go_on(cx: &mut Cx<'_>, offset: i64) -> bool {
    if let Err(why) = reach(cx.sv, cx.client, cx.args[1], offset) {
        why.into_iter().for_each(|(level, text)| cx.sv.log(level, text));
        return false;
    }
    let told = announced(cx);
    let (name, from) = (name(cx.sv, cx.client), offset.max(1) as u64 - 1);
    if told.psync2 {
        let id = cx.sv.repl.id.clone();
        cx.reply.simple(&format!("CONTINUE {id}"));
    } else {
        cx.reply.simple("CONTINUE");
    }
    let bytes = cx.sv.repl.offset - from;
    cx.sv.stats.syncs.1 += 1;
    let state = match channel::claim(cx.sv, told.rdb_client) {
        true => ReplicaState::Loading,
        false => ReplicaState::Online,
    };
    let replica = Replica::new(cx.client, told, state, from, cx.ks.now);
    super::attach(cx.ks, cx.sv, replica);
    cx.sv.log(
        LogLevel::Notice,
        format!(
            "Partial resynchronization request from {name} accepted. Sending {bytes} bytes of backlog starting from offset {offset}."
        ),
    );
    true
}

type Why = Vec<(LogLevel, String)>;

/// Why a replica cannot go on from an offset of the stream that it names, if so.
fn reach(sv: &ServerState, client: ClientId, id: &[u8], offset: i64) -> Result<(), Why> {
    let repl = &sv.repl;
    let is = |known: &str| id.eq_ignore_ascii_case(known.as_bytes());
    let shown = String::from_utf8_lossy(id);
    if !is(&repl.id) && (!is(&repl.id2) || offset > repl.second_offset) {
        let text = if id.first() == Some(&b'?') {
            format!("Full resync requested by replica {}", name(sv, client))
        } else if !is(&repl.id2) {
            format!(
                "Partial resynchronization not accepted: Replication ID mismatch (Replica asked for '{shown}', my replication IDs are '{}' and '{}')",
                repl.id, repl.id2
            )
        } else {
            format!(
                "Partial resynchronization not accepted: Requested offset for second ID was {offset}, but I can reply up to {}",
                repl.second_offset
            )
        };
        return Err(vec![(LogLevel::Notice, text)]);
    }
    let before = offset.checked_sub(1).and_then(|before| u64::try_from(before).ok());
    let Some(backlog) = &repl.backlog else {
        let text = format!(
            "Unable to partial resync with replica {} for lack of backlog (Replica request was: {shown}:{offset}).",
            name(sv, client)
        );
        return Err(vec![(LogLevel::Notice, text)]);
    };
    if before.is_some_and(|before| backlog.reaches(before)) {
        return Ok(());
    }
    let mut why = vec![(
        LogLevel::Notice,
        format!(
            "Unable to partial resync with replica {} for lack of backlog (Replica request was {shown}:{offset}, and I can only reply with the range [{}, {}]).",
            name(sv, client),
            backlog.first() + 1,
            backlog.end() + 1
        ),
    )];
    if offset > repl.offset as i64 {
        why.push((
            LogLevel::Warning,
            format!(
                "Warning: replica {} tried to PSYNC with an offset ({offset}) that is greater than the primary replication offset ({})",
                name(sv, client),
                repl.offset
            ),
        ));
    }
    Err(why)
}

fn announced(cx: &Cx<'_>) -> Announced {
    cx.sv.clients.get(cx.client).and_then(|client| client.announced.as_deref()).cloned().unwrap_or_default()
}

/// Tells a replica that can have its snapshot on a connection of its own to ask for it there.
pub(crate) fn on_two_connections(cx: &mut Cx<'_>) -> bool {
    let dual = announced(cx).dual;
    if dual {
        let name = name(cx.sv, cx.client);
        let told = format!(
            "Replica {name} is capable of dual channel synchronization, and partial sync isn't possible. Full sync will continue with dedicated RDB channel."
        );
        cx.sv.log(LogLevel::Notice, channel::text(&told));
        cx.reply.simple("DUALCHANNELSYNC");
    }
    dual
}

/// The client becomes a replica that waits for a snapshot. `silent`: it asked by SYNC.
pub(crate) fn full(cx: &mut Cx<'_>, silent: bool) {
    let told = announced(cx);
    cx.sv.stats.syncs.0 += 1;
    if cx.sv.repl.backlog.is_none() {
        // There is no history, so no old name may stand for one.
        cx.sv.repl.new_id();
        cx.sv.repl.clear_id2();
        let size = cx.sv.config.repl_backlog_size;
        cx.sv.repl.open_backlog(size);
        let text = format!(
            "Replication backlog created, my new replication IDs are '{}' and '{}'",
            cx.sv.repl.id, cx.sv.repl.id2
        );
        cx.sv.log(LogLevel::Notice, text);
    }
    if matches!(cx.sv.persist.job, Some((Job::Sync, _))) {
        let text = "Current BGSAVE has socket target. Waiting for next BGSAVE for SYNC";
        cx.sv.log(LogLevel::Notice, text);
    }
    let offset = cx.sv.repl.offset;
    let mut replica = Replica::new(cx.client, told, ReplicaState::WaitStart, offset, cx.ks.now);
    replica.silent = silent;
    super::attach(cx.ks, cx.sv, replica);
}
