//! A plain connection to a server, for commands of this tool.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use totality_resp::{Reply, ReplyParser};

/// How long to wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Most bytes of one reply.
const MAX_REPLY: usize = 512 * 1024 * 1024 + 64;

/// A connection.
pub struct Remote {
    stream: TcpStream,
}

/// The parts of a `redis://` URL.
#[derive(Debug, PartialEq, Eq)]
struct Url {
    user: Option<String>,
    password: Option<String>,
    address: String,
    db: Option<String>,
}

impl Remote {
    /// Connects to `redis://[[user:]password@]host[:port][/db]`, authenticates and selects the database.
    pub fn connect(url: &str) -> Result<Remote, String> {
        let url = parse(url)?;
        let mut last = format!("{}: no address", url.address);
        let found = std::net::ToSocketAddrs::to_socket_addrs(&url.address)
            .map_err(|e| format!("{}: {e}", url.address))?;
        for address in found {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(stream) => return Remote { stream }.greet(&url),
                Err(e) => last = format!("{}: {e}", url.address),
            }
        }
        Err(last)
    }

    fn greet(mut self, url: &Url) -> Result<Remote, String> {
        if let Some(password) = &url.password {
            let mut auth = vec![b"AUTH".to_vec()];
            auth.extend(url.user.iter().map(|u| u.clone().into_bytes()));
            auth.push(password.clone().into_bytes());
            self.must(&auth)?;
        }
        if let Some(db) = &url.db {
            self.must(&[b"SELECT".to_vec(), db.clone().into_bytes()])?;
        }
        Ok(self)
    }

    fn must(&mut self, command: &[Vec<u8>]) -> Result<(), String> {
        match self.call(command)? {
            Reply::Error(text) => Err(String::from_utf8_lossy(&text).into_owned()),
            _ => Ok(()),
        }
    }

    /// Sends one command and waits for its reply, however long that takes.
    pub fn call(&mut self, command: &[Vec<u8>]) -> Result<Reply, String> {
        let mut out = format!("*{}\r\n", command.len()).into_bytes();
        for word in command {
            out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            out.extend_from_slice(word);
            out.extend_from_slice(b"\r\n");
        }
        self.stream.write_all(&out).map_err(|e| e.to_string())?;
        let (mut parser, mut buffer, mut chunk) = (ReplyParser::new(), Vec::new(), vec![0; 65_536]);
        loop {
            match self.stream.read(&mut chunk).map_err(|e| e.to_string())? {
                0 => return Err("the server closed the connection".into()),
                n => buffer.extend_from_slice(&chunk[..n]),
            }
            if let Some((reply, _)) = parser.parse(&buffer).map_err(|e| e.to_string())? {
                return Ok(reply);
            }
            if buffer.len() > MAX_REPLY {
                return Err("the reply is too long".into());
            }
        }
    }
}

fn parse(url: &str) -> Result<Url, String> {
    let rest = match url.split_once("://") {
        Some(("redis", rest)) => rest,
        Some(("rediss", _)) => return Err("TLS (rediss://) is not supported yet".into()),
        Some((scheme, _)) => return Err(format!("{scheme}:// is not supported, only redis://")),
        None => url,
    };
    let (place, db) = match rest.split_once('/') {
        Some((place, db)) => (place, (!db.is_empty()).then(|| db.to_string())),
        None => (rest, None),
    };
    let (login, host) = match place.rsplit_once('@') {
        Some((login, host)) => (Some(login), host),
        None => (None, place),
    };
    let (user, password) = match login.map(|l| l.split_once(':').ok_or(l)) {
        Some(Ok((user, password))) => ((!user.is_empty()).then(|| decode(user)), Some(decode(password))),
        Some(Err(password)) => (None, Some(decode(password))),
        None => (None, None),
    };
    let host = if host.is_empty() { "127.0.0.1" } else { host };
    // An IPv6 address in brackets has colons of its own.
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let address = if has_port { host.to_string() } else { format!("{host}:6379") };
    Ok(Url { user, password, address, db })
}

/// Undoes percent encoding; what is none stays as it is.
fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |b: &u8| (*b as char).to_digit(16).map(|d| d as u8);
        match (first, tail) {
            (b'%', [a, b, after @ ..]) if hex(a).is_some() && hex(b).is_some() => {
                out.push(hex(a).unwrap_or(0) << 4 | hex(b).unwrap_or(0));
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_urls() {
        let url = parse("redis://ann:p%40ss@db.example:7000/3").unwrap();
        let text = |s: &str| Some(s.to_string());
        assert_eq!(
            url,
            Url {
                user: text("ann"),
                password: text("p@ss"),
                address: "db.example:7000".into(),
                db: text("3")
            }
        );
        assert_eq!(parse("redis://secret@h").unwrap().password, text("secret"));
        assert_eq!(parse("redis://:secret@h").unwrap().password, text("secret"));
        assert_eq!(parse("redis://").unwrap().address, "127.0.0.1:6379");
        assert_eq!(parse("[::1]").unwrap().address, "[::1]:6379");
        assert!(parse("rediss://h").is_err() && parse("http://h").is_err());
    }
}
