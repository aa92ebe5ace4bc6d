//! LCS: the longest common subsequence of two strings.
//!
//! LEN answers its length, IDX where it lies in both strings, from the end to the beginning. MINMATCHLEN leaves out
//! shorter matches, WITHMATCHLEN tells their lengths. The transient table takes four bytes for each pair of bytes and
//! may not exceed `proto-max-bulk-len`.
//!
//! ```transcript
//! > MSET a ohmytext b mynewtext
//! OK
//! > LCS a b
//! "mytext"
//! > LCS a b LEN
//! (integer) 6
//! > LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN
//! 1) "matches"
//! 2) 1) 1) 1) (integer) 4
//!          2) (integer) 7
//!       2) 1) (integer) 5
//!          2) (integer) 8
//!       3) (integer) 4
//! 3) "len"
//! 4) (integer) 6
//! # resp3
//! 1# "matches" => 1) 1) 1) (integer) 4
//!          2) (integer) 7
//!       2) 1) (integer) 5
//!          2) (integer) 8
//!       3) (integer) 4
//! 2# "len" => (integer) 6
//! > LCS a b LEN IDX
//! (error) ERR If you want both the length and indexes, please just use IDX.
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::keyspace::Keyspace;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("lcs", -3, Group::String, Flags::READONLY, run).args("key1:k@0 key2:k@0 len:t'LEN'? idx:t'IDX'? min-match-len:i'MINMATCHLEN'? withmatchlen:t'WITHMATCHLEN'?")
    .keys(&[KeySpec::range(1, 1, 1, KEY_READ)])
    .doc("7.0.0", "O(N*M) for strings of N and M bytes", "Finds the longest common subsequence of two strings.");

const TOO_BIG: CmdError =
    CmdError::new("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
const NO_MEMORY: CmdError =
    CmdError::new("ERR Insufficient memory, failed allocating transient memory for LCS");

#[derive(Default)]
struct Options {
    len: bool,
    idx: bool,
    with_match_len: bool,
    min_match_len: i64,
}

/// Ranges of the same bytes in both strings, ends included.
struct Match {
    a: (usize, usize),
    b: (usize, usize),
}

fn run(cx: &mut Cx<'_>) -> Res {
    let a = text(cx.ks, cx.args[1])?;
    let b = text(cx.ks, cx.args[2])?;
    let options = options(cx)?;
    if a.len() as u64 >= u64::from(u32::MAX) - 1 || b.len() as u64 >= u64::from(u32::MAX) - 1 {
        return Err(CmdError::new("ERR String too long for LCS"));
    }
    let cells = (a.len() as u64 + 1) * (b.len() as u64 + 1);
    if cells.saturating_mul(4) > cx.sv.config.proto_max_bulk_len {
        return Err(TOO_BIG);
    }
    if options.len && !options.idx {
        cx.reply.len(length(&a, &b));
        return Ok(());
    }
    let table = table(&a, &b)?;
    let total = table.last().copied().unwrap_or(0) as usize;
    let (common, matches) = walk(&a, &b, &table, total);
    if !options.idx {
        cx.reply.bulk(&common);
        return Ok(());
    }
    let shown = |m: &&Match| (m.a.1 - m.a.0 + 1) as i64 >= options.min_match_len;
    cx.reply.map(2);
    cx.reply.bulk(b"matches");
    cx.reply.array(matches.iter().filter(shown).count());
    for m in matches.iter().filter(shown) {
        cx.reply.array(2 + usize::from(options.with_match_len));
        for (start, end) in [m.a, m.b] {
            cx.reply.array(2);
            cx.reply.len(start);
            cx.reply.len(end);
        }
        if options.with_match_len {
            cx.reply.len(m.a.1 - m.a.0 + 1);
        }
    }
    cx.reply.bulk(b"len");
    cx.reply.len(total);
    Ok(())
}

/// A copy of the string at `key`: next to the table that is made of it, its size does not matter.
fn text(ks: &mut Keyspace, key: &[u8]) -> Res<Vec<u8>> {
    let value = ks.read_str(key).map_err(|_| CmdError::new("ERR The specified keys must contain string values"))?;
    Ok(value.map_or_else(Vec::new, |value| value.to_vec()))
}

fn options(cx: &Cx<'_>) -> Res<Options> {
    let mut o = Options::default();
    let mut i = 3;
    while i < cx.argc() {
        if cx.is(i, "IDX") {
            o.idx = true;
        } else if cx.is(i, "LEN") {
            o.len = true;
        } else if cx.is(i, "WITHMATCHLEN") {
            o.with_match_len = true;
        } else if cx.is(i, "MINMATCHLEN") && i + 1 < cx.argc() {
            o.min_match_len = cx.int(i + 1)?;
            i += 1;
        } else {
            return Err(SYNTAX);
        }
        i += 1;
    }
    if o.len && o.idx {
        return Err(CmdError::new("ERR If you want both the length and indexes, please just use IDX."));
    }
    Ok(o)
}

/// The length alone needs one row of the table.
fn length(a: &[u8], b: &[u8]) -> usize {
    let mut row = vec![0u32; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()] as usize
}

/// Cell `i * (b.len() + 1) + j` is the length for the first `i` and `j` bytes.
fn table(a: &[u8], b: &[u8]) -> Res<Vec<u32>> {
    let width = b.len() + 1;
    let cells = (a.len() + 1) * width;
    let mut table: Vec<u32> = Vec::new();
    table.try_reserve_exact(cells).map_err(|_| NO_MEMORY)?;
    table.resize(cells, 0);
    for (i, x) in a.iter().enumerate() {
        let (above, row) = table[i * width..(i + 2) * width].split_at_mut(width);
        for (j, y) in b.iter().enumerate() {
            row[j + 1] = if x == y { above[j] + 1 } else { above[j + 1].max(row[j]) };
        }
    }
    Ok(table)
}

/// The subsequence itself and its matches, from the last to the first.
fn walk(a: &[u8], b: &[u8], table: &[u32], total: usize) -> (Vec<u8>, Vec<Match>) {
    let width = b.len() + 1;
    let mut common = vec![0; total];
    let mut at = total;
    let mut matches = Vec::new();
    let mut open: Option<Match> = None;
    let (mut i, mut j) = (a.len(), b.len());
    while i > 0 && j > 0 {
        if a[i - 1] == b[j - 1] {
            (i, j, at) = (i - 1, j - 1, at - 1);
            common[at] = a[i];
            match &mut open {
                Some(m) if m.a.0 == i + 1 && m.b.0 == j + 1 => (m.a.0, m.b.0) = (i, j),
                _ => {
                    matches.extend(open.take());
                    open = Some(Match { a: (i, i), b: (j, j) });
                }
            }
        } else {
            if table[(i - 1) * width + j] > table[i * width + j - 1] {
                i -= 1;
            } else {
                j -= 1;
            }
            matches.extend(open.take());
        }
    }
    matches.extend(open);
    (common, matches)
}
