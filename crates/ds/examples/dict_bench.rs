//! Compares the key table with the standard library's map: `cargo run --release -p totality-ds --example dict_bench`.

use std::collections::HashMap;
use std::time::{Duration, Instant};
use totality_ds::dict::Seed;
use totality_ds::{Bytes, Dict, Keyed};

struct Entry {
    key: Bytes,
    value: [u64; 4],
    hash: u32,
}

impl Keyed for Entry {
    fn key(&self) -> &[u8] {
        &self.key
    }
    fn hash32(&self, _: &Seed) -> u32 {
        self.hash
    }
    fn set_hash32(&mut self, hash: u32) {
        self.hash = hash;
    }
}

fn main() {
    let n: usize = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    let keys: Vec<Bytes> = (0..n).map(|i| Bytes::from(format!("key:{i:012}"))).collect();
    let order: Vec<usize> = (0..n).map(|i| i.wrapping_mul(0x9e37_79b1) % n).collect();

    let mut dict = Dict::new([7; 16]);
    let (total, worst) = timed(n, |i| {
        let h = dict.hash(&keys[i]);
        if dict.find(h, &keys[i]).is_none() {
            dict.insert_new(h, Entry { key: keys[i].clone(), value: [i as u64; 4], hash: 0 });
        }
    });
    report("dict insert", n, total, worst);
    let mut sum = 0;
    let (total, worst) = timed(n, |i| {
        let k = &keys[order[i]];
        let p = dict.find(dict.hash(k), k).unwrap();
        sum += dict.get(p).value[0];
    });
    report("dict find", n, total, worst);
    println!("{} bytes a key, sum {sum}", dict.mem_bytes() / n);
    let t = Instant::now();
    let (mut cursor, mut steps, mut seen) = (0, 0, 0);
    loop {
        cursor = dict.scan(cursor, 10, &mut |_| seen += 1);
        steps += 1;
        if cursor == 0 {
            break;
        }
    }
    println!("scan count 10: {:?} a step, {} a step", t.elapsed() / steps, seen / steps);
    let (total, worst) = timed(n, |i| {
        dict.remove_key(&keys[i]).unwrap();
    });
    report("dict remove", n, total, worst);

    let mut map: HashMap<Bytes, [u64; 4]> = HashMap::new();
    let (total, worst) = timed(n, |i| {
        map.insert(keys[i].clone(), [i as u64; 4]);
    });
    report("std insert", n, total, worst);
    let (total, worst) = timed(n, |i| sum += map[&keys[order[i]]][0]);
    report("std find", n, total, worst);
}

fn timed(n: usize, mut f: impl FnMut(usize)) -> (Duration, Duration) {
    let start = Instant::now();
    let mut worst = Duration::ZERO;
    for i in (0..n).step_by(8) {
        let t = Instant::now();
        (i..(i + 8).min(n)).for_each(&mut f);
        worst = worst.max(t.elapsed());
    }
    (start.elapsed(), worst)
}

fn report(what: &str, n: usize, total: Duration, worst: Duration) {
    println!("{what}: {} ns each, longest eight {worst:?}", total.as_nanos() as usize / n);
}
