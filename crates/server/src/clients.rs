//! Serving clients: what a connection sends is executed, what the engine says is carried out.

use totality_engine::Engine;
use totality_engine::commands::connection::client::HIDDEN;
use totality_engine::config::OutputLimit;
use totality_engine::replication;
use totality_engine::state::LogLevel;
use totality_engine::{After, ClientId, Outgoing};
use totality_resp::{BIG_ARG, Limits, Parsed, Parser, ProtocolError};

use crate::conn::{Fate, Read};
use crate::evict;
use crate::io::{Accepted, CHUNK, Io};
use crate::log::Level;
use crate::meanwhile::Meanwhile;
use crate::server::Server;
use crate::settings::{Class, Settings};
use crate::tls;

/// Commands of one client per turn: the others must not wait longer for it.
const COMMANDS: usize = 1024;
/// Commands of so many arguments cost no allocation.
const FEW_ARGS: usize = 8;
/// Bytes of replies to one client per turn after which it gives way.
const REPLY_BYTES: usize = 1 << 20;
/// Most bytes that may wait in the query buffer of a client that has not authenticated.
const UNAUTH_QUERY: usize = 1 << 20;
/// Most bytes of replies that such a client may leave unread.
const UNAUTH_OUTPUT: usize = 17 * 1024;
/// Bytes that are read ahead from a client whose commands must wait.
const AHEAD: usize = 64 * 1024;
/// Step by which the buffer of a big argument grows at first; a client that announces much must send it to get it.
const BIG_STEP: usize = 1 << 20;
/// Milliseconds for which a connection that is to be closed may keep its last replies unread.
const LINGER_MS: u64 = 60_000;

const TOO_MANY: &[u8] = b"-ERR max number of clients reached\r\n";
/// What protected mode says to strangers.
pub(crate) const DENIED: &[u8] = b"-DENIED Redis is running in protected mode because protected mode is enabled and no password \
is set for the default user. In this mode connections are only accepted from the loopback interface. If you want to \
connect from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode \
sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same \
host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG \
REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode by editing the Redis \
configuration file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started \
the server manually just for testing, restart it with the '--protected-mode no' option. 4) Set up an authentication \
password for the default user. NOTE: You only need to do one of the above things in order for the server to start \
accepting connections from the outside.\r\n";

/// Judges a new connection; `open` tells that the default user needs no password. False when it is refused: then it
/// has been told, if that could be done.
pub(crate) fn admit(io: &Io, accepted: &mut Accepted, open: bool) -> bool {
    let answer = if io.conns.len() >= io.settings.max_clients {
        TOO_MANY
    } else if open && io.settings.protected && !accepted.local {
        if let Some(tls) = accepted.stream.tls() {
            // Before the handshake is over it cannot be told anything.
            tls.denied = true;
            return true;
        }
        DENIED
    } else {
        return true;
    };
    if accepted.stream.tls().is_none() {
        // A courtesy: whether it arrives does not matter.
        let _ = accepted.stream.send(answer);
    }
    false
}

impl Server {
    /// Takes new connections.
    pub(crate) fn accept(&mut self) {
        let engine = &mut self.engine;
        self.io.accept(|io, mut accepted| {
            if !admit(io, &mut accepted, engine.sv.acl.default_user().nopass) {
                engine.sv.stats.rejected_connections += 1;
                return;
            }
            let Accepted { mut stream, info, .. } = accepted;
            engine.sv.stats.rejected_connections += u64::from(stream.tls().is_some_and(|tls| tls.denied));
            let addr = info.addr.clone();
            let client = engine.connect(info);
            match io.add(stream, client) {
                Ok(_) => io.log.verbose(format!("Accepted {addr}")),
                Err(e) => {
                    io.log.warning(format!("Error registering a connection: {e}"));
                    engine.disconnect(client);
                }
            }
        });
    }

