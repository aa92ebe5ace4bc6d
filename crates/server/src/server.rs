//! The loop: read, execute, write, timers.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::Waker;
use totality_engine::replication::{self, stop};
use totality_engine::{Config, Engine, Outgoing};
use totality_persist::Persist;

use crate::clients::log_level;
use crate::clock::WallClock;
use crate::crash::Reports;
use crate::debug::Sessions;
use crate::evict;
use crate::io::{Io, WAKE};
use crate::lazy_free::LazyFree;
use crate::listen::{self, Listener};
use crate::log::Log;
use crate::meanwhile::Meanwhile;
use crate::primary::Primary;
use crate::replica::Follower;
use crate::settings::Settings;
use crate::signals::{Ends, Signals};
use crate::supervise::Manager;
use crate::watchdog::Watchdog;
use crate::{process, process_info};

/// Descriptors that the server needs beside those of clients.
const RESERVED_FILES: u64 = 32;

/// Why a server did not start. `Display` says it in one line.
#[derive(Debug)]
pub struct StartError(pub(crate) String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

fn start_error(what: &str) -> impl Fn(io::Error) -> StartError + '_ {
    move |e| StartError(format!("{what}: {}", listen::reason(&e)))
}

/// Stops a running server from another thread.
#[derive(Debug, Clone)]
pub struct Handle {
    waker: Arc<Waker>,
    stop: Arc<AtomicBool>,
}

impl Handle {
    /// Asks the server to end as SIGTERM does.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        // The server is gone when this fails.
        let _ = self.waker.wake();
    }
}

/// A server: an engine and its sockets, on one thread.
pub struct Server {
    pub(crate) io: Io,
    pub(crate) engine: Engine,
    pub(crate) persist: Persist,
    pub(crate) config_file: Option<PathBuf>,
    handle: Handle,
    pub(crate) ends: Ends,
    pub(crate) watchdog: Watchdog,
    pub(crate) sessions: Sessions,
    lazy_free: LazyFree,
    manager: Manager,
    /// Failed checks are reported in the log.
    pub(crate) reports: Option<Reports>,
    /// `bio-cpulist` cannot be obeyed, and the log says so.
    helpers_warned: bool,
    pub(crate) primary: Primary,
    next_cron: Instant,
    pub(crate) next_second: Instant,
    /// When the certificates were last looked at, in milliseconds of the loop's clock.
    pub(crate) tls_read_ms: u64,
    pub(crate) follower: Follower,
    pub(crate) ending: bool,
    /// Why the data set must not be served any longer.
    pub(crate) fatal: Option<String>,
}

