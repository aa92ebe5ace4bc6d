//! What the bitmap commands share: bit offsets, counting, searching and fields of bits. Bit 0 is the highest bit of the
//! first byte.

use crate::commands::string_util::max_len;
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::keyspace::WriteGuard;
use crate::types::journal::StrEdit;

const BAD_OFFSET: CmdError = CmdError::new("ERR bit offset is not an integer or out of range");

/// A bit offset. With `field_bits`, `#n` is the n-th field of so many bits.
pub(crate) fn bit_offset(cx: &Cx<'_>, arg: &[u8], field_bits: Option<u32>) -> Res<u64> {
    let (digits, scale) = match (arg, field_bits) {
        ([b'#', digits @ ..], Some(bits)) => (digits, i64::from(bits)),
        _ => (arg, 1),
    };
    let offset = crate::util::parse_i64(digits).and_then(|n| n.checked_mul(scale)).ok_or(BAD_OFFSET)?;
    match u64::try_from(offset) {
        Ok(offset) if offset >> 3 < max_len(cx) => Ok(offset),
        _ => Err(BAD_OFFSET),
    }
}

/// The string of a guard's key, to be changed, at least `len` bytes long; a missing key counts as empty. `f` is also
/// told whether the string grew.
pub(crate) fn edit<R>(
    guard: &mut WriteGuard<'_>,
    len: usize,
    f: impl FnOnce(&mut StrEdit<'_>, bool) -> R,
) -> Res<R> {
    guard.edit(|bytes| {
        let grows = bytes.len() < len;
        if grows {
            bytes.resize(len);
        }
        f(bytes, grows)
    })
}

/// Number of bits that are set.
pub(crate) fn count_ones(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let whole: u64 = words.iter().map(|word| u64::from(u64::from_ne_bytes(*word).count_ones())).sum();
    whole + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

/// Number of bits that are set among those from `start` to `end`, both included.
pub(crate) fn count_ones_in(bytes: &[u8], start: u64, end: u64) -> u64 {
    let (first, last) = ((start >> 3) as usize, (end >> 3) as usize);
    let before = bytes[first] & !(0xff_u8 >> (start & 7));
    let after = bytes[last] & (0x7f_u8 >> (end & 7));
    count_ones(&bytes[first..=last]) - u64::from(before.count_ones()) - u64::from(after.count_ones())
}

/// The first bit equal to `bit` among those from `start` to `end`, both included.
pub(crate) fn find_bit(bytes: &[u8], bit: bool, start: u64, end: u64) -> Option<u64> {
    // What is looked for is a one after this.
    let flip = if bit { 0 } else { 0xff_u8 };
    let (first, last) = ((start >> 3) as usize, (end >> 3) as usize);
    let edge = |i: usize| {
        let mut byte = bytes[i] ^ flip;
        if i == first {
            byte &= 0xff_u8 >> (start & 7);
        }
        if i == last {
            byte &= !(0x7f_u8 >> (end & 7));
        }
        (byte != 0).then(|| i as u64 * 8 + u64::from(byte.leading_zeros()))
    };
    if let Some(at) = edge(first) {
        return Some(at);
    }
    if first == last {
        return None;
    }
    let inner = &bytes[first + 1..last];
    let empty = u64::from_ne_bytes([flip; 8]);
    let (words, _) = inner.as_chunks::<8>();
    let skipped = words.iter().take_while(|word| u64::from_ne_bytes(**word) == empty).count() * 8;
    match inner[skipped..].iter().position(|byte| *byte != flip) {
        Some(i) => {
            let i = first + 1 + skipped + i;
            Some(i as u64 * 8 + u64::from((bytes[i] ^ flip).leading_zeros()))
        }
        None => edge(last),
    }
}

/// The unsigned field of `bits` bits at `offset`; bits past the end are zero.
pub(crate) fn get_field(bytes: &[u8], offset: u64, bits: u32) -> u64 {
    let first = (offset >> 3) as usize;
    // 64 bits that begin inside of a byte touch nine bytes.
    let window =
        (0..9).fold(0u128, |acc, i| acc << 8 | u128::from(bytes.get(first + i).copied().unwrap_or(0)));
    let shift = 72 - (offset & 7) as u32 - bits;
    (window >> shift) as u64 & mask(bits)
}

/// Sets the field of `bits` bits at `offset` to the low bits of `value`. The bytes must be there.
pub(crate) fn set_field(bytes: &mut [u8], offset: u64, bits: u32, value: u64) {
    let first = (offset >> 3) as usize;
    let last = ((offset + u64::from(bits) - 1) >> 3) as usize;
    let width = (last - first + 1) as u32 * 8;
    let shift = width - (offset & 7) as u32 - bits;
    let keep = !(u128::from(mask(bits)) << shift);
    let field = u128::from(value & mask(bits)) << shift;
    let old = bytes[first..=last].iter().fold(0u128, |acc, byte| acc << 8 | u128::from(*byte));
    let new = old & keep | field;
    for (i, byte) in bytes[first..=last].iter_mut().rev().enumerate() {
        *byte = (new >> (8 * i)) as u8;
    }
}

/// The low `bits` bits.
pub(crate) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(bytes: &[u8], i: u64) -> bool {
        bytes[(i >> 3) as usize] >> (7 - (i & 7)) & 1 == 1
    }

    fn noise(len: usize) -> Vec<u8> {
        let mut x = 0x9e37_79b9_u32;
        (0..len)
            .map(|i| {
                x ^= x << 13;
                x ^= x >> 17;
                x ^= x << 5;
                // Long runs of equal bytes are what the search skips.
                if i % 40 < 30 { [0, 0xff][i / 40 % 2] } else { x as u8 }
            })
            .collect()
    }

    #[test]
    fn counting_and_searching_agree_with_single_bits() {
        let bytes = noise(150);
        let bits = bytes.len() as u64 * 8;
        for start in (0..bits).step_by(7) {
            for end in (start..bits).step_by(13) {
                let ones = (start..=end).filter(|i| bit(&bytes, *i)).count() as u64;
                assert_eq!(count_ones_in(&bytes, start, end), ones);
                for wanted in [false, true] {
                    let first = (start..=end).find(|i| bit(&bytes, *i) == wanted);
                    assert_eq!(find_bit(&bytes, wanted, start, end), first);
                }
            }
        }
    }

    #[test]
    fn fields_read_and_write_the_same_bits() {
        for bits in 1..=64 {
            for offset in [0, 1, 5, 7, 8, 13, 61] {
                let mut bytes = noise(20);
                let before = bytes.clone();
                let value = 0xA5C3_F00F_1234_8765 & mask(bits);
                set_field(&mut bytes, offset, bits, value);
                assert_eq!(get_field(&bytes, offset, bits), value);
                for i in (0..160).filter(|i| *i < offset || *i >= offset + u64::from(bits)) {
                    assert_eq!(bit(&bytes, i), bit(&before, i), "{bits} bits at {offset}");
                }
            }
        }
        assert_eq!(get_field(b"\xff", 4, 8), 0xf0);
    }
}
