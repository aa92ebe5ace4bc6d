//! Redis's glob patterns, with every quirk that clients can see.

/// The number of `*` after which a pattern matches nothing.
const MAX_STARS: usize = 1000;

/// True if `pattern` matches the whole of `string`.
///
/// `*` any bytes, `?` one byte, `[ab]`, `[^a]`, `[a-z]` one byte of a class, `\x` the byte `x`. As in Redis, an empty
/// string is matched by the empty pattern only, an unclosed class ends with the pattern, and bytes in ranges compare
/// as signed. At most pattern × string steps.
pub fn matches(pattern: &[u8], string: &[u8], nocase: bool) -> bool {
    if string.is_empty() {
        return pattern.is_empty();
    }
    let (mut p, mut s, mut stars) = (0, 0, 0);
    // Where to go on when the bytes after the last star do not fit: after the star, one byte later in the string.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let mut fits = true;
        while fits && p < pattern.len() && s < string.len() {
            if pattern[p] == b'*' {
                while pattern.get(p + 1) == Some(&b'*') {
                    p += 1;
                }
                p += 1;
                if p == pattern.len() {
                    return true;
                }
                stars += 1;
                if stars > MAX_STARS {
                    return false;
                }
                retry = Some((p, s));
            } else if let Some(next) = match_one(pattern, p, string[s], nocase) {
                p = next;
                s += 1;
            } else {
                fits = false;
            }
        }
        if fits {
            if s == string.len() {
                while pattern.get(p) == Some(&b'*') {
                    p += 1;
                }
            }
            if p == pattern.len() && s == string.len() {
                return true;
            }
        }
        match retry {
            Some((after, at)) if at + 1 < string.len() => {
                (p, s) = (after, at + 1);
                retry = Some((after, at + 1));
            }
            _ => return false,
        }
    }
}

/// Matches one byte against the element of the pattern at `p`, which is not a star; gives the next element.
#[inline]
fn match_one(pattern: &[u8], p: usize, c: u8, nocase: bool) -> Option<usize> {
    let literal = |at: usize| if same(pattern[at], c, nocase) { Some(at + 1) } else { None };
    match pattern[p] {
        b'?' => Some(p + 1),
        b'[' => match_class(pattern, p + 1, c, nocase),
        b'\\' if p + 1 < pattern.len() => literal(p + 1),
        _ => literal(p),
    }
}

fn match_class(pattern: &[u8], mut p: usize, c: u8, nocase: bool) -> Option<usize> {
    let negated = pattern.get(p) == Some(&b'^');
    if negated {
        p += 1;
    }
    let mut hit = false;
    loop {
        match &pattern[p..] {
            [] => break,
            [b'\\', x, ..] => {
                hit |= *x == c;
                p += 2;
            }
            [b']', ..] => {
                p += 1;
                break;
            }
            [a, b'-', b, ..] => {
                hit |= in_range(*a, *b, c, nocase);
                p += 3;
            }
            [x, ..] => {
                hit |= same(*x, c, nocase);
                p += 1;
            }
        }
    }
    if hit != negated { Some(p) } else { None }
}

fn in_range(a: u8, b: u8, c: u8, nocase: bool) -> bool {
    let (mut lo, mut hi) = if a as i8 > b as i8 { (b, a) } else { (a, b) };
    let mut c = c;
    if nocase {
        (lo, hi, c) = (lo.to_ascii_lowercase(), hi.to_ascii_lowercase(), c.to_ascii_lowercase());
    }
    c as i8 >= lo as i8 && c as i8 <= hi as i8
}

#[inline]
fn same(a: u8, b: u8, nocase: bool) -> bool {
    a == b || (nocase && a.eq_ignore_ascii_case(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn m(p: &str, s: &str) -> bool {
        matches(p.as_bytes(), s.as_bytes(), false)
    }

    #[test]
    fn examples() {
        assert!(
            m("h?llo", "hello")
                && m("h*llo", "heeeello")
                && m("h[ae]llo", "hallo")
                && !m("h[ae]llo", "hillo")
        );
        assert!(m("h[^e]llo", "hallo") && !m("h[^e]llo", "hello") && m("h[a-b]llo", "hbllo"));
        assert!(m("a\\*c", "a*c") && !m("a\\*c", "abc") && m("[\\]]", "]") && m("\\", "\\"));
        assert!(m("", "") && !m("*", "") && !m("", "a") && m("a***", "a") && m("*a*", "xay"));
        assert!(m("[a", "a") && !m("[", "a") && m("[^", "a") && !m("[]", "]") && m("[z-a]", "m"));
        assert!(matches(b"HeLLo[A-C]", b"hEllOb", true) && !matches(b"[\\A]", b"a", true));
        assert!(matches(b"[\x7f-\x80]", b"a", false));
    }

    #[test]
    fn no_blow_up() {
        let p = "a*".repeat(900) + "b";
        assert!(!m(&p, &"a".repeat(20_000)));
        assert!(!m(&"*a".repeat(1001), &"a".repeat(1500)));
        assert!(m(&"*a".repeat(1000), &"a".repeat(1500)));
    }

    /// The definition by recursion.
    fn model(p: &[u8], s: &[u8]) -> bool {
        match (p, s) {
            ([b'*', rest @ ..], _) => (0..=s.len()).any(|i| model(rest, &s[i..])),
            ([b'?', rest @ ..], [_, t @ ..]) => model(rest, t),
            ([a, rest @ ..], [b, t @ ..]) => a == b && model(rest, t),
            ([], []) => true,
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn as_defined(p in "[ab*?]{0,9}", s in "[ab]{1,12}") {
            prop_assert_eq!(m(&p, &s), model(p.as_bytes(), s.as_bytes()));
        }

        #[test]
        fn survives_garbage(p in prop::collection::vec(prop_oneof![Just(b'['), Just(b'\\'), Just(b'-'), Just(b'*'), any::<u8>()], 0..20),
                            s in prop::collection::vec(any::<u8>(), 0..20)) {
            matches(&p, &s, true);
        }
    }
}
