//! Bytes that come bit by bit: a reader that runs out of them goes back to where it settled last, and tries again when
//! there are more.

use crate::error::Kind;
use crate::input::{Input, Pause};
use totality_ds::crc::crc64;

/// Bytes that are done with and may stay in the buffer.
const SLACK: usize = 64 * 1024;
/// Bytes of a value from which on it is tried again only when there is twice as much.
const LARGE: usize = 4 << 20;
/// Bytes of a string between two pauses.
const STEP: usize = 1 << 20;

/// A source of bytes that is filled while it is read.
#[derive(Debug)]
pub struct Pushed {
    buf: Vec<u8>,
    /// What is before it is done with.
    settled: usize,
    pos: usize,
    /// The checksum up to `settled`.
    crc: u64,
    /// Bytes before the buffer.
    before: u64,
    check: bool,
    /// Somebody asked for more than there is.
    starved: bool,
    /// Bytes that must be there before it is worth another try.
    wanted: usize,
    ended: bool,
}

impl Pushed {
    /// With the first bytes. `check`: keeps the checksum.
    pub fn new(first: Vec<u8>, check: bool) -> Pushed {
        Pushed {
            buf: first,
            settled: 0,
            pos: 0,
            crc: 0,
            before: 0,
            check,
            starved: false,
            wanted: 0,
            ended: false,
        }
    }

    /// More bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
    }

    /// There will be no more.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Bytes that wait to be read.
    pub fn waiting(&self) -> usize {
        self.buf.len() - self.settled
    }

    /// Bytes behind the reader.
    pub fn unread(&self) -> usize {
        self.buf.len() - self.pos
    }

    /// True when it is worth while to read on: there is more than at the last try, and enough more that reading a large
    /// value again and again does not take long.
    pub fn is_ready(&self) -> bool {
        self.ended || self.waiting() >= self.wanted.max(1)
    }

    /// After an error: true when only bytes were missing that may come. Then the reader is where it settled last.
    pub fn retry(&mut self) -> bool {
        if !std::mem::take(&mut self.starved) || self.ended {
            return false;
        }
        self.pos = self.settled;
        let part = if self.waiting() < LARGE { 4 } else { 1 };
        self.wanted = self.waiting() + self.waiting() / part + 1;
        true
    }

    fn next(&mut self, n: usize) -> Result<usize, Kind> {
        let end = self.pos.checked_add(n).filter(|end| *end <= self.buf.len());
        let Some(end) = end else {
            self.starved = true;
            return Err(Kind::Short);
        };
        Ok(std::mem::replace(&mut self.pos, end))
    }
}

impl std::io::Write for Pushed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Input for Pushed {
    #[inline]
    fn take(&mut self, n: usize) -> Result<&[u8], Kind> {
        let from = self.next(n)?;
        Ok(&self.buf[from..self.pos])
    }

    fn take_vec_pausing(&mut self, n: usize, pause: Pause<'_>) -> Result<Vec<u8>, Kind> {
        let from = self.next(n)?;
        let mut out = Vec::with_capacity(n);
        for part in self.buf[from..self.pos].chunks(STEP) {
            out.extend_from_slice(part);
            if part.len() == STEP && !pause(self.before + (from + out.len()) as u64) {
                return Err(Kind::Stopped);
            }
        }
        Ok(out)
    }

    fn offset(&self) -> u64 {
        self.before + self.pos as u64
    }

    fn checksum(&mut self) -> u64 {
        if self.check { crc64(self.crc, &self.buf[self.settled..self.pos]) } else { 0 }
    }

    fn settle(&mut self) {
        self.crc = self.checksum();
        (self.settled, self.wanted) = (self.pos, 0);
        if self.settled >= SLACK && self.settled * 2 >= self.buf.len() {
            self.buf.drain(..self.settled);
            self.before += self.settled as u64;
            (self.settled, self.pos) = (0, 0);
            // A large value left room that the next ones do not need.
            self.buf.shrink_to(self.buf.len().max(4 * SLACK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{self, Event, FileReader};
    use crate::{VERSION, Writer, types};

    fn snapshot(values: &[usize]) -> Vec<u8> {
        let mut w = Writer::new(false);
        file::head(&mut w, VERSION);
        file::select(&mut w, 0, None);
        for (n, len) in values.iter().enumerate() {
            file::before_key(&mut w, Some(n as i64), None, None);
            w.byte(types::STRING);
            w.string(format!("key{n}").as_bytes());
            let value: Vec<u8> = (0..*len).map(|i| (i * i % 251) as u8).collect();
            w.string(&value);
        }
        file::end(&mut w);
        let crc = crc64(0, &w.out);
        w.out.extend_from_slice(&crc.to_le_bytes());
        w.out
    }

    fn read(bytes: &[u8], step: usize) -> Result<usize, String> {
        let mut pieces = bytes.chunks(step);
        let mut input = Pushed::new(Vec::new(), true);
        while input.waiting() < 9 {
            input.push(pieces.next().expect("a head"));
        }
        let mut reader = FileReader::open(input, true, true).map_err(|e| e.to_string())?;
        let (mut keys, mut tries) = (0, 0);
        loop {
            if !reader.input().is_ready() {
                match pieces.next() {
                    Some(piece) => reader.input().push(piece),
                    None => reader.input().end(),
                }
                continue;
            }
            tries += 1;
            match reader.next_event() {
                Ok(Event::End) => break,
                Ok(Event::Key(_)) => keys += 1,
                Ok(_) => {}
                Err(_) if reader.input().retry() => {}
                Err(e) => return Err(e.to_string()),
            }
        }
        assert!(tries < 60 * (keys + 2), "{tries}");
        Ok(keys)
    }

    #[test]
    fn a_file_is_read_whatever_the_pieces() {
        let bytes = snapshot(&[3, 100_000, 0, 5000, 300_000, 7]);
        for step in [1, 7, 1000, 4096, 70_000, 1 << 20] {
            assert_eq!(read(&bytes, step), Ok(6), "{step}");
        }
    }

    #[test]
    fn a_file_that_ends_early_or_is_damaged_is_refused() {
        let bytes = snapshot(&[3, 5000, 7]);
        for len in [9, 10, 40, 200, bytes.len() - 9, bytes.len() - 1] {
            assert!(read(&bytes[..len], 100).is_err(), "{len}");
        }
        let mut damaged = bytes.clone();
        damaged[300] ^= 1;
        assert!(read(&damaged, 100).is_err());
    }
}
