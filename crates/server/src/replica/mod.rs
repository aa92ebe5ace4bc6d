//! Following a primary: the link is made here, the data set is received and taken in, and then the connection becomes one
//! like those of clients, whose commands are executed without an answer.

mod channel;
mod handshake;
mod link;
mod load;
mod payload;

use std::io;
use std::time::{Duration, Instant};

use channel::{Kept, Main};
use handshake::{Handshake, Introduction, Step};
use link::{Link, Phase, Position, Way};
use payload::Payload;
use totality_engine::loading;
use totality_engine::replication::{self, FailoverState, LinkState, Upstream, failover};
use totality_engine::{ConnInfo, Engine};
use totality_resp::write;

use crate::conn::Fate;
use crate::io::Io;
use crate::listen::reason;
use crate::meanwhile::Meanwhile;
use crate::server::Server;
use crate::tls::TlsStream;

/// Reads from the link in one turn.
const READS: usize = 32;
/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_secs(1);

/// What the loop is to do about the link.
#[derive(Debug, Default)]
pub struct LinkEvents {
    /// The link has something to do.
    pub ready: bool,
    /// The server's part changed (REPLICAOF).
    pub relink: bool,
    /// The primary wants to know how far we are.
    pub acknowledge: bool,
}

/// The link, and what is remembered between links.
pub(crate) struct Follower {
    link: Option<Link>,
    /// The connection that gets the stream, while `link` brings the snapshot on another.
    main: Option<Main>,
    /// What came on it, until it is executed.
    pub(crate) kept: Kept,
    next_try: Instant,
    /// Offset of the stream up to which the append-only file was safe when it was looked at last.
    safe: u64,
}

impl Follower {
    /// Without a link.
    pub(crate) fn new() -> Follower {
        Follower { link: None, main: None, kept: Kept::default(), next_try: Instant::now(), safe: 0 }
    }
}

/// How a turn of the link ended.
enum Progress {
    /// It waits for the primary.
    Wait,
    /// There is more to do.
    More,
    /// The stream goes on where it was cut, under a new name if the primary gives one.
    Resumed(Option<String>),
    /// The data set is complete.
    Loaded,
    /// It comes on another connection.
    Dual,
}

impl Io {
    /// Closes the connection of the primary, if there is one: nothing more of it is executed.
    pub(crate) fn drop_primary(&mut self) {
        let keys: Vec<usize> = self.conns.iter().filter(|(_, c)| c.primary).map(|(key, _)| key).collect();
        for key in keys {
            if let Some(conn) = self.conns.get_mut(key) {
                conn.fate = Fate::Now;
            }
            self.enqueue_write(key);
        }
    }
}

impl Server {
    /// The link's part of a turn.
    pub(crate) fn follow(&mut self) {
        if std::mem::take(&mut self.io.link.relink) {
            self.drop_link();
            self.follower.next_try = Instant::now();
        }
        if std::mem::take(&mut self.io.link.acknowledge) {
            self.acknowledge();
        }
        if self.follower.link.is_none() {
            self.open_link();
        }
        if !std::mem::take(&mut self.io.link.ready) {
            return;
        }
        let Some(mut link) = self.follower.link.take() else { return };
        let advanced = match self.tend_main() {
            Ok(()) => self.advance(&mut link),
            Err(why) => Err(why),
        };
        self.engine.sv.stats.from_primary += std::mem::take(&mut link.received);
        match advanced {
            Ok(Progress::Wait) => self.follower.link = Some(link),
            Ok(Progress::More) => {
                self.io.link.ready = true;
                self.follower.link = Some(link);
            }
            Ok(Progress::Resumed(id)) => self.resume(link, id),
            Ok(Progress::Loaded) => self.take_over(link),
            Ok(Progress::Dual) => self.open_channel(link),
            Err(why) => self.link_failed(link, &why),
        }
        // What became of it may have something for the log and for clients.
        self.deliver();
    }

    fn upstream(&mut self) -> Option<&mut Upstream> {
        self.engine.sv.repl.upstream_mut()
    }

    fn set_state(&mut self, state: LinkState) {
        if let Some(upstream) = self.upstream() {
            upstream.link = state;
        }
    }

    /// Connects, if there is a primary without a link and it is time.
    fn open_link(&mut self) {
        let Some(upstream) = self.engine.sv.repl.upstream() else { return };
        if upstream.link != LinkState::Connect || Instant::now() < self.follower.next_try {
            return;
        }
        let connecting = format!("Connecting to PRIMARY {}:{}", upstream.host, upstream.port);
        self.follower.next_try = Instant::now() + RETRY;
        self.io.log.notice(connecting);
        match self.connect_to_primary() {
            Ok(link) => {
                self.io.log.notice("PRIMARY <-> REPLICA sync started");
                self.set_state(LinkState::Connecting);
                self.follower.link = Some(link);
                self.io.link.ready = true;
            }
            Err(e) => self.io.log.warning(format!("Unable to connect to PRIMARY: {}", reason(&e))),
        }
    }

