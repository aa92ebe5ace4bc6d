//! The primary's side of replication: snapshots and the stream on their way to replicas.
//!
//! The engine keeps the stream's bytes and every replica's place in it; here they are copied into the connections'
//! output, a little at a time, so that a slow replica costs no more than what it has yet to read. Nothing here waits.

mod cron;
mod sync;

use std::fs::File;

use totality_engine::ClientId;
use totality_engine::config::OutputLimit;
use totality_engine::replication::{self, ReplicaState, failover, stop};
use totality_engine::state::LogLevel;

use crate::clients::passes_limit;
use crate::conn::{Conn, Fate};
use crate::io::Io;
use crate::meanwhile::Meanwhile;
use crate::server::Server;
use crate::settings::Class;

/// Bytes that wait in a replica's output below which it gets more.
const LOW: usize = 64 * 1024;
/// Bytes that it gets at a time.
const CHUNK: usize = 256 * 1024;
/// Length of the mark that ends a snapshot whose length nobody knew when it began.
const MARK: usize = 40;

/// What is under way.
#[derive(Debug, Default)]
pub(crate) struct Primary {
    job: Option<Job>,
    /// The stream of those who wait for it goes out on other connections.
    channel: bool,
    bulks: Vec<Bulk>,
    /// Seconds so far.
    seconds: u64,
    /// Feeds the marks.
    marks: u64,
    /// The snapshot on disk was made for replicas.
    left_file: bool,
}

/// A snapshot for the replicas that are in [`ReplicaState::WaitEnd`].
#[derive(Debug, Clone)]
enum Job {
    /// It is sent as it is made; the mark follows it.
    Live([u8; MARK]),
    /// It is written to disk and sent from there.
    Disk,
}

/// A file on its way to a replica.
#[derive(Debug)]
struct Bulk {
    client: ClientId,
    file: std::sync::Arc<File>,
    at: u64,
    len: u64,
}

/// The connection of a replica, as long as it is to be written to.
fn open_conn(io: &mut Io, client: ClientId) -> Option<(usize, &mut Conn)> {
    let key = io.key_of(client)?;
    let conn = io.conns.get_mut(key)?;
    (conn.fate == Fate::Open).then_some((key, conn))
}

impl Server {
    /// Looks after replicas; called in every turn before replies are written.
    #[inline]
    pub(crate) fn serve_replicas(&mut self) {
        let repl = &self.engine.sv.repl;
        if !repl.replicas.is_empty()
            || !repl.anchors.is_empty()
            || self.primary.job.is_some()
            || repl.stopping.is_some()
        {
            self.serve_all_replicas();
        }
    }

    fn serve_all_replicas(&mut self) {
        self.go_on_with_failover();
        self.go_on_with_stop();
        let repl = &mut self.engine.sv.repl;
        if repl.want_acks && !self.engine.ks.is_paused() {
            repl.ask_acks();
        }
        self.begin_sync();
        self.send_snapshot();
        self.send_files();
        self.send_stream();
        self.limit_replicas();
        self.deliver();
    }

    fn go_on_with_failover(&mut self) {
        let mut meanwhile = Meanwhile::of_nobody(
            &mut self.io,
            self.config_file.as_deref(),
            Some(&mut self.persist),
            (&mut self.ends, &self.watchdog),
        );
        failover::turn(&mut self.engine.ks, &mut self.engine.sv, &mut meanwhile);
    }

    /// Ends the server when SHUTDOWN has waited long enough.
    fn go_on_with_stop(&mut self) {
        let totality_engine::Engine { ks, sv } = &mut self.engine;
        if !stop::is_over(sv) || sv.cron_paused {
            return;
        }
        let Some((save, force)) = sv.repl.stopping.as_deref().map(|stopping| (stopping.save, stopping.force))
        else {
            return;
        };
        stop::note_lagging(sv);
        if self.persist.shutdown(ks, sv, save, force).is_err() && !force {
            let text = "Errors trying to shut down the server. Check the logs for more information.";
            sv.log(LogLevel::Warning, text);
            stop::give_up(ks, sv);
            return;
        }
        self.ending = true;
    }

    /// Hands the stream to those who read it.
    fn send_stream(&mut self) {
        let repl = &mut self.engine.sv.repl;
        let Some(backlog) = &repl.backlog else { return };
        let (end, mut moved) = (repl.offset, false);
        for replica in repl.replicas.iter_mut().filter(|r| r.next < end && r.reads_stream()) {
            let Some((key, conn)) = open_conn(&mut self.io, replica.client) else { continue };
            if conn.pending() < LOW {
                let bytes = backlog.copy(replica.next, CHUNK, &mut conn.output) as u64;
                replica.next += bytes;
                self.engine.sv.stats.to_replicas += bytes;
                moved = true;
                self.io.enqueue_write(key);
            }
        }
        if moved {
            repl.trim();
        }
    }

