//! HyperLogLog as Redis stores it in a string, byte for byte.
//!
//! Header: `HYLL`, encoding, three zero bytes, cached cardinality (u64, top bit set if stale). Then 16,384 registers:
//! dense, six bits each, or sparse, run lengths (`00nnnnnn` 1–64 zeros, `01nnnnnn nnnnnnnn` 1–16,384 zeros,
//! `1vvvvvnn` 1–4 registers of value 1–32). All functions accept damaged contents and say so.

/// Number of registers.
pub const REGISTERS: usize = 1 << PRECISION;
const PRECISION: u32 = 14;
const HASH_BITS: u32 = 64 - PRECISION;
const HEADER: usize = 16;
const DENSE_SIZE: usize = HEADER + REGISTERS * 6 / 8;
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
const SPARSE_MAX_VALUE: u8 = 32;

/// The registers of one or more sets, one byte each.
pub type Registers = [u8; REGISTERS];

/// The registers are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupted;

impl std::fmt::Display for Corrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("corrupted HyperLogLog")
    }
}

impl std::error::Error for Corrupted {}

/// An empty set in the sparse encoding.
pub fn new() -> Vec<u8> {
    let mut v = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    v.extend_from_slice(&[0x7F, 0xFF]);
    v
}

/// True if a string has the header and, if dense, the size of a HyperLogLog.
pub fn is_valid(s: &[u8]) -> bool {
    s.len() >= HEADER && s.starts_with(b"HYLL") && s[4] <= SPARSE && (s[4] != DENSE || s.len() == DENSE_SIZE)
}

/// True if the encoding is dense.
pub fn is_dense(s: &[u8]) -> bool {
    s.get(4) == Some(&DENSE)
}

/// The cached cardinality, unless it is stale.
pub fn cached_count(s: &[u8]) -> Option<u64> {
    let c = u64::from_le_bytes(s.get(8..16)?.try_into().ok()?);
    if c >> 63 == 0 { Some(c) } else { None }
}

/// Stores a cardinality as valid.
pub fn set_cached_count(s: &mut [u8], count: u64) {
    if let Some(c) = s.get_mut(8..16) {
        c.copy_from_slice(&count.to_le_bytes());
    }
}

/// Marks the cached cardinality as stale.
pub fn invalidate_count(s: &mut [u8]) {
    if let Some(b) = s.get_mut(15) {
        *b |= 0x80;
    }
}

/// MurmurHash64A with the seed of Redis.
fn murmur(data: &[u8]) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let mut h = 0xadc8_3b19 ^ (data.len() as u64).wrapping_mul(M);
    let (words, rest) = data.as_chunks::<8>();
    for w in words {
        let mut k = u64::from_le_bytes(*w).wrapping_mul(M);
        k ^= k >> 47;
        h = (h ^ k.wrapping_mul(M)).wrapping_mul(M);
    }
    if !rest.is_empty() {
        let k = rest.iter().rev().fold(0, |k, &b| k << 8 | b as u64);
        h = (h ^ k).wrapping_mul(M);
    }
    h ^= h >> 47;
    h = h.wrapping_mul(M);
    h ^ h >> 47
}

/// Register of an element, and the value it wants there.
fn register_of(element: &[u8]) -> (usize, u8) {
    let h = murmur(element);
    let pattern = h >> PRECISION | 1 << HASH_BITS;
    (h as usize & (REGISTERS - 1), pattern.trailing_zeros() as u8 + 1)
}

fn dense_get(regs: &[u8], i: usize) -> u8 {
    let (byte, bit) = (i * 6 / 8, i * 6 % 8);
    let next = regs.get(byte + 1).copied().unwrap_or(0);
    ((regs[byte] as u16 | (next as u16) << 8) >> bit) as u8 & 63
}

fn dense_set(regs: &mut [u8], i: usize, v: u8) {
    let (byte, bit) = (i * 6 / 8, i * 6 % 8);
    let (mask, v) = (63u16 << bit, (v as u16) << bit);
    regs[byte] = regs[byte] & !(mask as u8) | v as u8;
    if let Some(next) = regs.get_mut(byte + 1) {
        *next = *next & !((mask >> 8) as u8) | (v >> 8) as u8;
    }
}

/// A run of equal registers in the sparse encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Value of the registers; 0 in runs of zeros.
    pub value: u8,
    /// Number of registers.
    pub len: usize,
    /// True for the two-byte form of a run of zeros.
    pub long: bool,
}

impl Run {
    fn read(p: &[u8]) -> Option<Run> {
        let b = *p.first()?;
        Some(match b >> 6 {
            0 => Run { value: 0, len: (b & 0x3F) as usize + 1, long: false },
            1 => Run { value: 0, len: ((b as usize & 0x3F) << 8 | *p.get(1)? as usize) + 1, long: true },
            _ => Run { value: (b >> 2 & 0x1F) + 1, len: (b & 3) as usize + 1, long: false },
        })
    }

    fn bytes(self) -> usize {
        1 + self.long as usize
    }

    fn zeros(len: usize) -> Run {
        Run { value: 0, len, long: len > 64 }
    }

