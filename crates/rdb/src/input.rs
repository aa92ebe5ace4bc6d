//! Where bytes come from, and the primitives of the format.

use crate::error::{Error, Kind};
use std::io::Read;
use totality_ds::Bytes;
use totality_ds::crc::crc64;
use totality_ds::lzf;

/// Bytes that [`Input::take`] gives at most.
pub const TAKE_MAX: usize = 4096;
/// A stream's buffer.
const BUFFER: usize = 128 * 1024;
/// Bytes by which a long string grows while it is read: a length that lies costs no more than that.
const STEP: usize = 1 << 20;
/// Bytes of a long string after which its length is believed.
const BELIEVED: usize = 8 << 20;

/// Called now and then while a long value is read, with the bytes read so far. False: nothing more is read.
pub type Pause<'a> = &'a mut dyn FnMut(u64) -> bool;

/// A source of bytes.
pub trait Input {
    /// The next `n` bytes, [`TAKE_MAX`] at most.
    ///
    /// # Errors
    /// When there are fewer, or reading fails.
    fn take(&mut self, n: usize) -> Result<&[u8], Kind>;

    /// The next `n` bytes, any number.
    ///
    /// # Errors
    /// When there are fewer, or reading fails.
    fn take_vec(&mut self, n: usize) -> Result<Vec<u8>, Kind> {
        self.take_vec_pausing(n, &mut |_| true)
    }

    /// The same; `pause` is called now and then when there are many, with the bytes given so far.
    ///
    /// # Errors
    /// The same, and when `pause` gives false.
    fn take_vec_pausing(&mut self, n: usize, pause: Pause<'_>) -> Result<Vec<u8>, Kind>;

    /// Bytes given so far.
    fn offset(&self) -> u64;

    /// The checksum of the bytes given so far; 0 when none is kept.
    fn checksum(&mut self) -> u64 {
        0
    }

    /// What was given so far was used and is not wanted again.
    fn settle(&mut self) {}
}

/// Bytes in memory.
#[derive(Debug)]
pub struct Slice<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Slice<'a> {
    /// All of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Slice { bytes, pos: 0 }
    }

    #[inline]
    fn next(&mut self, n: usize) -> Result<&'a [u8], Kind> {
        let end = self.pos.checked_add(n).filter(|end| *end <= self.bytes.len()).ok_or(Kind::Short)?;
        let taken = &self.bytes[self.pos..end];
        self.pos = end;
        Ok(taken)
    }
}

impl Input for Slice<'_> {
    #[inline]
    fn take(&mut self, n: usize) -> Result<&[u8], Kind> {
        self.next(n)
    }

    fn take_vec_pausing(&mut self, n: usize, _: Pause<'_>) -> Result<Vec<u8>, Kind> {
        self.next(n).map(<[u8]>::to_vec)
    }

    fn offset(&self) -> u64 {
        self.pos as u64
    }

    fn checksum(&mut self) -> u64 {
        crc64(0, &self.bytes[..self.pos])
    }
}

/// Bytes from a stream, with their checksum.
#[derive(Debug)]
pub struct Streamed<R> {
    source: R,
    buf: Box<[u8]>,
    /// What of the buffer is there, from `pos` to `end`.
    pos: usize,
    end: usize,
    /// Bytes of the buffer, up to `pos`, that are in the checksum.
    summed: usize,
    crc: u64,
    /// Bytes before the buffer.
    before: u64,
    check: bool,
}

impl<R: Read> Streamed<R> {
    /// Reads from `source`; `check`: keeps the checksum.
    pub fn new(source: R, check: bool) -> Self {
        Streamed {
            source,
            buf: vec![0; BUFFER].into_boxed_slice(),
            pos: 0,
            end: 0,
            summed: 0,
            crc: 0,
            before: 0,
            check,
        }
    }

    /// The source, and what was read from it ahead of what was taken.
    pub fn into_parts(self) -> (R, Vec<u8>) {
        (self.source, self.buf[self.pos..self.end].to_vec())
    }

    /// The source.
    pub fn source(&mut self) -> &mut R {
        &mut self.source
    }

    fn sum(&mut self) {
        if self.check {
            self.crc = crc64(self.crc, &self.buf[self.summed..self.pos]);
        }
        self.summed = self.pos;
    }

