//! Sockets and their buffers: everything of the loop that needs no data. The engine is a separate field of the
//! server, so that sockets can be served while a long script holds the engine.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use mio::{Events, Interest, Poll, Token};
use slab::Slab;
use totality_engine::{ClientId, ConnInfo};

use crate::conn::{Conn, Fate, Read, Stream, Written};
use crate::listen::{self, Listener};
use crate::log::Log;
use crate::oom::OomScore;
use crate::replica::LinkEvents;
use crate::settings::Settings;
use crate::tls::{Tls, TlsStream};

/// Token of the wake-up by another thread.
pub const WAKE: Token = Token(usize::MAX - 1);
/// Token of the pipe that signals write to.
pub const SIGNAL: Token = Token(usize::MAX - 2);
/// Token of the link to the primary until the stream flows on it.
pub const LINK: Token = Token(usize::MAX - 3);
/// Tokens of the listeners, upwards.
const LISTEN: usize = usize::MAX / 2;

/// Bytes of one read into the shared buffer.
pub const CHUNK: usize = 64 * 1024;
/// Clients above which `dynamic-hz` doubles the rounds of background work per second, and the most rounds.
const CLIENTS_PER_ROUND: u64 = 200;
const MAX_HZ: u64 = 500;
/// Rest after the process ran out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Empty output buffers that are kept, and the largest that is.
const POOL: usize = 256;
const POOLED_BYTES: usize = 64 * 1024;

/// A connection that was accepted and is not yet known to the engine.
#[derive(Debug)]
pub struct Accepted {
    /// Its socket.
    pub stream: Stream,
    /// Where it comes from.
    pub info: ConnInfo,
    /// It comes from this machine.
    pub local: bool,
}

/// A listening socket.
#[derive(Debug)]
struct Listening {
    listener: Listener,
    token: Token,
    /// Connections may wait on it.
    pending: bool,
}

/// Sockets and buffers.
#[derive(Debug)]
pub struct Io {
    poll: Poll,
    events: Events,
    listeners: Vec<Listening>,
    next_listen: usize,
    /// Connections by their token.
    pub conns: Slab<Conn>,
    by_client: HashMap<ClientId, usize>,
    /// Connections that are to be served, in order of arrival.
    pub ready: Vec<usize>,
    /// Those of this turn that have not been served yet.
    pub batch: VecDeque<usize>,
    writes: Vec<usize>,
    /// Reads from connections and writes to them so far.
    pub calls: (u64, u64),
    /// Connections that are to be closed, with the engine's knowledge.
    pub dead: Vec<usize>,
    pool: Vec<Vec<u8>>,
    /// Where requests are read that arrive whole: a connection needs a buffer of its own only for the rest.
    pub shared: Vec<u8>,
    accept_after: Option<Instant>,
    /// What TLS connections use, if there are any.
    pub tls: Option<Tls>,
    /// The parameters.
    pub settings: Settings,
    /// The log.
    pub log: Log,
    began: Instant,
    /// Milliseconds since the start, as of this turn. Never 0.
    pub now_ms: u64,
    /// A wake-up or a signal came.
    pub woken: bool,
    /// What is to be done about the link to the primary.
    pub link: LinkEvents,
    /// How willingly the kernel ends this process.
    pub oom: OomScore,
}

impl Io {
    /// Without connections and listeners.
    pub fn new(settings: Settings, log: Log) -> io::Result<Io> {
        Ok(Io {
            poll: Poll::new()?,
            events: Events::with_capacity(1024),
            listeners: Vec::new(),
            next_listen: LISTEN,
            conns: Slab::new(),
            by_client: HashMap::new(),
            ready: Vec::new(),
            batch: VecDeque::new(),
            writes: Vec::new(),
            calls: (0, 0),
            dead: Vec::new(),
            pool: Vec::new(),
            shared: Vec::with_capacity(CHUNK),
            accept_after: None,
            tls: None,
            settings,
            log,
            began: Instant::now(),
            now_ms: 1,
            woken: false,
            link: LinkEvents::default(),
            oom: OomScore::default(),
        })
    }

