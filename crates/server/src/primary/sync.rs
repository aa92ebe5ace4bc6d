//! Snapshots for replicas: when one begins, for whom, and how it gets to them.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use totality_engine::dump::load::ForReplicas;
use totality_engine::replication::{Announced, Replica, ReplicaState, Without, channel};
use totality_engine::state::LogLevel;
use totality_engine::{ClientId, Config, Engine};
use totality_persist::Piece;

use super::{Bulk, CHUNK, Job, LOW, MARK, open_conn};
use crate::conn::Fate;
use crate::server::{Server, stop_if_told};

/// Time that a snapshot may take before the process stops ([`Server::send_and_stop`]).
const SEND: Duration = Duration::from_millis(500);

/// What a group of replicas wants in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wants {
    version: u16,
    without: Without,
    /// The stream goes out on another connection.
    channel: bool,
}

/// The version of the format for a replica. Only Valkey since 8.0, and who follows it, tells its version; who tells none
/// may be Redis 7.0, which reads version 10 and no later one. (A data set with deadlines of fields needs a later one in
/// any case.) Who asks without knowing the end mark gets the file, which is as `rdb-version-compat` says.
fn version_for(told: &Announced, config: &Config) -> u16 {
    let newest = config.rdb_version_compat as u16;
    match told.version {
        _ if !told.eof => newest,
        0 => newest.min(10),
        // Valkey refuses what Redis made of the format since.
        _ => newest.min(11),
    }
}

impl Server {
    /// Begins a snapshot when replicas wait for one and none is being written.
    pub(super) fn begin_sync(&mut self) {
        if self.primary.job.is_some() || self.persist.is_busy() {
            return;
        }
        let sv = &self.engine.sv;
        let config = &sv.config;
        let wants = |r: &Replica| Wants {
            version: version_for(&r.told, config),
            without: r.told.without,
            channel: r.told.rdb_channel,
        };
        let waiting = || sv.repl.replicas.iter().filter(|r| r.state == ReplicaState::WaitStart);
        let Some(group) = waiting().next().map(wants) else { return };
        let members: Vec<&Replica> = waiting().filter(|r| wants(r) == group).collect();
        let special = group.without.any() || group.version != config.rdb_version_compat as u16;
        let special = special || group.channel;
        let live = members.iter().all(|r| r.told.eof) && (config.repl_diskless_sync || special);
        if live && config.repl_diskless_sync {
            let most = config.repl_diskless_sync_max_replicas;
            let enough = most > 0 && members.len() as u64 >= most;
            let oldest = members.iter().map(|r| r.since_ms).min().unwrap_or(0);
            let due = oldest + config.repl_diskless_sync_delay as i64 * 1000;
            if !enough && ((sv.stamp / 1000) as i64) < due {
                return;
            }
        }
        let clients: Vec<ClientId> = members.iter().map(|r| r.client).collect();
        self.start(group, live, &clients);
    }

    fn start(&mut self, group: Wants, live: bool, clients: &[ClientId]) {
        let Engine { ks, sv } = &mut self.engine;
        let target = if live { "replicas sockets" } else { "disk" };
        let way = if group.channel { "dual-channel" } else { "normal sync" };
        sv.log(LogLevel::Notice, format!("Starting BGSAVE for SYNC with target: {target} using: {way}"));
        // Every replica begins with a SELECT.
        if sv.repl.is_primary() {
            sv.repl.selected = None;
        }
        let wanted = ForReplicas { version: group.version, without: group.without };
        let begun = if live {
            self.persist.begin_sync(ks, sv, wanted)
        } else {
            self.persist.save_for_replicas(ks, sv)
        };
        if let Err(why) = begun {
            sv.log(LogLevel::Warning, format!("BGSAVE for replication failed: {why}"));
            for client in clients {
                self.write_to(*client, b"-ERR BGSAVE failed, replication can't continue\r\n");
                if let Some((key, conn)) = open_conn(&mut self.io, *client) {
                    conn.fate = Fate::AfterReplies;
                    self.io.enqueue_write(key);
                }
            }
            return;
        }
        let mark = live.then(|| self.primary.next_mark(&self.engine.sv.repl.id));
        self.primary.left_file |= !live;
        for client in clients {
            self.greet(*client, mark.as_ref());
        }
        self.primary.job = Some(mark.map_or(Job::Disk, Job::Live));
        self.primary.channel = group.channel;
        if self.engine.sv.repl.stops {
            self.send_and_stop();
        }
    }

    /// DEBUG PAUSE-AFTER-FORK. Where there is a child it goes on while its parent stands still, so a small snapshot is
    /// sent before nothing else moves any more.
    fn send_and_stop(&mut self) {
        let began = Instant::now();
        while self.primary.job.is_some() && began.elapsed() < SEND {
            self.persist.turn(&mut self.engine);
            self.send_snapshot();
            self.flush();
        }
        self.deliver();
        stop_if_told(&self.engine.sv);
    }

    /// Tells a replica where the stream goes on behind the snapshot that begins now.
    fn greet(&mut self, client: ClientId, mark: Option<&[u8; MARK]>) {
        let repl = &mut self.engine.sv.repl;
        let mut greeting = format!("+FULLRESYNC {} {}\r\n", repl.id, repl.offset).into_bytes();
        let offset = repl.offset;
        let Some(replica) = repl.replica_mut(client) else { return };
        replica.state = ReplicaState::WaitEnd;
        replica.next = offset;
        if replica.told.rdb_channel {
            greeting = channel::begin(&mut self.engine.sv, client).into_bytes();
        } else if replica.silent {
            greeting.clear();
        }
        if let Some(mark) = mark {
            greeting.extend_from_slice(b"$EOF:");
            greeting.extend_from_slice(mark);
            greeting.extend_from_slice(b"\r\n");
        }
        self.write_to(client, &greeting);
    }

