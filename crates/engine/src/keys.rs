//! Finding the keys among a command's arguments by its key specs: for scripts, cluster slots and COMMAND GETKEYS.

use crate::spec::{Begin, Find, KEY_READ, KEY_STORE, KeyFlags, Spec};
use smallvec::SmallVec;

/// Positions of keys with what is done to them.
pub type Keys = SmallVec<[(usize, KeyFlags); 4]>;

/// Why keys could not be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyError {
    /// A number of keys is not a number, or larger than the number of arguments.
    Invalid,
}

/// Positions of the keys of a command.
///
/// # Errors
/// When a number of keys among the arguments makes no sense.
pub fn find(spec: &Spec, argv: &[&[u8]]) -> Result<Keys, KeyError> {
    let mut keys = find_routed(spec, argv)?;
    keys.retain(|(_, flags)| !flags.contains(KeyFlags::NOT_KEY));
    Ok(keys)
}

/// The same, and what a cluster routes like a key though it is none: channels of shards, cursors of CLUSTERSCAN.
///
/// # Errors
/// When a number of keys among the arguments makes no sense.
pub fn find_routed(spec: &Spec, argv: &[&[u8]]) -> Result<Keys, KeyError> {
    let mut keys = Keys::new();
    if matches!(spec.name, "georadius" | "georadiusbymember") && argv.len() > 1 {
        keys.push((1, spec.keys[0].flags));
        let stored = KEY_STORE;
        keys.extend(geo_destination(argv).map(|at| (at, stored)));
        return Ok(keys);
    }
    if spec.name == "migrate" {
        keys.extend(migrated(argv).map(|at| (at, spec.keys[0].flags)));
        return Ok(keys);
    }
    if let Some(flags) = by_options(spec.name, argv) {
        keys.push((1, flags));
        return Ok(keys);
    }
    for key in spec.keys {
        if key.begin == Begin::Unknown && key.flags.contains(KeyFlags::OW) && spec.name == "sort" {
            keys.extend(sort_destination(argv).map(|at| (at, KEY_STORE)));
        }
        let Some(begin) = begin_of(key.begin, argv) else { continue };
        match key.find {
            Find::Unknown => {}
            Find::Range { last, step, limit } => {
                let end = if last >= 0 {
                    begin + last as usize
                } else {
                    // `limit` says which part of the arguments up to the end holds keys.
                    let end = argv.len().saturating_sub(last.unsigned_abs() as usize);
                    if limit > 1 {
                        let rest = argv.len().saturating_sub(begin);
                        begin + (rest / limit as usize).saturating_sub(1)
                    } else {
                        end
                    }
                };
                let mut at = begin;
                while at <= end && at < argv.len() {
                    keys.push((at, key.flags));
                    at += (step.max(1)) as usize;
                }
            }
            Find::Count { at, first, step } => {
                let count = argv.get(begin + at as usize).ok_or(KeyError::Invalid)?;
                let count = crate::util::parse_i64(count).ok_or(KeyError::Invalid)?;
                let start = begin + first as usize;
                let room = argv.len().saturating_sub(start);
                let count = usize::try_from(count).map_err(|_| KeyError::Invalid)?;
                let step = step.max(1) as usize;
                if count > room.div_ceil(step) {
                    return Err(KeyError::Invalid);
                }
                for i in 0..count {
                    keys.push((start + i * step, key.flags));
                }
            }
        }
    }
    Ok(keys)
}

/// Patterns of SORT's BY and GET that lead to other keys: no argument names these.
pub fn by_pattern<'a>(spec: &Spec, argv: &[&'a [u8]]) -> SmallVec<[&'a [u8]; 2]> {
    let mut found = SmallVec::new();
    if !matches!(spec.name, "sort" | "sort_ro") {
        return found;
    }
    let mut i = 2;
    while i + 1 < argv.len() {
        let by = argv[i].eq_ignore_ascii_case(b"BY") && argv[i + 1].contains(&b'*');
        let get = argv[i].eq_ignore_ascii_case(b"GET") && argv[i + 1] != b"#";
        if by || get {
            found.push(argv[i + 1]);
        }
        let skip = WITH_ARGUMENTS.iter().find(|(word, _)| argv[i].eq_ignore_ascii_case(word));
        i += 1 + skip.map_or(0, |(_, n)| *n);
    }
    found
}

/// Options of SORT with the number of their arguments.
const WITH_ARGUMENTS: [(&[u8], usize); 4] = [(b"LIMIT", 2), (b"GET", 1), (b"BY", 1), (b"STORE", 1)];

