//! A loader that costs little: fifty connections in turn, requests made once and patched, replies only counted.

use crate::client;
use crate::rng::Rng;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 50;
/// Where a random number goes in a command's words; as many digits as it has characters.
pub const RANDOM: &str = "__rand_int__";
/// Different random numbers.
const SPREAD: u64 = 100_000;

/// A prepared load on one server.
pub struct Load {
    connections: Vec<TcpStream>,
    batch: Vec<u8>,
    holes: Vec<usize>,
    pipeline: usize,
    rng: Rng,
    buffer: Vec<u8>,
}

impl Load {
    /// Connects and checks that the command is not refused.
    pub fn new(port: u16, command: &[Vec<u8>], pipeline: usize) -> io::Result<Load> {
        let mut one = Vec::new();
        client::encode(command, &mut one);
        let batch = one.repeat(pipeline);
        let mark = RANDOM.as_bytes();
        let holes =
            batch.windows(mark.len()).enumerate().filter(|(_, w)| w == &mark).map(|(i, _)| i).collect();
        let open = |_| {
            let stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(20)))?;
            Ok(stream)
        };
        let connections = (0..CONNECTIONS).map(open).collect::<io::Result<_>>()?;
        let mut load =
            Load { connections, batch, holes, pipeline, rng: Rng::new(1), buffer: vec![0; 1 << 18] };
        load.patch();
        let mut probe = client::Client::connect(port)?;
        probe.send_raw(&load.batch[..load.batch.len() / pipeline])?;
        let reply = probe.read()?.value;
        if reply.is_error() {
            return Err(io::Error::other(reply.text()));
        }
        Ok(load)
    }

    fn patch(&mut self) {
        for &at in &self.holes {
            let number = self.rng.next_u64() % SPREAD;
            let digits = format!("{number:0width$}", width = RANDOM.len());
            self.batch[at..at + RANDOM.len()].copy_from_slice(digits.as_bytes());
        }
    }

    /// Sends at least `calls` calls, waits for all replies and says how many they were.
    pub fn run(&mut self, calls: usize) -> io::Result<usize> {
        let mut done = 0;
        while done < calls {
            done += self.turn()?;
        }
        Ok(done)
    }

    /// Loads for some seconds and says how many calls a second there were.
    pub fn run_for(&mut self, seconds: f64) -> io::Result<f64> {
        let (began, mut done) = (Instant::now(), 0);
        while began.elapsed().as_secs_f64() < seconds {
            done += self.turn()?;
        }
        Ok(done as f64 / began.elapsed().as_secs_f64())
    }

    /// One batch on every connection.
    fn turn(&mut self) -> io::Result<usize> {
        for i in 0..self.connections.len() {
            self.patch();
            self.connections[i].write_all(&self.batch)?;
        }
        for stream in &mut self.connections {
            drain(stream, self.pipeline, &mut self.buffer)?;
        }
        Ok(self.connections.len() * self.pipeline)
    }
}

/// Reads `replies` replies without keeping them.
fn drain(stream: &mut TcpStream, replies: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    let (mut start, mut end, mut open) = (0, 0, replies);
    while open > 0 {
        match step(&buffer[start..end]) {
            Some((taken, more)) => {
                start += taken;
                open = open - 1 + more;
            }
            None => {
                buffer.copy_within(start..end, 0);
                (start, end) = (0, end - start);
                if end == buffer.len() {
                    buffer.resize(end * 2, 0);
                }
                match stream.read(&mut buffer[end..])? {
                    0 => {
                        return Err(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            "the server closed the connection",
                        ));
                    }
                    n => end += n,
                }
            }
        }
    }
    Ok(())
}

/// Skips one header or scalar: bytes taken, elements that follow.
fn step(bytes: &[u8]) -> Option<(usize, usize)> {
    let line = bytes.iter().position(|&b| b == b'\n')? + 1;
    let number = || std::str::from_utf8(&bytes[1..line - 2]).ok()?.parse::<i64>().ok();
    match bytes[0] {
        b'$' => {
            let n = number()?;
            let all = if n < 0 { line } else { line + n as usize + 2 };
            (all <= bytes.len()).then_some((all, 0))
        }
        b'*' => Some((line, number()?.max(0) as usize)),
        _ => Some((line, 0)),
    }
}
