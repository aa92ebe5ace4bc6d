//! One encrypted connection: the socket and the state of TLS between it and the buffers.

use std::io::{self, BufRead, ErrorKind, Read as _, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use mio::net::TcpStream;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};

use crate::conn::Read;

/// Bytes that are taken from the socket at a time.
const WIRE: usize = 16 * 1024;
/// How often one read asks the socket at most; the rest comes in the next turn.
const READS: usize = 64;

/// An encrypted TCP connection. Its buffers are bounded by the TLS library: 64 KB of what is to be sent, one handshake
/// message of 64 KB and one record of 16 KB of what was received.
pub struct TlsStream {
    socket: TcpStream,
    tls: Connection,
    /// Why the handshake failed.
    failure: Option<rustls::Error>,
    /// The peer sends no more.
    eof: bool,
    /// Nobody has been told yet that the handshake is over.
    fresh: bool,
    /// When it began, in milliseconds of the loop's clock.
    pub began_ms: u64,
    /// Protected mode refuses the client: it is told when the handshake is over.
    pub denied: bool,
}

impl std::fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsStream").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl AsFd for TlsStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl TlsStream {
    /// A connection that a client opened.
    ///
    /// # Errors
    /// The TLS library has its reasons; none is known for the configurations that are made here.
    pub fn accept(
        socket: TcpStream,
        config: &Arc<ServerConfig>,
        now_ms: u64,
    ) -> Result<TlsStream, rustls::Error> {
        let tls = ServerConnection::new(config.clone())?.into();
        Ok(TlsStream { socket, tls, failure: None, eof: false, fresh: true, began_ms: now_ms, denied: false })
    }

    /// A connection to another server, of which the TCP part is there or under way. `host` is its name or address.
    ///
    /// # Errors
    /// The host is neither a name nor an address.
    pub fn connect(
        socket: TcpStream,
        config: &Arc<ClientConfig>,
        host: &str,
        now_ms: u64,
    ) -> Result<TlsStream, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|e| format!("{host}: {e}"))?;
        let tls = ClientConnection::new(config.clone(), name).map_err(|e| e.to_string())?.into();
        Ok(TlsStream { socket, tls, failure: None, eof: false, fresh: true, began_ms: now_ms, denied: false })
    }

    /// The socket, to be registered.
    pub fn socket(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// True until both sides know each other.
    pub fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    /// True once, when the handshake is over.
    pub fn take_fresh(&mut self) -> bool {
        self.fresh && !self.tls.is_handshaking() && std::mem::take(&mut self.fresh)
    }

    /// Why the handshake failed, if it did; told once.
    pub fn failure(&mut self) -> Option<rustls::Error> {
        self.failure.take()
    }

    /// The certificate that the peer showed and that was found to be good.
    pub fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.tls.peer_certificates().and_then(|chain| chain.first())
    }

    /// True when there are encrypted bytes that the socket did not take yet.
    pub fn wants_write(&self) -> bool {
        self.tls.wants_write()
    }

    /// Reads and decrypts about `most` bytes at most to the end of `buf`.
    pub fn read(&mut self, buf: &mut Vec<u8>, most: usize) -> Read {
        let before = buf.len();
        let (mut broken, mut drained) = (false, false);
        let mut wire = [0; WIRE];
        for _ in 0..READS {
            self.take_plain(buf, before + most);
            if buf.len() - before >= most {
                break;
            }
            if self.eof || broken {
                drained = true;
                break;
            }
            match self.socket.read(&mut wire) {
                Ok(0) => self.eof = true,
                Ok(n) => broken = !self.decrypt(&wire[..n], buf),
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    drained = true;
                    break;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => broken = true,
            }
        }
        // Handshakes have answers; of a peer that goes away it does not matter whether they arrive.
        if self.tls.wants_write() {
            broken |= self.flush().is_err_and(|e| e.kind() != ErrorKind::WouldBlock);
        }
        match buf.len() - before {
            0 if broken => Read::Broken,
            0 if self.eof => Read::Eof,
            // What ends the connection is found again at the next read, which must come.
            n if !drained || broken || self.eof => {
                self.eof |= broken;
                Read::Some(n)
            }
            n => Read::Drained(n),
        }
    }

    /// Takes what came from the socket. False when it is not what it should be: the peer is told why, and what was
    /// decrypted before still counts.
    fn decrypt(&mut self, mut wire: &[u8], buf: &mut Vec<u8>) -> bool {
        while !wire.is_empty() && !self.eof {
            match self.tls.read_tls(&mut wire) {
                Ok(0) => self.eof = true,
                Ok(_) => {}
                Err(_) => return false,
            }
            match self.tls.process_new_packets() {
                Ok(state) => self.eof |= state.peer_has_closed(),
                Err(e) => {
                    self.failure = self.tls.is_handshaking().then_some(e);
                    return false;
                }
            }
            // The TLS library keeps no more than one record.
            self.take_plain(buf, usize::MAX);
        }
        true
    }

    /// Moves what is decrypted to `buf`, up to a length of `end`.
    fn take_plain(&mut self, buf: &mut Vec<u8>, end: usize) {
        while buf.len() < end {
            let mut reader = self.tls.reader();
            let Ok(chunk) = reader.fill_buf() else { return };
            let n = chunk.len().min(end - buf.len());
            if n == 0 {
                return;
            }
            buf.extend_from_slice(&chunk[..n]);
            reader.consume(n);
        }
    }

    /// Encrypts and sends what the socket takes; gives the number of bytes that need not be given again. They may wait
    /// here until [`TlsStream::flush`].
    ///
    /// # Errors
    /// `WouldBlock` when nothing can be taken now; any other means that the connection is broken.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let n = self.tls.writer().write(bytes)?;
        match self.flush() {
            Err(e) if e.kind() != ErrorKind::WouldBlock => Err(e),
            _ => Ok(n),
        }
    }

    /// Sends what is encrypted already.
    ///
    /// # Errors
    /// `WouldBlock` when the socket is full; any other means that the connection is broken.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

impl Drop for TlsStream {
    fn drop(&mut self) {
        self.tls.send_close_notify();
        // A courtesy: whether it arrives does not matter.
        let _ = self.flush();
    }
}
