//! The LZF format of RDB strings.
//!
//! A control byte below 32 starts a run of that many plus one literal bytes. Otherwise its top three bits are the
//! length of a copy minus two (7: plus the next byte), and its low five bits and the last byte are the distance minus
//! one.

const HASH_BITS: u32 = 16;
const HASH_MASK: u32 = (1 << HASH_BITS) - 1;
const MAX_DISTANCE: usize = 1 << 13;
const MAX_COPY: usize = 264;
const MAX_LITERALS: usize = 32;
/// Bytes that are decompressed between two pauses.
const PAUSE: usize = 1 << 20;

/// Foreign bytes are not LZF, or do not have the promised length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("malformed LZF data")
    }
}

impl std::error::Error for Malformed {}

/// Compresses as liblzf does, match for match, so that DUMP gives the bytes that Redis gives.
///
/// The table of positions is kept between calls: an older call's positions lie below `base` and count as none.
#[derive(Clone, Debug)]
pub struct Compressor {
    table: Box<[u32]>,
    base: u32,
}

impl Default for Compressor {
    fn default() -> Self {
        Self::new()
    }
}

impl Compressor {
    /// A compressor; its table takes 256 KB.
    pub fn new() -> Self {
        Compressor { table: vec![0; 1 << HASH_BITS].into_boxed_slice(), base: 1 }
    }

    /// Notes that the three bytes at `i` stand there; gives where they (or others of the same hash) stood before.
    #[inline]
    fn note(&mut self, input: &[u8], i: usize) -> usize {
        let h = u32::from(input[i]) << 16 | u32::from(input[i + 1]) << 8 | u32::from(input[i + 2]);
        let slot = &mut self.table[((h >> 8).wrapping_sub(h.wrapping_mul(5)) & HASH_MASK) as usize];
        std::mem::replace(slot, self.base + i as u32).saturating_sub(self.base) as usize
    }

    /// Compresses `input`; None unless the result is smaller than `input` by at least four bytes, as Redis wants it.
    pub fn compress(&mut self, input: &[u8]) -> Option<Vec<u8>> {
        let n = input.len();
        if n < 5 || n > i32::MAX as usize {
            return None;
        }
        if self.base > i32::MAX as u32 {
            self.table.fill(0);
            self.base = 1;
        }
        let result = self.run(input);
        self.base += n as u32;
        result
    }

    fn run(&mut self, input: &[u8]) -> Option<Vec<u8>> {
        let n = input.len();
        let limit = n - 4;
        // The control byte of a run stands before it and is written when the run ends.
        let mut out = Vec::with_capacity(limit + 4);
        out.push(0);
        let (mut i, mut lit) = (0, 0);
        while i + 2 < n {
            let from = self.note(input, i);
            let near = from > 0 && i - from <= MAX_DISTANCE;
            if !near || input[from..from + 3] != input[i..i + 3] {
                if out.len() >= limit {
                    return None;
                }
                push_literal(&mut out, &mut lit, input[i]);
                i += 1;
                continue;
            }
            if out.len() - usize::from(lit == 0) + 4 >= limit {
                return None;
            }
            end_run(&mut out, lit);
            let len = match_len(input, from, i);
            let (code, distance) = (len - 2, i - from - 1);
            if code < 7 {
                out.push((code << 5) as u8 | (distance >> 8) as u8);
            } else {
                out.push(7 << 5 | (distance >> 8) as u8);
                out.push((code - 7) as u8);
            }
            out.push(distance as u8);
            out.push(0);
            lit = 0;
            i += len;
            if i + 2 >= n {
                break;
            }
            // The last two positions of the copy are remembered, so that a repetition is found again.
            self.note(input, i - 2);
            self.note(input, i - 1);
        }
        if out.len() + 3 > limit {
            return None;
        }
        for &b in &input[i..] {
            push_literal(&mut out, &mut lit, b);
        }
        end_run(&mut out, lit);
        Some(out)
    }
}

fn push_literal(out: &mut Vec<u8>, lit: &mut usize, b: u8) {
    out.push(b);
    *lit += 1;
    if *lit == MAX_LITERALS {
        end_run(out, *lit);
        out.push(0);
        *lit = 0;
    }
}

/// Writes the control byte of a run of `lit` literals, or takes it back when there are none.
fn end_run(out: &mut Vec<u8>, lit: usize) {
    if lit == 0 {
        out.pop();
    } else {
        let at = out.len() - lit - 1;
        out[at] = lit as u8 - 1;
    }
}

/// How many bytes at `from` and at `i` are equal, three of them known: the way liblzf counts, which stops two bytes
/// before the end where little is left.
fn match_len(input: &[u8], from: usize, i: usize) -> usize {
    let max = (input.len() - i - 2).min(MAX_COPY);
    let equal = |len: usize| input[from + len] == input[i + len];
    let mut len = 2;
    if max > 16 {
        while len < 18 {
            len += 1;
            if !equal(len) {
                return len;
            }
        }
    }
    loop {
        len += 1;
        if len >= max || !equal(len) {
            return len;
        }
    }
}