    fn write(self, out: &mut Vec<u8>) {
        let n = self.len - 1;
        if self.value > 0 {
            out.push(0x80 | (self.value - 1) << 2 | n as u8);
        } else if self.long {
            out.extend_from_slice(&[0x40 | (n >> 8) as u8, n as u8]);
        } else {
            out.push(n as u8);
        }
    }
}

/// The runs of a sparse set.
pub fn sparse_runs(s: &[u8]) -> impl Iterator<Item = Run> {
    let mut p = s.get(HEADER..).unwrap_or(&[]);
    std::iter::from_fn(move || {
        let run = Run::read(p)?;
        p = &p[run.bytes()..];
        Some(run)
    })
}

/// Calls `f` with start and run of all registers of a sparse set, which must be exactly [`REGISTERS`].
fn for_runs(s: &[u8], mut f: impl FnMut(usize, Run)) -> Result<(), Corrupted> {
    let mut at = 0;
    let mut read = HEADER;
    for run in sparse_runs(s) {
        read += run.bytes();
        if at + run.len > REGISTERS {
            return Err(Corrupted);
        }
        f(at, run);
        at += run.len;
    }
    if at == REGISTERS && read == s.len() { Ok(()) } else { Err(Corrupted) }
}

/// Changes the encoding to dense.
///
/// # Errors
/// [`Corrupted`]; the string is unchanged then.
pub fn to_dense(s: &mut Vec<u8>) -> Result<(), Corrupted> {
    if s.get(4) == Some(&DENSE) {
        return if s.len() == DENSE_SIZE { Ok(()) } else { Err(Corrupted) };
    }
    let mut dense = vec![0; DENSE_SIZE];
    dense[..HEADER].copy_from_slice(s.get(..HEADER).ok_or(Corrupted)?);
    dense[4] = DENSE;
    for_runs(s, |at, run| {
        if run.value > 0 {
            (at..at + run.len).for_each(|i| dense_set(&mut dense[HEADER..], i, run.value));
        }
    })?;
    *s = dense;
    Ok(())
}

/// Adds an element; true if a register changed. The set becomes dense when the sparse encoding would take more than
/// `sparse_max` bytes (`hll-sparse-max-bytes`) or cannot hold the value.
///
/// # Errors
/// [`Corrupted`].
pub fn add(s: &mut Vec<u8>, element: &[u8], sparse_max: usize) -> Result<bool, Corrupted> {
    let (index, value) = register_of(element);
    set(s, index, value, sparse_max)
}

/// Raises a register to `value` (at most 63) if it is lower; true if it was.
///
/// # Errors
/// [`Corrupted`], also for an index out of range.
pub fn set(s: &mut Vec<u8>, index: usize, value: u8, sparse_max: usize) -> Result<bool, Corrupted> {
    if !is_valid(s) || index >= REGISTERS {
        return Err(Corrupted);
    }
    if s[4] == SPARSE {
        if value <= SPARSE_MAX_VALUE
            && let Some(changed) = sparse_set(s, index, value, sparse_max)?
        {
            return Ok(changed);
        }
        to_dense(s)?;
    }
    let regs = &mut s[HEADER..];
    let changed = dense_get(regs, index) < value;
    if changed {
        dense_set(regs, index, value);
        invalidate_count(s);
    }
    Ok(changed)
}

/// Sets a register in the sparse encoding; None if the result would be too long.
fn sparse_set(
    s: &mut Vec<u8>,
    index: usize,
    value: u8,
    sparse_max: usize,
) -> Result<Option<bool>, Corrupted> {
    let (mut p, mut first, mut prev) = (HEADER, 0, HEADER);
    let run = loop {
        let run = Run::read(&s[p..]).ok_or(Corrupted)?;
        if index < first + run.len {
            break run;
        }
        prev = p;
        p += run.bytes();
        first += run.len;
    };
    if run.value >= value {
        return Ok(Some(false));
    }
    // The run falls into what is before the register, the register, and what is after.
    let (before, after) = (index - first, first + run.len - 1 - index);
    let mut new = Vec::with_capacity(5);
    let part = |len| if run.value > 0 { Run { len, ..run } } else { Run::zeros(len) };
    if before > 0 {
        part(before).write(&mut new);
    }
    Run { value, len: 1, long: false }.write(&mut new);
    if after > 0 {
        part(after).write(&mut new);
    }
    if new.len() > run.bytes() && s.len() + new.len() - run.bytes() > sparse_max {
        return Ok(None);
    }
    s.splice(p..p + run.bytes(), new);
    merge_values(s, prev);
    invalidate_count(s);
    Ok(Some(true))
}

/// Joins neighbouring runs of the same value, looking at five runs from `p` on, as Redis does.
fn merge_values(s: &mut Vec<u8>, mut p: usize) {
    for _ in 0..5 {
        let Some(run) = s.get(p..).and_then(Run::read) else { return };
        let next = s.get(p + 1..).and_then(Run::read);
        match next {
            Some(next) if run.value > 0 && next.value == run.value && run.len + next.len <= 4 => {
                s[p + 1] = 0x80 | (run.value - 1) << 2 | (run.len + next.len - 1) as u8;
                s.remove(p);
            }
            _ => p += run.bytes(),
        }
    }
}