    /// Reads from a connection and executes what is complete.
    pub(crate) fn serve(&mut self, key: usize) {
        let Some(conn) = self.io.conns.get_mut(key) else { return };
        conn.queued = false;
        if conn.fate != Fate::Open {
            return;
        }
        if conn.blocked || conn.postponed {
            return self.read_ahead(key);
        }
        // What came before this connection was the primary's is executed before more is read from it.
        if conn.primary
            && !conn.backlog
            && let Some(mut block) = self.follower.kept.take()
        {
            match conn.input.is_empty() {
                true => conn.input = block,
                false => conn.input.append(&mut block),
            }
            conn.backlog = true;
            self.engine.sv.repl.kept.0 = self.follower.kept.len() as u64;
        }
        // A request that arrives whole lives in the shared buffer; only the rest of one needs its own.
        let own = !conn.input.is_empty();
        let primary = conn.primary.then_some(conn.net.0);
        let mut buf = std::mem::take(if own { &mut conn.input } else { &mut self.io.shared });
        let mut parser = std::mem::take(&mut conn.parser);
        let most = if own { read_size(conn.need, buf.len()) } else { CHUNK };
        let mut ended = false;
        if !conn.backlog && conn.readable {
            ended = matches!(self.io.read(key, &mut buf, most), Read::Eof | Read::Broken);
            tls::greet(&mut self.io, (&self.engine.ks, &mut self.engine.sv), key);
        }
        let free = buf.capacity() - buf.len();
        if !ended && primary.is_none() && self.over_query_limit(key, &parser, &buf, free) {
            ended = true;
            parser.release();
            buf.clear();
        }
        let used = self.process(key, &mut parser, &buf);
        self.keep_rest(key, parser, buf, used, own);
        if ended {
            self.note_failed_handshake(key);
            self.ended(key);
        } else if self.io.conns.get(key).is_some_and(|c| {
            c.backlog
                || (c.fate == Fate::Open && (c.readable || (c.primary && !self.follower.kept.is_empty())))
        }) {
            self.io.enqueue(key);
        }
        self.io.enqueue_write(key);
        if let Some(before) = primary {
            self.after_primary(key, before);
        }
    }

    /// Puts away what was not used.
    fn keep_rest(&mut self, key: usize, mut parser: Parser, mut buf: Vec<u8>, used: usize, own: bool) {
        let Some(conn) = self.io.conns.get_mut(key) else {
            if !own {
                buf.clear();
                self.io.shared = buf;
            }
            return;
        };
        let rest = &buf[used.min(buf.len())..];
        if own {
            if rest.is_empty() {
                buf = Vec::new();
            } else if used > 0 {
                buf.drain(..used);
                if buf.capacity() > 4 * (buf.len() + conn.need).max(CHUNK) {
                    buf.shrink_to(buf.len() + conn.need.min(BIG_STEP));
                }
            }
            conn.input = buf;
        } else {
            if !rest.is_empty() {
                conn.input.reserve_exact(rest.len() + conn.need.min(BIG_STEP));
                conn.input.extend_from_slice(rest);
            }
            buf.clear();
            self.io.shared = buf;
        }
        if conn.input.is_empty() && parser.memory() > 1024 {
            parser.release();
        }
        conn.parser = parser;
        if let Some(io) = self.engine.client_io(conn.client) {
            io.qbuf = conn.input.len();
            io.qbuf_free = conn.input.capacity() - conn.input.len();
            io.argv_mem = conn.parser.args_bytes();
        }
        evict::account(&mut self.engine, conn);
    }

    /// A client who wanted TLS did not get so far.
    fn note_failed_handshake(&mut self, key: usize) {
        let Some(conn) = self.io.conns.get_mut(key) else { return };
        let Some(why) = conn.stream.tls().and_then(|tls| tls.failure()) else { return };
        let addr = self.engine.sv.clients.get(conn.client).map_or("", |c| c.conn.addr.as_str());
        self.io.log.warning(format!("Error accepting a client connection: {why} (addr={addr})"));
    }

    /// The peer is done, or the connection broke.
    fn ended(&mut self, key: usize) {
        let Some(conn) = self.io.conns.get_mut(key) else { return };
        // What was executed is answered even when the peer sends no more; a command that waits has nobody to answer.
        let answer = conn.pending() > 0 && !conn.blocked && !conn.postponed;
        conn.fate = conn.fate.max(if answer { Fate::AfterReplies } else { Fate::Now });
        self.io.enqueue_write(key);
    }

