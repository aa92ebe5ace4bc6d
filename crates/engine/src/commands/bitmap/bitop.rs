//! BITOP: combines strings bit by bit and stores the result.
//!
//! Shorter strings count as followed by zeros. Besides AND, OR, XOR and NOT there are DIFF (in the first string and in
//! no other), DIFF1 (in another but not in the first), ANDOR (in the first and in another) and ONE (in exactly one).
//! An empty result deletes the destination.
//!
//! ```transcript
//! > MSET a foobar b abcdef
//! OK
//! > BITOP AND dest a b
//! (integer) 6
//! > GET dest
//! "`bc`ab"
//! > BITOP NOT dest a b
//! (error) ERR BITOP NOT must be called with a single source key.
//! > BITOP OR dest nokey
//! (integer) 0
//! > EXISTS dest
//! (integer) 0
//! > BITOP NAND dest a b
//! (error) ERR syntax error
//! # since 8.2
//! > BITOP DIFF dest a
//! (error) ERR BITOP DIFF must be called with at least two source keys.
//! > BITOP ONE dest a b
//! (integer) 6
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};
use crate::value::{StrRef, Value};

/// The table's row.
pub const SPEC: Spec = Spec::new("bitop", -4, Group::Bitmap, Flags::WRITE.union(Flags::DENYOOM), run).args("operation:o(and:t'AND' or:t'OR' xor:t'XOR' not:t'NOT') destkey:k@0 key:k@1*")
    .keys(&[KeySpec::one(2, KEY_STORE), KeySpec::rest(3, KEY_READ)])
    .doc("2.6.0", "O(N) for N bytes", "Combines strings bit by bit and stores the result.");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    And,
    Or,
    Xor,
    Not,
    Diff,
    Diff1,
    AndOr,
    One,
}

const OPS: [(&str, Op); 8] = [
    ("AND", Op::And),
    ("OR", Op::Or),
    ("XOR", Op::Xor),
    ("NOT", Op::Not),
    ("DIFF", Op::Diff),
    ("DIFF1", Op::Diff1),
    ("ANDOR", Op::AndOr),
    ("ONE", Op::One),
];

fn run(cx: &mut Cx<'_>) -> Res {
    let (name, op) = *OPS.iter().find(|(name, _)| cx.is(1, name)).ok_or(SYNTAX)?;
    let (target, keys) = (cx.args[2], &cx.args[3..]);
    if op == Op::Not && keys.len() != 1 {
        return Err(CmdError::new("ERR BITOP NOT must be called with a single source key."));
    }
    if matches!(op, Op::Diff | Op::Diff1 | Op::AndOr) && keys.len() < 2 {
        return Err(CmdError::owned(format!("ERR BITOP {name} must be called with at least two source keys.")));
    }
    for key in keys {
        cx.ks.read_str(key)?;
    }
    let result = {
        let read = |key: &&[u8]| cx.ks.view(key).map(|entry| entry.value.as_str()).transpose();
        let sources = keys.iter().map(read).collect::<Res<Vec<Option<StrRef<'_>>>>>()?;
        let sources: Vec<&[u8]> = sources.iter().map(|s| s.as_deref().unwrap_or(b"")).collect();
        combine(op, &sources)
    };
    let len = result.len();
    if len == 0 {
        cx.ks.delete(target);
    } else {
        let mut guard = cx.ks.write(target);
        guard.overwrite(Value::raw(result));
        guard.changed(Event::string("set"), 1);
    }
    cx.reply.len(len);
    Ok(())
}

/// Bytes that are worked on at a time: the result stays in the nearest cache while the sources pass.
const BLOCK: usize = 8192;

fn combine(op: Op, sources: &[&[u8]]) -> Vec<u8> {
    let len = sources.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut result = vec![0; len];
    // For ONE: bits that were seen in more than one source. For DIFF and relatives: bits of the others.
    let mut aside = [0u8; BLOCK];
    for (i, block) in result.chunks_mut(BLOCK).enumerate() {
        let part = |s: &'_ usize| {
            let from = (i * BLOCK).min(sources[*s].len());
            &sources[*s][from..(from + block.len()).min(sources[*s].len())]
        };
        let parts: smallvec::SmallVec<[&[u8]; 16]> = (0..sources.len()).map(|s| part(&s)).collect();
        combine_block(op, &parts, block, &mut aside);
    }
    result
}

/// Combines the sources of one block; a source may be shorter than the block, which holds zeros.
fn combine_block(op: Op, parts: &[&[u8]], block: &mut [u8], aside: &mut [u8]) {
    let Some((first, others)) = parts.split_first() else { return };
    match op {
        Op::And | Op::Or | Op::Xor | Op::Not => block[..first.len()].copy_from_slice(first),
        Op::One | Op::Diff | Op::Diff1 | Op::AndOr => aside.fill(0),
    }
    match op {
        Op::Not => block.iter_mut().for_each(|x| *x = !*x),
        Op::And => {
            for other in others {
                block.iter_mut().zip(*other).for_each(|(x, y)| *x &= y);
                block[other.len()..].fill(0);
            }
        }
        Op::Or => others.iter().for_each(|other| or(block, other)),
        Op::Xor => {
            for other in others {
                block.iter_mut().zip(*other).for_each(|(x, y)| *x ^= y);
            }
        }
        Op::One => {
            for part in parts {
                for ((once, more), y) in block.iter_mut().zip(aside.iter_mut()).zip(*part) {
                    *more |= *once & y;
                    *once |= y;
                }
            }
            block.iter_mut().zip(aside).for_each(|(once, more)| *once &= !*more);
        }
        Op::Diff | Op::Diff1 | Op::AndOr => {
            others.iter().for_each(|other| or(aside, other));
            block[..first.len()].copy_from_slice(first);
            for (x, y) in block.iter_mut().zip(aside) {
                *x = match op {
                    Op::Diff => *x & !*y,
                    Op::Diff1 => !*x & *y,
                    _ => *x & *y,
                };
            }
        }
    }
}

fn or(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(x, y)| *x |= y);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each operation by its definition: how many sources have the bit, and whether the first has it.
    fn model(op: Op, n: usize, first: bool, count: usize) -> bool {
        let others = count - usize::from(first);
        match op {
            Op::And => count == n,
            Op::Or => count > 0,
            Op::Xor => count % 2 == 1,
            Op::Not => !first,
            Op::Diff => first && others == 0,
            Op::Diff1 => !first && others > 0,
            Op::AndOr => first && others > 0,
            Op::One => count == 1,
        }
    }

    #[test]
    fn every_operation_is_what_it_says() {
        let lens = [BLOCK + 100, 3, BLOCK * 2 + 7, 0];
        let sources: Vec<Vec<u8>> = lens
            .iter()
            .enumerate()
            .map(|(s, len)| (0..*len).map(|i| (i * (s + 3) + i / 251) as u8).collect())
            .collect();
        for (_, op) in OPS {
            for n in 1..=if op == Op::Not { 1 } else { sources.len() } {
                let parts: Vec<&[u8]> = sources[..n].iter().map(|s| &s[..]).collect();
                let result = combine(op, &parts);
                for (i, byte) in result.iter().enumerate() {
                    for bit in 0..8 {
                        let has = |s: &&&[u8]| s.get(i).is_some_and(|b| b >> bit & 1 == 1);
                        let count = parts.iter().filter(has).count();
                        assert_eq!(byte >> bit & 1 == 1, model(op, n, has(&&parts[0]), count), "{op:?} {n} {i}");
                    }
                }
            }
        }
    }
}
