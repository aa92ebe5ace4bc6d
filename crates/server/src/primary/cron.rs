//! What is done once a second.

use totality_engine::replication::{self, FailoverState, ReplicaState};
use totality_engine::state::LogLevel;

use super::{Job, open_conn};
use crate::server::Server;

impl Server {
    /// Pings replicas, drops those that are gone, and the backlog that nobody came back for.
    pub(crate) fn replication_cron(&mut self) {
        self.primary.seconds += 1;
        self.resize_backlog();
        self.ping_replicas();
        self.drop_silent();
        replication::channel::expire(&mut self.engine.sv);
        self.gather_packets();
        self.drop_backlog();
        self.remove_file();
        replication::count_good(&mut self.engine.sv);
        self.deliver();
    }

    fn ping_replicas(&mut self) {
        let sv = &mut self.engine.sv;
        let due = self.primary.seconds.is_multiple_of(sv.config.repl_ping_replica_period.max(1));
        // While a failover waits the offset must not move.
        let waits = sv.repl.failover.state != FailoverState::None && sv.repl.failover.deadline.is_some();
        if due && !waits {
            sv.repl.ping();
        }
        let on_disk = !matches!(self.primary.job, Some(Job::Live(_)));
        let early: Vec<_> = sv
            .repl
            .replicas
            .iter()
            .filter(|r| r.state == ReplicaState::WaitStart || (r.state == ReplicaState::WaitEnd && on_disk))
            .map(|r| r.client)
            .collect();
        // An empty line shows those who wait for a snapshot that somebody is there.
        early.into_iter().for_each(|client| self.write_to(client, b"\n"));
    }

    /// `repl-disable-tcp-nodelay`: fewer packets, later.
    fn gather_packets(&mut self) {
        let gather = self.engine.sv.config.repl_disable_tcp_nodelay;
        for replica in &self.engine.sv.repl.replicas {
            if let Some((_, conn)) = open_conn(&mut self.io, replica.client)
                && conn.gathers != gather
            {
                conn.gathers = gather;
                conn.stream.gather(gather);
            }
        }
    }

    fn drop_silent(&mut self) {
        let sv = &self.engine.sv;
        let (now, timeout) = ((sv.stamp / 1_000_000) as i64, sv.config.repl_timeout);
        let mut gone = Vec::new();
        for replica in &sv.repl.replicas {
            let what = match replica.state {
                ReplicaState::Online => {
                    let late = now - replica.ack_time > timeout as i64;
                    (late && !replica.silent).then_some("streaming sync")
                }
                ReplicaState::WaitEnd | ReplicaState::SendBulk | ReplicaState::Loading => {
                    let now_ms = self.io.now_ms;
                    let conn = open_conn(&mut self.io, replica.client);
                    let stuck = conn.is_some_and(|(_, conn)| {
                        conn.pending() > 0 && now_ms.saturating_sub(conn.active_ms) > timeout * 1000
                    });
                    stuck.then_some("full sync")
                }
                _ => None,
            };
            if let Some(what) = what {
                gone.push((replica.client, what, replica.name(sv)));
            }
        }
        for (client, what, name) in gone {
            self.io.log.warning(format!("Disconnecting timedout replica ({what}): {name}"));
            self.drop_replica(client);
        }
    }

    fn drop_backlog(&mut self) {
        let totality_engine::Engine { ks, sv } = &mut self.engine;
        let ttl = sv.config.repl_backlog_ttl as i64;
        let repl = &mut sv.repl;
        let idle = (sv.stamp / 1_000_000) as i64 - repl.none_since;
        if ttl == 0
            || idle <= ttl
            || !repl.replicas.is_empty()
            || !repl.anchors.is_empty()
            || repl.backlog.is_none()
            || !repl.is_primary()
        {
            return;
        }
        // Without a backlog the offset does not move, so the old name must not stand for what is written now.
        repl.new_id();
        repl.clear_id2();
        repl.backlog = None;
        totality_engine::execute::update_recording(ks, sv);
        sv.log(
            LogLevel::Notice,
            format!("Replication backlog freed after {ttl} seconds without connected replicas."),
        );
    }

    /// `repl-backlog-size` as it is configured.
    pub(crate) fn resize_backlog(&mut self) {
        let size = self.engine.sv.config.repl_backlog_size;
        if let Some(backlog) = &mut self.engine.sv.repl.backlog
            && backlog.size() != size.max(1)
        {
            backlog.resize(size);
            self.engine.sv.repl.trim();
        }
    }

    /// `rdb-del-sync-files`: a server that keeps no files leaves none behind.
    fn remove_file(&mut self) {
        let sv = &self.engine.sv;
        if !sv.config.rdb_del_sync_files {
            self.primary.left_file = false;
        }
        let syncs =
            |state| matches!(state, ReplicaState::WaitStart | ReplicaState::WaitEnd | ReplicaState::SendBulk);
        let keeps = !sv.config.save.is_empty() || sv.persist.logs();
        if self.primary.left_file && !keeps && !sv.repl.replicas.iter().any(|r| syncs(r.state)) {
            self.primary.left_file = false;
            self.io.log.notice("Removing the RDB file used to feed replicas in a persistence-less instance");
            self.persist.remove_snapshot(sv);
        }
    }
}
