//! The stream's latest bytes, kept so that a replica that was away can go on where it stopped.
//!
//! Positions count bytes since the stream began: the byte at position `p` is the one that Redis calls offset `p + 1`.
//! Replicas read their bytes from here, each from its own position, so the stream is held once however many there are;
//! what the slowest still needs is kept beyond the configured size.

use std::collections::VecDeque;

/// Bytes of one block.
const BLOCK: usize = 16 * 1024;

/// The ring.
#[derive(Debug)]
pub struct Backlog {
    /// All but the last are full.
    blocks: VecDeque<Vec<u8>>,
    /// Position of the first block's first byte.
    base: u64,
    /// Position of the first byte that is still valid for a partial resync.
    first: u64,
    /// Position behind the last byte.
    end: u64,
    /// Bytes that are kept for those who come back.
    size: u64,
}

impl Backlog {
    /// An empty one whose next byte has position `at`; it keeps the last `size` bytes.
    pub fn new(at: u64, size: u64) -> Self {
        Backlog { blocks: VecDeque::new(), base: at, first: at, end: at, size: size.max(1) }
    }

    /// Position of the first byte that is there for a partial resync.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Position behind the last byte.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Bytes that are there for a partial resync.
    pub fn len(&self) -> u64 {
        self.end - self.first
    }

    /// True when no byte is there.
    pub fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// Bytes that are kept for those who come back.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Changes how many bytes are kept; see [`Backlog::trim`].
    pub fn resize(&mut self, size: u64) {
        self.size = size.max(1);
    }

    /// Memory of the blocks, in bytes.
    pub fn memory(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// Appends bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.end += bytes.len() as u64;
        while !bytes.is_empty() {
            let last = match self.blocks.back_mut() {
                Some(last) if last.len() < BLOCK => last,
                _ => {
                    self.blocks.push_back(Vec::with_capacity(BLOCK));
                    continue;
                }
            };
            let (now, rest) = bytes.split_at(bytes.len().min(BLOCK - last.len()));
            last.extend_from_slice(now);
            bytes = rest;
        }
    }

    /// Drops what is older than the size allows, but for bytes from position `needed` on, which somebody has yet to
    /// read.
    #[inline]
    pub fn trim(&mut self, needed: Option<u64>) {
        if self.end - self.first > self.size {
            self.drop_old(needed);
        }
    }

    #[cold]
    fn drop_old(&mut self, needed: Option<u64>) {
        let keep = self.end - self.size;
        self.first = self.first.max(needed.map_or(keep, |needed| needed.min(keep)));
        while self.first - self.base >= BLOCK as u64 && self.blocks.len() > 1 {
            // The one that is filled next may be this one's memory; the allocator sees to that.
            self.blocks.pop_front();
            self.base += BLOCK as u64;
        }
    }

    /// The bytes from position `from` on that lie together, at most to the end of a block; none when `from` is not
    /// there.
    pub fn piece(&self, from: u64) -> &[u8] {
        let Some(skip) = from.checked_sub(self.base).filter(|_| from < self.end) else { return &[] };
        let (block, at) = ((skip / BLOCK as u64) as usize, (skip % BLOCK as u64) as usize);
        self.blocks.get(block).and_then(|block| block.get(at..)).unwrap_or(&[])
    }

    /// Appends at most `most` bytes from position `from` on to `out`; gives how many.
    pub fn copy(&self, from: u64, most: usize, out: &mut Vec<u8>) -> usize {
        let mut done = 0;
        while done < most {
            let piece = self.piece(from + done as u64);
            if piece.is_empty() {
                break;
            }
            let n = piece.len().min(most - done);
            out.extend_from_slice(&piece[..n]);
            done += n;
        }
        done
    }

    /// True when a replica that has all bytes before position `from` can go on from here.
    pub fn reaches(&self, from: u64) -> bool {
        (self.first..=self.end).contains(&from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(from: u64, n: usize) -> Vec<u8> {
        (from..from + n as u64).map(|i| (i * 7 + i / 251) as u8).collect()
    }

    #[test]
    fn what_was_pushed_is_read_back_from_anywhere() {
        let (mut log, mut end) = (Backlog::new(1000, 100_000), 1000u64);
        for n in [1, 16_383, 16_384, 5, 40_000, 0, 16_385] {
            log.push(&bytes(end, n));
            end += n as u64;
            log.trim(None);
            assert_eq!((log.first(), log.end()), (1000, end));
            for from in [1000, 1001, end / 2 + 500, end - n as u64, end] {
                let mut out = Vec::new();
                log.copy(from, usize::MAX, &mut out);
                assert_eq!(out, bytes(from, (end - from) as usize));
            }
        }
        let mut out = Vec::new();
        assert_eq!(log.copy(17_000, 20_000, &mut out), 20_000);
        assert_eq!(out, bytes(17_000, 20_000));
        assert_eq!(log.copy(999, 10, &mut out), 0);
        assert_eq!(log.copy(end + 1, 10, &mut out), 0);
    }

    #[test]
    fn old_bytes_go_and_memory_with_them() {
        let (mut log, mut end) = (Backlog::new(0, 50_000), 0u64);
        for _ in 0..1000 {
            log.push(&bytes(end, 1234));
            end += 1234;
            log.trim(None);
            assert_eq!(log.len(), end.min(50_000));
            assert!(log.memory() <= 50_000 + 2 * BLOCK);
        }
        assert!(!log.reaches(end - 50_001) && log.reaches(end - 50_000) && log.reaches(end));
        assert!(!log.reaches(end + 1));
        let mut out = Vec::new();
        log.copy(log.first(), usize::MAX, &mut out);
        assert_eq!(out, bytes(end - 50_000, 50_000));
    }

    #[test]
    fn what_somebody_still_reads_stays() {
        let mut log = Backlog::new(0, 1000);
        log.push(&bytes(0, 100_000));
        log.trim(Some(20_000));
        assert_eq!((log.first(), log.len()), (20_000, 80_000));
        let mut out = Vec::new();
        log.copy(20_000, usize::MAX, &mut out);
        assert_eq!(out, bytes(20_000, 80_000));
        log.trim(Some(99_900));
        assert_eq!(log.len(), 1000);
        log.resize(10);
        log.trim(None);
        assert_eq!((log.first(), log.memory()), (99_990, BLOCK));
    }

    #[test]
    fn a_small_size_is_kept_exactly() {
        let mut log = Backlog::new(7, 3);
        log.push(b"abcdef");
        log.trim(None);
        assert_eq!(log.piece(log.first()), b"def");
        assert_eq!(log.first(), 10);
    }
}
