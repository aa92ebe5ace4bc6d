//! Times the sorted set: `cargo run --release -p totality-ds --example zset_bench`.

use std::time::Instant;
use totality_ds::ZSet;

fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    let members: Vec<String> = (0..n).map(|i| format!("user:{i:010}")).collect();
    let score = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64;
    let mut z = ZSet::new([7; 16]);
    let time = |what: &str, f: &mut dyn FnMut(u64)| {
        let t = Instant::now();
        (0..n).for_each(f);
        println!("{what}: {} ns each", t.elapsed().as_nanos() as u64 / n);
    };
    time("insert", &mut |i| {
        z.insert(members[i as usize].as_bytes(), score(i));
    });
    println!("{} bytes a member", z.mem_bytes() / n as usize);
    let mut sum = 0;
    time("rank", &mut |i| sum += z.rank(members[i as usize].as_bytes()).unwrap_or(0));
    time("increment", &mut |i| {
        z.insert(members[i as usize].as_bytes(), score(i) + 1.0);
    });
    time("count below", &mut |i| sum += z.count_below(score(i), false));
    let t = Instant::now();
    let total: f64 = z.iter().map(|e| e.1).sum();
    println!("iterate: {} ns each ({total} {sum})", t.elapsed().as_nanos() as u64 / n);
    time("remove", &mut |i| {
        z.remove(members[i as usize].as_bytes());
    });
}
