//! MIGRATE's talk with another server. Everything stands still meanwhile, so each step has a limit of time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use totality_engine::engine::{Broken, Exchange};

/// Longest first line of a reply that is read, in bytes.
const LINE: u64 = 1024;

/// A connection of either kind.
trait Line: Read + Write {}
impl<T: Read + Write> Line for T {}

/// Sends `request`, encrypted if `tls` says how, and reads the first lines of `replies` replies.
pub fn exchange(
    peer: (&str, u16),
    tls: Option<&Arc<ClientConfig>>,
    timeout_ms: u64,
    request: &[u8],
    replies: usize,
) -> Exchange {
    let broken = |replies, at| Exchange { replies, broken: Some(at) };
    let timeout = Duration::from_millis(timeout_ms.max(1));
    let Some(stream) = connect(peer, timeout) else { return broken(Vec::new(), Broken::Connecting) };
    let limited =
        stream.set_read_timeout(Some(timeout)).and_then(|()| stream.set_write_timeout(Some(timeout)));
    if limited.is_err() || stream.set_nodelay(true).is_err() {
        return broken(Vec::new(), Broken::Connecting);
    }
    let mut stream: Box<dyn Line> = match tls {
        None => Box::new(stream),
        Some(config) => match encrypted(stream, config, peer.0) {
            Some(stream) => Box::new(stream),
            None => return broken(Vec::new(), Broken::Connecting),
        },
    };
    if stream.write_all(request).is_err() {
        return broken(Vec::new(), Broken::Writing);
    }
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    while lines.len() < replies {
        let mut line = Vec::new();
        match reader.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(_) if line.ends_with(b"\n") => {
                line.truncate(line.trim_ascii_end().len());
                lines.push(line);
            }
            _ => return broken(lines, Broken::Reading),
        }
    }
    Exchange { replies: lines, broken: None }
}

fn encrypted(
    stream: TcpStream,
    config: &Arc<ClientConfig>,
    host: &str,
) -> Option<StreamOwned<ClientConnection, TcpStream>> {
    let name = ServerName::try_from(host.to_owned()).ok()?;
    Some(StreamOwned::new(ClientConnection::new(config.clone(), name).ok()?, stream))
}

fn connect((host, port): (&str, u16), timeout: Duration) -> Option<TcpStream> {
    let addresses = (host, port).to_socket_addrs().ok()?;
    addresses.into_iter().find_map(|address| TcpStream::connect_timeout(&address, timeout).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn lines_come_back_and_silence_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4];
            stream.read_exact(&mut request).unwrap();
            stream.write_all(b"+OK\r\n-ERR no\r\n").unwrap();
            let _ = stream.read(&mut request);
        });
        let got = exchange(("127.0.0.1", port), None, 200, b"ping", 3);
        assert_eq!(got.replies, [b"+OK".to_vec(), b"-ERR no".to_vec()]);
        assert_eq!(got.broken, Some(Broken::Reading));
        server.join().unwrap();
        assert_eq!(exchange(("127.0.0.1", port), None, 200, b"ping", 1).broken, Some(Broken::Connecting));
    }
}
