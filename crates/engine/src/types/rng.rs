//! Random choice for commands: one number of the keyspace's generator becomes a sequence.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A sequence that `seed` determines.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// `k` distinct numbers below `n`, ascending; all of them when `k` is not smaller. Every choice is equally likely.
    pub fn choose(&mut self, n: usize, k: usize) -> Choose<'_> {
        Choose { rng: self, at: 0, n, left: k.min(n) }
    }

    /// Moves `k` random elements of `items` to its front, in random order.
    pub fn shuffle_front<T>(&mut self, items: &mut [T], k: usize) {
        let n = items.len();
        for i in 0..k.min(n) {
            let j = i + self.below(n - i);
            items.swap(i, j);
        }
    }
}

/// See [`Rng::choose`].
pub struct Choose<'r> {
    rng: &'r mut Rng,
    at: usize,
    n: usize,
    left: usize,
}

impl Iterator for Choose<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.left > 0 && self.at < self.n {
            let at = self.at;
            self.at += 1;
            if self.rng.below(self.n - at) < self.left {
                self.left -= 1;
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_distinct_ascending_and_fair() {
        let mut rng = Rng::new(1);
        let mut hits = [0u32; 10];
        for _ in 0..10_000 {
            let chosen: Vec<usize> = rng.choose(10, 3).collect();
            assert_eq!(chosen.len(), 3);
            assert!(chosen.windows(2).all(|w| w[0] < w[1]));
            chosen.iter().for_each(|i| hits[*i] += 1);
        }
        assert!(hits.iter().all(|h| (2700..3300).contains(h)), "{hits:?}");
        assert_eq!(rng.choose(3, 9).count(), 3);
    }

    #[test]
    fn the_front_of_a_shuffle_is_fair() {
        let mut rng = Rng::new(2);
        let mut hits = [0u32; 5];
        for _ in 0..10_000 {
            let mut items = [0, 1, 2, 3, 4];
            rng.shuffle_front(&mut items, 2);
            items[..2].iter().for_each(|i: &usize| hits[*i] += 1);
        }
        assert!(hits.iter().all(|h| (3700..4300).contains(h)), "{hits:?}");
    }
}
