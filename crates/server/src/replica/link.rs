//! The connection to the primary until the stream flows on it: its socket, and what was received and is to be sent.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Instant;

use mio::Interest;
use mio::net::TcpStream;
use socket2::{Domain, Socket, Type};
use totality_engine::state::ServerState;
use totality_persist::{Intake, Pushed, Streamed};

use super::channel;
use super::handshake::{Handshake, MAX_LINE};
use super::payload::{Payload, Source, Spool};
use crate::conn::{Read, Stream};
use crate::io::{Io, LINK};
use crate::tls::TlsStream;

/// Bytes of one read.
pub(super) const CHUNK: usize = 64 * 1024;

/// Where the stream goes on behind the data set: its name and offset. `None`: an old primary, which does not say.
pub(super) type Position = Option<(String, i64)>;

/// How far the link is.
pub(super) enum Phase {
    /// The connection is being made.
    Connecting,
    /// Greetings are exchanged.
    Handshake(Handshake),
    /// Greetings are exchanged on a connection that is only for the data set.
    Channel(channel::Handshake),
    /// The line before the data set is awaited.
    Head(Position),
    /// The data set is being received.
    Receiving(Payload, Spool, Position),
    /// It is being taken in.
    Loading(Box<Loading>),
    /// It was taken in; the stream is yet to come on another connection.
    Loaded,
}

/// Where the data set that is taken in comes from.
pub(super) enum Feed {
    /// It was kept until it was complete.
    Stored(Intake<Streamed<Source>>),
    /// It still comes.
    Live(Intake<Pushed>, Payload),
}

impl Feed {
    /// Gives up.
    pub(super) fn cancel(self, sv: &mut ServerState) {
        match self {
            Feed::Stored(intake) => intake.cancel(sv),
            Feed::Live(intake, _) => intake.cancel(sv),
        }
    }

    /// Bytes that were read.
    pub(super) fn offset(&self) -> u64 {
        match self {
            Feed::Stored(intake) => intake.offset(),
            Feed::Live(intake, _) => intake.offset(),
        }
    }
}

/// A data set that is being taken in.
pub(super) struct Loading {
    pub(super) intake: Feed,
    pub(super) position: Position,
    /// The old data set is there until this one is complete.
    pub(super) keep_old: bool,
    pub(super) began: Instant,
    /// When the primary was told last that we live.
    pub(super) told: Instant,
    /// `key-load-delay`: when the next key is due.
    pub(super) next: Instant,
    /// All was read.
    pub(super) ended: bool,
}

/// A link that is not yet one that the stream flows on.
pub(super) struct Link {
    pub(super) stream: Stream,
    pub(super) peer: String,
    pub(super) phase: Phase,
    /// Bytes that were received and not yet used.
    pub(super) input: Vec<u8>,
    output: Vec<u8>,
    /// The primary hung up; what it sent before is still used.
    pub(super) ended: bool,
    /// The primary was asked for data.
    pub(super) asked: bool,
    /// When something came last, or the link was made.
    pub(super) active: Instant,
    /// Bytes that came and were not counted yet
    pub(super) received: u64,
}

/// The addresses of a host; a name is looked up.
fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    let found = (host, port).to_socket_addrs()?.next();
    found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no address"))
}

/// How a primary is called.
#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    /// The address that the call comes from (`bind-source-addr`); empty for the system's choice.
    pub(super) source: String,
    /// It may take several paths at once (`repl-mptcp`).
    pub(super) mptcp: bool,
    /// It is encrypted.
    pub(super) tls: bool,
}

/// Begins to connect.
fn connect(to: SocketAddr, way: &Way) -> io::Result<TcpStream> {
    if way.source.is_empty() && !way.mptcp {
        return TcpStream::connect(to);
    }
    let protocol = crate::listen::protocol(way.mptcp);
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(protocol))?;
    socket.set_nonblocking(true)?;
    if !way.source.is_empty() {
        socket.bind(&resolve(&way.source, 0)?.into())?;
    }
    match socket.connect(&to.into()) {
        Err(e) if e.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => Err(e),
        _ => Ok(TcpStream::from_std(socket.into())),
    }
}

impl Link {
    /// Begins to connect.
    ///
    /// # Errors
    /// When the host is unknown, or the system refuses.
    pub(super) fn open(io: &Io, (host, port): (&str, u16), way: &Way) -> io::Result<Link> {
        let tls = way.tls;
        let socket = connect(resolve(host, port)?, way)?;
        let mut stream = match &io.tls {
            Some(config) if tls => {
                let made = TlsStream::connect(socket, &config.client, host, io.now_ms);
                Stream::Tls(Box::new(made.map_err(io::Error::other)?))
            }
            _ if tls => return Err(io::Error::other("TLS is not configured")),
            _ => Stream::Tcp(socket),
        };
        io.registry().register(stream.source(), LINK, Interest::READABLE | Interest::WRITABLE)?;
        Ok(Link {
            stream,
            peer: format!("{host}:{port}"),
            phase: Phase::Connecting,
            input: Vec::new(),
            output: Vec::new(),
            ended: false,
            asked: false,
            active: Instant::now(),
            received: 0,
        })
    }

    /// True once the connection is made; an error when it cannot be.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn connected(&mut self) -> io::Result<bool> {
        let Some(socket) = self.socket() else { return Ok(true) };
        if let Some(e) = socket.take_error()? {
            return Err(e);
        }
        match socket.peer_addr() {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// The TCP part of the connection.
    pub(super) fn socket(&mut self) -> Option<&mut TcpStream> {
        match &mut self.stream {
            Stream::Tcp(socket) => Some(socket),
            Stream::Tls(stream) => Some(stream.socket()),
            Stream::Unix(_) => None,
        }
    }

    /// Puts bytes into the queue.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.output.len() {
            match self.stream.send(&self.output[sent..]) {
                Ok(0) => break,
                Ok(n) => sent += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        self.output.drain(..sent);
        match self.stream.flush() {
            Err(e) if e.kind() != io::ErrorKind::WouldBlock => Err(e),
            _ => Ok(()),
        }
    }

    /// The socket, what was received and not used, and what is still to be sent.
    pub(super) fn into_parts(self) -> (Stream, Vec<u8>, Vec<u8>) {
        (self.stream, self.input, self.output)
    }

    /// Reads once; false when there is no more for now.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(super) fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let before = self.input.len();
        let got = self.stream.read(&mut self.input, CHUNK);
        if self.input.len() > before {
            self.received += (self.input.len() - before) as u64;
            self.active = Instant::now();
        }
        match got {
            Read::Some(_) => Ok(true),
            Read::Drained(n) => Ok(n > 0),
            Read::Eof => {
                self.ended = true;
                Ok(false)
            }
            Read::Broken => Err(match self.stream.tls().and_then(TlsStream::failure) {
                Some(e) => io::Error::other(e),
                None => io::Error::new(io::ErrorKind::ConnectionReset, "Connection reset by peer"),
            }),
        }
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// When it is too long.
    pub(super) fn line(&mut self) -> Result<Option<Vec<u8>>, String> {
        match memchr::memchr(b'\n', &self.input) {
            Some(at) => {
                let mut line: Vec<u8> = self.input.drain(..=at).collect();
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                Ok(Some(line))
            }
            None if self.input.len() > MAX_LINE => Err("the primary's line is too long".to_owned()),
            None => Ok(None),
        }
    }
}
