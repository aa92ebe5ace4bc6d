//! The script cache: bodies and compiled code by their SHA1.

use super::header::{self, ScriptFlags};
use super::meta::Meta;
use super::run::Traits;
use super::tracked::NOWHERE;
use crate::error::CmdError;
use sha1::{Digest, Sha1};
use std::collections::HashMap;
use std::sync::Arc;
use totality_lua::{Chunk, CompileLimits};

/// SHA1 of a script's text.
pub type Sha = [u8; 20];

/// SHA1 of a script's text.
pub fn sha_of(body: &[u8]) -> Sha {
    Sha1::digest(body).into()
}

/// 40 hexadecimal digits.
pub fn hex(sha: &Sha) -> [u8; 40] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = [0; 40];
    for (i, byte) in sha.iter().enumerate() {
        out[2 * i] = DIGITS[(byte >> 4) as usize];
        out[2 * i + 1] = DIGITS[(byte & 15) as usize];
    }
    out
}

/// Reads 40 hexadecimal digits in any case.
#[inline]
pub fn parse_hex(text: &[u8]) -> Option<Sha> {
    let text: &[u8; 40] = text.try_into().ok()?;
    let mut sha = [0; 20];
    for (four, eight) in sha.as_chunks_mut::<4>().0.iter_mut().zip(text.as_chunks::<8>().0) {
        *four = eight_digits(u64::from_le_bytes(*eight))?;
    }
    Some(sha)
}

/// Eight digits side by side in the bytes of a word; no step depends on a digit.
#[inline]
fn eight_digits(text: u64) -> Option<[u8; 4]> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The high bit of each byte that is not below `least`, where no byte of `word` has its own set.
    let reaches = |word: u64, least: u8| word + (0x80 - u64::from(least)) * ONES;
    let ascii = text & !HIGH;
    let lower = ascii | (0x20 * ONES);
    let digit = reaches(ascii, b'0') & !reaches(ascii, b'9' + 1);
    let letter = reaches(lower, b'a') & !reaches(lower, b'f' + 1);
    if (digit | letter) & !text & HIGH != HIGH {
        return None;
    }
    let values = (text & (0x0f * ONES)) + 9 * ((text >> 6) & ONES);
    let pairs = (values << 4 | values >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some(((fours | fours >> 16) as u32).to_le_bytes())
}

/// A script in the cache.
pub struct Cached {
    /// Its text.
    pub body: Box<[u8]>,
    /// Its compiled code.
    pub chunk: Arc<Chunk>,
    /// Its flags.
    pub flags: ScriptFlags,
    /// Milliseconds that it may run; 0 when its header says nothing.
    pub deadline_ms: u32,
    /// What it says of itself.
    pub meta: Arc<Meta>,
    /// Its place among what is tracked.
    pub(super) place: u32,
    /// It came by SCRIPT LOAD, so it stays until SCRIPT FLUSH.
    pub pinned: bool,
    /// When it was last used, by the cache's own count.
    used: u64,
}

impl Cached {
    /// What a run of it needs to know.
    pub fn traits(&self) -> Traits {
        Traits { flags: self.flags, deadline_ms: self.deadline_ms, place: self.place }
    }
}

/// A SHA1 is as good as random already: its first bytes are the hash.
#[derive(Default, Clone, Copy)]
pub struct ShaHasher(u64);

impl std::hash::Hasher for ShaHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        let mut first = [0; 8];
        let n = bytes.len().min(8);
        first[..n].copy_from_slice(&bytes[..n]);
        self.0 ^= u64::from_le_bytes(first);
    }
    fn write_usize(&mut self, _: usize) {}
}

type Build = std::hash::BuildHasherDefault<ShaHasher>;

/// How much the cache may hold.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Scripts that came by EVAL.
    pub entries: usize,
    /// Bytes of one text.
    pub size: u64,
    /// Bytes that are left to all scripts, and how many there are.
    pub bytes: usize,
    /// `script-max-total-memory`, for messages.
    pub total: u64,
}

impl Room {
    /// Refuses a text that is too large.
    ///
    /// # Errors
    /// It is larger than `script-max-size`.
    pub fn judge_size(&self, size: usize) -> Result<(), CmdError> {
        if size as u64 > self.size {
            return Err(CmdError::owned(format!(
                "ERR script is larger than script-max-size ({} bytes)",
                self.size
            )));
        }
        Ok(())
    }