    /// Makes `n` bytes (no more than the buffer holds) be there.
    #[cold]
    fn fill(&mut self, n: usize) -> Result<(), Kind> {
        self.sum();
        self.buf.copy_within(self.pos..self.end, 0);
        self.before += self.pos as u64;
        (self.end, self.pos, self.summed) = (self.end - self.pos, 0, 0);
        while self.end < n {
            match self.source.read(&mut self.buf[self.end..]) {
                Ok(0) => return Err(Kind::Short),
                Ok(got) => self.end += got,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Kind::Io(e)),
            }
        }
        Ok(())
    }
}

impl<R: Read> Input for Streamed<R> {
    #[inline]
    fn take(&mut self, n: usize) -> Result<&[u8], Kind> {
        if self.end - self.pos < n {
            self.fill(n)?;
        }
        let from = self.pos;
        self.pos += n;
        Ok(&self.buf[from..self.pos])
    }

    fn take_vec_pausing(&mut self, n: usize, pause: Pause<'_>) -> Result<Vec<u8>, Kind> {
        if n <= TAKE_MAX {
            return self.take(n).map(<[u8]>::to_vec);
        }
        let mut out = Vec::with_capacity(n.min(STEP));
        let buffered = n.min(self.end - self.pos);
        out.extend_from_slice(&self.buf[self.pos..self.pos + buffered]);
        self.pos += buffered;
        while out.len() < n {
            self.sum();
            self.before += self.pos as u64;
            (self.pos, self.end, self.summed) = (0, 0, 0);
            let want = (n - out.len()).min(STEP);
            let from = out.len();
            // Room that is not touched is no memory yet, and a long string is not to be moved again and again.
            if from < BELIEVED || out.try_reserve_exact(n - from).is_err() {
                out.reserve_exact(want.max(from.min(n - from)));
            }
            let got = self.source.by_ref().take(want as u64).read_to_end(&mut out).map_err(Kind::Io)?;
            if self.check {
                self.crc = crc64(self.crc, &out[from..]);
            }
            self.before += got as u64;
            if got < want {
                return Err(Kind::Short);
            }
            if !pause(self.before) {
                return Err(Kind::Stopped);
            }
        }
        Ok(out)
    }

    fn offset(&self) -> u64 {
        self.before + self.pos as u64
    }

    fn checksum(&mut self) -> u64 {
        self.sum();
        self.crc
    }
}

/// A length, or the number of a special encoding of a string.
enum Length {
    Plain(u64),
    Special(u8),
}

/// Reads the primitives of the format.
#[derive(Debug)]
pub struct Reader<I> {
    input: I,
}

type Res<T> = Result<T, Error>;

impl<I: Input> Reader<I> {
    /// Reads from `input`.
    pub fn new(input: I) -> Self {
        Reader { input }
    }

    /// The input.
    pub fn input(&mut self) -> &mut I {
        &mut self.input
    }

    /// The input again.
    pub fn into_input(self) -> I {
        self.input
    }

    /// Bytes read so far.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// An error at the present offset.
    #[cold]
    pub fn corrupt(&self, what: &'static str) -> Error {
        Kind::Corrupt(what).at(self.offset())
    }

    #[inline]
    fn bytes<const N: usize>(&mut self) -> Res<[u8; N]> {
        match self.input.take(N) {
            Ok(bytes) => {
                let mut out = [0; N];
                out.copy_from_slice(bytes);
                Ok(out)
            }
            Err(kind) => Err(kind.at(self.offset())),
        }
    }

    /// One byte: a type or an opcode.
    #[inline]
    pub fn byte(&mut self) -> Res<u8> {
        self.bytes::<1>().map(|[b]| b)
    }

    /// Sixteen bytes: the id of a stream's entry.
    pub fn id(&mut self) -> Res<totality_ds::StreamId> {
        self.bytes().map(totality_ds::StreamId::from_be_bytes)
    }

    /// A time in milliseconds since the Unix epoch.
    pub fn millis(&mut self) -> Res<i64> {
        self.bytes().map(i64::from_le_bytes)
    }

    /// A time in seconds since the Unix epoch, as files of version 2 and before have it.
    pub fn seconds(&mut self) -> Res<i32> {
        self.bytes().map(i32::from_le_bytes)
    }

    /// A score as eight bytes.
    pub fn binary_double(&mut self) -> Res<f64> {
        self.bytes().map(f64::from_le_bytes)
    }

