//! A `redis-server` for comparison and a client for EVAL.
//!
//! The workspace's testkit has both, but it stands on the whole engine, which stands on this crate: the tests of the
//! runtime have to run when nothing above it builds.

use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A reply, as far as EVAL of a snippet gives one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Bulk(Vec<u8>),
    Error(Vec<u8>),
    Nil,
    Other(String),
}

/// A running server with a connection to it; killed on drop.
pub struct Redis {
    child: Child,
    stream: BufReader<TcpStream>,
    dir: PathBuf,
}

impl Redis {
    /// Starts a program that takes Redis's arguments.
    pub fn start(program: &str) -> Result<Redis> {
        for _ in 0..10 {
            let mut redis = Redis::start_once(program)?;
            // Between the search for a free port and its use another server may take it.
            let own = format!("process_id:{}\r\n", redis.child.id());
            let info = [b"INFO".to_vec(), b"server".to_vec()].to_vec();
            if let Ok(replies) = redis.pipeline(&[info])
                && let [Reply::Bulk(text)] = replies.as_slice()
                && String::from_utf8_lossy(text).contains(&own)
            {
                return Ok(redis);
            }
        }
        Err(Error::other(format!("{program} did not start: its ports were taken")))
    }

    fn start_once(program: &str) -> Result<Redis> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("totality-lua-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir)?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let mut child = Command::new(program)
            .args(["--port", &port.to_string(), "--save", "", "--bind", "127.0.0.1"])
            .current_dir(&dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Error::new(e.kind(), format!("{program}: {e}")))?;
        let began = Instant::now();
        loop {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(Duration::from_secs(4)))?;
                return Ok(Redis { child, stream: BufReader::new(stream), dir });
            }
            if began.elapsed() > Duration::from_secs(20) || child.try_wait()?.is_some() {
                return Err(Error::other(format!("{program} did not start")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// `TOTALITY_ORACLE`, or the `redis-server` in `PATH`.
    pub fn oracle() -> Result<Redis> {
        Redis::start(&std::env::var("TOTALITY_ORACLE").unwrap_or_else(|_| "redis-server".into()))
    }

    /// Time that a reply may take.
    pub fn set_patience(&mut self, patience: Duration) -> Result<()> {
        self.stream.get_ref().set_read_timeout(Some(patience))
    }

    /// Sends commands at once and reads as many replies.
    pub fn pipeline(&mut self, commands: &[Vec<Vec<u8>>]) -> Result<Vec<Reply>> {
        let mut out = Vec::new();
        for words in commands {
            out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
            for word in words {
                out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
                out.extend_from_slice(word);
                out.extend_from_slice(b"\r\n");
            }
        }
        self.stream.get_mut().write_all(&out)?;
        commands.iter().map(|_| self.read()).collect()
    }

    fn read(&mut self) -> Result<Reply> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        let line =
            line.strip_suffix(b"\r\n").ok_or_else(|| Error::other("the server closed the connection"))?;
        let text = String::from_utf8_lossy(line).into_owned();
        Ok(match line.first() {
            Some(b'-') => Reply::Error(line[1..].to_vec()),
            Some(b'$') if text == "$-1" => Reply::Nil,
            Some(b'$') => {
                let len: usize = text[1..].parse().map_err(Error::other)?;
                let mut bytes = vec![0; len + 2];
                self.stream.read_exact(&mut bytes)?;
                bytes.truncate(len);
                Reply::Bulk(bytes)
            }
            _ => Reply::Other(text),
        })
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // Nothing is left to do when these fail.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
