//! INFO's section about replication.

use crate::keyspace::Keyspace;
use crate::replication::{LinkState, Upstream};
use crate::state::ServerState;
use std::fmt::Write;

pub(super) fn section(_: &Keyspace, sv: &ServerState, out: &mut String) {
    let repl = &sv.repl;
    let now = (sv.stamp / 1_000_000) as i64;
    out.push_str("# Replication\r\n");
    match repl.upstream() {
        None => out.push_str("role:master\r\n"),
        Some(upstream) => {
            out.push_str("role:slave\r\n");
            of_replica(sv, upstream, now, out);
        }
    }
    let _ = write!(out, "connected_slaves:{}\r\n", repl.replicas.len());
    if sv.config.min_replicas_to_write > 0 && sv.config.min_replicas_max_lag > 0 {
        let _ = write!(out, "min_slaves_good_slaves:{}\r\n", repl.good);
    }
    for (i, replica) in repl.replicas.iter().enumerate() {
        let (ip, state) = (replica.address(sv), replica.state.name());
        let (port, offset, lag) = (replica.told.port, replica.ack, replica.lag(now));
        let _ = write!(
            out,
            "slave{i}:ip={ip},port={port},state={state},offset={offset},lag={lag},type={}\r\n",
            replica.kind()
        );
    }
    let (first, len) = repl.backlog.as_ref().map_or((0, 0), |backlog| (backlog.first() + 1, backlog.len()));
    let _ = write!(
        out,
        "replicas_waiting_psync:{}\r\n\
         master_failover_state:{}\r\n\
         master_replid:{}\r\n\
         master_replid2:{}\r\n\
         master_repl_offset:{}\r\n\
         second_repl_offset:{}\r\n\
         repl_backlog_active:{}\r\n\
         repl_backlog_size:{}\r\n\
         repl_backlog_first_byte_offset:{first}\r\n\
         repl_backlog_histlen:{len}\r\n",
        repl.anchors.len(),
        repl.failover.state.name(),
        repl.id,
        repl.id2,
        repl.offset,
        repl.second_offset,
        u8::from(repl.backlog.is_some()),
        sv.config.repl_backlog_size,
    );
}

fn of_replica(sv: &ServerState, upstream: &Upstream, now: i64, out: &mut String) {
    let up = upstream.link == LinkState::Connected;
    let transfer = upstream.link == LinkState::Transfer;
    let last_io = if up { now - upstream.last_io } else { -1 };
    let _ = write!(
        out,
        "master_host:{}\r\n\
         master_port:{}\r\n\
         master_link_status:{}\r\n\
         master_last_io_seconds_ago:{last_io}\r\n\
         master_sync_in_progress:{}\r\n\
         slave_read_repl_offset:{}\r\n\
         slave_repl_offset:{}\r\n\
         replicas_repl_buffer_size:{}\r\n\
         replicas_repl_buffer_peak:{}\r\n",
        upstream.host,
        upstream.port,
        if up { "up" } else { "down" },
        u8::from(transfer),
        upstream.read_offset,
        sv.repl.offset,
        sv.repl.kept.0,
        sv.repl.kept.1,
    );
    if transfer {
        let t = &upstream.transfer;
        let percent = if t.total > 0 { t.read as f64 / t.total as f64 * 100.0 } else { 0.0 };
        let _ = write!(
            out,
            "master_sync_total_bytes:{}\r\n\
             master_sync_read_bytes:{}\r\n\
             master_sync_left_bytes:{}\r\n\
             master_sync_perc:{percent:.2}\r\n\
             master_sync_last_io_seconds_ago:{}\r\n",
            t.total,
            t.read,
            t.total as i64 - t.read as i64,
            now - t.last_io,
        );
    }
    if !up {
        let since = if upstream.down_since > 0 { now - upstream.down_since } else { -1 };
        let _ = write!(out, "master_link_down_since_seconds:{since}\r\n");
    }
    let config = &sv.config;
    let _ = write!(
        out,
        "slave_priority:{}\r\nslave_read_only:{}\r\nreplica_announced:{}\r\n",
        config.replica_priority,
        u8::from(config.replica_read_only),
        u8::from(config.replica_announced),
    );
}