impl Server {
    /// Opens the log and the listening sockets. `config_file` is the file that CONFIG REWRITE writes. The data set is
    /// loaded by [`Server::run`].
    ///
    /// # Errors
    /// When the log, a socket or the working directory cannot be had.
    pub fn new(mut config: Config, config_file: Option<PathBuf>) -> Result<Server, StartError> {
        let settings = Settings::of(&config);
        let mut log = Log::stdout(settings.log_level);
        log.set_file(&settings.log_file).map_err(start_error("Can't open the log file"))?;
        log.set_format(&config);
        let text = |name: &str| config.get(name).unwrap_or_default();
        if text("syslog-enabled") == "yes" {
            log.set_syslog(&text("syslog-ident"), &text("syslog-facility"));
        }
        if config.dir != "." {
            std::env::set_current_dir(&config.dir)
                .map_err(start_error(&format!("Can't chdir to '{}'", config.dir)))?;
        }
        config.dir = working_dir(&config.dir);
        log.notice(format!("Totality is starting: version={}, PID: {}", VERSION, std::process::id()));
        match &config_file {
            Some(file) => log.notice(format!("Configuration loaded from {}", file.display())),
            None => {
                log.notice("No configuration file was given: default values and the command line are used")
            }
        }
        if config.daemonize {
            log.warning("daemonize is ignored: let a service manager run the server in the background");
        }
        let manager = Manager::find(config.supervised, &mut log);
        process::spare_huge_pages(&config, &mut log);
        let mut io = Io::new(settings, log).map_err(start_error("Can't create the event loop"))?;
        let waker = Waker::new(io.registry(), WAKE).map_err(start_error("Can't create the event loop"))?;
        raise_file_limit(&mut io);
        config.maxclients = io.settings.max_clients as u64;
        if config.tls.is_used() && io.configure_tls(&config.tls).is_err() {
            return Err(StartError("Failed to configure TLS. Check logs for more info.".to_owned()));
        }
        for tls in [false, true] {
            io.listen_tcp(tls).map_err(StartError)?;
        }
        open_unix(&mut io)?;
        if io.settings.port == 0 && io.settings.tls_port == 0 && io.settings.unix_socket.is_empty() {
            return Err(StartError("Configured to not listen anywhere, exiting.".to_owned()));
        }
        let mut engine = Engine::new(config, Box::new(WallClock::new()), random_seed()?);
        crate::acl_file::load_users(&mut engine).map_err(StartError)?;
        process_info::at_start(&mut engine.sv.process, &io, config_file.as_deref());
        engine.sv.process.supervised = manager.name().to_owned();
        crate::node_file::open(&mut engine, &mut io.log).map_err(StartError)?;
        // What goes wrong is in the log; the server starts all the same.
        let _ = io.oom.apply(&engine.sv.config, &mut |line| io.log.warning(line));
        let watchdog = Watchdog::start(engine.sv.scripts.interrupt(), engine.sv.scripts.run_counter())
            .map_err(start_error("Can't start a thread"))?;
        let lazy_free =
            LazyFree::start(engine.sv.lazy_free.clone()).map_err(start_error("Can't start a thread"))?;
        crate::lazy_free::free_buffers_of_scripts().map_err(start_error("Can't start a thread"))?;
        let waker = Arc::new(waker);
        engine.sv.repl.available = true;
        let wake = waker.clone();
        // A loop that is gone needs no waking.
        let persist = Persist::new(Path::new("."), Arc::new(move || drop(wake.wake())));
        let stop = Arc::new(AtomicBool::new(false));
        let handle = Handle { waker, stop: stop.clone() };
        let now = Instant::now();
        let mut server = Server {
            io,
            engine,
            persist,
            config_file,
            handle,
            ends: Ends { signals: None, stop },
            watchdog,
            sessions: Sessions::default(),
            lazy_free,
            manager,
            reports: None,
            helpers_warned: false,
            primary: Primary::default(),
            next_cron: now,
            next_second: now,
            tls_read_ms: 0,
            follower: Follower::new(),
            ending: false,
            fatal: None,
        };
        server.write_pid_file();
        Ok(server)
    }

    /// Loads the data set from the working directory; clients that come meanwhile are answered LOADING. False when the
    /// server was told to end before it was done.
    fn load(&mut self) -> io::Result<bool> {
        // As Redis says it: what follows is the loading of data.
        self.io.log.notice("Server initialized");
        let mut meanwhile = Meanwhile::of_nobody(
            &mut self.io,
            self.config_file.as_deref(),
            None,
            (&mut self.ends, &self.watchdog),
        );
        let opened = self.persist.open(&mut self.engine, &mut meanwhile);
        self.deliver();
        match opened {
            Ok(()) => {
                if let Some((host, port)) = self.engine.sv.config.replicaof.clone() {
                    let Engine { ks, sv } = &mut self.engine;
                    replication::link::restore(ks, sv, &host, port);
                } else {
                    replication::resume(&mut self.engine.ks, &mut self.engine.sv);
                }
                self.announce();
                Ok(!self.ending)
            }
            Err(_) if self.persist.stopped() => {
                self.io.log.warning("User requested shutdown...");
                Ok(false)
            }
            Err(why) => {
                why.lines().for_each(|line| self.io.log.warning(line));
                Err(io::Error::other(why))
            }
        }
    }

    fn announce(&mut self) {
        let log = &mut self.io.log;
        let config = &self.engine.sv.config;
        if !config.appendonly && config.save.is_empty() {
            log.warning(
                "Data is kept in memory only: nothing is written to disk by itself, and all of it is lost when the server ends",
            );
        }
        let (plain, tls) = self.io.tcp_addresses();
        for (addresses, kind) in [(plain, "tcp"), (tls, "tls")] {
            if !addresses.is_empty() {
                self.io.log.notice(format!("Ready to accept connections {kind}"));
            }
        }
        if !self.io.settings.unix_socket.is_empty() {
            self.io.log.notice("Ready to accept connections unix");
        }
        self.manager.ready(&mut self.io.log);
    }

