//! The catalogue: every script under `scripts/`, built in, with a type for each call.
//!
//! The types in the modules below are made from the scripts' headers. Each call's fields are the parts of its keys and its
//! arguments; the hash tag is part of the template, so it cannot be forgotten.

mod index;

include!("catalogue/modules.rs");

use crate::script::Script;
use std::sync::OnceLock;

static LOADED: [OnceLock<Script>; index::SCRIPTS.len()] = [const { OnceLock::new() }; index::SCRIPTS.len()];
static SEEDS: [OnceLock<Script>; index::SEEDS.len()] = [const { OnceLock::new() }; index::SEEDS.len()];

/// A script by its name, such as `rl.gcra`; the seeds' are called `seed.…`.
pub fn get(name: &str) -> Option<&'static Script> {
    if let Ok(at) = index::SCRIPTS.binary_search_by(|(n, _)| (*n).cmp(name)) {
        return Some(nth(at));
    }
    index::SEEDS.iter().position(|(n, ..)| *n == name).map(seed)
}

/// All scripts of the catalogue by name, then those of the seeds.
pub fn all() -> impl Iterator<Item = &'static Script> {
    (0..index::SCRIPTS.len()).map(nth).chain((0..index::SEEDS.len()).map(seed))
}

/// The text of a piece that scripts include.
pub fn library(name: &str) -> Option<&'static str> {
    index::LIBRARY.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// A script by its place in the index.
pub(crate) fn nth(at: usize) -> &'static Script {
    let (name, text) = index::SCRIPTS[at];
    // A test reads every one of them, so none that was built in fails.
    LOADED[at].get_or_init(|| Script::from_text(text).unwrap_or_else(|e| unreachable!("{name}: {e}")))
}

fn seed(at: usize) -> &'static Script {
    let (name, header, text) = index::SEEDS[at];
    SEEDS[at].get_or_init(|| Script::verbatim(header, text).unwrap_or_else(|e| unreachable!("{name}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Life;

    #[test]
    fn every_script_is_read_and_keeps_the_rules() {
        let mut n = 0;
        for script in all() {
            let h = script.header();
            assert_eq!(get(&h.name).map(Script::name), Some(h.name.as_str()));
            if h.name.starts_with("seed.") {
                continue;
            }
            n += 1;
            let id = h.id();
            assert!(!h.summary.is_empty() && !h.owner.is_empty() && !h.cost.is_empty(), "{id}");
            assert!(h.same_slot && !h.keys.is_empty(), "{id}: one slot");
            assert!(h.errors.contains(&"SCRIPTARG".to_string()), "{id}");
            assert!(h.unknown.is_empty(), "{id}: {:?}", h.unknown);
            assert!(["server", "key-ttl", "none"].contains(&h.clock.as_str()), "{id}: clock");
            assert!(h.reply.as_ref().is_some_and(|r| r.len() <= crate::reply::MAX_FIELDS), "{id}");
            assert!(h.key_prefix().ends_with(':'), "{id}");
            for life in h.keys.iter().map(|k| k.life) {
                assert!(
                    life != Life::Keep || h.name.starts_with("cas.") || h.name == "counter.bounded",
                    "{id}"
                );
            }
            if h.read_only() {
                assert!(h.keys.iter().all(|k| !k.writes), "{id}");
            }
            assert!(script.body().starts_with("keys("), "{id}: arguments are checked first");
        }
        assert!(n >= 80, "{n}");
    }
}