    /// What is answered when there is no room.
    pub fn full(&self) -> CmdError {
        CmdError::owned(format!(
            "OOM scripts would hold more than script-max-total-memory ({} bytes)",
            self.total
        ))
    }
}

/// What the texts that came last say. Most calls name one of few scripts, and comparing a text is cheaper than reading it.
struct Texts([([u8; 40], Sha); Texts::SLOTS]);

impl Default for Texts {
    fn default() -> Self {
        Texts([([b'0'; 40], [0; 20]); Texts::SLOTS])
    }
}

impl Texts {
    const SLOTS: usize = 32;

    #[inline]
    fn parse(&mut self, text: &[u8]) -> Option<Sha> {
        let text: &[u8; 40] = text.try_into().ok()?;
        let slot = u16::from_le_bytes([text[0], text[1]]).wrapping_mul(0x9E37) >> 11;
        let (known, sha) = &mut self.0[usize::from(slot) % Self::SLOTS];
        if known != text {
            *sha = parse_hex(text)?;
            *known = *text;
        }
        Some(*sha)
    }
}

/// The cache. Scripts that came by EVAL are bounded in number, least recently used first.
#[derive(Default)]
pub struct Cache {
    scripts: HashMap<Sha, Cached, Build>,
    unpinned: usize,
    clock: u64,
    bytes: usize,
    texts: Texts,
    /// Scripts dropped by the bound.
    pub evicted: u64,
}

impl Cache {
    /// Number of scripts.
    pub fn len(&self) -> usize {
        self.scripts.len()
    }

    /// True without scripts.
    pub fn is_empty(&self) -> bool {
        self.scripts.is_empty()
    }

    /// Bytes of texts and compiled code.
    pub fn memory(&self) -> usize {
        self.bytes + self.scripts.len() * (size_of::<Cached>() + size_of::<Sha>())
    }

    /// True when the script is there.
    pub fn contains(&self, sha: &Sha) -> bool {
        self.scripts.contains_key(sha)
    }

    /// As [`parse_hex`], quicker for what was asked lately.
    #[inline]
    pub fn parse_hex(&mut self, text: &[u8]) -> Option<Sha> {
        self.texts.parse(text)
    }

    /// The script, marked as used now.
    #[inline]
    pub fn get(&mut self, sha: &Sha) -> Option<&Cached> {
        self.clock += 1;
        let script = self.scripts.get_mut(sha)?;
        script.used = self.clock;
        Some(script)
    }

    /// The script, without marking it as used.
    pub fn peek(&self, sha: &Sha) -> Option<&Cached> {
        self.scripts.get(sha)
    }

    /// All scripts.
    pub fn iter(&self) -> impl Iterator<Item = (&Sha, &Cached)> {
        self.scripts.iter()
    }

    /// Drops all scripts.
    pub fn flush(&mut self) {
        self.scripts = HashMap::default();
        self.unpinned = 0;
        self.bytes = 0;
    }

    /// Compiles a script and keeps it; one that is there stays, and is pinned when `pin` asks.
    ///
    /// # Errors
    /// In Redis's words: the `#!` line is wrong, or the script does not compile.
    pub fn load(&mut self, sha: Sha, body: &[u8], pin: bool, room: Room) -> Result<&Cached, CmdError> {
        if !self.scripts.contains_key(&sha) {
            self.make_bytes(body.len(), room)?;
            let header = header::parse(body)?;
            let chunk = compile(&body[header.code..], "@user_script").map_err(|message| {
                CmdError::owned([b"ERR Error compiling script (new function): ", message.as_slice()].concat())
            })?;
            self.make_room(if pin { usize::MAX } else { room.entries });
            let meta = Arc::new(Meta::of_script(body));
            let mut flags = header.flags;
            flags.set(ScriptFlags::SECRET, !meta.secret.is_empty());
            self.bytes += body.len() + chunk.size();
            self.unpinned += 1;
            let cached = Cached {
                body: body.into(),
                chunk,
                flags,
                deadline_ms: header.deadline_ms,
                meta,
                place: NOWHERE,
                pinned: false,
                used: 0,
            };
            self.scripts.insert(sha, cached);
        }
        self.clock += 1;
        let clock = self.clock;
        let script = self.scripts.get_mut(&sha).ok_or(crate::error::NO_SCRIPT)?;
        script.used = clock;
        if pin && !script.pinned {
            script.pinned = true;
            self.unpinned -= 1;
        }
        Ok(script)
    }