    /// A client whose commands must wait: notices when it leaves, and reads a little.
    fn read_ahead(&mut self, key: usize) {
        let Some(conn) = self.io.conns.get_mut(key) else { return };
        if !conn.readable || (conn.primary && !self.follower.kept.is_empty()) {
            return;
        }
        if conn.input.len() >= AHEAD {
            if conn.closing {
                self.ended(key);
            }
            return;
        }
        let mut input = std::mem::take(&mut conn.input);
        let got = self.io.read(key, &mut input, AHEAD / 4);
        let Some(conn) = self.io.conns.get_mut(key) else { return };
        conn.input = input;
        conn.backlog = true;
        match got {
            Read::Eof | Read::Broken => self.ended(key),
            _ if conn.readable => self.io.enqueue(key),
            _ => {}
        }
    }

    /// Drops a client whose unread or queued commands are too many.
    fn over_query_limit(&mut self, key: usize, parser: &Parser, buf: &[u8], free: usize) -> bool {
        let Some(conn) = self.io.conns.get(key) else { return false };
        let Some(client) = self.engine.sv.clients.get_mut(conn.client) else { return false };
        client.io.qbuf = buf.len();
        client.io.qbuf_free = free;
        client.io.net_in = conn.net.0;
        let queued = client.multi.as_ref().map_or(0, |m| m.bytes);
        let bytes = buf.len() + parser.memory() + queued;
        if bytes <= self.io.settings.query_limit && (client.authenticated || bytes <= UNAUTH_QUERY) {
            return false;
        }
        self.engine.sv.stats.over_limits.0 += 1;
        let id = client.id;
        let mut line = format!(
            "Closing client that reached max query buffer length: {}",
            self.engine.describe(id).trim_end()
        );
        if !self.io.settings.hides_users {
            let bytes = String::from_utf8_lossy(&buf[..buf.len().min(64)]);
            line.push_str(&format!(" (qbuf initial bytes: {bytes:?})"));
        }
        self.io.log.warning(line);
        if let Some(conn) = self.io.conns.get_mut(key) {
            conn.fate = Fate::Now;
        }
        true
    }

    /// Executes the complete commands of `buf`, in their order; gives the number of bytes that are done with.
    fn process(&mut self, key: usize, parser: &mut Parser, buf: &[u8]) -> usize {
        let Some(conn) = self.io.conns.get_mut(key) else { return buf.len() };
        if conn.fate != Fate::Open {
            return buf.len();
        }
        let (client, primary) = (conn.client, conn.primary);
        conn.backlog = false;
        let mut out = std::mem::take(&mut conn.output);
        if out.capacity() == 0 {
            out = self.io.buffer();
        }
        let mut turn = Turn { key, client, primary, start: 0, out };
        let end = self.commands(&mut turn, parser, buf);
        let Turn { start, out, .. } = turn;
        let Some(conn) = self.io.conns.get_mut(key).filter(|c| c.client == client) else { return buf.len() };
        if out.is_empty() {
            self.io.recycle(out);
        } else {
            conn.output = out;
        }
        let Some(conn) = self.io.conns.get_mut(key) else { return buf.len() };
        match end {
            End::More(need) => conn.need = need,
            End::Backlog => conn.backlog = start < buf.len(),
            End::Postponed => (conn.postponed, conn.backlog) = (true, true),
            End::Blocked => (conn.blocked, conn.backlog) = (true, start < buf.len()),
            End::Close => {
                conn.fate = conn.fate.max(Fate::AfterReplies);
                return buf.len();
            }
        }
        start
    }