    /// A score as text, with a length byte that also stands for what is no number.
    pub fn text_double(&mut self) -> Res<f64> {
        match self.byte()? {
            255 => Ok(f64::NEG_INFINITY),
            254 => Ok(f64::INFINITY),
            253 => Ok(f64::NAN),
            n => {
                let got = self.input.take(n as usize).map(|text| {
                    std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<f64>().ok())
                });
                match got {
                    Ok(Some(score)) => Ok(score),
                    Ok(None) => Err(self.corrupt("a score is not a number")),
                    Err(kind) => Err(kind.at(self.offset())),
                }
            }
        }
    }

    /// The checksum at the end of a file.
    pub(crate) fn stored_checksum(&mut self) -> Res<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    #[inline]
    fn any_length(&mut self) -> Res<Length> {
        let first = self.byte()?;
        let n = match first >> 6 {
            0 => u64::from(first & 0x3F),
            1 => u64::from(first & 0x3F) << 8 | u64::from(self.byte()?),
            2 => match first {
                0x80 => u64::from(u32::from_be_bytes(self.bytes()?)),
                0x81 => u64::from_be_bytes(self.bytes()?),
                _ => return Err(self.corrupt("unknown length encoding")),
            },
            _ => return Ok(Length::Special(first & 0x3F)),
        };
        Ok(Length::Plain(n))
    }

    /// A length or another unsigned number.
    #[inline]
    pub fn length(&mut self) -> Res<u64> {
        match self.any_length()? {
            Length::Plain(n) => Ok(n),
            Length::Special(_) => Err(self.corrupt("a length was expected")),
        }
    }

    /// True when the next bytes are a string that is written as an integer; gives it.
    #[inline]
    fn special(&mut self, encoding: u8, pause: Pause<'_>) -> Res<Special> {
        Ok(Special::Int(match encoding {
            0 => i64::from(self.bytes().map(i8::from_le_bytes)?),
            1 => i64::from(self.bytes().map(i16::from_le_bytes)?),
            2 => i64::from(self.bytes().map(i32::from_le_bytes)?),
            3 => {
                let (packed, len) = (self.length()?, self.length()?);
                let packed = self.vec(packed, pause)?;
                let len = usize::try_from(len).map_err(|_| self.corrupt("invalid LZF compressed string"))?;
                let (offset, mut stopped) = (self.offset(), false);
                let mut pause = || {
                    stopped = !pause(offset);
                    !stopped
                };
                let bytes = lzf::decompress_pausing(&packed, len, &mut pause);
                return match bytes {
                    Ok(bytes) => Ok(Special::Vec(bytes)),
                    Err(_) if stopped => Err(Kind::Stopped.at(offset)),
                    Err(_) => Err(self.corrupt("invalid LZF compressed string")),
                };
            }
            _ => return Err(self.corrupt("unknown string encoding")),
        }))
    }

    fn vec(&mut self, n: u64, pause: Pause<'_>) -> Res<Vec<u8>> {
        let n = usize::try_from(n).map_err(|_| Kind::Short.at(self.offset()))?;
        self.input.take_vec_pausing(n, pause).map_err(|kind| kind.at(self.offset()))
    }

    /// A string.
    #[inline]
    pub fn string(&mut self) -> Res<Bytes> {
        self.string_pausing(&mut |_| true)
    }

    /// The same; `pause` is called now and then while a long one is read.
    #[inline]
    pub fn string_pausing(&mut self, pause: Pause<'_>) -> Res<Bytes> {
        match self.any_length()? {
            Length::Plain(n) if n as usize <= TAKE_MAX && n <= TAKE_MAX as u64 => {
                match self.input.take(n as usize) {
                    Ok(bytes) => Ok(Bytes::copy_from(bytes)),
                    Err(kind) => Err(kind.at(self.offset())),
                }
            }
            Length::Plain(n) => self.vec(n, pause).map(Bytes::from),
            Length::Special(encoding) => Ok(match self.special(encoding, pause)? {
                Special::Int(n) => Bytes::from(itoa::Buffer::new().format(n).as_bytes()),
                Special::Vec(bytes) => Bytes::from(bytes),
            }),
        }
    }

    /// A string as a vector: a compact value.
    pub fn blob(&mut self) -> Res<Vec<u8>> {
        match self.any_length()? {
            Length::Plain(n) => self.vec(n, &mut |_| true),
            Length::Special(encoding) => Ok(match self.special(encoding, &mut |_| true)? {
                Special::Int(n) => itoa::Buffer::new().format(n).as_bytes().to_vec(),
                Special::Vec(bytes) => bytes,
            }),
        }
    }
}

/// A string in a special encoding.
enum Special {
    Int(i64),
    Vec(Vec<u8>),
}
