//! Random commands against a real `redis-server`. The ordinary run is the same sequences on every machine;
//! `TOTALITY_ORACLE_SECONDS` searches on for so long, `TOTALITY_ORACLE_SEED` starts elsewhere,
//! `TOTALITY_ORACLE_GROUPS=string,hash` chooses families.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use totality_testkit::oracle::{Mismatch, Pair, groups::FAMILIES};
use totality_testkit::server::{Server, oracle_or_skip};

/// Different failures that are told before the search ends.
const ENOUGH: usize = 25;
/// Sequences of the ordinary run.
const SEQUENCES: u64 = 30_000;
/// Differences that may not come again: the clock of a machine under load explains a few, a server that is right by luck
/// does not stay under it.
const PASSING: usize = 3;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn random_commands_answer_as_redis_does() {
    let Some(theirs) = oracle_or_skip("oracle") else { return };
    let ours = Server::totality(&[]).expect("our server starts");
    let mut pair = Pair::new(ours, theirs).expect("both servers answer");
    let left_out = pair.left_out();
    if !left_out.is_empty() {
        println!("not compared, only one server has them: {}", left_out.join(" "));
    }
    let wanted = std::env::var("TOTALITY_ORACLE_GROUPS").unwrap_or_default();
    let families: Vec<_> =
        FAMILIES.iter().filter(|f| wanted.is_empty() || wanted.split(',').any(|w| w == f.name)).collect();
    let time = Duration::from_secs(number("TOTALITY_ORACLE_SECONDS", 0));
    let first = number("TOTALITY_ORACLE_SEED", 1);
    let (began, mut seed, mut commands, mut passing) = (Instant::now(), first, 0, 0);
    let mut found: BTreeMap<String, (u64, &str, Mismatch)> = BTreeMap::new();
    let more = |seed: u64| if time.is_zero() { seed - first < SEQUENCES } else { began.elapsed() < time };
    while more(seed) && found.len() < ENOUGH {
        let family = families[seed as usize % families.len()];
        let protocol = 2 + (seed / 7 % 2) as u8;
        let sequence = pair.sequence(family, seed);
        commands += sequence.len();
        if let Some(mismatch) = pair.run(&sequence, protocol).expect("both servers answer")
            && !found.contains_key(&mismatch.signature())
        {
            if !pair.comes_again(&sequence, protocol).expect("both servers answer") {
                println!("did not come again, seed {seed} ({}):\n{mismatch}", family.name);
                passing += 1;
                seed += 1;
                continue;
            }
            let key = mismatch.signature();
            let short = pair.shrink(mismatch, protocol).expect("both servers answer");
            found.insert(key, (seed, family.name, short));
        }
        seed += 1;
    }
    for (seed, family, mismatch) in found.values() {
        println!("seed {seed} ({family}):\n{mismatch}");
    }
    println!("{commands} commands compared");
    assert!(passing <= PASSING, "{passing} differences that did not come again");
    assert!(found.is_empty(), "{} differences in {commands} commands from seed {first}", found.len());
}
