//! What the engine calls in the middle of a command, while it is busy and the connections are not.

use std::path::Path;

use totality_engine::engine::{Exchange, Heard};
use totality_engine::keyspace::Keyspace;
use totality_engine::persistence::Request;
use totality_engine::replication::{self, Role};
use totality_engine::state::ServerState;
use totality_engine::{Busy, Config, Ticker};
use totality_persist::Persist;

use crate::acl_file;
use crate::debug::Sessions;
use crate::io::Io;
use crate::listen;
use crate::rewrite::{replace_file, rewrite_file};
use crate::server::raise_file_limit;
use crate::settings::Settings;
use crate::signals::Ends;
use crate::talk;
use crate::watchdog::Watchdog;

/// What a command that needs files is told while they are read.
const NESTED: &str = "ERR the data set is being loaded";
/// Milliseconds that a debugger is waited for before others are served.
const HEAR_MS: i64 = 5;

/// The connections and the process, without the engine.
pub struct Meanwhile<'a> {
    /// The connections.
    pub io: &'a mut Io,
    /// The connection whose command runs: its buffers are in use.
    pub turn: usize,
    /// The file that CONFIG REWRITE writes.
    pub config_file: Option<&'a Path>,
    /// Snapshots and the append-only file; not while they themselves load.
    pub persist: Option<&'a mut Persist>,
    /// What ends the server.
    pub ends: &'a mut Ends,
    /// What interrupts scripts that run long: it must be awake when a file has some.
    pub watchdog: &'a Watchdog,
    /// Debugging sessions on copies of the data set.
    pub sessions: usize,
}

/// No connection.
const NOBODY: usize = usize::MAX;

impl<'a> Meanwhile<'a> {
    /// While no connection's command runs.
    pub fn of_nobody(
        io: &'a mut Io,
        config_file: Option<&'a Path>,
        persist: Option<&'a mut Persist>,
        (ends, watchdog): (&'a mut Ends, &'a Watchdog),
    ) -> Meanwhile<'a> {
        Meanwhile { io, turn: NOBODY, config_file, persist, ends, watchdog, sessions: 0 }
    }
}

