//! BITCOUNT: number of bits that are set in a string or a part of it, given in bytes or, with BIT, in bits. Without an
//! end the part reaches to the end of the string.
//!
//! ```transcript
//! > SET k foobar
//! OK
//! > BITCOUNT k
//! (integer) 26
//! > BITCOUNT k 0 0
//! (integer) 4
//! > BITCOUNT k 5 30 BIT
//! (integer) 17
//! > BITCOUNT nokey
//! (integer) 0
//! > BITCOUNT k 0 0 NIBBLE
//! (error) ERR syntax error
//! # since 9.1
//! > BITCOUNT k 5
//! (integer) 4
//! ```

use crate::commands::bitmap_util::{count_ones, count_ones_in};
use crate::commands::string_util::clamp_range;
use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("bitcount", -2, Group::Bitmap, Flags::READONLY, run).args("key:k@0 range:b?(start:i end-unit-block:b?(end:i unit:o?^7.0.0(byte:t'BYTE' bit:t'BIT')))")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("2.6.0", "O(N) for N bytes", "Counts the bits that are set in a string.");

fn run(cx: &mut Cx<'_>) -> Res {
    let range = match cx.argc() {
        2 => None,
        3..=5 => {
            let start = cx.int(2)?;
            let end = if cx.argc() > 3 { cx.int(3)? } else { -1 };
            Some((start, end, cx.argc() == 5 && is_bit(cx, 4)?))
        }
        _ => return Err(SYNTAX),
    };
    let Some(value) = cx.ks.read_str(cx.args[1])? else {
        cx.reply.int(0);
        return Ok(());
    };
    let len = value.len() as u64;
    let count = match range {
        None => count_ones(&value),
        Some((start, end, false)) => clamp_range(start, end, len)
            .map_or(0, |(start, end)| count_ones(&value[start as usize..=end as usize])),
        Some((start, end, true)) => {
            clamp_range(start, end, len * 8).map_or(0, |(start, end)| count_ones_in(&value, start, end))
        }
    };
    cx.reply.int(count as i64);
    Ok(())
}

/// Reads the unit of a range at argument `i`: true for BIT, false for BYTE.
pub(super) fn is_bit(cx: &Cx<'_>, i: usize) -> Res<bool> {
    if cx.is(i, "BIT") {
        Ok(true)
    } else if cx.is(i, "BYTE") {
        Ok(false)
    } else {
        Err(SYNTAX)
    }
}