/// Raises `registers` to those of the set.
///
/// # Errors
/// [`Corrupted`].
pub fn merge_into(registers: &mut Registers, s: &[u8]) -> Result<(), Corrupted> {
    if !is_valid(s) {
        return Err(Corrupted);
    }
    if s[4] == DENSE {
        for (i, r) in registers.iter_mut().enumerate() {
            *r = (*r).max(dense_get(&s[HEADER..], i));
        }
        return Ok(());
    }
    for_runs(s, |at, run| registers[at..at + run.len].iter_mut().for_each(|r| *r = (*r).max(run.value)))
}

/// Raises the registers of a set to `registers`, in the dense encoding if `dense`. The cached cardinality is stale
/// afterwards.
///
/// # Errors
/// [`Corrupted`].
pub fn raise(
    s: &mut Vec<u8>,
    registers: &Registers,
    dense: bool,
    sparse_max: usize,
) -> Result<(), Corrupted> {
    if dense {
        to_dense(s)?;
    }
    for (i, &v) in registers.iter().enumerate() {
        if v > 0 {
            set(s, i, v, sparse_max)?;
        }
    }
    invalidate_count(s);
    Ok(())
}

/// The estimated cardinality of the set, computed from its registers.
///
/// # Errors
/// [`Corrupted`].
pub fn count(s: &[u8]) -> Result<u64, Corrupted> {
    if !is_valid(s) {
        return Err(Corrupted);
    }
    let mut histogram = [0u32; 64];
    if s[4] == DENSE {
        for three in s[HEADER..].chunks_exact(3) {
            let v = u32::from_le_bytes([three[0], three[1], three[2], 0]);
            for k in 0..4 {
                histogram[(v >> (6 * k)) as usize & 63] += 1;
            }
        }
    } else {
        for_runs(s, |_, run| histogram[run.value as usize] += run.len as u32)?;
    }
    Ok(estimate(&histogram))
}

/// The estimated cardinality of merged registers.
pub fn count_registers(registers: &Registers) -> u64 {
    let mut histogram = [0u32; 64];
    registers.iter().for_each(|&r| histogram[(r & 63) as usize] += 1);
    estimate(&histogram)
}

/// The estimator of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017).
fn estimate(histogram: &[u32; 64]) -> u64 {
    const ALPHA: f64 = 0.721_347_520_444_481_7;
    let m = REGISTERS as f64;
    let q = HASH_BITS as usize;
    let mut z = m * tau((m - histogram[q + 1] as f64) / m);
    for &n in histogram[1..=q].iter().rev() {
        z = (z + n as f64) * 0.5;
    }
    z += m * sigma(histogram[0] as f64 / m);
    (ALPHA * m * m / z).round() as u64
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_roughly() {
        for (n, sparse_max) in [(0u64, 3000), (1, 3000), (100, 3000), (1000, 3000), (50_000, 3000), (1000, 0)]
        {
            let mut s = new();
            for i in 0..n {
                add(&mut s, i.to_string().as_bytes(), sparse_max).unwrap();
            }
            let c = count(&s).unwrap();
            assert!(c.abs_diff(n) as f64 <= 0.03 * n as f64, "{c} for {n}");
            assert_eq!(is_dense(&s), n >= 50_000 || (sparse_max == 0 && n > 0));
            let mut r = [0; REGISTERS];
            merge_into(&mut r, &s).unwrap();
            assert_eq!(count_registers(&r), c);
            let mut again = new();
            raise(&mut again, &r, is_dense(&s), sparse_max).unwrap();
            assert_eq!(count(&again), Ok(c));
            assert_eq!(cached_count(&again), None);
            to_dense(&mut s).unwrap();
            assert_eq!(count(&s), Ok(c));
        }
    }

    proptest! {
        #[test]
        fn sparse_as_dense(sets in prop::collection::vec((0usize..60, 1u8..34), 0..200)) {
            let (mut sparse, mut dense) = (new(), new());
            to_dense(&mut dense).unwrap();
            for (i, v) in sets {
                let i = if i > 40 { REGISTERS - 1 - i } else { i };
                prop_assert_eq!(set(&mut sparse, i, v, 100_000), set(&mut dense, i, v, 100_000));
            }
            prop_assert_eq!(count(&sparse), count(&dense));
            to_dense(&mut sparse).unwrap();
            prop_assert_eq!(sparse, dense);
        }

        #[test]
        fn survives_garbage(body in prop::collection::vec(any::<u8>(), 0..40), encoding in 0u8..3, e in any::<u64>()) {
            let mut s = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\0".to_vec();
            s[4] = encoding;
            s.extend(body);
            let _ = count(&s);
            let _ = merge_into(&mut [0; REGISTERS], &s);
            let _ = add(&mut s.clone(), &e.to_le_bytes(), 3000);
            let _ = to_dense(&mut s);
        }
    }
}