    /// Begins to connect to the primary.
    fn connect_to_primary(&mut self) -> io::Result<Link> {
        let Some(upstream) = self.engine.sv.repl.upstream() else {
            return Err(io::Error::other("there is no primary"));
        };
        let config = &self.engine.sv.config;
        let way = Way {
            source: config.get("bind-source-addr").unwrap_or_default(),
            mptcp: config.get("repl-mptcp").is_some_and(|value| value == "yes"),
            tls: config.tls.replication,
        };
        Link::open(&self.io, (&upstream.host, upstream.port), &way)
    }

    /// Gives the link up; the data set that it was loading is gone.
    fn drop_link(&mut self) {
        if let Some(link) = self.follower.link.take() {
            self.abandon(link);
        }
    }

    fn abandon(&mut self, mut link: Link) {
        // Closing the socket does the same.
        let _ = self.io.registry().deregister(link.stream.source());
        self.abandon_main();
        let Phase::Loading(loading) = link.phase else { return };
        let sv = &mut self.engine.sv;
        loading.intake.cancel(sv);
        loading::end(sv);
        if !loading.keep_old
            && let Some(upstream) = sv.repl.upstream_mut()
        {
            // What there was is gone, so there is nothing to go on from.
            upstream.fresh = true;
        }
    }

    fn link_failed(&mut self, link: Link, why: &str) {
        self.io.log.warning(why);
        let loading = matches!(link.phase, Phase::Loading(_));
        let asked = link.asked;
        self.abandon(link);
        if asked && self.failing_over() {
            self.abort_failover("Failover target rejected psync request");
            return;
        }
        self.set_state(LinkState::Connect);
        if loading {
            self.io.log.warning("Failed trying to load the PRIMARY synchronization DB, check server logs.");
        }
    }

    fn failing_over(&self) -> bool {
        self.engine.sv.repl.failover.state == FailoverState::InProgress
    }

    /// FAILOVER: the target took over.
    fn failed_over(&mut self) {
        if self.failing_over() {
            let Engine { ks, sv } = &mut self.engine;
            failover::done(ks, sv);
        }
    }

    /// FAILOVER: the target refused; this server is a primary again.
    fn abort_failover(&mut self, why: &str) {
        let mut meanwhile = Meanwhile::of_nobody(
            &mut self.io,
            self.config_file.as_deref(),
            Some(&mut self.persist),
            (&mut self.ends, &self.watchdog),
        );
        failover::abort(&mut self.engine.ks, &mut self.engine.sv, &mut meanwhile, why);
    }

    /// Does what can be done now.
    fn advance(&mut self, link: &mut Link) -> Result<Progress, String> {
        if let Phase::Connecting = link.phase {
            match link.connected() {
                Ok(true) => {}
                Ok(false) => return Ok(Progress::Wait),
                Err(e) => return Err(format!("Error condition on socket for SYNC: {}", reason(&e))),
            }
            if self.follower.main.is_some() {
                let (handshake, first) = channel::Handshake::begin(&self.introduction());
                link.phase = Phase::Channel(handshake);
                link.send(&first);
            } else {
                self.io.log.notice("Non blocking connect for SYNC fired the event.");
                let (handshake, first) = Handshake::begin(self.introduction());
                link.phase = Phase::Handshake(handshake);
                link.send(&first);
                self.set_state(LinkState::Handshake);
            }
        }
        if let Phase::Loaded = link.phase {
            return Ok(Progress::Loaded);
        }
        let broken = |e: io::Error| format!("I/O error on the link to PRIMARY: {}", reason(&e));
        let mut more = true;
        for _ in 0..READS {
            if !more {
                break;
            }
            if let Phase::Loading(_) = link.phase {
                return self.go_on_loading(link);
            }
            more = link.fill().map_err(broken)?;
            match self.use_input(link)? {
                Progress::Wait => {}
                other => return Ok(other),
            }
        }
        link.flush().map_err(broken)?;
        if link.ended {
            return Err(format!("PRIMARY {} closed the connection during synchronization", link.peer));
        }
        Ok(if more { Progress::More } else { Progress::Wait })
    }

