//! One connection: its socket and its buffers.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use totality_engine::ClientId;
use totality_resp::Parser;

use crate::tls::TlsStream;

/// A socket of either kind.
#[derive(Debug)]
pub enum Stream {
    /// TCP
    Tcp(TcpStream),
    /// A unix socket
    Unix(UnixStream),
    /// TCP with TLS
    Tls(Box<TlsStream>),
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(s) => s.as_fd(),
            Stream::Unix(s) => s.as_fd(),
            Stream::Tls(s) => s.as_fd(),
        }
    }
}

impl Stream {
    /// The descriptor's number, for CLIENT LIST.
    pub fn number(&self) -> i64 {
        i64::from(self.as_fd().as_raw_fd())
    }

    /// The socket, to be registered.
    pub fn source(&mut self) -> &mut dyn mio::event::Source {
        match self {
            Stream::Tcp(s) => s,
            Stream::Unix(s) => s,
            Stream::Tls(s) => s.socket(),
        }
    }

    /// The encrypted connection, if it is one.
    pub fn tls(&mut self) -> Option<&mut TlsStream> {
        match self {
            Stream::Tls(s) => Some(s),
            _ => None,
        }
    }

    /// True when bytes wait that a full socket did not take, beside those that the caller keeps.
    #[inline]
    pub fn wants_write(&self) -> bool {
        matches!(self, Stream::Tls(s) if s.wants_write())
    }

    /// Reads once to the end of `buf`, at most about `most` bytes.
    #[inline]
    pub fn read(&mut self, buf: &mut Vec<u8>, most: usize) -> Read {
        match self {
            Stream::Tls(s) => s.read(buf, most),
            plain => read(plain.as_fd(), buf, most),
        }
    }

    /// Sends what the socket takes; gives the number of bytes.
    ///
    /// # Errors
    /// `WouldBlock` when it takes nothing now; any other means that the connection is broken.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tls(s) => s.send(bytes),
            plain => match rustix::net::send(plain.as_fd(), bytes, FLAGS) {
                Err(Errno::NOBUFS | Errno::NOMEM) => Err(io::ErrorKind::WouldBlock.into()),
                sent => Ok(sent?),
            },
        }
    }

    /// Small packets are sent at once, or (`gather`) wait for others to fill them. The connection works without, so
    /// failures are ignored.
    pub fn gather(&mut self, gather: bool) {
        let _ = match self {
            Stream::Tcp(s) => s.set_nodelay(!gather),
            Stream::Tls(s) => s.socket().set_nodelay(!gather),
            Stream::Unix(_) => Ok(()),
        };
    }

    /// Sends what waits in the stream itself.
    ///
    /// # Errors
    /// As [`Stream::send`].
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Tls(s) => s.flush(),
            _ => Ok(()),
        }
    }
}

/// Result of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// This many bytes came, and there may be more.
    Some(usize),
    /// This many bytes came (0: none), and the socket is empty.
    Drained(usize),
    /// The peer will send no more.
    Eof,
    /// The connection is broken.
    Broken,
}

/// Result of writing a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// All of it.
    All,
    /// The socket is full.
    Full,
    /// The connection is broken.
    Broken,
}

/// What is to become of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It goes on.
    Open,
    /// It is closed when its replies are written; nothing more is read from it.
    AfterReplies,
    /// It is closed without further writing.
    Now,
}

/// One connection. Idle connections hold no buffer.
#[derive(Debug)]
pub struct Conn {
    /// The socket.
    pub stream: Stream,
    /// The engine's client.
    pub client: ClientId,
    /// Progress in the command under way.
    pub parser: Parser,
    /// Bytes of commands that are not complete or not yet executed.
    pub input: Vec<u8>,
    /// Replies to be written.
    pub output: Vec<u8>,
    /// Bytes of `output` that the socket has taken.
    pub sent: usize,
    /// What is to become of it.
    pub fate: Fate,
    /// The socket may have bytes to read.
    pub readable: bool,
    /// The socket is full: waiting for it to take more.
    pub full: bool,
    /// Input waits: a blocking command holds it.
    pub blocked: bool,
    /// Input waits: commands are paused.
    pub postponed: bool,
    /// It stands in the list of those to be served next.
    pub queued: bool,
    /// It stands in the list of those to be written.
    pub to_write: bool,
    /// The peer hung up: what it sent before is still to be read.
    pub closing: bool,
    /// Commands that arrived whole wait in `input` for their turn.
    pub backlog: bool,
    /// Bytes that the command under way still needs.
    pub need: usize,
    /// Milliseconds of the loop's clock at which something was received or sent.
    pub active_ms: u64,
    /// Milliseconds of the loop's clock since when the soft limit of the output is passed; 0 if it is not.
    pub over_soft_since_ms: u64,
    /// Bytes received and sent.
    pub net: (u64, u64),
    /// It is the primary's: what it sends is executed without an answer.
    pub primary: bool,
    /// Bytes by which it counts in the memory of all clients.
    pub counted: usize,
    /// Small packets wait for others ([`Stream::gather`]).
    pub gathers: bool,
}