    /// Ends the server on SIGTERM and SIGINT. Once per process.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub fn catch_signals(&mut self) -> io::Result<()> {
        self.ends.signals = Some(Signals::install(self.io.registry())?);
        Ok(())
    }

    /// Has failed checks reported in the log, as `crash-log-enabled` says. Once per process.
    pub fn report_crashes(&mut self) {
        self.reports = Some(Reports::install(&self.engine.sv.config));
    }

    /// A handle for other threads.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Addresses listened on by TCP without TLS.
    pub fn addresses(&self) -> Vec<std::net::SocketAddr> {
        self.io.tcp_addresses().0
    }

    /// Loads the data set, then serves until it is told to end.
    ///
    /// # Errors
    /// When the data set cannot be loaded, or must not be used any longer; when the system's poll fails, which it does
    /// not in a sound process.
    pub fn run(&mut self) -> io::Result<()> {
        process::pin_loop(&self.engine.sv.config, &mut self.io.log);
        // What is wrong is the last line of the log.
        let loaded = self.load().inspect_err(|_| self.close())?;
        self.ending |= !loaded;
        while !self.ending {
            let until = self.next_event();
            self.io.wait(until)?;
            self.turn();
        }
        self.end();
        match self.persist.fatal().or(self.fatal.as_deref()) {
            Some(why) => Err(io::Error::other(why.to_owned())),
            None => Ok(()),
        }
    }

    /// Counts a turn that ends now.
    fn note_turn(&mut self, began_us: u64, commands: u64) {
        let us = self.engine.sv.clock.now_us().saturating_sub(began_us);
        let stats = &mut self.engine.sv.stats;
        stats.turns.count += 1;
        stats.turns.us += us;
        stats.turns.longest_us = stats.turns.longest_us.max(us);
        // RESETSTAT may have come in between.
        let commands = stats.processed.saturating_sub(commands);
        stats.turns.most_commands = stats.turns.most_commands.max(commands);
    }

    fn turn(&mut self) {
        if std::mem::take(&mut self.io.woken) {
            self.told();
        }
        self.engine.wake();
        // The clock was just read.
        let (began, commands) = (self.engine.sv.stamp, self.engine.sv.stats.processed);
        // What becomes ready meanwhile waits for the next turn; a script that runs long may serve the rest of the batch.
        self.io.batch.extend(self.io.ready.drain(..));
        while let Some(key) = self.io.batch.pop_front() {
            self.serve(key);
        }
        if self.persist.stopped() {
            // Half a data set is of no use to anybody.
            self.ending = true;
            return;
        }
        self.engine.run_due();
        self.engine.run_acknowledged();
        self.deliver();
        self.accept();
        self.follow();
        let safe = self.engine.sv.persist.log.offset.1;
        self.persist.before_replies(&mut self.engine.sv);
        if self.engine.sv.persist.log.offset.1 != safe {
            self.answer_safe();
        }
        if self.persist.fatal().is_some() {
            // No reply of this turn may leave.
            self.deliver_log();
            self.ending = true;
            return;
        }
        self.serve_replicas();
        self.flush();
        self.evict_clients();
        self.reap();
        self.persist.turn(&mut self.engine);
        if self.sessions.len() > 0 {
            self.serve_sessions();
        }
        self.timers();
        if self.engine.ks.has_garbage() {
            self.lazy_free.free(self.engine.ks.take_garbage());
        }
        self.note_turn(began, commands);
    }

    /// More of the append-only file is safe: some may wait for that.
    #[cold]
    fn answer_safe(&mut self) {
        self.engine.sv.repl.acked = true;
        self.engine.run_acknowledged();
        self.deliver();
    }

    /// When the loop has to turn even if no socket is ready.
    fn next_event(&self) -> Instant {
        if self.replicas_hungry() {
            return Instant::now();
        }
        let next = match self.persist.next_deadline(&self.engine) {
            Some(at) => self.next_cron.min(at),
            None => self.next_cron,
        };
        let Some(deadline) = self.engine.next_deadline() else { return next };
        let now_us = self.engine.sv.clock.now_us();
        let left = (deadline.max(0) as u64).saturating_mul(1000).saturating_sub(now_us);
        // Beyond the next cron it does not matter.
        let left = Duration::from_micros(left.min(10_000_000));
        next.min(Instant::now() + left)
    }

    /// Looks at what other threads and signals want.
    fn told(&mut self) {
        if let Some(signal) = self.ends.signals.as_mut().and_then(Signals::take) {
            self.io.log.warning(signal.line);
            self.io.log.notice("User requested shutdown...");
            self.ending |= self.may_end(signal.option);
        }
        if self.handle.stop.swap(false, Ordering::SeqCst) {
            self.ending |= self.may_end("shutdown-on-sigterm");
        }
        if !self.ending
            && self.engine.sv.repl.stopping.is_none()
            && let Some(signals) = &self.ends.signals
        {
            signals.go_on();
        }
    }

    /// Writes out what must not be lost; false when that failed and the server goes on.
    fn may_end(&mut self, option: &str) -> bool {
        let options = self.engine.sv.config.get(option).unwrap_or_default();
        let has = |word: &str| options.split(' ').any(|w| w == word);
        let save = if has("nosave") { Some(false) } else { has("save").then_some(true) };
        let Engine { ks, sv } = &mut self.engine;
        // Whoever asks twice does not want to wait.
        let waits = !has("now") && sv.config.shutdown_timeout > 0 && sv.repl.stopping.is_none();
        if waits && (stop::lags(sv) || sv.cron_paused) {
            stop::begin(ks, sv, save, has("force"));
            self.deliver_log();
            return false;
        }
        stop::note_lagging(sv);
        let saved = self.persist.shutdown(ks, sv, save, has("force"));
        self.deliver_log();
        if saved.is_err() && !has("force") {
            self.io.log.warning("SIGTERM received but errors trying to shut down the server, check the logs for more information");
            return false;
        }
        true
    }

    /// Writes what the engine has for the log.
    fn deliver_log(&mut self) {
        write_log(&mut self.engine, &mut self.io);
    }

    /// Writes all replies.
    pub(crate) fn flush(&mut self) {
        let engine = &mut self.engine;
        self.io.flush(None, |conn| evict::account(engine, conn));
    }

    /// Closes what is to be closed.
    pub(crate) fn reap(&mut self) {
        while let Some(key) = self.io.dead.pop() {
            if let Some(mut conn) = self.io.remove(key) {
                let total = &mut self.engine.sv.process.net;
                *total = (total.0 + conn.net.0, total.1 + conn.net.1);
                evict::forget(&mut self.engine.sv, &mut conn);
                self.engine.disconnect(conn.client);
                if conn.primary {
                    self.lost_primary();
                }
            }
        }
        self.deliver();
    }

    fn timers(&mut self) {
        let now = Instant::now();
        if now < self.next_cron {
            return;
        }
        let hz = self.io.hz();
        self.engine.sv.process.hz = hz;
        self.next_cron = now + Duration::from_micros(1_000_000 / hz);
        self.engine.cron();
        self.persist.cron(&mut self.engine);
        self.deliver();
        if now >= self.next_second {
            self.next_second = now + Duration::from_secs(1);
            if self.engine.sv.repl.stopping.is_none()
                && let Some(signals) = &self.ends.signals
            {
                signals.go_on();
            }
            self.sweep();
            self.replication_cron();
            self.reload_certificates();
            self.follow_cron();
            process_info::refresh(&mut self.engine.sv.process);
            process::pin_helpers(&self.engine.sv.config, &mut self.io.log, &mut self.helpers_warned);
            self.io.log.set_replica(matches!(self.engine.sv.repl.role, replication::Role::Replica(_)));
            self.engine.sv.process.io_calls = self.io.calls;
        }
        self.engine.sv.stats.turns.cron_us += now.elapsed().as_micros() as u64;
    }

    fn end(&mut self) {
        if self.persist.fatal().is_none() {
            self.flush();
        }
        self.deliver_log();
        self.manager.stopping(&mut self.io.log);
        if !self.io.settings.unix_socket.is_empty() {
            self.io.log.notice("Removing the unix socket file.");
        }
        self.close();
        self.io.log.warning("Totality is now ready to exit, bye bye...");
    }

    /// Gives back what others see of the server.
    fn close(&mut self) {
        self.io.close_listeners();
        if !self.io.settings.unix_socket.is_empty() {
            // It may be gone already.
            let _ = std::fs::remove_file(&self.io.settings.unix_socket);
        }
        let pidfile = &self.engine.sv.config.pidfile;
        if !pidfile.is_empty() {
            let _ = std::fs::remove_file(pidfile);
        }
    }

    fn write_pid_file(&mut self) {
        let path = &self.engine.sv.config.pidfile;
        if path.is_empty() {
            return;
        }
        if let Err(e) = std::fs::write(path, format!("{}\n", std::process::id())) {
            self.io.log.warning(format!("Failed to write PID file: {}", listen::reason(&e)));
        }
    }
}