    /// Rounds of background work per second: with `dynamic-hz` more when there are many clients.
    pub fn hz(&self) -> u64 {
        let mut hz = self.settings.hz;
        while self.settings.dynamic_hz && self.conns.len() as u64 / hz > CLIENTS_PER_ROUND && hz < MAX_HZ {
            hz = (hz * 2).min(MAX_HZ);
        }
        hz
    }

    /// The poll's registry.
    pub fn registry(&self) -> &mio::Registry {
        self.poll.registry()
    }

    /// Replaces the listeners of one kind, plain or TLS, by those of the settings.
    pub fn listen_tcp(&mut self, tls: bool) -> Result<(), String> {
        // The old ones first: the new ones may want the same addresses.
        self.listeners.retain(|l| match l.listener {
            Listener::Tcp(_) => tls,
            Listener::Tls(_) => !tls,
            Listener::Unix(_) => true,
        });
        let Settings { bind, port, tls_port, listen, .. } = &self.settings;
        let (port, kind) = if tls { (*tls_port, "tls") } else { (*port, "tcp") };
        if port == 0 {
            return Ok(());
        }
        let log = &mut self.log;
        for listener in listen::tcp(bind, port, *listen, kind, |line| log.warning(line))? {
            let listener = if tls { Listener::Tls(listener) } else { Listener::Tcp(listener) };
            self.add_listener(listener).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Adds a listening socket.
    pub fn add_listener(&mut self, mut listener: Listener) -> io::Result<()> {
        let token = Token(self.next_listen);
        match &mut listener {
            Listener::Tcp(l) | Listener::Tls(l) => {
                self.poll.registry().register(l, token, Interest::READABLE)?;
            }
            Listener::Unix(l) => self.poll.registry().register(l, token, Interest::READABLE)?,
        }
        self.next_listen += 1;
        self.listeners.push(Listening { listener, token, pending: true });
        Ok(())
    }

    /// Addresses that are listened on by TCP, without TLS and with it.
    pub fn tcp_addresses(&self) -> (Vec<SocketAddr>, Vec<SocketAddr>) {
        let (mut plain, mut tls) = (Vec::new(), Vec::new());
        for listening in &self.listeners {
            match &listening.listener {
                Listener::Tcp(l) => plain.extend(l.local_addr()),
                Listener::Tls(l) => tls.extend(l.local_addr()),
                Listener::Unix(_) => {}
            }
        }
        (plain, tls)
    }

    /// Closes all listening sockets.
    pub fn close_listeners(&mut self) {
        self.listeners.clear();
    }

    /// Waits for sockets at most until `until` (not at all when there is work), and notes what they are ready for.
    pub fn wait(&mut self, until: Instant) -> io::Result<()> {
        let now = Instant::now();
        let mut timeout = until.saturating_duration_since(now);
        if let Some(after) = self.accept_after {
            timeout = timeout.min(after.saturating_duration_since(now));
        }
        let work = !self.ready.is_empty() || !self.writes.is_empty() || !self.dead.is_empty();
        let work = work || self.link.ready || self.link.relink;
        if work || self.accept_due(now) {
            timeout = Duration::ZERO;
        }
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        self.now_ms = self.began.elapsed().as_millis() as u64 + 1;
        self.note_events();
        Ok(())
    }

    fn note_events(&mut self) {
        for event in &self.events {
            let Token(token) = event.token();
            if token == WAKE.0 || token == SIGNAL.0 {
                self.woken = true;
            } else if token == LINK.0 {
                self.link.ready = true;
            } else if token >= LISTEN {
                if let Some(l) = self.listeners.iter_mut().find(|l| l.token.0 == token) {
                    l.pending = true;
                }
            } else if let Some(conn) = self.conns.get_mut(token) {
                if event.is_readable() || event.is_read_closed() || event.is_error() {
                    conn.readable = true;
                    conn.closing |= event.is_read_closed() || event.is_error();
                    if !conn.queued {
                        conn.queued = true;
                        self.ready.push(token);
                    }
                }
                if event.is_writable() && conn.full && !conn.to_write {
                    conn.to_write = true;
                    self.writes.push(token);
                }
            }
        }
    }

    fn accept_due(&self, now: Instant) -> bool {
        self.accept_after.is_none_or(|after| after <= now) && self.listeners.iter().any(|l| l.pending)
    }

    /// Accepts what waits, up to a bound for each listener; the rest comes in the next turn.
    pub fn accept(&mut self, mut each: impl FnMut(&mut Io, Accepted)) {
        if !self.accept_due(Instant::now()) {
            return;
        }
        self.accept_after = None;
        let (plain, tls) = self.settings.accepts;
        for i in 0..self.listeners.len() {
            let mut left = match self.listeners.get(i).map(|l| &l.listener) {
                Some(Listener::Tls(_)) => tls,
                _ => plain,
            };
            while left > 0 && self.accept_after.is_none() && self.listeners.get(i).is_some_and(|l| l.pending)
            {
                left -= 1;
                match self.accept_one(i) {
                    Ok(Some(accepted)) => each(self, accepted),
                    Ok(None) => {}
                    Err(e) => self.accept_failed(i, &e),
                }
            }
        }
    }

    fn accept_one(&mut self, i: usize) -> io::Result<Option<Accepted>> {
        let Some(listening) = self.listeners.get(i) else { return Ok(None) };
        match &listening.listener {
            Listener::Tcp(l) | Listener::Tls(l) => {
                let (stream, addr) = l.accept()?;
                let laddr = stream.local_addr().map(|a| a.to_string()).unwrap_or_default();
                self.tune(&stream);
                let fd = i64::from(stream.as_raw_fd());
                let stream = match (&listening.listener, &self.tls) {
                    (Listener::Tls(_), Some(tls)) => {
                        let tls = TlsStream::accept(stream, &tls.server, self.now_ms);
                        Stream::Tls(Box::new(tls.map_err(io::Error::other)?))
                    }
                    // Without certificates nobody can be served there.
                    (Listener::Tls(_), None) => return Err(io::ErrorKind::ConnectionAborted.into()),
                    _ => Stream::Tcp(stream),
                };
                let info = ConnInfo { addr: addr.to_string(), laddr, fd, unix: false };
                Ok(Some(Accepted { stream, info, local: addr.ip().is_loopback() }))
            }
            Listener::Unix(l) => {
                let (stream, _) = l.accept()?;
                let stream = Stream::Unix(stream);
                let addr = format!("{}:0", self.settings.unix_socket);
                let info = ConnInfo { laddr: addr.clone(), addr, fd: stream.number(), unix: true };
                Ok(Some(Accepted { stream, info, local: true }))
            }
        }
    }

    /// Options of a TCP connection; a connection without them still works, so failures are ignored.
    fn tune(&self, stream: &mio::net::TcpStream) {
        let socket = socket2::SockRef::from(stream);
        let _ = socket.set_tcp_nodelay(true);
        let seconds = self.settings.keepalive_s;
        if seconds > 0 {
            let keepalive = socket2::TcpKeepalive::new()
                .with_time(Duration::from_secs(seconds))
                .with_interval(Duration::from_secs((seconds / 3).max(1)))
                .with_retries(3);
            let _ = socket.set_tcp_keepalive(&keepalive);
        }
    }

    fn accept_failed(&mut self, i: usize, e: &io::Error) {
        use rustix::io::Errno;
        match e.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::AGAIN) => {
                if let Some(listening) = self.listeners.get_mut(i) {
                    listening.pending = false;
                }
            }
            None if e.kind() == io::ErrorKind::ConnectionAborted => {}
            // The peer gave up before we came: take the next one.
            Some(Errno::CONNABORTED | Errno::INTR | Errno::PROTO) => {}
            // Out of descriptors or memory: trying at once again would spin.
            _ => {
                self.log.warning(format!("Accepting client connection: accept: {}", listen::reason(e)));
                self.accept_after = Some(Instant::now() + ACCEPT_PAUSE);
            }
        }
    }

