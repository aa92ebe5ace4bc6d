//! CLIENT LIST and CLIENT INFO.

use super::filter::{Filter, Kind, kind_of};
use crate::client::Client;
use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::keyspace::Keyspace;
use crate::reply::Proto;
use crate::script::tracked::Tracker;
use crate::spec::Flags;

/// Stands in the log where `hide-user-data-from-log` hides something.
pub const HIDDEN: &str = "*redacted*";

pub(super) fn list(cx: &mut Cx<'_>) -> Res {
    if cx.argc() == 3 {
        return Err(SYNTAX);
    }
    let filter = Filter::parse(cx, 2)?;
    let mut text = Vec::new();
    let mut clients: Vec<&Client> = cx.sv.clients.iter().filter(|c| filter.matches(c, cx.ks, cx.client)).collect();
    clients.sort_by_key(|client| client.id.id);
    for client in clients {
        line(client, cx.ks, &cx.sv.scripts.tracker, false, &mut text);
    }
    cx.reply.verbatim("txt", &text);
    Ok(())
}

pub(super) fn info(cx: &mut Cx<'_>) -> Res {
    let mut text = Vec::new();
    if let Some(client) = cx.sv.clients.get(cx.client) {
        line(client, cx.ks, &cx.sv.scripts.tracker, false, &mut text);
    }
    cx.reply.verbatim("txt", &text);
    Ok(())
}

/// One line with the fields that Redis shows, in its order. `hide`: the names that users chose are left out.
pub(crate) fn line(client: &Client, ks: &Keyspace, tracker: &Tracker, hide: bool, out: &mut Vec<u8>) {
    let named = |name: &[u8]| if hide { HIDDEN.to_owned() } else { String::from_utf8_lossy(name).into_owned() };
    let io = &client.io;
    let multi = match (&client.multi, client.exec) {
        (Some(multi), _) => Some((multi.queue.len(), multi.bytes)),
        (None, (0, _)) => None,
        (None, running) => Some(running),
    };
    let total = io.qbuf + io.qbuf_free + io.omem + io.obl + client.held_memory() + ks.watch.memory(client.id) + size_of::<Client>();
    let command = client.last_command.map_or("NULL", |command| &command.full_name);
    out.extend_from_slice(
        format!(
            "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} capa={} db={} sub={} psub={} ssub={} multi={} watch={} ",
            client.id.id,
            client.conn.addr,
            client.conn.laddr,
            client.conn.fd,
            named(&client.name),
            (ks.now - client.since_ms) / 1000,
            (ks.now - client.last_ms) / 1000,
            flags(client, ks),
            if client.capa_redirect { "r" } else { "" },
            client.db,
            client.subscriptions[0],
            client.subscriptions[1],
            client.subscriptions[2],
            multi.map_or(-1, |(commands, _)| commands as i64),
            ks.watch.count(client.id),
        )
        .as_bytes(),
    );
    out.extend_from_slice(
        format!(
            "qbuf={} qbuf-free={} argv-mem={} multi-mem={} rbs={} rbp={} obl={} oll={} omem={} tot-mem={total} \
             events=r cmd={command} user={} redir={} resp={} lib-name={} lib-ver={} tot-net-in={} tot-net-out={} tot-cmds={}",
            io.qbuf,
            io.qbuf_free,
            io.argv_mem,
            multi.map_or(0, |(_, bytes)| bytes),
            io.obl,
            io.obl,
            io.obl,
            io.oll,
            io.omem,
            named(&client.user.name),
            super::tracking::redirection(client.tracking.as_deref()),
            if client.proto == Proto::Resp3 { 3 } else { 2 },
            String::from_utf8_lossy(&client.lib.0),
            String::from_utf8_lossy(&client.lib.1),
            io.net_in,
            io.net_out,
            client.commands,
        )
        .as_bytes(),
    );
    // The script's name, when its last command ran one that has a name.
    let ran = client.last_command.is_some_and(|command| command.spec.flags.contains(Flags::SCRIPT));
    if let Some(label) = client.script.filter(|_| ran).and_then(|ticket| tracker.label_of(ticket)) {
        out.extend_from_slice(b" script=");
        out.extend_from_slice(label.as_bytes());
    }
    out.push(b'\n');
}

pub(super) fn flags(client: &Client, ks: &Keyspace) -> String {
    let mut flags = String::new();
    let mut flag = |on: bool, letter| {
        if on {
            flags.push(letter);
        }
    };
    flag(client.replica && !client.monitor, 'S');
    flag(client.primary, 'M');
    flag(client.monitor, 'O');
    flag(kind_of(client) == Kind::Pubsub, 'P');
    flag(client.multi.is_some() || client.exec.0 > 0, 'x');
    flag(client.blocked || client.postponed, 'b');
    flag(client.tracking.is_some(), 't');
    flag(client.tracking.as_ref().is_some_and(|t| t.broken), 'R');
    flag(client.tracking.as_ref().is_some_and(|t| t.bcast), 'B');
    flag(ks.watch.is_touched(client.id), 'd');
    flag(client.close, 'c');
    flag(client.conn.unix, 'U');
    flag(client.reads_replicas, 'r');
    flag(client.no_evict, 'e');
    flag(client.no_touch, 'T');
    flag(client.import_source, 'I');
    if flags.is_empty() {
        flags.push('N');
    }
    flags
}
