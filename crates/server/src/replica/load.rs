//! The data set on its way in: kept until it is complete, or taken in while it comes.

use std::io;
use std::time::{Duration, Instant};

use totality_engine::state::ServerState;
use totality_engine::{Engine, loading, replication};
use totality_persist::{Intake, Persist};

use super::link::{Feed, Link, Loading, Phase, Position};
use super::payload::{Payload, Spool};
use super::{Progress, READS, RETRY};
use crate::listen::reason;
use crate::meanwhile::Meanwhile;
use crate::server::Server;

/// Time for which a data set is taken in before others have their turn.
const SLICE: Duration = Duration::from_millis(5);
/// Bytes of a data set that wait to be taken in; more is left with the primary.
const AHEAD: usize = 1 << 20;
/// `repl-diskless-load swapdb`.
const SWAPDB: usize = 2;

impl Server {
    /// Where the data set is kept until it is complete, or until so much of it came that it can be taken in.
    pub(super) fn spool(&mut self, payload: &Payload) -> Result<Spool, String> {
        let sv = &self.engine.sv;
        let empty = self.engine.ks.dbs().iter().all(|db| db.is_empty());
        // `on-empty-db` is 1.
        let disk = match sv.config.repl_diskless_load {
            0 => true,
            1 => !empty,
            _ => false,
        };
        let place = if disk { "to disk" } else { "to parser" };
        self.io.log.notice(match payload.is_marked() {
            true => format!("PRIMARY <-> REPLICA sync: receiving streamed RDB from primary with EOF {place}"),
            false => {
                format!("PRIMARY <-> REPLICA sync: receiving {} bytes from primary {place}", payload.total)
            }
        });
        if !disk {
            return Ok(Spool::Memory(Vec::new()));
        }
        let name = format!("temp-{}.{}.rdb", sv.stamp / 1_000_000, std::process::id());
        Spool::file(&name).map_err(|e| {
            format!("Opening the temp file needed for PRIMARY <-> REPLICA synchronization: {}", reason(&e))
        })
    }

    /// More of the data set came, before it is taken in.
    pub(super) fn receive(
        &mut self,
        link: &mut Link,
        mut payload: Payload,
        mut spool: Spool,
        position: Position,
    ) -> Result<Progress, String> {
        self.feed(link, &mut payload, &mut spool)?;
        let begins = match &spool {
            Spool::File(..) => payload.is_complete(),
            Spool::Memory(bytes) => payload.is_complete() || Intake::can_begin(bytes),
        };
        if begins {
            self.begin_loading(link, payload, spool, position)?;
            return Ok(Progress::More);
        }
        link.phase = Phase::Receiving(payload, spool, position);
        Ok(Progress::Wait)
    }

    fn feed(&mut self, link: &mut Link, payload: &mut Payload, to: &mut dyn io::Write) -> Result<(), String> {
        let used = payload
            .feed(&link.input, to)
            .map_err(|e| format!("Write error writing the received DB: {}", reason(&e)))?;
        link.input.drain(..used);
        let now = (self.engine.sv.stamp / 1_000_000) as i64;
        if let Some(upstream) = self.upstream() {
            let transfer = &mut upstream.transfer;
            (transfer.total, transfer.read, transfer.last_io) = (payload.total, payload.read, now);
        }
        Ok(())
    }

    /// The data set can be taken in: what is there makes room for it.
    fn begin_loading(
        &mut self,
        link: &mut Link,
        payload: Payload,
        spool: Spool,
        position: Position,
    ) -> Result<(), String> {
        let unusable = |e: io::Error| format!("The received DB cannot be read: {}", reason(&e));
        let Engine { ks, sv } = &mut self.engine;
        let total = payload.total;
        let intake = match spool {
            Spool::Memory(first) => Feed::Live(Intake::begin_live(first, ks, sv)?, payload),
            Spool::File(..) => {
                let source = spool.into_source().map_err(unusable)?;
                if Persist::wants_base(sv) {
                    source.sync().map_err(unusable)?;
                } else if self.persist.keeps_received(sv) {
                    source.keep_as(&sv.config.dbfilename).map_err(|e| {
                        let name = &sv.config.dbfilename;
                        format!(
                            "Failed trying to rename the temp DB into {name} in PRIMARY <-> REPLICA synchronization: {}",
                            reason(&e)
                        )
                    })?;
                }
                Feed::Stored(Intake::begin(source, ks, sv)?)
            }
        };
        let keep_old = sv.config.repl_diskless_load == SWAPDB;
        // Replicas of ours have to begin anew as well.
        replication::drop_replicas(sv);
        sv.repl.backlog = None;
        loading::begin(sv, total);
        if let Some(loading) = &mut sv.persist.loading {
            // An earlier state of the same data may be served meanwhile.
            loading.beside = keep_old && position.as_ref().is_some_and(|(id, _)| *id == sv.repl.id);
        }
        if !keep_old {
            self.io.log.notice("PRIMARY <-> REPLICA sync: Flushing old data");
            ks.begin_unit(sv.stamp);
            let all = ks.dbs().len();
            ks.flush(0..all);
            sv.scripts.libraries.flush();
            totality_engine::execute::finish_unit(ks, sv);
        }
        self.io.log.notice("PRIMARY <-> REPLICA sync: Loading DB in memory");
        let began = Instant::now();
        link.phase = Phase::Loading(Box::new(Loading {
            intake,
            position,
            keep_old,
            began,
            told: began,
            next: began,
            ended: false,
        }));
        Ok(())
    }

    /// Takes in a slice of the data set, and receives more of it where it still comes.
    pub(super) fn go_on_loading(&mut self, link: &mut Link) -> Result<Progress, String> {
        let mut phase = std::mem::replace(&mut link.phase, Phase::Connecting);
        let Phase::Loading(loading) = &mut phase else { return Ok(Progress::Wait) };
        let done = self.load_more(link, loading);
        link.phase = phase;
        done
    }

