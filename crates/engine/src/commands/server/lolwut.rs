//! LOLWUT: a picture that no one asked for, and the version.
//!
//! A row of cells that follows one of the elementary rules from a single cell on, with another rule each time. `VERSION`
//! is accepted and draws the same; the numbers after it are the columns (80 or fewer) and the rows (40 or fewer).
//!
//! ```transcript
//! # not oracle: every version draws something else
//! > LOLWUT VERSION x
//! (error) ERR value is not an integer or out of range
//! ```

use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("lolwut", -1, Group::Server, Flags::READONLY.union(Flags::FAST), run).args("version:i'VERSION'?").doc(
    "5.0.0",
    "",
    "Draws a picture and tells the version.",
);

/// Rules whose pictures are worth looking at.
const RULES: [u8; 8] = [18, 22, 30, 45, 73, 90, 105, 110];

fn run(cx: &mut Cx<'_>) -> Res {
    let mut args = &cx.args[1..];
    if args.len() >= 2 && args[0].eq_ignore_ascii_case(b"version") {
        crate::util::int_arg(args[1])?;
        args = &args[2..];
    }
    let size = |i: usize, default: usize, max: i64| -> Res<usize> {
        args.get(i).map_or(Ok(default), |arg| Ok(crate::util::int_arg(arg)?.clamp(1, max) as usize))
    };
    let (columns, rows) = (size(0, 66, 80)?, size(1, 16, 40)?);
    let rule = RULES[cx.ks.random_below(RULES.len())];
    let mut text = picture(rule, columns, rows);
    let (redis, own) = (crate::REDIS_VERSION, env!("CARGO_PKG_VERSION"));
    text.push_str(&format!("\nRule {rule}. Redis ver. {redis}, Totality ver. {own}\n"));
    cx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

/// The rows that follow from one cell in the middle.
fn picture(rule: u8, columns: usize, rows: usize) -> String {
    let mut cells = vec![false; columns];
    cells[columns / 2] = true;
    let mut out = String::new();
    for _ in 0..rows {
        let line: String = cells.iter().map(|on| if *on { '#' } else { ' ' }).collect();
        out.push_str(line.trim_end());
        out.push('\n');
        let at = |i: usize| u8::from(cells[i % columns]);
        cells = (0..columns)
            .map(|i| {
                let seen = at(i + columns - 1) << 2 | at(i) << 1 | at(i + 1);
                rule >> seen & 1 == 1
            })
            .collect();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_90_draws_triangles() {
        assert_eq!(picture(90, 9, 4), "    #\n   # #\n  #   #\n # # # #\n");
    }
}
