//! Commands from templates: `SET $k $v [EX $sec|KEEPTTL] [NX|XX]`.
//!
//! `$name` is a random value of a kind (a `$` alone is itself), `[a|b]` one alternative or nothing, `(a|b)` one alternative, `{x}` one to
//! three times. So a whole command with all its options is one line that can be read beside its documentation.

use crate::client::Command;
use crate::rng::Rng;

/// A command made from `template`.
pub fn expand(template: &str, rng: &mut Rng) -> Command {
    let mut out = Vec::new();
    sequence(template.trim(), rng, &mut out);
    out
}

fn sequence(mut text: &str, rng: &mut Rng, out: &mut Command) {
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else { return };
        if let Some(close) = closing(first) {
            let end = matching(text, first, close);
            let inner = &text[1..end];
            text = &text[end + 1..];
            group(first, inner, rng, out);
            continue;
        }
        let end = text.find([' ', '[', '(', '{']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        text = rest;
        match word.strip_prefix('$').filter(|kind| !kind.is_empty()) {
            Some(kind) => out.push(super::values::make(kind, rng)),
            None => out.push(word.as_bytes().to_vec()),
        }
    }
}

fn group(open: char, inner: &str, rng: &mut Rng, out: &mut Command) {
    match open {
        '[' if rng.one_in(2) => {}
        '{' => {
            let times = [1, 1, 2, 2, 3][rng.below(5)];
            (0..times).for_each(|_| sequence(inner, rng, out));
        }
        _ => {
            let choices = alternatives(inner);
            sequence(rng.pick(&choices), rng, out);
        }
    }
}

fn closing(open: char) -> Option<char> {
    match open {
        '[' => Some(']'),
        '(' => Some(')'),
        '{' => Some('}'),
        _ => None,
    }
}

/// Position of the bracket that closes the one at the start.
fn matching(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return i;
        }
    }
    panic!("unbalanced template: {text}");
}

fn alternatives(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (i, c) in inner.char_indices() {
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            '|' if depth == 0 => {
                out.push(&inner[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(&inner[start..]);
    out
}

/// Spoils a command now and then: an argument too few or too many, an argument of another kind, another case.
pub fn spoil(command: &mut Command, rng: &mut Rng) {
    match rng.below(60) {
        0 if command.len() > 1 => {
            command.pop();
        }
        1 => command.push(super::values::make("v", rng)),
        2 | 3 if command.len() > 1 => {
            let at = 1 + rng.below(command.len() - 1);
            let kind = rng.pick(&["v", "i", "f", "k", "e"]);
            command[at] = super::values::make(kind, rng);
        }
        4 if command.len() > 2 => {
            let at = 1 + rng.below(command.len() - 1);
            command.remove(at);
        }
        5 | 6 => {
            for word in command.iter_mut() {
                if rng.one_in(2) && word.iter().all(u8::is_ascii_uppercase) {
                    word.make_ascii_lowercase();
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_options_and_repeats() {
        let mut seen = std::collections::HashSet::new();
        for seed in 0..3000 {
            let c = expand("SET (a|b [c]) {x} [NX|XX]", &mut Rng::new(seed));
            seen.insert(crate::words::join(&c));
        }
        assert!(seen.contains("SET a x NX") && seen.contains("SET b c x x x XX") && seen.contains("SET b x"));
        assert_eq!(seen.len(), 3 * 3 * 3);
    }
}