    /// What we tell of ourselves.
    fn introduction(&self) -> Introduction {
        let (config, repl) = (&self.engine.sv.config, &self.engine.sv.repl);
        let announced = u16::try_from(config.replica_announce_port).unwrap_or(0);
        let auth = (!config.primaryauth.is_empty())
            .then(|| (config.primaryuser.clone(), config.primaryauth.clone()));
        let fresh = repl.upstream().is_none_or(|upstream| upstream.fresh);
        Introduction {
            auth,
            port: match announced {
                0 if config.tls.replication && self.io.settings.tls_port > 0 => self.io.settings.tls_port,
                0 => self.io.settings.port,
                port => port,
            },
            ip: config.replica_announce_ip.clone(),
            from: (!fresh).then(|| (repl.id.clone(), repl.offset as i64 + 1)),
            failover: self.failing_over(),
            dual: config.dual_channel_replication,
        }
    }

    /// Uses what was received.
    fn use_input(&mut self, link: &mut Link) -> Result<Progress, String> {
        loop {
            let phase = std::mem::replace(&mut link.phase, Phase::Connecting);
            match phase {
                Phase::Handshake(mut handshake) => {
                    let Some(line) = link.line()? else {
                        link.phase = Phase::Handshake(handshake);
                        return Ok(Progress::Wait);
                    };
                    let step = handshake.line(&line);
                    handshake.remarks.drain(..).for_each(|remark| self.io.log.notice(remark));
                    link.asked = handshake.asked();
                    match step {
                        Step::Send(bytes) => {
                            link.send(&bytes);
                            link.phase = Phase::Handshake(handshake);
                        }
                        // What refuses to take over is no primary.
                        Step::Sync(_) if self.failing_over() => {
                            return Err("Failover target rejected psync request".to_owned());
                        }
                        Step::Sync(bytes) => {
                            self.io.log.notice("Retrying with SYNC...");
                            link.send(&bytes);
                            self.expect_data(link, None);
                        }
                        Step::Full(position) => {
                            self.failed_over();
                            if let Some((id, offset)) = &position {
                                self.io.log.notice(format!("Full resync from primary: {id}:{offset}"));
                            }
                            self.expect_data(link, position);
                        }
                        Step::Continue(id) => {
                            self.failed_over();
                            return Ok(Progress::Resumed(id));
                        }
                        Step::Dual => {
                            self.failed_over();
                            return Ok(Progress::Dual);
                        }
                        Step::Failed(why) => return Err(why),
                    }
                }
                Phase::Channel(mut handshake) => {
                    let Some(line) = link.line()? else {
                        link.phase = Phase::Channel(handshake);
                        return Ok(Progress::Wait);
                    };
                    match handshake.line(&line) {
                        channel::Step::Send(bytes) => {
                            link.send(bytes);
                            link.phase = Phase::Channel(handshake);
                        }
                        channel::Step::Begins(begin) => {
                            self.expect_data(link, Some((begin.id.clone(), begin.offset)));
                            self.snapshot_begins(begin);
                        }
                        channel::Step::Failed(why) => {
                            return Err(format!("Dual channel sync failed with error {why}"));
                        }
                    }
                }
                Phase::Head(position) => {
                    let Some(line) = link.line()? else {
                        link.phase = Phase::Head(position);
                        return Ok(Progress::Wait);
                    };
                    link.phase = match Payload::head(&line)? {
                        None => Phase::Head(position),
                        Some(payload) => {
                            let spool = self.spool(&payload)?;
                            Phase::Receiving(payload, spool, position)
                        }
                    };
                }
                Phase::Receiving(payload, spool, position) => {
                    return self.receive(link, payload, spool, position);
                }
                other => {
                    link.phase = other;
                    return Ok(Progress::Wait);
                }
            }
        }
    }

    fn expect_data(&mut self, link: &mut Link, position: Position) {
        link.phase = Phase::Head(position);
        let now = (self.engine.sv.stamp / 1_000_000) as i64;
        if let Some(upstream) = self.upstream() {
            upstream.link = LinkState::Transfer;
            upstream.transfer = replication::Transfer { total: 0, read: 0, last_io: now };
        }
    }

    /// The primary goes on where the stream was cut.
    fn resume(&mut self, link: Link, id: Option<String>) {
        self.io.log.notice("Successful partial resynchronization with primary.");
        let sv = &mut self.engine.sv;
        if let Some(id) = id.filter(|id| *id != sv.repl.id) {
            self.io.log.notice(format!("Primary replication ID changed to {id}"));
            sv.repl.id2 = std::mem::replace(&mut sv.repl.id, id);
            sv.repl.second_offset = sv.repl.offset as i64 + 1;
            // They come back and hear of the new name.
            replication::drop_replicas(sv);
        }
        let (size, selected) = (sv.config.repl_backlog_size, sv.repl.selected);
        sv.repl.open_backlog(size);
        // The stream goes on in the database that it was in.
        sv.repl.selected = selected;
        self.attach(link);
        self.io.log.notice("PRIMARY <-> REPLICA sync: Primary accepted a Partial Resynchronization.");
    }