    fn commands(&mut self, turn: &mut Turn, parser: &mut Parser, buf: &[u8]) -> End {
        let mut limits = Limits { max_bulk: self.io.settings.max_bulk, authenticated: self.may(turn.client) };
        let reply_end = turn.out.len() + REPLY_BYTES;
        let alarm = match self.engine.sv.reply_lists {
            true => 1,
            false => self.io.settings.output_alarm.min(UNAUTH_OUTPUT),
        };
        let mut replicas = self.engine.sv.repl.replicas.len();
        let mut replica = replicas > 0 && self.is_replica(turn.client);
        for _ in 0..COMMANDS {
            let rest = &buf[turn.start..];
            match parser.parse(rest, &limits) {
                Ok(Parsed::More(need)) => return End::More(need),
                Ok(Parsed::Empty(n)) => {
                    turn.start += n;
                    if turn.primary {
                        replication::link::applied(&mut self.engine.sv, turn.client, &rest[..n]);
                    }
                }
                Ok(Parsed::Command(n)) => {
                    if let Some(io) = self.engine.client_io(turn.client) {
                        io.qbuf = rest.len() - n;
                    }
                    let before = turn.out.len();
                    let after = self.execute(turn, parser, rest);
                    if after == After::Postponed {
                        return End::Postponed;
                    }
                    if replica && turn.out.len() > before {
                        turn.out.truncate(before);
                        self.replica_spoke(turn);
                        return End::Close;
                    }
                    if self.engine.sv.repl.replicas.len() != replicas {
                        replicas = self.engine.sv.repl.replicas.len();
                        replica = self.is_replica(turn.client);
                    }
                    turn.start += n;
                    if turn.primary {
                        replication::link::applied(&mut self.engine.sv, turn.client, &rest[..n]);
                    }
                    let out = turn.out.len();
                    if !self.engine.sv.outgoing.is_empty() && !self.deliver_in_turn(turn) {
                        return End::Close;
                    }
                    if out >= alarm && self.over_output(turn) {
                        return End::Close;
                    }
                    match after {
                        After::Close => return End::Close,
                        After::Blocked => return End::Blocked,
                        After::Continue if turn.out.len() > reply_end => return End::Backlog,
                        _ => {}
                    }
                    limits.authenticated = self.may(turn.client);
                }
                Err(error) => {
                    error.write(&mut turn.out);
                    self.log_protocol_error(turn.client, error, rest);
                    if turn.primary {
                        self.stream_damaged(error);
                    }
                    return End::Close;
                }
            }
        }
        End::Backlog
    }

    /// Executes the command that the parser completed.
    #[inline]
    fn execute(&mut self, turn: &mut Turn, parser: &Parser, buf: &[u8]) -> After {
        let args = parser.args(buf);
        let argc = args.len();
        // EVAL, EXEC, FCALL, FUNCTION and their kin, DEBUG that loads files, and some that run none: those only wake the
        // watchdog in vain.
        if let Some([b'e' | b'E' | b'f' | b'F', ..] | [b'd' | b'D', b'e' | b'E', b'b' | b'B', ..]) =
            args.clone().next()
        {
            self.watchdog.script_ahead();
        }
        let mut meanwhile = Meanwhile {
            io: &mut self.io,
            turn: turn.key,
            config_file: self.config_file.as_deref(),
            persist: Some(&mut self.persist),
            ends: &mut self.ends,
            watchdog: &self.watchdog,
            sessions: self.sessions.len(),
        };
        if argc > FEW_ARGS {
            let argv: Vec<&[u8]> = args.collect();
            return self.engine.execute(turn.client, &argv, &mut turn.out, &mut meanwhile);
        }
        let mut argv: [&[u8]; FEW_ARGS] = [b""; FEW_ARGS];
        argv.iter_mut().zip(args).for_each(|(slot, arg)| *slot = arg);
        self.engine.execute(turn.client, &argv[..argc], &mut turn.out, &mut meanwhile)
    }

    /// May the client run commands?
    fn may(&self, client: ClientId) -> bool {
        self.engine.sv.clients.get(client).is_some_and(|c| c.authenticated)
    }

    fn is_replica(&self, client: ClientId) -> bool {
        self.engine.sv.clients.get(client).is_some_and(|c| c.replica)
    }

    /// A replica sent a command that has a reply: in the stream there is no place for one.
    #[cold]
    fn replica_spoke(&mut self, turn: &Turn) {
        let Some(client) = self.engine.sv.clients.get(turn.client) else { return };
        let name = client.last_command.map_or("<unknown>", |command| &*command.full_name);
        let line = format!(
            "Replica generated a reply to command '{name}', disconnecting it: id={} addr={} laddr={}",
            client.id.id, client.conn.addr, client.conn.laddr
        );
        self.io.log.warning(line);
        if let Some(conn) = self.io.conns.get_mut(turn.key) {
            conn.fate = Fate::Now;
        }
    }

    /// Carries out what the engine wants while the connection's buffers are in use. False when the client is to go.
    fn deliver_in_turn(&mut self, turn: &mut Turn) -> bool {
        if let Some(conn) = self.io.conns.get_mut(turn.key) {
            conn.output = std::mem::take(&mut turn.out);
        }
        self.deliver();
        let Some(conn) = self.io.conns.get_mut(turn.key) else { return false };
        turn.out = std::mem::take(&mut conn.output);
        conn.fate == Fate::Open && !self.ending
    }

