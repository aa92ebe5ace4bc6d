//! Debugging sessions on copies of the data set (SCRIPT DEBUG YES): each has a thread, an engine and its client's
//! connection to itself. The copy is made in small steps while clients are served; what a session does is seen by nobody
//! and thrown away with its engine.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use totality_engine::client::DebugMode;
use totality_engine::engine::Heard;
use totality_engine::replication::Role;
use totality_engine::{Busy, ClientId, Config, Engine, Ticker};
use totality_persist::load_copy;

use crate::clock::WallClock;
use crate::conn::Stream;
use crate::evict;
use crate::server::{Server, random_seed};
use crate::talk;
use crate::watchdog::Watchdog;

/// Sessions at a time, those included that wait for their copy.
const MAX_SESSIONS: usize = 8;
/// Milliseconds between two looks at whether the server ends.
const LOOK_MS: i64 = 50;

/// A client that is to have a session.
struct Guest {
    stream: Stream,
    /// Replies that had not left when it asked.
    early: Vec<u8>,
    argv: Vec<Vec<u8>>,
    /// Makes the client of the session's engine what it was here.
    enter: Box<dyn FnOnce(&mut Engine) -> ClientId + Send>,
}

/// All sessions on copies.
#[derive(Default)]
pub(crate) struct Sessions {
    waiting: VecDeque<Guest>,
    threads: Vec<JoinHandle<()>>,
    ending: Arc<AtomicBool>,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("sessions", &self.len()).finish_non_exhaustive()
    }
}

impl Sessions {
    /// Sessions that wait or are on.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len() + self.threads.len()
    }

    /// May there be one more?
    pub(crate) fn permit(sessions: usize) -> Result<(), &'static str> {
        if sessions < MAX_SESSIONS { Ok(()) } else { Err("too many debugging sessions") }
    }
}

impl Drop for Sessions {
    /// Sessions end soon by themselves; nothing of them is worth waiting for.
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
    }
}

impl Server {
    /// Takes a client out of the loop; its session begins when its copy is made.
    pub(crate) fn begin_debugging(&mut self, client: ClientId, argv: Vec<Vec<u8>>) {
        let Some(key) = self.io.key_of(client) else { return };
        let Some(conn) = self.io.conns.get(key) else { return };
        let early = conn.output[conn.sent..].to_vec();
        let Some(known) = self.engine.sv.clients.get(client) else { return };
        let (info, user, name) = (known.conn.clone(), known.user.clone(), known.name.clone());
        let (db, proto) = (known.db, known.proto);
        let Some(mut conn) = self.io.remove(key) else { return };
        evict::forget(&mut self.engine.sv, &mut conn);
        self.engine.disconnect(client);
        if conn.deregister(self.io.registry()).is_err() {
            // It breaks together with its socket.
            return;
        }
        let enter = move |engine: &mut Engine| {
            let id = engine.connect(info);
            if let Some(client) = engine.sv.clients.get_mut(id) {
                client.set_user(user);
                (client.authenticated, client.name) = (true, name);
                (client.db, client.proto) = (db, proto);
                client.debug = Some(DebugMode::Sync);
            }
            id
        };
        self.io.log.notice("A debugging session of a script on a copy of the data set was asked for");
        self.sessions.waiting.push_back(Guest { stream: conn.stream, early, argv, enter: Box::new(enter) });
        self.serve_sessions();
    }

    /// Goes on with copies and sessions.
    pub(crate) fn serve_sessions(&mut self) {
        self.sessions.threads.retain(|thread| !thread.is_finished());
        if let Some(copy) = self.persist.take_copy()
            && let Some(guest) = self.sessions.waiting.pop_front()
        {
            let config = own_config(&self.engine.sv.config);
            let role = own_role(&self.engine.sv.repl.role);
            let ending = self.sessions.ending.clone();
            let spawned = thread::Builder::new()
                .name("debug-session".into())
                .spawn(move || hold(guest, copy, (config, role), ending));
            match spawned {
                Ok(thread) => self.sessions.threads.push(thread),
                Err(e) => self.io.log.warning(format!("Can't start a thread for a debugging session: {e}")),
            }
        }
        if !self.sessions.waiting.is_empty() {
            // While another snapshot is in the making it is tried again.
            self.persist.begin_copy(&mut self.engine);
        }
    }
}

/// The configuration of a session's engine: it keeps nothing.
fn own_config(config: &Config) -> Config {
    Config { appendonly: false, save: String::new(), min_replicas_to_write: 0, ..config.clone() }
}

/// A session on a replica is one: what would be refused there is refused, and keys go when the primary says so.
fn own_role(role: &Role) -> Role {
    let mut own = role.clone();
    if let Role::Replica(upstream) = &mut own {
        upstream.client = None;
    }
    own
}

/// The session itself.
fn hold(guest: Guest, copy: Vec<u8>, (config, role): (Config, Role), ending: Arc<AtomicBool>) {
    let Guest { mut stream, early, argv, enter } = guest;
    let refuse = |stream: &mut Stream, why: &str| {
        let text = format!("-ERR Fork() failed: can't run EVAL in debugging mode: {why}\r\n");
        // Whoever is gone misses it.
        let _ = talk::send_all(stream, text.as_bytes());
    };
    let Ok(seed) = random_seed() else { return refuse(&mut stream, "no random numbers") };
    let mut engine = Engine::new(config, Box::new(WallClock::new()), seed);
    if let Err(why) = load_copy(&mut engine, &copy) {
        return refuse(&mut stream, &why.replace(['\r', '\n'], " "));
    }
    drop(copy);
    engine.ks.replica = matches!(role, Role::Replica(_));
    engine.sv.repl.role = role;
    let runs = engine.sv.scripts.run_counter();
    let Ok(watchdog) = Watchdog::start(engine.sv.scripts.interrupt(), runs) else {
        return refuse(&mut stream, "no thread");
    };
    let client = enter(&mut engine);
    let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
    let mut guide = Guide { stream, ending };
    if !early.is_empty() && !guide.say(&early) {
        return;
    }
    watchdog.script_ahead();
    let mut out = Vec::new();
    engine.wake();
    engine.execute(client, &argv, &mut out, &mut guide);
    guide.say(&out);
}

/// The session's end of the line.
struct Guide {
    stream: Stream,
    ending: Arc<AtomicBool>,
}

impl Ticker for Guide {
    fn tick(&mut self, busy: &mut Busy<'_>) {
        if self.ending.load(Ordering::SeqCst)
            && let Some(run) = &mut busy.state().running
        {
            run.kill = true;
        }
    }

    fn may_debug(&mut self, copy: bool) -> Result<(), &'static str> {
        if copy { Err("this is a copy already") } else { Ok(()) }
    }

    fn say(&mut self, bytes: &[u8]) -> bool {
        talk::send_all(&mut self.stream, bytes)
    }

    fn hear(&mut self, input: &mut Vec<u8>) -> Heard {
        if self.ending.load(Ordering::SeqCst) {
            return Heard::Gone;
        }
        talk::hear(&mut self.stream, input, LOOK_MS)
    }
}
