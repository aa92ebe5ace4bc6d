//! The LZF format of RDB strings.
//!
//! A control byte below 32 starts a run of that many plus one literal bytes. Otherwise its top three bits are the
//! length of a copy minus two (7: plus the next byte), and its low five bits and the last byte are the distance minus
//! one.

const HASH_BITS: u32 = 13;
const MAX_DISTANCE: usize = 1 << 13;
const MAX_COPY: usize = 264;
const MAX_LITERALS: usize = 32;

/// Foreign bytes are not LZF, or do not have the promised length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("malformed LZF data")
    }
}

impl std::error::Error for Malformed {}

fn push_literals(out: &mut Vec<u8>, run: &[u8]) {
    for part in run.chunks(MAX_LITERALS) {
        out.push(part.len() as u8 - 1);
        out.extend_from_slice(part);
    }
}

/// Compresses `input`; None unless the result is smaller than `input` by at least four bytes, as Redis wants it.
pub fn compress(input: &[u8]) -> Option<Vec<u8>> {
    let n = input.len();
    if n < 5 || n > u32::MAX as usize {
        return None;
    }
    let limit = n - 4;
    let mut out = Vec::with_capacity(limit);
    let mut table = vec![u32::MAX; 1 << HASH_BITS];
    let slot = |i: usize| {
        let v = u32::from_le_bytes([input[i], input[i + 1], input[i + 2], 0]);
        (v.wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize
    };
    let (mut i, mut start) = (0, 0);
    while i + 2 < n {
        let h = slot(i);
        let from = table[h] as usize;
        table[h] = i as u32;
        let near = from < i && i - from <= MAX_DISTANCE;
        if !near || input[from..from + 3] != input[i..i + 3] {
            i += 1;
            continue;
        }
        let max = (n - i).min(MAX_COPY);
        let len =
            3 + input[from + 3..].iter().zip(&input[i + 3..i + max]).take_while(|(a, b)| a == b).count();
        push_literals(&mut out, &input[start..i]);
        let (code, distance) = (len - 2, i - from - 1);
        if code < 7 {
            out.push((code << 5) as u8 | (distance >> 8) as u8);
        } else {
            out.push(7 << 5 | (distance >> 8) as u8);
            out.push((code - 7) as u8);
        }
        out.push(distance as u8);
        if out.len() > limit {
            return None;
        }
        // Remember the last positions of the copy, so that a repetition is found again.
        for k in i + len - 2..i + len {
            if k + 2 < n {
                table[slot(k)] = k as u32;
            }
        }
        i += len;
        start = i;
    }
    push_literals(&mut out, &input[start..]);
    if out.len() <= limit { Some(out) } else { None }
}

/// Decompresses `input` to exactly `len` bytes. What is allocated is bounded by what `input` can expand to.
///
/// # Errors
/// [`Malformed`] if the data is cut, copies from before its beginning, or has another length.
pub fn decompress(input: &[u8], len: usize) -> Result<Vec<u8>, Malformed> {
    // Three bytes give a copy of 264 at most.
    if len > input.len().saturating_mul(MAX_COPY / 3) {
        return Err(Malformed);
    }
    let mut out = Vec::with_capacity(len);
    let mut i = 0;
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
        if out.len() > len {
            return Err(Malformed);
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
        assert!(compress(&[b'a'; 10]).is_some());
        assert!(compress(b"abcdefghij").is_none());
        assert!(compress(b"aaaa").is_none());
        let big = [b'x'; 100_000];
        let c = compress(&big).unwrap();
        assert!(c.len() < 1300);
        assert_eq!(decompress(&c, big.len()).unwrap(), big);
        assert_eq!(decompress(&c, big.len() + 1), Err(Malformed));
        assert_eq!(decompress(&[1, 2, 3], 1 << 40), Err(Malformed));
    }

    proptest! {
        #[test]
        fn round_trip(parts in prop::collection::vec((prop::collection::vec(0u8..4, 1..40), 1usize..30), 0..40)) {
            let data: Vec<u8> = parts.iter().flat_map(|(p, n)| p.repeat(*n)).collect();
            if let Some(c) = compress(&data) {
                prop_assert!(c.len() + 4 <= data.len());
                prop_assert_eq!(decompress(&c, data.len()), Ok(data));
            }
        }

        #[test]
        fn survives_garbage(d in prop::collection::vec(any::<u8>(), 0..50), n in 0usize..4000) {
            if let Ok(v) = decompress(&d, n) { prop_assert_eq!(v.len(), n); }
        }
    }
}