/// Compresses `input` with a table of its own; see [`Compressor::compress`].
pub fn compress(input: &[u8]) -> Option<Vec<u8>> {
    Compressor::new().compress(input)
}

/// Decompresses `input` to exactly `len` bytes. What is allocated is bounded by what `input` can expand to.
///
/// # Errors
/// [`Malformed`] if the data is cut, copies from before its beginning, or has another length.
pub fn decompress(input: &[u8], len: usize) -> Result<Vec<u8>, Malformed> {
    decompress_pausing(input, len, &mut || true)
}

/// The same; `pause` is called after about every megabyte that was made.
///
/// # Errors
/// The same, and when `pause` gives false.
pub fn decompress_pausing(
    input: &[u8],
    len: usize,
    pause: &mut dyn FnMut() -> bool,
) -> Result<Vec<u8>, Malformed> {
    // Three bytes give a copy of 264 at most.
    if len > input.len().saturating_mul(MAX_COPY / 3) {
        return Err(Malformed);
    }
    let mut out = Vec::with_capacity(len);
    let (mut i, mut stop) = (0, len.min(PAUSE));
    while let Some(&ctrl) = input.get(i) {
        i += 1;
        if (ctrl as usize) < MAX_LITERALS {
            let run = input.get(i..i + ctrl as usize + 1).ok_or(Malformed)?;
            out.extend_from_slice(run);
            i += run.len();
        } else {
            let mut n = (ctrl >> 5) as usize;
            if n == 7 {
                n += *input.get(i).ok_or(Malformed)? as usize;
                i += 1;
            }
            let n = n + 2;
            let low = *input.get(i).ok_or(Malformed)? as usize;
            i += 1;
            let distance = ((ctrl as usize & 0x1F) << 8 | low) + 1;
            let from = out.len().checked_sub(distance).ok_or(Malformed)?;
            if distance >= n {
                out.extend_from_within(from..from + n);
            } else {
                // The copy overlaps itself: it repeats the last `distance` bytes.
                for k in 0..n {
                    out.push(out[from + k]);
                }
            }
        }
        if out.len() > stop {
            if out.len() > len || !pause() {
                return Err(Malformed);
            }
            stop = len.min(out.len() + PAUSE);
        }
    }
    if out.len() == len { Ok(out) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known() {
        // "aaaaaaaaaa" as liblzf writes it: one literal, then a copy of the rest.
        assert_eq!(decompress(&[0, b'a', 7 << 5, 0, 0], 10), Ok(b"aaaaaaaaaa".to_vec()));
        assert!(compress(&[b'a'; 30]).is_some());
        assert!(compress(b"abcdefghij").is_none());
        assert!(compress(b"aaaa").is_none());
        let big = [b'x'; 100_000];
        let c = compress(&big).unwrap();
        assert!(c.len() < 1300);
        assert_eq!(decompress(&c, big.len()).unwrap(), big);
        assert_eq!(decompress(&c, big.len() + 1), Err(Malformed));
        assert_eq!(decompress(&[1, 2, 3], 1 << 40), Err(Malformed));
    }

    #[test]
    fn a_long_string_is_decompressed_with_pauses() {
        let data: Vec<u8> = (0..5 * PAUSE as u32).map(|i| (i >> 6) as u8).collect();
        let packed = compress(&data).unwrap();
        let mut pauses = 0;
        let mut count = || {
            pauses += 1;
            true
        };
        assert_eq!(decompress_pausing(&packed, data.len(), &mut count), Ok(data.clone()));
        assert_eq!(pauses, 4);
        assert_eq!(decompress_pausing(&packed, data.len(), &mut || false), Err(Malformed));
        assert_eq!(decompress(&packed, data.len() - 1), Err(Malformed));
    }

    proptest! {
        #[test]
        fn round_trip(parts in prop::collection::vec((prop::collection::vec(0u8..4, 1..40), 1usize..30), 0..40)) {
            let data: Vec<u8> = parts.iter().flat_map(|(p, n)| p.repeat(*n)).collect();
            let mut compressor = Compressor::new();
            let first = compressor.compress(&data);
            if let Some(c) = &first {
                prop_assert!(c.len() + 4 <= data.len());
                prop_assert_eq!(decompress(c, data.len()), Ok(data.clone()));
            }
            // What an earlier call left in the table has no effect.
            compressor.compress(b"abcabcabcabcabcabcabcabc");
            prop_assert_eq!(compressor.compress(&data), first);
        }

        #[test]
        fn survives_garbage(d in prop::collection::vec(any::<u8>(), 0..50), n in 0usize..4000) {
            if let Ok(v) = decompress(&d, n) { prop_assert_eq!(v.len(), n); }
        }
    }
}
