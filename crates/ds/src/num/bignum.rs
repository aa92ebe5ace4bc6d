//! Just enough arithmetic on large natural numbers to read and print extended doubles exactly.

use std::cmp::Ordering;

/// A natural number, least significant word first, without leading zero words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Big(Vec<u64>);

impl Big {
    pub(super) fn from_u64(v: u64) -> Self {
        Big(if v == 0 { vec![] } else { vec![v] })
    }

    /// From decimal digits (bytes `0`…`9`).
    pub(super) fn from_digits(digits: &[u8]) -> Self {
        let mut b = Big(Vec::with_capacity(digits.len() / 19 + 1));
        for part in digits.chunks(18) {
            let v = part.iter().fold(0u64, |v, d| v * 10 + (d - b'0') as u64);
            b.mul_add(10u64.pow(part.len() as u32), v);
        }
        b
    }

    /// Multiplies by `m` and adds `a`.
    pub(super) fn mul_add(&mut self, m: u64, a: u64) {
        let mut carry = a as u128;
        for w in &mut self.0 {
            let v = *w as u128 * m as u128 + carry;
            *w = v as u64;
            carry = v >> 64;
        }
        if carry != 0 {
            self.0.push(carry as u64);
        }
    }

    pub(super) fn mul_pow10(&mut self, mut n: u32) {
        while n > 0 {
            let step = n.min(19);
            self.mul_add(10u64.pow(step), 0);
            n -= step;
        }
    }

    pub(super) fn bits(&self) -> usize {
        match self.0.last() {
            Some(w) => self.0.len() * 64 - w.leading_zeros() as usize,
            None => 0,
        }
    }

    pub(super) fn shl(&mut self, n: usize) {
        let (words, bits) = (n / 64, n % 64);
        if bits > 0 {
            self.mul_add(1 << bits, 0);
        }
        if !self.0.is_empty() {
            self.0.splice(0..0, std::iter::repeat_n(0, words));
        }
    }

    fn halve(&mut self) {
        let mut carry = 0;
        for w in self.0.iter_mut().rev() {
            let low = *w << 63;
            *w = *w >> 1 | carry;
            carry = low;
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn cmp(&self, other: &Big) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    fn sub(&mut self, other: &Big) {
        let mut borrow = false;
        for (i, w) in self.0.iter_mut().enumerate() {
            let o = other.0.get(i).copied().unwrap_or(0);
            let (v, b1) = w.overflowing_sub(o);
            let (v, b2) = v.overflowing_sub(borrow as u64);
            *w = v;
            borrow = b1 | b2;
        }
        self.trim();
    }

    /// The top 128 bits as `v` · 2^`exp`, and whether lower bits were cut.
    pub(super) fn top(&self) -> (u128, i32, bool) {
        let n = self.0.len();
        let word = |i: usize| n.checked_sub(i).map_or(0, |i| self.0[i]);
        let lz = self.0.last().map_or(0, |w| w.leading_zeros());
        let (a, b, c) = (word(1) as u128, word(2) as u128, word(3) as u128);
        let mut v = a << 64 | b;
        let mut cut = n > 3 && self.0[..n - 3].iter().any(|&w| w != 0);
        if lz > 0 {
            v = v << lz | c >> (64 - lz);
            cut |= (c << lz) as u64 != 0;
        } else {
            cut |= c != 0;
        }
        (v, n as i32 * 64 - 128 - lz as i32, cut)
    }

    /// `num` / `den` as `v` · 2^`exp` with at least 66 bits, and whether there is a rest. `den` must not be zero.
    pub(super) fn divide(mut num: Big, mut den: Big) -> (u128, i32, bool) {
        let want = num.bits() as i32 - den.bits() as i32 - 67;
        if want < 0 {
            num.shl(-want as usize)
        } else {
            den.shl(want as usize)
        }
        den.shl(68);
        let mut v = 0u128;
        for _ in 0..=68 {
            v <<= 1;
            if num.cmp(&den) != Ordering::Less {
                num.sub(&den);
                v |= 1;
            }
            den.halve();
        }
        (v, want, !num.0.is_empty())
    }

    pub(super) fn into_decimal(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            return b"0".to_vec();
        }
        let mut parts = Vec::new();
        while !self.0.is_empty() {
            let mut rest = 0u128;
            for w in self.0.iter_mut().rev() {
                let v = rest << 64 | *w as u128;
                *w = (v / 10u128.pow(19)) as u64;
                rest = v % 10u128.pow(19);
            }
            self.trim();
            parts.push(rest as u64);
        }
        let mut out = parts.pop().unwrap_or(0).to_string();
        for p in parts.iter().rev() {
            out.push_str(&format!("{p:019}"));
        }
        out.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decimal_round_trip(s in "[1-9][0-9]{0,400}") {
            prop_assert_eq!(Big::from_digits(s.as_bytes()).into_decimal(), s.into_bytes());
        }

        #[test]
        fn division(a in any::<u64>(), b in 1u64.., shift in 0usize..400) {
            let mut num = Big::from_u64(a);
            num.shl(shift);
            let (v, exp, rest) = Big::divide(num, Big::from_u64(b));
            // v = floor(a * 2^(shift - exp) / b)
            let s = shift as i32 - exp;
            if a != 0 {
                prop_assert!(v >> 66 != 0);
                let mut back = Big(vec![v as u64, (v >> 64) as u64]);
                back.trim();
                back.mul_add(b, 0);
                let mut want = Big::from_u64(a);
                if s >= 0 { want.shl(s as usize) } else { back.shl(-s as usize) }
                prop_assert_eq!(back.cmp(&want) == Ordering::Equal, !rest);
                prop_assert!(back.cmp(&want) != Ordering::Greater);
            }
        }

        #[test]
        fn top_bits(a in 1u64.., b in any::<u128>(), shift in 0usize..300) {
            let mut n = Big(vec![b as u64, (b >> 64) as u64, a]);
            n.shl(shift);
            let (v, exp, cut) = n.top();
            prop_assert!(v >> 127 == 1);
            let mut back = Big(vec![v as u64, (v >> 64) as u64]);
            back.shl(exp as usize);
            prop_assert_eq!(back.cmp(&n) == Ordering::Equal, !cut);
        }
    }
}