impl Conn {
    /// A new connection.
    pub fn new(stream: Stream, client: ClientId, now_ms: u64) -> Self {
        Conn {
            stream,
            client,
            parser: Parser::new(),
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            fate: Fate::Open,
            readable: false,
            full: false,
            blocked: false,
            postponed: false,
            queued: false,
            to_write: false,
            closing: false,
            backlog: false,
            need: 0,
            active_ms: now_ms,
            over_soft_since_ms: 0,
            net: (0, 0),
            primary: false,
            counted: 0,
            gathers: false,
        }
    }

    /// Registers the socket.
    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        self.stream.source().register(registry, token, Interest::READABLE)
    }

    /// Takes the socket out of the poll.
    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        self.stream.source().deregister(registry)
    }

    /// Asks to be told when a full socket takes more (or no longer).
    pub fn watch_writable(&mut self, registry: &Registry, token: Token, on: bool) -> io::Result<()> {
        self.full = on;
        let interest = if on { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        self.stream.source().reregister(registry, token, interest)
    }

    /// Bytes of replies that wait.
    pub fn pending(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Writes what waits. On `All` the buffer is empty, with its memory.
    pub fn write(&mut self) -> Written {
        while self.sent < self.output.len() {
            match self.stream.send(&self.output[self.sent..]) {
                Ok(0) => return Written::Full,
                Ok(n) => {
                    self.sent += n;
                    self.net.1 += n as u64;
                }
                Err(e) => match e.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => {
                        self.compact();
                        return Written::Full;
                    }
                    _ => return Written::Broken,
                },
            }
        }
        self.output.clear();
        self.sent = 0;
        match self.stream.flush() {
            Ok(()) => Written::All,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Written::Full,
            Err(_) => Written::Broken,
        }
    }

    /// Drops what was sent once it is the larger part, so that a slow reader's buffer does not keep it for ever.
    fn compact(&mut self) {
        if self.sent > self.output.len() / 2 {
            self.output.drain(..self.sent);
            self.sent = 0;
            if self.output.capacity() > 4 * self.output.len().max(16 * 1024) {
                self.output.shrink_to(2 * self.output.len());
            }
        }
    }
}

/// A write to a socket that the peer closed is an error, not a signal.
const FLAGS: rustix::net::SendFlags = rustix::net::SendFlags::NOSIGNAL;

/// Reads once from a plain socket into the free part of `buf`, at most `most` bytes. The kernel writes into memory that nobody cleared.
fn read(fd: BorrowedFd<'_>, buf: &mut Vec<u8>, most: usize) -> Read {
    buf.reserve(most);
    let before = buf.len();
    loop {
        match rustix::io::read(fd, spare_capacity(buf)) {
            Ok(0) => return Read::Eof,
            Ok(_) => {
                let n = buf.len() - before;
                // A stream that gave less than it was asked for has no more for now.
                return if buf.len() == buf.capacity() { Read::Some(n) } else { Read::Drained(n) };
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Read::Drained(0),
            Err(_) => return Read::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_gathers_packets_or_not() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stream = Stream::Tcp(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        let (_peer, _) = listener.accept().unwrap();
        for gather in [false, true, false] {
            stream.gather(gather);
            let Stream::Tcp(socket) = &stream else { unreachable!() };
            assert_eq!(socket.nodelay().unwrap(), !gather);
        }
    }
}