    /// Has the client in its turn passed an output limit? Then it is dropped without its replies.
    fn over_output(&mut self, turn: &Turn) -> bool {
        let Some(conn) = self.io.conns.get_mut(turn.key) else { return true };
        let bytes = turn.out.len() - conn.sent.min(turn.out.len());
        let client = self.engine.sv.clients.get(turn.client);
        let unknown = client.is_none_or(|c| !c.ever_authenticated)
            && (bytes > UNAUTH_OUTPUT || self.engine.sv.reply_lists);
        let class = client.map_or(Class::Normal, class);
        let over = class != Class::Replica
            && (unknown
                || passes(&self.io.settings, class, bytes, &mut conn.over_soft_since_ms, self.io.now_ms));
        if over {
            conn.fate = Fate::Now;
            self.engine.sv.stats.over_limits.1 += 1;
            self.log_output_limit(turn.client);
        }
        over
    }

    pub(crate) fn log_output_limit(&mut self, client: ClientId) {
        let line = self.engine.describe(client);
        let line = line.trim_end();
        self.io.log.warning(format!(
            "Client {line} scheduled to be closed ASAP for overcoming of output buffer limits."
        ));
    }

    fn log_protocol_error(&mut self, client: ClientId, error: ProtocolError, bytes: &[u8]) {
        if !self.io.log.enabled(Level::Verbose) {
            return;
        }
        let sample = if self.io.settings.hides_users {
            HIDDEN.to_owned()
        } else {
            format!("'{}'", bytes[..bytes.len().min(128)].escape_ascii())
        };
        let line = format!(
            "Protocol error ({error}) from client: {}. Query buffer during protocol error: {sample}",
            self.engine.describe(client).trim_end()
        );
        self.io.log.verbose(line);
    }

    /// Carries out what the engine wants.
    pub(crate) fn deliver(&mut self) {
        while let Some(outgoing) = self.engine.next_outgoing() {
            match outgoing {
                Outgoing::Reply { client, bytes } => self.send(client, bytes),
                Outgoing::Kill { client, after_reply } => {
                    if let Some(key) = self.io.key_of(client) {
                        if let Some(conn) = self.io.conns.get_mut(key) {
                            conn.fate =
                                conn.fate.max(if after_reply { Fate::AfterReplies } else { Fate::Now });
                        }
                        self.io.enqueue_write(key);
                    }
                }
                Outgoing::Unblocked { client } => {
                    if let Some(key) = self.io.key_of(client) {
                        self.release(key);
                    }
                }
                Outgoing::Unpaused => {
                    let waiting: Vec<usize> =
                        self.io.conns.iter().filter(|(_, c)| c.postponed).map(|(key, _)| key).collect();
                    waiting.into_iter().for_each(|key| self.release(key));
                }
                Outgoing::Log { level, text } => {
                    self.io.log.write(log_level(level), &String::from_utf8_lossy(&text))
                }
                Outgoing::Shutdown { save } => {
                    self.io.log.notice("User requested shutdown...");
                    let Engine { ks, sv } = &mut self.engine;
                    // What goes wrong is in the log; nobody waits for an answer any more.
                    let _ = self.persist.shutdown(ks, sv, save, true);
                    self.ending = true;
                }
                Outgoing::Fatal { why } => {
                    self.io.log.warning(&why);
                    self.fatal.get_or_insert(why);
                    self.ending = true;
                }
                Outgoing::Debug { client, argv } => self.begin_debugging(client, argv),
                Outgoing::ConfigChanged { name } => self.config_changed(name),
            }
        }
    }

    /// A client that waited may go on with its commands.
    fn release(&mut self, key: usize) {
        if let Some(conn) = self.io.conns.get_mut(key) {
            (conn.blocked, conn.postponed) = (false, false);
            if conn.backlog || conn.readable {
                self.io.enqueue(key);
            }
        }
    }

    /// Bytes for a client outside of its turn.
    fn send(&mut self, client: ClientId, bytes: Vec<u8>) {
        let Some(key) = self.io.key_of(client) else { return };
        let now = self.io.now_ms;
        let Some(conn) = self.io.conns.get_mut(key) else { return };
        if conn.fate == Fate::Now {
            return;
        }
        if conn.output.is_empty() {
            conn.output = bytes;
        } else {
            conn.output.extend_from_slice(&bytes);
        }
        let pending = conn.pending();
        evict::account(&mut self.engine, conn);
        if pending >= self.io.settings.output_alarm {
            let class = self.engine.sv.clients.get(client).map_or(Class::Normal, class);
            if class != Class::Replica
                && passes(&self.io.settings, class, pending, &mut conn.over_soft_since_ms, now)
            {
                conn.fate = Fate::Now;
                self.log_output_limit(client);
            }
        }
        self.io.enqueue_write(key);
    }