/// The working directory, as CONFIG GET shows it; `else_` where the system does not tell.
pub(crate) fn working_dir(else_: &str) -> String {
    std::env::current_dir().map_or_else(|_| else_.to_owned(), |dir| dir.display().to_string())
}

/// The version that the log names.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes what the engine has for the log; everything else stays.
fn write_log(engine: &mut Engine, io: &mut Io) {
    let mut later = Vec::new();
    while let Some(outgoing) = engine.next_outgoing() {
        match outgoing {
            Outgoing::Log { level, text } => io.log.write(log_level(level), &String::from_utf8_lossy(&text)),
            other => later.push(other),
        }
    }
    engine.sv.outgoing.extend(later);
}

pub(crate) fn random_seed() -> Result<[u8; 16], StartError> {
    let mut seed = [0u8; 16];
    let got = rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty());
    match got {
        Ok(16) => Ok(seed),
        _ => Err(StartError("The system gives no random numbers".to_owned())),
    }
}

fn open_unix(io: &mut Io) -> Result<(), StartError> {
    let Settings { unix_socket, unix_mode, unix_group, listen, .. } = &io.settings;
    if unix_socket.is_empty() {
        return Ok(());
    }
    const FAILED: &str = "Failed opening Unix socket";
    let listener = listen::unix(unix_socket, (*unix_mode, unix_group), listen.backlog)
        .map_err(|why| StartError(format!("{FAILED}: {why}")))?;
    io.add_listener(Listener::Unix(listener)).map_err(start_error(FAILED))
}

