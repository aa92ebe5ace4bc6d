//! Reading a file of commands.

use std::io::{self, BufReader, Read};

/// Arguments of a command at most, and bytes of one.
const MAX_ARGS: usize = 1 << 20;
const MAX_ARG: usize = 512 << 20;
/// Longest line: a length, or a remark.
const MAX_LINE: usize = 1024;
/// Bytes by which an argument grows while it is read.
const STEP: usize = 1 << 20;

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Item {
    /// A command.
    Command(Vec<Vec<u8>>),
    /// The second at which what follows was written.
    Stamp(i64),
    /// The end, right behind a command.
    End,
}

/// Why nothing more can be read.
#[derive(Debug)]
pub enum Trouble {
    /// The file ends in the middle of a command.
    Cut,
    /// The bytes are not a command.
    Format(&'static str),
    /// Reading failed.
    Io(io::Error),
}

/// Reads commands with their offsets.
pub struct CommandReader<R> {
    source: BufReader<R>,
    offset: u64,
    line: Vec<u8>,
}

impl<R: Read> CommandReader<R> {
    /// Reads from `source`, whose first byte is at `offset` of its file.
    pub fn new(source: R, offset: u64) -> Self {
        CommandReader { source: BufReader::with_capacity(128 * 1024, source), offset, line: Vec::new() }
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What comes next.
    ///
    /// # Errors
    /// See [`Trouble`]. Then the offset says nothing about where the last command ended.
    pub fn next_item(&mut self) -> Result<Item, Trouble> {
        loop {
            if !self.read_line()? {
                return Ok(Item::End);
            }
            match self.line.first() {
                Some(b'#') => match self.stamp() {
                    Some(stamp) => return Ok(Item::Stamp(stamp)),
                    None => continue,
                },
                Some(b'*') => return self.command().map(Item::Command),
                _ => return Err(Trouble::Format("a command was expected")),
            }
        }
    }

    fn stamp(&self) -> Option<i64> {
        std::str::from_utf8(self.line.strip_prefix(b"#TS:")?).ok()?.trim().parse().ok()
    }

    fn command(&mut self) -> Result<Vec<Vec<u8>>, Trouble> {
        let n = number(&self.line[1..]).filter(|n| (1..=MAX_ARGS).contains(n));
        let n = n.ok_or(Trouble::Format("wrong number of arguments"))?;
        let mut argv = Vec::with_capacity(n.min(64));
        for _ in 0..n {
            if !self.read_line()? {
                return Err(Trouble::Cut);
            }
            let len = self.line.strip_prefix(b"$").and_then(number).filter(|n| *n <= MAX_ARG);
            let len = len.ok_or(Trouble::Format("wrong length of an argument"))?;
            argv.push(self.argument(len)?);
        }
        Ok(argv)
    }

    fn argument(&mut self, len: usize) -> Result<Vec<u8>, Trouble> {
        let mut arg = Vec::with_capacity(len.min(STEP));
        while arg.len() < len {
            let want = (len - arg.len()).min(STEP);
            let got = self.source.by_ref().take(want as u64).read_to_end(&mut arg).map_err(Trouble::Io)?;
            self.offset += got as u64;
            if got < want {
                return Err(Trouble::Cut);
            }
        }
        let mut end = [0; 2];
        match self.source.read_exact(&mut end) {
            Ok(()) => self.offset += 2,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Err(Trouble::Cut),
            Err(e) => return Err(Trouble::Io(e)),
        }
        if end == *b"\r\n" { Ok(arg) } else { Err(Trouble::Format("a line break was expected")) }
    }

    /// Reads a line without its break; false at the end of the file.
    fn read_line(&mut self) -> Result<bool, Trouble> {
        self.line.clear();
        let mut limited = self.source.by_ref().take(MAX_LINE as u64);
        let n = io::BufRead::read_until(&mut limited, b'\n', &mut self.line).map_err(Trouble::Io)?;
        self.offset += n as u64;
        if n == 0 {
            return Ok(false);
        }
        if self.line.pop() != Some(b'\n') {
            return Err(if n == MAX_LINE { Trouble::Format("a line is too long") } else { Trouble::Cut });
        }
        match self.line.pop() {
            Some(b'\r') => Ok(true),
            _ => Err(Trouble::Format("a line break was expected")),
        }
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() || digits.len() > 12 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_remarks() {
        let text = b"#TS:1628217470\r\n*2\r\n$3\r\nDEL\r\n$1\r\na\r\n# a remark\r\n*1\r\n$0\r\n\r\n";
        let mut r = CommandReader::new(&text[..], 0);
        assert_eq!(r.next_item().unwrap(), Item::Stamp(1_628_217_470));
        assert_eq!(r.next_item().unwrap(), Item::Command(vec![b"DEL".to_vec(), b"a".to_vec()]));
        assert_eq!(r.next_item().unwrap(), Item::Command(vec![vec![]]));
        assert_eq!(r.next_item().unwrap(), Item::End);
        assert_eq!(r.offset(), text.len() as u64);
    }

    #[test]
    fn a_cut_and_a_wrong_byte_are_told_apart() {
        let text = b"*2\r\n$3\r\nDEL\r\n$1\r\na\r\n";
        for end in 1..text.len() {
            let got = CommandReader::new(&text[..end], 0).next_item();
            assert!(matches!(got, Err(Trouble::Cut)), "{end}: {got:?}");
        }
        for bad in [&b"hello\r\n"[..], b"*0\r\n", b"*x\r\n", b"*1\r\n#3\r\n", b"*1\r\n$1\r\nab\r\n", b"*1\n"]
        {
            assert!(matches!(CommandReader::new(bad, 0).next_item(), Err(Trouble::Format(_))));
        }
    }
}