impl Ticker for Meanwhile<'_> {
    fn tick(&mut self, busy: &mut Busy<'_>) {
        if busy.is_loading() {
            self.watchdog.script_ahead();
        }
        self.serve_meanwhile(busy);
    }

    fn may_debug(&mut self, copy: bool) -> Result<(), &'static str> {
        if copy { Sessions::permit(self.sessions) } else { Ok(()) }
    }

    fn say(&mut self, bytes: &[u8]) -> bool {
        self.io.conns.get_mut(self.turn).is_some_and(|conn| talk::send_all(&mut conn.stream, bytes))
    }

    fn hear(&mut self, input: &mut Vec<u8>) -> Heard {
        match self.io.conns.get_mut(self.turn) {
            Some(conn) if self.ends.wanted().is_none() => talk::hear(&mut conn.stream, input, HEAR_MS),
            _ => Heard::Gone,
        }
    }

    fn sleep(&mut self, us: u64) {
        std::thread::sleep(std::time::Duration::from_micros(us));
    }

    fn configure(&mut self, name: &str, next: &Config) -> Result<(), String> {
        match name {
            "port" | "bind" | "tls-port" => self.listen(name, next),
            _ if name.starts_with("tls-") => self.io.configure_tls(&next.tls),
            "dir" => self.change_dir(&next.dir),
            "oom-score-adj" | "oom-score-adj-values" => {
                let Io { oom, log, .. } = &mut *self.io;
                oom.apply(next, &mut |line| log.warning(line))
            }
            "maxclients" => {
                let wanted = next.maxclients as usize;
                let old = std::mem::replace(&mut self.io.settings.max_clients, wanted);
                raise_file_limit(self.io);
                let granted = self.io.settings.max_clients;
                if granted < wanted {
                    self.io.settings.max_clients = old;
                    return Err(format!(
                        "The operating system is not able to handle the specified number of clients, try with {granted}"
                    ));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn exchange(&mut self, peer: (&str, u16), timeout_ms: u64, request: &[u8], replies: usize) -> Exchange {
        let tls = self.io.tls.as_ref().filter(|_| self.io.settings.tls_cluster).map(|tls| &tls.client);
        crate::exchange::exchange(peer, tls, timeout_ms, request, replies)
    }

    fn persist(&mut self, ks: &mut Keyspace, sv: &mut ServerState, request: Request) -> Result<(), String> {
        let Some(persist) = self.persist.take() else { return Err(NESTED.to_owned()) };
        let done = persist.request(ks, sv, request, self);
        self.persist = Some(persist);
        done
    }

    fn replicate(
        &mut self,
        _ks: &mut Keyspace,
        sv: &mut ServerState,
        request: replication::Request,
    ) -> Result<(), String> {
        let Io { oom, log, .. } = &mut *self.io;
        let replica = matches!(sv.repl.role, Role::Replica(_));
        log.set_replica(replica);
        oom.follow(replica, &sv.config, &mut |line| log.warning(line));
        match request {
            replication::Request::Relink => {
                self.io.link.relink = true;
                self.io.drop_primary();
            }
            replication::Request::Acknowledge => self.io.link.acknowledge = true,
        }
        Ok(())
    }

    fn read_acl_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        acl_file::read(path).map_err(|e| listen::reason(&e))
    }

    fn write_acl_file(&mut self, path: &str, text: &[u8]) -> Result<(), String> {
        replace_file(Path::new(path), text).map_err(|e| {
            let reason = listen::reason(&e);
            self.io.log.warning(format!("ACL SAVE failed: {reason}"));
            reason
        })
    }

    fn write_node_file(&mut self, path: &str, text: &[u8]) -> Result<(), String> {
        replace_file(Path::new(path), text).map_err(|e| listen::reason(&e))
    }

    fn rewrite(&mut self, config: &Config) -> Result<(), String> {
        let file = self.config_file.ok_or("The server is running without a config file")?;
        match rewrite_file(file, config) {
            Ok(()) => {
                self.io.log.notice("CONFIG REWRITE executed with success.");
                Ok(())
            }
            Err(e) => {
                let reason = listen::reason(&e);
                self.io.log.warning(format!("CONFIG REWRITE failed: {reason}"));
                Err(format!("Rewriting config file: {reason}"))
            }
        }
    }
}

impl Meanwhile<'_> {
    /// The working directory is where files are kept.
    fn change_dir(&mut self, dir: &str) -> Result<(), String> {
        let old = std::env::current_dir().map_err(|e| listen::reason(&e))?;
        std::env::set_current_dir(dir).map_err(|e| listen::reason(&e))?;
        let moved = match &mut self.persist {
            Some(persist) => persist.set_dir(Path::new(".")),
            None => Err(NESTED.to_owned()),
        };
        moved.inspect_err(|_| {
            // It was the working directory a moment ago.
            let _ = std::env::set_current_dir(old);
        })
    }

    /// Listens on new addresses, or goes back to the old ones.
    fn listen(&mut self, name: &str, next: &Config) -> Result<(), String> {
        if next.tls.port > 0 && self.io.tls.is_none() {
            self.io.configure_tls(&next.tls)?;
        }
        let io = &mut *self.io;
        let old = (io.settings.port, io.settings.tls_port, io.settings.bind.clone());
        let Settings { port, tls_port, bind, .. } = &mut io.settings;
        // Several parameters may change at once: each is dealt with when its turn comes.
        match name {
            "port" => *port = next.port as u16,
            "tls-port" => *tls_port = next.tls.port as u16,
            _ => bind.clone_from(&next.bind),
        }
        let kinds: &[bool] = match name {
            "port" => &[false],
            "tls-port" => &[true],
            _ => &[false, true],
        };
        let Err(text) = kinds.iter().try_for_each(|tls| io.listen_tcp(*tls)) else { return Ok(()) };
        io.log.warning(text);
        (io.settings.port, io.settings.tls_port, io.settings.bind) = old;
        for tls in kinds {
            if let Err(text) = io.listen_tcp(*tls) {
                io.log.warning(text);
            }
        }
        let text = if name == "bind" {
            "Failed to bind to specified addresses."
        } else {
            "Unable to listen on this port. Check server logs."
        };
        Err(text.to_owned())
    }
}
