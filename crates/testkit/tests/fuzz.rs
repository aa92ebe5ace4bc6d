//! The fuzz targets on their corpus and on changed copies of it: the same on every machine.
//! `TOTALITY_FUZZ_SECONDS` searches on for so long, `TOTALITY_FUZZ_SEED` elsewhere.

use std::time::{Duration, Instant};
use totality_testkit::fuzz::{TARGETS, Target, change};
use totality_testkit::rng::Rng;
use totality_testkit::sources::root;

/// Changed inputs of the ordinary run.
const INPUTS: u64 = 60_000;

fn run((name, target): Target) {
    let dir = root().join("fuzz/corpus").join(name);
    let read = |e: std::fs::DirEntry| std::fs::read(e.path()).ok();
    let corpus: Vec<Vec<u8>> = std::fs::read_dir(&dir).unwrap().flatten().filter_map(read).collect();
    assert!(!corpus.is_empty(), "{} is empty", dir.display());
    corpus.iter().for_each(|input| target(input));
    let set = |what: &str| std::env::var(what).ok();
    let seconds = set("TOTALITY_FUZZ_SECONDS").and_then(|s| s.parse().ok()).map(Duration::from_secs_f64);
    let seed = set("TOTALITY_FUZZ_SEED").and_then(|s| s.parse().ok()).unwrap_or(1);
    let (began, mut rng) = (Instant::now(), Rng::new(seed));
    let mut inputs = 0;
    while seconds.map_or(inputs < INPUTS, |time| began.elapsed() < time) {
        let input = change(&corpus[rng.below(corpus.len())], &mut rng);
        // The input must be known when the target panics.
        let shown = std::panic::catch_unwind(|| target(&input));
        assert!(shown.is_ok(), "{name}: panicked on b\"{}\"", input.escape_ascii());
        inputs += 1;
    }
    println!("{name}: {inputs} inputs");
}

macro_rules! targets {
    ($($i:literal $name:ident)*) => {$(
        #[test]
        fn $name() {
            assert_eq!(TARGETS[$i].0, stringify!($name));
            run(TARGETS[$i]);
        }
    )*};
}

targets! { 0 requests 1 replies 2 listpack 3 scripts 4 libraries 5 configuration 6 payloads 7 snapshots 8 logs }