    /// The link becomes a connection whose commands are executed.
    fn attach(&mut self, mut link: Link) {
        // It is registered again under another token.
        let _ = self.io.registry().deregister(link.stream.source());
        let text = |addr: io::Result<std::net::SocketAddr>| addr.map(|a| a.to_string()).unwrap_or_default();
        let (addr, laddr) = match link.socket() {
            Some(socket) => (text(socket.peer_addr()), text(socket.local_addr())),
            None => Default::default(),
        };
        let (mut stream, input, output) = link.into_parts();
        // Nobody is greeted: it is no client.
        stream.tls().map(TlsStream::take_fresh);
        let info = ConnInfo { addr, laddr, fd: stream.number(), unix: false };
        let client = replication::link::attach(&mut self.engine.sv, info);
        match self.io.add(stream, client) {
            Ok(key) => {
                if let Some(conn) = self.io.conns.get_mut(key) {
                    conn.primary = true;
                    conn.backlog = !input.is_empty();
                    conn.readable = true;
                    (conn.input, conn.output) = (input, output);
                }
                self.io.enqueue(key);
                self.io.enqueue_write(key);
            }
            Err(e) => {
                self.io
                    .log
                    .warning(format!("Error registering the connection of the primary: {}", reason(&e)));
                self.engine.disconnect(client);
            }
        }
    }

    /// Tells the primary how far we are.
    fn acknowledge(&mut self) {
        let sv = &mut self.engine.sv;
        let Some(client) = sv.repl.upstream().and_then(|upstream| upstream.client) else { return };
        let mut bytes = Vec::new();
        let offset = sv.repl.offset.to_string();
        if sv.persist.logs() {
            let (made, safe) = sv.persist.log.offset;
            if made == safe && sv.persist.log.buffer.is_empty() {
                self.follower.safe = sv.repl.offset;
            }
            let safe = self.follower.safe.min(sv.repl.offset).to_string();
            write::command(&mut bytes, &["REPLCONF", "ACK", &offset, "FACK", &safe]);
        } else {
            write::command(&mut bytes, &["REPLCONF", "ACK", &offset]);
        }
        sv.send(client, bytes);
        self.deliver();
    }

    /// A turn of the primary's connection is over. `before`: bytes that had been received before.
    pub(crate) fn after_primary(&mut self, key: usize, before: u64) {
        let Some(conn) = self.io.conns.get(key) else { return };
        let kept = self.follower.kept.len();
        let (came, waiting) = (conn.net.0 > before || kept > 0, (conn.input.len() + kept) as u64);
        self.engine.sv.stats.from_primary += conn.net.0 - before;
        let now = (self.engine.sv.stamp / 1_000_000) as i64;
        replication::link::after_turn(&mut self.engine.sv, waiting, came.then_some(now));
        self.deliver();
    }

    /// What the primary sends is no stream of commands: there is nothing to go on from.
    pub(crate) fn stream_damaged(&mut self, error: totality_resp::ProtocolError) {
        self.io.log.warning(format!("Protocol error ({error}) in the stream of the primary"));
        if let Some(upstream) = self.upstream() {
            upstream.fresh = true;
        }
    }

    /// The connection of the primary is gone; it is looked for again at once.
    pub(crate) fn lost_primary(&mut self) {
        self.io.log.notice("Connection with primary lost.");
        self.follower.kept = Kept::default();
        self.engine.sv.repl.kept.0 = 0;
        self.follower.next_try = Instant::now();
    }

    /// Once a second.
    pub(crate) fn follow_cron(&mut self) {
        let limit = self.engine.sv.config.repl_timeout;
        let silent = self.main_is_silent(limit);
        if let Some(link) = self.follower.link.take_if(|l| silent || l.active.elapsed().as_secs() > limit) {
            let why = match link.phase {
                Phase::Connecting | Phase::Handshake(_) | Phase::Channel(_) => {
                    "Timeout connecting to the PRIMARY..."
                }
                _ => {
                    "Timeout receiving bulk data from PRIMARY... If the problem persists try to set the 'repl-timeout' \
                     parameter in the configuration to a larger value."
                }
            };
            self.link_failed(link, why);
        }
        let now = (self.engine.sv.stamp / 1_000_000) as i64;
        let Some(upstream) = self.engine.sv.repl.upstream() else { return };
        if upstream.link != LinkState::Connected {
            return;
        }
        if now - upstream.last_io > limit as i64 {
            self.io.log.warning("PRIMARY timeout: no data nor PING received...");
            self.io.drop_primary();
            return;
        }
        self.acknowledge();
    }
}