    fn load_more(&mut self, link: &mut Link, loading: &mut Loading) -> Result<Progress, String> {
        let mut more = true;
        if let Feed::Live(intake, payload) = &mut loading.intake {
            more = false;
            for _ in 0..READS {
                if payload.is_complete() || intake.input().waiting() > AHEAD && intake.input().is_ready() {
                    more = true;
                    break;
                }
                more =
                    link.fill().map_err(|e| format!("I/O error on the link to PRIMARY: {}", reason(&e)))?;
                self.feed(link, payload, intake.input())?;
                if !more {
                    break;
                }
            }
            if more {
                // It is not the primary that is slow.
                link.active = Instant::now();
            }
            if payload.is_complete() {
                intake.input().end();
            } else if link.ended {
                return Err(format!(
                    "Internal error in RDB reading offset {}: PRIMARY {} closed the connection",
                    intake.offset(),
                    link.peer
                ));
            }
        }
        let ended = self.step_intake(loading)?;
        if let Some(state) = &mut self.engine.sv.persist.loading {
            state.loaded = loading.intake.offset();
        }
        let now = Instant::now();
        if now.duration_since(loading.told) >= RETRY {
            loading.told = now;
            self.show_life(link).map_err(|e| format!("I/O error on the link to PRIMARY: {}", reason(&e)))?;
        }
        match &mut loading.intake {
            Feed::Stored(_) => {
                link.active = now;
                Ok(if ended { Progress::Loaded } else { Progress::More })
            }
            Feed::Live(intake, payload) if ended => match payload.is_complete() {
                true if intake.input().unread() > 0 => {
                    Err("Replication stream EOF marker is broken".to_owned())
                }
                true => Ok(Progress::Loaded),
                false => Ok(if more { Progress::More } else { Progress::Wait }),
            },
            Feed::Live(intake, _) => {
                Ok(if more || intake.input().is_ready() { Progress::More } else { Progress::Wait })
            }
        }
    }

    /// True when all was taken in.
    fn step_intake(&mut self, loading: &mut Loading) -> Result<bool, String> {
        if loading.ended {
            return Ok(true);
        }
        let began = Instant::now();
        let Engine { ks, sv } = &mut self.engine;
        let delay = u64::try_from(sv.config.key_load_delay).unwrap_or(0);
        if delay > 0 && began < loading.next {
            return Ok(false);
        }
        loading.next = began + Duration::from_micros(delay);
        let mut out_of_time = || delay > 0 || began.elapsed() >= SLICE;
        let mut meanwhile = Meanwhile::of_nobody(
            &mut self.io,
            self.config_file.as_deref(),
            Some(&mut self.persist),
            (&mut self.ends, &self.watchdog),
        );
        let mut serve = |sv: &mut ServerState, offset| loading::go_on(ks, sv, offset, &mut meanwhile);
        loading.ended = match &mut loading.intake {
            Feed::Stored(intake) => intake.step(sv, &mut out_of_time, &mut serve)?,
            Feed::Live(intake, _) => intake.step_live(sv, &mut out_of_time, &mut serve)?,
        };
        Ok(loading.ended)
    }

    /// The new data set takes its place, and the stream follows once it comes.
    pub(super) fn take_over(&mut self, mut link: Link) {
        if let Phase::Loading(loading) = std::mem::replace(&mut link.phase, Phase::Loaded) {
            self.install(*loading);
        }
        if !self.stream_comes() {
            self.follower.link = Some(link);
            return;
        }
        let link = self.change_over(link);
        self.attach(link);
        self.io.log.notice("PRIMARY <-> REPLICA sync: Finished with success");
        // A primary that sent up to a mark waits for it.
        self.acknowledge();
    }

    /// The new data set takes its place. Where its place in the stream is known, the stream can be asked for from there,
    /// on whatever connection.
    fn install(&mut self, loading: Loading) {
        let Loading { intake, position, began, .. } = loading;
        let Engine { ks, sv } = &mut self.engine;
        ks.begin_unit(sv.stamp);
        let (source, loaded) = match intake {
            Feed::Stored(intake) => {
                let (input, loaded) = intake.finish(ks, sv);
                (Some(input.into_parts().0), loaded)
            }
            Feed::Live(intake, _) => (None, intake.finish(ks, sv).1),
        };
        totality_engine::execute::finish_unit(ks, sv);
        loading::end(sv);
        let known = position.is_some();
        let stream_db = self.stream_db();
        let Engine { ks, sv } = &mut self.engine;
        if let Some((id, offset)) = position {
            sv.repl.id = id;
            sv.repl.jump(offset.max(0) as u64);
        } else {
            // An old primary: the stream has no name that anybody else would know.
            sv.repl.new_id();
            sv.repl.jump(0);
        }
        sv.repl.clear_id2();
        let size = sv.config.repl_backlog_size;
        sv.repl.open_backlog(size);
        let db = stream_db.unwrap_or_else(|| loaded.position().map_or(0, |(_, _, db)| db));
        let db = if db < ks.dbs().len() { db } else { 0 };
        sv.repl.selected = Some(db);
        let snapshot = source.as_ref().and_then(|s| s.path()).filter(|_| Persist::wants_base(sv));
        self.persist.replaced(ks, sv, snapshot);
        if let Some(upstream) = sv.repl.upstream_mut() {
            upstream.fresh = !known;
        }
        let seconds = began.elapsed().as_secs_f64();
        let keys = loaded.keys;
        self.io.log.notice(format!("Done loading RDB, keys loaded: {keys}, in {seconds:.3} seconds."));
    }
}