    fn waiting(&self) -> Vec<ClientId> {
        let waits = |r: &&Replica| r.state == ReplicaState::WaitEnd;
        self.engine.sv.repl.replicas.iter().filter(waits).map(|r| r.client).collect()
    }

    /// Goes on with the snapshot under way.
    pub(super) fn send_snapshot(&mut self) {
        let Some(job) = self.primary.job.clone() else { return };
        let waiting = self.waiting();
        match job {
            Job::Live(mark) => self.send_live(&mark, &waiting),
            Job::Disk => self.take_file(&waiting),
        }
    }

    fn send_live(&mut self, mark: &[u8; MARK], waiting: &[ClientId]) {
        let Engine { ks, sv } = &mut self.engine;
        if waiting.is_empty() {
            if self.primary.channel {
                sv.log(LogLevel::Warning, "Background RDB transfer error");
            }
            sv.log(LogLevel::Notice, "Diskless rdb transfer, last replica dropped, killing fork child.");
            self.persist.cancel_sync(ks, sv);
            self.primary.job = None;
            return;
        }
        for client in waiting {
            // One that is slow slows down the others; one that stands still is dropped after `repl-timeout`.
            if open_conn(&mut self.io, *client).is_some_and(|(_, conn)| conn.pending() >= LOW) {
                return;
            }
        }
        let Some(Piece { bytes, last }) = self.persist.take_piece(sv) else {
            self.primary.job = None;
            sv.log(LogLevel::Warning, "Diskless rdb transfer was given up");
            waiting.iter().for_each(|client| self.drop_replica(*client));
            return;
        };
        for client in waiting {
            self.write_to(*client, &bytes);
            if last {
                self.write_to(*client, mark);
            }
        }
        if last {
            self.primary.job = None;
            let text = format!(
                "Diskless rdb transfer, done reading from pipe, {} replicas still up.",
                waiting.len()
            );
            self.engine.sv.log(LogLevel::Notice, text);
            waiting.iter().for_each(|client| self.put_online(*client, true));
        }
    }

    /// The snapshot on disk is complete, or not to be had.
    fn take_file(&mut self, waiting: &[ClientId]) {
        let Engine { ks, sv } = &mut self.engine;
        if waiting.is_empty() {
            self.persist.cancel_sync(ks, sv);
        }
        let Some(saved) = self.persist.take_saved() else { return };
        self.primary.job = None;
        let opened = saved.and_then(|file| {
            let len = file.metadata().map_err(|e| e.to_string())?.len();
            Ok((Arc::new(file), len))
        });
        let (file, len) = match opened {
            Ok(opened) => opened,
            Err(why) => {
                sv.log(LogLevel::Warning, format!("SYNC failed. The snapshot was not written: {why}"));
                waiting.iter().for_each(|client| self.drop_replica(*client));
                return;
            }
        };
        for client in waiting {
            let Some(replica) = self.engine.sv.repl.replica_mut(*client) else { continue };
            replica.state = ReplicaState::SendBulk;
            self.write_to(*client, format!("${len}\r\n").as_bytes());
            self.primary.bulks.push(Bulk { client: *client, file: file.clone(), at: 0, len });
        }
    }

    /// Goes on with the files under way.
    pub(super) fn send_files(&mut self) {
        if self.primary.bulks.is_empty() {
            return;
        }
        let (mut done, mut broken) = (Vec::new(), Vec::new());
        let (io, sent) = (&mut self.io, &mut self.engine.sv.stats.to_replicas);
        self.primary.bulks.retain_mut(|bulk| {
            let Some((key, conn)) = open_conn(io, bulk.client) else { return false };
            if conn.pending() >= LOW {
                return true;
            }
            let start = conn.output.len();
            let wanted = (bulk.len - bulk.at).min(CHUNK as u64) as usize;
            conn.output.resize(start + wanted, 0);
            // The file was written a moment ago: this comes from the system's memory.
            match bulk.file.read_at(&mut conn.output[start..], bulk.at) {
                Ok(n) if n > 0 || wanted == 0 => {
                    conn.output.truncate(start + n);
                    bulk.at += n as u64;
                    *sent += n as u64;
                }
                _ => {
                    conn.output.truncate(start);
                    broken.push(bulk.client);
                    return false;
                }
            }
            io.enqueue_write(key);
            if bulk.at == bulk.len {
                done.push(bulk.client);
            }
            bulk.at < bulk.len
        });
        for client in broken {
            self.engine.sv.log(LogLevel::Warning, "Read error sending DB to replica");
            self.drop_replica(client);
        }
        done.into_iter().for_each(|client| self.put_online(client, false));
    }
}

impl super::Primary {
    /// A mark that no snapshot holds by chance: digits of names that nobody can foresee.
    fn next_mark(&mut self, id: &str) -> [u8; MARK] {
        self.marks += 1;
        let mut mark = [b'0'; MARK];
        let digits = totality_engine::replication::mark(id, self.marks);
        mark.iter_mut().zip(digits.bytes()).for_each(|(to, from)| *to = from);
        mark
    }
}