/// Where SORT's STORE key is; of several the last one counts.
fn sort_destination(argv: &[&[u8]]) -> Option<usize> {
    let (mut i, mut found) = (2, None);
    while i < argv.len() {
        let skip = WITH_ARGUMENTS.iter().find(|(word, _)| argv[i].eq_ignore_ascii_case(word));
        if argv[i].eq_ignore_ascii_case(b"STORE") && i + 1 < argv.len() {
            found = Some(i + 1);
        }
        i += 1 + skip.map_or(0, |(_, n)| *n);
    }
    found
}

/// What SET and BITFIELD do with their key depends on their options.
#[inline]
fn by_options(name: &str, argv: &[&[u8]]) -> Option<KeyFlags> {
    let is = |arg: &&[u8], word: &str| arg.eq_ignore_ascii_case(word.as_bytes());
    let updates = KeyFlags::RW.union(KeyFlags::ACCESS).union(KeyFlags::UPDATE);
    match name {
        "set" if argv.len() > 2 => {
            let reads = argv[3..].iter().any(|arg| is(arg, "GET"));
            Some(if reads { updates } else { KEY_STORE })
        }
        "bitfield" if argv.len() > 1 => {
            let mut rest = &argv[2..];
            // GET and OVERFLOW are all that only read.
            while let Some(word) = rest.first() {
                let skip = if is(word, "GET") { 3 } else { 2 };
                if !is(word, "GET") && !is(word, "OVERFLOW") || rest.len() < skip {
                    break;
                }
                rest = &rest[skip..];
            }
            let only_reads = rest.is_empty();
            Some(if only_reads { KEY_READ } else { updates })
        }
        _ => None,
    }
}

/// Where MIGRATE's keys are: one, or behind KEYS all that follow.
fn migrated(argv: &[&[u8]]) -> std::ops::Range<usize> {
    const WITH_ARGUMENTS: [(&[u8], usize); 2] = [(b"AUTH", 1), (b"AUTH2", 2)];
    let mut i = 6;
    while i < argv.len() {
        if argv[i].eq_ignore_ascii_case(b"KEYS") {
            // With a key besides it is a mistake, which the command itself reports.
            return if argv[3].is_empty() { i + 1..argv.len() } else { 0..0 };
        }
        let skip = WITH_ARGUMENTS.iter().find(|(word, _)| argv[i].eq_ignore_ascii_case(word));
        i += 1 + skip.map_or(0, |(_, n)| *n);
    }
    if argv.len() > 3 { 3..4 } else { 0..0 }
}

/// Where GEORADIUS stores; of several the last one counts.
fn geo_destination(argv: &[&[u8]]) -> Option<usize> {
    let (mut i, mut found) = (5, None);
    while i + 1 < argv.len() {
        if argv[i].eq_ignore_ascii_case(b"STORE") || argv[i].eq_ignore_ascii_case(b"STOREDIST") {
            i += 1;
            found = Some(i);
        }
        i += 1;
    }
    found
}

fn begin_of(begin: Begin, argv: &[&[u8]]) -> Option<usize> {
    match begin {
        Begin::Index(i) => (i >= 0 && (i as usize) < argv.len()).then_some(i as usize),
        Begin::Unknown => None,
        Begin::Keyword(word, from) => {
            let is = |i: &usize| argv[*i].eq_ignore_ascii_case(word.as_bytes());
            if from >= 0 {
                (from as usize..argv.len()).find(is).map(|i| i + 1)
            } else {
                let last = argv.len().checked_sub(from.unsigned_abs() as usize)?;
                (1..=last).rev().find(is).map(|i| i + 1)
            }
            .filter(|i| *i < argv.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::KeySpec;
    use crate::spec::{Flags, Group};

    fn positions(keys: &'static [KeySpec], line: &str) -> Vec<usize> {
        let spec = Spec::new("x", -1, Group::Generic, Flags::empty(), crate::commands::container).keys(keys);
        let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        find(&spec, &argv).unwrap().iter().map(|(at, _)| *at).collect()
    }

    #[test]
    fn ranges_counts_and_words() {
        const ONE: &[KeySpec] = &[KeySpec::one(1, KEY_READ)];
        const PAIRS: &[KeySpec] = &[KeySpec::range(1, -1, 2, KEY_READ)];
        const COUNTED: &[KeySpec] = &[KeySpec::counted(2, KEY_READ)];
        const STREAMS: &[KeySpec] = &[KeySpec {
            begin: Begin::Keyword("STREAMS", 1),
            find: Find::Range { last: -1, step: 1, limit: 2 },
            flags: KEY_READ,
        }];
        assert_eq!(positions(ONE, "get k"), [1]);
        assert_eq!(positions(PAIRS, "mset a 1 b 2"), [1, 3]);
        assert_eq!(positions(COUNTED, "eval s 2 a b c"), [3, 4]);
        assert_eq!(positions(STREAMS, "xread count 1 streams a b 0 0"), [4, 5]);
    }
}