    /// Once a second: drops clients that idle too long, pass a soft limit too long, or do not take their last replies.
    pub(crate) fn sweep(&mut self) {
        let now = self.io.now_ms;
        let settings = &self.io.settings;
        let mut gone = Vec::new();
        for (key, conn) in &mut self.io.conns {
            let idle_ms = now.saturating_sub(conn.active_ms);
            if conn.fate == Fate::AfterReplies && idle_ms > LINGER_MS {
                gone.push((key, None));
                continue;
            }
            let late = |tls: &mut tls::TlsStream| {
                tls.is_handshaking() && now.saturating_sub(tls.began_ms) > tls::HANDSHAKE_MS
            };
            if conn.stream.tls().is_some_and(late) {
                gone.push((key, None));
                continue;
            }
            let pending = conn.pending();
            if pending < settings.output_alarm && settings.timeout_s == 0 {
                continue;
            }
            let Some(client) = self.engine.sv.clients.get(conn.client) else { continue };
            let class = class(client);
            if class == Class::Replica {
                // They are judged by what they have yet to read of the stream.
                continue;
            }
            if passes(settings, class, pending, &mut conn.over_soft_since_ms, now) {
                gone.push((key, Some(conn.client)));
            } else if settings.timeout_s > 0
                && idle_ms > settings.timeout_s * 1000
                && !conn.blocked
                && !conn.primary
                && class == Class::Normal
            {
                gone.push((key, None));
            }
        }
        for (key, over_limit) in gone {
            match over_limit {
                Some(client) => self.log_output_limit(client),
                None => self.io.log.verbose("Closing idle client"),
            }
            if let Some(conn) = self.io.conns.get_mut(key) {
                conn.fate = Fate::Now;
            }
            self.io.enqueue_write(key);
        }
    }
}

/// One client's turn.
struct Turn {
    key: usize,
    client: ClientId,
    /// It is the primary.
    primary: bool,
    /// Bytes of the query buffer that are done with.
    start: usize,
    /// The connection's output buffer, taken out of it.
    out: Vec<u8>,
}

/// Why a turn ended.
enum End {
    /// The command under way needs so many more bytes.
    More(usize),
    /// There may be complete commands left.
    Backlog,
    /// The command must be given again later.
    Postponed,
    /// The client waits for something.
    Blocked,
    /// The client goes when its replies are written.
    Close,
}

/// Bytes to ask for when `have` bytes of an incomplete command are there and `need` more are surely missing.
fn read_size(need: usize, have: usize) -> usize {
    if need >= BIG_ARG { need.min(have.max(BIG_STEP)) } else { CHUNK / 4 }
}

pub(crate) fn class(client: &totality_engine::client::Client) -> Class {
    if client.replica {
        Class::Replica
    } else if client.subscribed() > 0 {
        Class::Pubsub
    } else {
        Class::Normal
    }
}

/// Is the hard limit passed, or the soft one for too long? `since_ms` keeps when the soft one was passed first.
pub(crate) fn passes(
    settings: &Settings,
    class: Class,
    bytes: usize,
    since_ms: &mut u64,
    now_ms: u64,
) -> bool {
    passes_limit(&settings.output[class as usize], bytes, since_ms, now_ms)
}

/// The same of a limit that is given.
pub(crate) fn passes_limit(limit: &OutputLimit, bytes: usize, since_ms: &mut u64, now_ms: u64) -> bool {
    let bytes = bytes as u64;
    if limit.hard > 0 && bytes >= limit.hard {
        return true;
    }
    if limit.soft == 0 || bytes < limit.soft {
        *since_ms = 0;
        return false;
    }
    if *since_ms == 0 {
        *since_ms = now_ms;
    }
    now_ms - *since_ms > limit.seconds * 1000
}

pub(crate) fn log_level(level: LogLevel) -> Level {
    match level {
        LogLevel::Debug => Level::Debug,
        LogLevel::Verbose => Level::Verbose,
        LogLevel::Notice => Level::Notice,
        LogLevel::Warning => Level::Warning,
    }
}