/// Raises the limit of open files to what `maxclients` needs, or lowers `maxclients` to what the system grants.
pub(crate) fn raise_file_limit(io: &mut Io) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let want = io.settings.max_clients as u64 + RESERVED_FILES;
    let limit = getrlimit(Resource::Nofile);
    // None means no limit.
    let Some(old) = limit.current.filter(|current| *current < want) else { return };
    let best = limit.maximum.map_or(want, |maximum| maximum.min(want));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(best), maximum: limit.maximum }).is_ok();
    let have = if raised { best } else { old };
    if have >= want {
        io.log.notice(format!(
            "Increased maximum number of open files to {want} (it was originally set to {old})."
        ));
        return;
    }
    let lowered = have.saturating_sub(RESERVED_FILES).max(1) as usize;
    io.log.warning(format!(
        "You requested maxclients of {} requiring at least {want} max file descriptors.",
        io.settings.max_clients
    ));
    io.log.warning(format!(
        "Current maximum open files is {have}. maxclients has been reduced to {lowered} to compensate for low \
         ulimit. If you need higher maxclients increase 'ulimit -n'."
    ));
    io.settings.max_clients = lowered;
}

/// DEBUG PAUSE-AFTER-FORK: the process stops until somebody lets it go on (SIGCONT), for tests of what is in between.
pub(crate) fn stop_if_told(sv: &totality_engine::state::ServerState) {
    if sv.repl.stops {
        // Where it is refused the process goes on.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
    }
}