    /// Drops the least recently used scripts that nobody pinned until one more fits.
    fn make_room(&mut self, max: usize) {
        while self.unpinned >= max.max(1) && self.evict().is_some() {}
    }

    /// Judges the size of a new script's text, and makes room for it.
    fn make_bytes(&mut self, size: usize, room: Room) -> Result<(), CmdError> {
        room.judge_size(size)?;
        let mut free = room.bytes;
        while free < size {
            free += self.evict().ok_or_else(|| room.full())?;
        }
        Ok(())
    }

    /// Drops the least recently used script that nobody pinned; the bytes that this frees, or `None`.
    fn evict(&mut self) -> Option<usize> {
        let unpinned = self.scripts.iter().filter(|(_, s)| !s.pinned);
        let sha = *unpinned.min_by_key(|(_, s)| s.used)?.0;
        let script = self.scripts.remove(&sha)?;
        let bytes = script.body.len() + script.chunk.size();
        self.bytes = self.bytes.saturating_sub(bytes);
        self.unpinned -= 1;
        self.evicted += 1;
        Some(bytes)
    }

    /// Notes the place of a script among what is tracked.
    pub(super) fn set_place(&mut self, sha: &Sha, place: u32) {
        if let Some(script) = self.scripts.get_mut(sha) {
            script.place = place;
        }
    }
}

/// Compiles a chunk; the error is Lua's message.
pub fn compile(code: &[u8], name: &str) -> Result<Arc<Chunk>, Vec<u8>> {
    Chunk::compile(code, name, CompileLimits::default()).map_err(|error| error.message().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_by_eval_are_bounded_and_loaded_ones_stay() {
        const ROOM: Room = Room { entries: 3, size: u64::MAX, bytes: usize::MAX, total: 0 };
        let mut cache = Cache::default();
        let body = |i: usize| format!("return {i}").into_bytes();
        cache.load(sha_of(&body(0)), &body(0), false, ROOM).unwrap();
        cache.load(sha_of(&body(0)), &body(0), true, ROOM).unwrap();
        for i in 1..10 {
            cache.load(sha_of(&body(i)), &body(i), false, ROOM).unwrap();
        }
        assert_eq!(cache.len(), 4);
        assert!(cache.contains(&sha_of(&body(0))));
        assert!(cache.contains(&sha_of(&body(9))));
        assert!(!cache.contains(&sha_of(&body(1))));
        assert_eq!(cache.evicted, 6);
    }

    #[test]
    fn sizes_are_bounded() {
        let room = |bytes| Room { entries: 100, size: 40, bytes, total: 1000 };
        let mut cache = Cache::default();
        let long = format!("return 1 -- {}", "x".repeat(40)).into_bytes();
        let error = cache.load(sha_of(&long), &long, false, room(1000)).err().unwrap();
        assert_eq!(error.text(), b"ERR script is larger than script-max-size (40 bytes)");
        cache.load(sha_of(b"return 1"), b"return 1", false, room(100)).unwrap();
        cache.load(sha_of(b"return 2"), b"return 2", false, room(0)).unwrap();
        assert_eq!((cache.len(), cache.evicted), (1, 1));
        cache.load(sha_of(b"return 2"), b"return 2", true, room(0)).unwrap();
        let error = cache.load(sha_of(b"return 3"), b"return 3", false, room(0)).err().unwrap();
        assert_eq!(error.text(), b"OOM scripts would hold more than script-max-total-memory (1000 bytes)");
    }

    #[test]
    fn hex_digits() {
        assert_eq!(parse_hex(b"0123456789abcdef0123456789abcdef0123456g"), None);
        assert!(parse_hex(b"0123456789ABCDEF0123456789abcdef01234567").is_some());
        let sha = sha_of(b"return 1");
        assert_eq!(&hex(&sha), b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
        assert_eq!(parse_hex(&hex(&sha)), Some(sha));
        assert_eq!(parse_hex(b"zz"), None);
        // Every byte at every place, beside the standard library's judgement.
        for at in 0..40 {
            for byte in 0..=255u8 {
                let mut text = *b"0123456789abcdef0123456789ABCDEF01234567";
                text[at] = byte;
                let read = parse_hex(&text);
                assert_eq!(read.is_some(), byte.is_ascii_hexdigit(), "{byte} at {at}");
                if let Some(sha) = read {
                    assert_eq!(hex(&sha).to_vec(), text.to_ascii_lowercase());
                }
            }
        }
    }
}