    /// Drops replicas for which too much waits.
    fn limit_replicas(&mut self) {
        let mut limit = self.io.settings.output[Class::Replica as usize];
        if limit.hard > 0 {
            // The backlog may always be read.
            limit.hard = limit.hard.max(self.engine.sv.config.repl_backlog_size);
        }
        let end = self.engine.sv.repl.offset;
        let mut gone = Vec::new();
        for replica in self.engine.sv.repl.replicas.iter().filter(|replica| replica.needs_stream()) {
            let now = self.io.now_ms;
            let Some((key, conn)) = open_conn(&mut self.io, replica.client) else { continue };
            let unread = usize::try_from(end - replica.next.min(end)).unwrap_or(usize::MAX);
            let sending = if replica.state == ReplicaState::Online { conn.pending() } else { 0 };
            let bytes = unread.saturating_add(sending);
            if passes_limit(&limit, bytes, &mut conn.over_soft_since_ms, now) {
                conn.fate = Fate::Now;
                gone.push((key, replica.client));
            }
        }
        for (key, client) in gone {
            self.engine.sv.stats.over_limits.1 += 1;
            self.log_output_limit(client);
            self.io.enqueue_write(key);
        }
        self.limit_anchors(&limit);
    }

    /// Lets replicas go for whose main connection too much waits.
    fn limit_anchors(&mut self, limit: &OutputLimit) {
        let (repl, now) = (&mut self.engine.sv.repl, self.io.now_ms);
        let (end, mut gone) = (repl.offset, Vec::new());
        repl.anchors.retain_mut(|anchor| {
            let unread = usize::try_from(end - anchor.next.min(end)).unwrap_or(usize::MAX);
            let passes = passes_limit(limit, unread, &mut anchor.over_soft_since_ms, now);
            if passes {
                gone.push(anchor.client);
            }
            !passes
        });
        for client in gone {
            self.engine.sv.stats.over_limits.1 += 1;
            self.log_output_limit(client);
            self.drop_replica(client);
            self.engine.sv.repl.trim();
        }
    }

    /// True when a replica would take more at once: the loop is not to sleep.
    pub(crate) fn replicas_hungry(&self) -> bool {
        let repl = &self.engine.sv.repl;
        if repl.replicas.is_empty() {
            return false;
        }
        let takes = |client: ClientId| {
            let conn = self.io.key_of(client).and_then(|key| self.io.conns.get(key));
            conn.is_some_and(|conn| conn.fate == Fate::Open && !conn.full && conn.pending() < LOW)
        };
        let reads = repl.replicas.iter().any(|r| r.next < repl.offset && r.reads_stream() && takes(r.client));
        let live = matches!(self.primary.job, Some(Job::Live(_))) && self.persist.has_piece();
        let waiting = || repl.replicas.iter().filter(|r| r.state == ReplicaState::WaitEnd);
        reads || (live && waiting().all(|r| takes(r.client))) || {
            self.primary.bulks.iter().any(|bulk| takes(bulk.client))
        }
    }

    /// Closes a replica's connection at once; it comes back and begins anew.
    fn drop_replica(&mut self, client: ClientId) {
        if let Some((key, conn)) = open_conn(&mut self.io, client) {
            conn.fate = Fate::Now;
            self.io.enqueue_write(key);
        }
    }

    /// Appends bytes to a replica's output, out of the stream.
    fn write_to(&mut self, client: ClientId, bytes: &[u8]) {
        if let Some((key, conn)) = open_conn(&mut self.io, client) {
            conn.output.extend_from_slice(bytes);
            self.engine.sv.stats.to_replicas += bytes.len() as u64;
            self.io.enqueue_write(key);
        }
    }

    /// A replica has got its snapshot.
    fn put_online(&mut self, client: ClientId, await_ack: bool) {
        let sv = &mut self.engine.sv;
        let now = (sv.stamp / 1_000_000) as i64;
        let Some(replica) = sv.repl.replica_mut(client) else { return };
        replica.await_ack = await_ack;
        replica.ack_time = now;
        if replica.told.rdb_only {
            replica.state = ReplicaState::Done;
            let name = replica.clone().name(sv);
            sv.log(
                LogLevel::Notice,
                format!("RDB transfer completed, rdb only replica ({name}) should be disconnected asap"),
            );
            if let Some((key, conn)) = open_conn(&mut self.io, client) {
                conn.fate = Fate::AfterReplies;
                self.io.enqueue_write(key);
            }
            return;
        }
        replica.state = ReplicaState::Online;
        let name = replica.clone().name(sv);
        let text = if await_ack {
            format!(
                "Streamed RDB transfer with replica {name} succeeded (socket). Waiting for REPLCONF ACK from replica to enable streaming"
            )
        } else {
            format!("Synchronization with replica {name} succeeded")
        };
        sv.log(LogLevel::Notice, text);
        replication::count_good(sv);
        if sv.repl.offset == 0 {
            sv.repl.ping();
        }
    }
}
