//! A blocking client that keeps the raw bytes of every reply.

use crate::value::{self, Value, Wrong};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// One command: its words.
pub type Command = Vec<Vec<u8>>;

/// A reply as a tree and as the bytes that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The parsed tree.
    pub value: Value,
    /// The bytes as they came over the wire.
    pub raw: Vec<u8>,
}

/// Appends a command in RESP form.
pub fn encode<W: AsRef<[u8]>>(words: &[W], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        let word = word.as_ref();
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// A connection for tests. A silent server is an error after 20 s.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    used: usize,
}

impl Client {
    /// Connects to a port on the loopback address.
    pub fn connect(port: u16) -> io::Result<Client> {
        Client::connect_to("127.0.0.1", port)
    }

    /// Connects to a port of a host.
    pub fn connect_to(host: &str, port: u16) -> io::Result<Client> {
        let stream = TcpStream::connect((host, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.set_write_timeout(Some(Duration::from_secs(20)))?;
        Ok(Client { stream, buffer: Vec::new(), used: 0 })
    }

    /// Connects and switches to RESP3 when `protocol` is 3.
    pub fn with_protocol(port: u16, protocol: u8) -> io::Result<Client> {
        let mut client = Client::connect(port)?;
        if protocol == 3 {
            client.call(&["HELLO", "3"])?;
        }
        Ok(client)
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends one command without waiting.
    pub fn send<W: AsRef<[u8]>>(&mut self, words: &[W]) -> io::Result<()> {
        let mut out = Vec::new();
        encode(words, &mut out);
        self.send_raw(&out)
    }

    /// Sends one command and waits for its reply.
    pub fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> io::Result<Value> {
        self.call_raw(words).map(|r| r.value)
    }

    /// Sends one command and waits for its reply, bytes included.
    pub fn call_raw<W: AsRef<[u8]>>(&mut self, words: &[W]) -> io::Result<Reply> {
        self.send(words)?;
        self.read()
    }

    /// Splits a line as `redis-cli` does, sends it and waits for the reply.
    pub fn line(&mut self, line: &str) -> io::Result<Value> {
        let words = crate::words::split(line).ok_or_else(|| io::Error::other("unbalanced quotes"))?;
        self.call(&words)
    }

    /// Sends many commands at once, then reads as many replies.
    pub fn pipeline(&mut self, commands: &[Command]) -> io::Result<Vec<Reply>> {
        let mut out = Vec::new();
        commands.iter().for_each(|c| encode(c, &mut out));
        self.send_raw(&out)?;
        commands.iter().map(|_| self.read()).collect()
    }

    /// Waits for the next reply.
    pub fn read(&mut self) -> io::Result<Reply> {
        loop {
            match value::parse(&self.buffer[self.used..]) {
                Ok((value, taken)) => {
                    let raw = self.buffer[self.used..self.used + taken].to_vec();
                    self.used += taken;
                    if self.used == self.buffer.len() {
                        self.buffer.clear();
                        self.used = 0;
                    }
                    return Ok(Reply { value, raw });
                }
                Err(Wrong::Malformed(why)) => {
                    let seen = self.buffer[self.used..].escape_ascii().to_string();
                    return Err(io::Error::other(format!("{why} in {}", &seen[..seen.len().min(200)])));
                }
                Err(Wrong::Incomplete) => self.fill()?,
            }
        }
    }

    /// Reads whatever bytes come next; an empty result means that the server closed the connection.
    pub fn read_some(&mut self) -> io::Result<Vec<u8>> {
        let mut chunk = vec![0; 65_536];
        let n = self.stream.read(&mut chunk)?;
        chunk.truncate(n);
        Ok(chunk)
    }

    /// How long to wait for a reply; `None` waits for ever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(timeout)
    }

    fn fill(&mut self) -> io::Result<()> {
        let chunk = self.read_some()?;
        if chunk.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection"));
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.extend_from_slice(&chunk);
        Ok(())
    }
}
