//! The data set as a primary sends it: so many bytes, or all up to a mark. What is received is kept until it is
//! complete.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use memchr::memmem;

/// Bytes of a mark.
const MARK: usize = 40;

/// How the end is known.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// After so many more bytes.
    Length(u64),
    /// This mark; the bytes that may be its beginning.
    Mark(Vec<u8>, Vec<u8>),
}

/// A payload that is being received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    end: End,
    /// Bytes in all; 0 when nobody said it.
    pub total: u64,
    /// Bytes received.
    pub read: u64,
}

impl Payload {
    /// Reads the line before the payload. `None`: an empty line, which keeps the connection alive.
    ///
    /// # Errors
    /// When it is something else.
    pub fn head(line: &[u8]) -> Result<Option<Payload>, String> {
        if line.is_empty() {
            return Ok(None);
        }
        let shown = String::from_utf8_lossy(line).into_owned();
        if line[0] == b'-' {
            return Err(format!("PRIMARY aborted replication with an error: {}", &shown[1..]));
        }
        if let Some(mark) = line.strip_prefix(b"$EOF:").filter(|mark| mark.len() >= MARK) {
            let end = End::Mark(mark[..MARK].to_vec(), Vec::new());
            return Ok(Some(Payload { end, total: 0, read: 0 }));
        }
        let length = line.strip_prefix(b"$").and_then(|n| std::str::from_utf8(n).ok()?.parse().ok());
        match length {
            Some(n) => Ok(Some(Payload { end: End::Length(n), total: n, read: 0 })),
            None => Err(format!(
                "Bad protocol from PRIMARY, the first byte is not '$' (we received '{shown}'), are you sure the host \
                 and port are right?"
            )),
        }
    }

    /// True when all is there.
    pub fn is_complete(&self) -> bool {
        self.end == End::Length(0)
    }

    /// True when a mark ends it.
    pub fn is_marked(&self) -> bool {
        matches!(self.end, End::Mark(..))
    }

    /// Takes what belongs to the payload from `bytes` and says how many that were.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn feed(&mut self, bytes: &[u8], spool: &mut dyn Write) -> io::Result<usize> {
        let used = match &mut self.end {
            End::Length(left) => {
                let n = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                spool.write_all(&bytes[..n])?;
                *left -= n as u64;
                n
            }
            End::Mark(mark, held) => {
                let before = held.len();
                let mut window = std::mem::take(held);
                window.extend_from_slice(bytes);
                if let Some(at) = memmem::find(&window, mark) {
                    spool.write_all(&window[..at])?;
                    self.end = End::Length(0);
                    at + MARK - before
                } else {
                    let sure = window.len().saturating_sub(MARK - 1);
                    spool.write_all(&window[..sure])?;
                    window.drain(..sure);
                    *held = window;
                    bytes.len()
                }
            }
        };
        self.read += used as u64;
        Ok(used)
    }
}

/// Where a payload is kept until it is complete.
#[derive(Debug)]
pub enum Spool {
    /// In a file, removed when nobody wants it any more.
    File(File, Temporary),
    /// In memory.
    Memory(Vec<u8>),
}

/// The path of a file that goes with it.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may have been renamed.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Spool {
    /// A new file in the working directory.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn file(name: &str) -> io::Result<Spool> {
        let path = Path::new(name).to_owned();
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        Ok(Spool::File(file, Temporary(path)))
    }

    /// What was kept, from the beginning.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn into_source(self) -> io::Result<Source> {
        Ok(match self {
            Spool::File(mut file, path) => {
                file.flush()?;
                file.seek(SeekFrom::Start(0))?;
                Source::File(file, path)
            }
            Spool::Memory(bytes) => Source::Memory(Cursor::new(bytes)),
        })
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Spool::File(file, _) => file.write(bytes),
            Spool::Memory(kept) => kept.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A payload that is complete.
#[derive(Debug)]
pub enum Source {
    /// In a file.
    File(File, Temporary),
    /// In memory.
    Memory(Cursor<Vec<u8>>),
}

impl Source {
    /// Makes the file safe.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn sync(&self) -> io::Result<()> {
        match self {
            Source::File(file, _) => file.sync_all(),
            Source::Memory(_) => Ok(()),
        }
    }

    /// Where the file is, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::File(_, path) => Some(&path.0),
            Source::Memory(_) => None,
        }
    }

    /// Gives the file another name, under which it stays.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn keep_as(&self, path: &str) -> io::Result<()> {
        match self {
            Source::File(file, old) => {
                file.sync_all()?;
                std::fs::rename(&old.0, path)
            }
            Source::Memory(_) => Ok(()),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file, _) => file.read(buf),
            Source::Memory(bytes) => bytes.read(buf),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `bytes` in pieces of `step`; gives what was kept and what was left over.
    fn receive(head: &str, bytes: &[u8], step: usize) -> (Vec<u8>, Vec<u8>) {
        let mut payload = Payload::head(head.as_bytes()).unwrap().unwrap();
        let mut spool = Spool::Memory(Vec::new());
        let (mut at, mut left) = (0, bytes.len());
        while left > 0 && !payload.is_complete() {
            let n = step.min(left);
            let used = payload.feed(&bytes[at..at + n], &mut spool).unwrap();
            (at, left) = (at + used, left - used);
        }
        assert!(payload.is_complete());
        let mut kept = Vec::new();
        spool.into_source().unwrap().read_to_end(&mut kept).unwrap();
        (kept, bytes[at..].to_vec())
    }

    #[test]
    fn both_ends_are_found_whatever_the_pieces() {
        let mark = "0123456789abcdef0123456789abcdef01234567";
        let data: Vec<u8> = (0..500u32).map(|n| (n * 7) as u8).collect();
        for step in [1, 2, 39, 40, 41, 100, 1000] {
            let mut marked = data.clone();
            // What looks like the mark at first is data.
            marked.extend_from_slice(&mark.as_bytes()[..20]);
            let want = marked.clone();
            marked.extend_from_slice(mark.as_bytes());
            marked.extend_from_slice(b"*1\r\n");
            let (kept, rest) = receive(&format!("$EOF:{mark}"), &marked, step);
            assert_eq!((kept, rest), (want, b"*1\r\n".to_vec()), "step {step}");
            let (kept, rest) = receive("$500", &[&data[..], b"xy"].concat(), step);
            assert_eq!((kept, rest), (data.clone(), b"xy".to_vec()), "step {step}");
        }
    }

    #[test]
    fn heads() {
        assert_eq!(Payload::head(b""), Ok(None));
        assert!(Payload::head(b"$0").unwrap().unwrap().is_complete());
        assert_eq!(
            Payload::head(b"-ERR no"),
            Err("PRIMARY aborted replication with an error: ERR no".into())
        );
        assert!(Payload::head(b"+OK").unwrap_err().starts_with("Bad protocol from PRIMARY"));
        assert!(Payload::head(b"$-1").is_err());
        assert!(Payload::head(b"$EOF:short").is_err());
    }
}