    /// Adds a connection that the engine knows as `client`.
    pub fn add(&mut self, stream: Stream, client: ClientId) -> io::Result<usize> {
        let now = self.now_ms;
        let entry = self.conns.vacant_entry();
        let key = entry.key();
        let conn = entry.insert(Conn::new(stream, client, now));
        if let Err(e) = conn.register(self.poll.registry(), Token(key)) {
            self.conns.remove(key);
            return Err(e);
        }
        self.by_client.insert(client, key);
        Ok(key)
    }

    /// The connection of a client.
    pub fn key_of(&self, client: ClientId) -> Option<usize> {
        self.by_client.get(&client).copied()
    }

    /// Removes a connection, without its output buffer; dropping the socket closes it.
    pub fn remove(&mut self, key: usize) -> Option<Conn> {
        let mut conn = self.conns.try_remove(key)?;
        self.by_client.remove(&conn.client);
        let output = std::mem::take(&mut conn.output);
        self.recycle(output);
        Some(conn)
    }

    /// An empty output buffer.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.pool.pop().unwrap_or_default()
    }

    /// Takes back an output buffer.
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() > 0 && buffer.capacity() <= POOLED_BYTES && self.pool.len() < POOL {
            buffer.clear();
            self.pool.push(buffer);
        }
    }

    /// Puts a connection into the list of those to be served.
    pub fn enqueue(&mut self, key: usize) {
        if let Some(conn) = self.conns.get_mut(key)
            && !conn.queued
        {
            conn.queued = true;
            self.ready.push(key);
        }
    }

    /// Puts a connection into the list of those to be written, if it has something to write or is to be closed.
    pub fn enqueue_write(&mut self, key: usize) {
        if let Some(conn) = self.conns.get_mut(key)
            && !conn.to_write
            && (conn.fate != Fate::Open || ((conn.pending() > 0 || conn.stream.wants_write()) && !conn.full))
        {
            conn.to_write = true;
            self.writes.push(key);
        }
    }

    /// Reads once from a connection into `buf`, at most about `most` bytes.
    pub fn read(&mut self, key: usize, buf: &mut Vec<u8>, most: usize) -> Read {
        let now = self.now_ms;
        let Some(conn) = self.conns.get_mut(key) else { return Read::Broken };
        let got = conn.stream.read(buf, most);
        self.calls.0 += 1;
        match got {
            Read::Some(n) | Read::Drained(n) => {
                conn.net.0 += n as u64;
                conn.active_ms = now;
                // After a hang-up the end itself is still to be read.
                conn.readable = conn.closing || matches!(got, Read::Some(_));
            }
            Read::Eof | Read::Broken => conn.readable = false,
        }
        if conn.stream.wants_write() {
            self.enqueue_write(key);
        }
        got
    }

    /// Writes all replies. Calls `done` for each connection that was touched; closes go to `dead`.
    /// Connection `except` is left alone: its output buffer is elsewhere.
    pub fn flush(&mut self, except: Option<usize>, mut done: impl FnMut(&mut Conn)) {
        let mut writes = std::mem::take(&mut self.writes);
        for key in writes.drain(..) {
            if except == Some(key) {
                self.writes.push(key);
                continue;
            }
            let Some(conn) = self.conns.get_mut(key) else { continue };
            conn.to_write = false;
            if conn.fate == Fate::Now {
                self.dead.push(key);
                continue;
            }
            let written = conn.write();
            self.calls.1 += 1;
            let registry = self.poll.registry();
            let watched = match written {
                Written::All if conn.full => conn.watch_writable(registry, Token(key), false),
                Written::Full if !conn.full => conn.watch_writable(registry, Token(key), true),
                _ => Ok(()),
            };
            if written == Written::Broken || watched.is_err() {
                conn.fate = Fate::Now;
                self.dead.push(key);
                continue;
            }
            conn.active_ms = self.now_ms;
            if written == Written::All {
                let closing = conn.fate == Fate::AfterReplies;
                let buffer = std::mem::take(&mut conn.output);
                done(conn);
                self.recycle(buffer);
                if closing {
                    self.dead.push(key);
                }
            } else {
                done(conn);
            }
        }
        if self.writes.is_empty() {
            self.writes = writes;
        }
    }
}
