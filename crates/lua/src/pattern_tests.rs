use super::*;

/// `string.find` with captures, as text: `2,3:cap|@5`; fuel is given out in small portions to exercise resuming.
fn find_fuel(src: &str, pat: &str, fuel: u32) -> String {
    let (src, pat) = (src.as_bytes(), effective(pat.as_bytes()));
    let mut search = Search::new(pat, 0, true);
    let found = loop {
        search.refuel(fuel);
        match search.run(src, pat) {
            Ok(Found::Pause) => {}
            Ok(found) => break found,
            Err(e) => return format!("!{e}"),
        }
    };
    let Found::At(start, end) = found else { return "nil".into() };
    let mut out = format!("{},{}", start + 1, end);
    for i in 0..search.matcher().captures() {
        out.push(if i == 0 { ':' } else { '|' });
        match search.matcher().capture(i, (start, end)) {
            Ok(Captured::Range(a, b)) => out.push_str(&String::from_utf8_lossy(&src[a..b])),
            Ok(Captured::Position(p)) => out.push_str(&format!("@{p}")),
            Err(e) => return format!("!{e}"),
        }
    }
    out
}

fn find(src: &str, pat: &str) -> String {
    let whole = find_fuel(src, pat, 1_000_000);
    for fuel in [1, 2, 3, 7] {
        assert_eq!(find_fuel(src, pat, fuel), whole, "{src:?} {pat:?} with {fuel} steps at a time");
    }
    whole
}

#[test]
fn items_and_repetitions() {
    for (src, pat, want) in [
        ("hello", "l", "3,3"),
        ("hello", "l+", "3,4"),
        ("hello", "l*", "1,0"),
        ("hello", "xl*", "nil"),
        ("hello", "h.-o", "1,5"),
        ("hello", ".*l", "1,4"),
        ("hello", ".-l", "1,3"),
        ("hello", "^ell", "nil"),
        ("hello", "^hel", "1,3"),
        ("hello", "lo$", "4,5"),
        ("hel$o", "l$o", "3,5"),
        ("hello", "$", "6,5"),
        ("", "", "1,0"),
        ("", "^$", "1,0"),
        ("", "a", "nil"),
        ("", ".", "nil"),
        ("colour color", "colou?r$", "8,12"),
        ("aaa", "a?a?a?a?", "1,3"),
        ("aaab", "a*ab", "1,4"),
        ("aaab", "a-b", "1,4"),
        ("xaaab", "a-b", "2,5"),
        ("a^b", "a^b", "1,3"),
        ("a.b", "a%.b", "1,3"),
        ("axb", "a%.b", "nil"),
        ("THE (quick) fox", "%((%a+)%)", "5,11:quick"),
        ("key = value", "^(%w+)%s*=%s*(%w+)$", "1,11:key|value"),
        ("a\0b", "%z", "2,2"),
        ("a\0b", "%Z+", "1,1"),
    ] {
        assert_eq!(find(src, pat), want, "{src:?} {pat:?}");
    }
}

#[test]
fn classes_and_sets() {
    for (src, pat, want) in [
        ("abc123", "%d+", "4,6"),
        ("abc123", "%D+", "1,3"),
        ("ab_1 ", "[%w_]+", "1,4"),
        ("abc", "[a-b]+", "1,2"),
        ("abc", "[^a-b]", "3,3"),
        ("a-b", "[a-]+", "1,2"),
        ("a-b", "[-a]+", "1,2"),
        ("a]b", "[]]", "2,2"),
        ("a]b", "[^]]+", "1,1"),
        ("a^b", "[b^]", "2,2"),
        ("a%b", "[%%]", "2,2"),
        ("a]b", "[%]]", "2,2"),
        ("x-z", "[%w-z]+", "1,3"),
        ("a.b", "[.]", "2,2"),
        ("\u{e9}", "%a", "nil"),
        ("\u{e9}", "%W+", "1,2"),
        ("tab\there", "%c", "4,4"),
        ("a,b", "%p", "2,2"),
        ("xFFg", "%x+", "2,3"),
        ("aB", "%u%l-$", "2,2"),
        ("0123456789abcdef0123456789ABCDEFx", "[%x]+", "1,32"),
        ("a%b", "a[%a%%]b", "1,3"),
        ("a", "%g", "nil"),
        ("g", "%g", "1,1"),
        ("\x7f", "%c", "1,1"),
        ("\x0b", "%s", "1,1"),
    ] {
        assert_eq!(find(src, pat), want, "{src:?} {pat:?}");
    }
}

#[test]
fn captures_balance_and_frontier() {
    for (src, pat, want) in [
        ("hello", "()ll()", "3,4:@3|@5"),
        ("hello", "((h)(e))llo", "1,5:he|h|e"),
        ("hello", "(l)(l)", "3,4:l|l"),
        ("hello", "(l)%1", "3,4:l"),
        ("abab", "(ab)%1", "1,4:ab"),
        ("abc", "(a)%1", "nil"),
        ("aa", "()%1", "nil"),
        ("\"it's\"", "([\"'])(.-)%1", "1,6:\"|it's"),
        ("f(a(b)c)d", "%b()", "2,8"),
        ("f(a(b)c", "%b()", "4,6"),
        ("f((((", "%b()", "nil"),
        ("xaxbx", "%bxx", "1,3"),
        ("THE (quick) fox", "%f[%a]%a+", "1,3"),
        ("THE (quick) fox", "%f[%l]%l+", "6,10"),
        ("abc", "%f[%z]", "4,3"),
        ("abc", "c%f[^%w]", "3,3"),
        ("foo.bar", "^(.-)%.(.*)$", "1,7:foo|bar"),
        ("aaa", "(a*(.)%w(%s*))", "1,3:aaa|a|"),
        ("abc", "(a)(b)?c", "nil"),
        ("ab?c", "(a)(b)?c", "1,4:a|b"),
        ("aXb", "(.-)(%u)", "1,2:a|X"),
        ("(a", "(%()a", "1,2:("),
    ] {
        assert_eq!(find(src, pat), want, "{src:?} {pat:?}");
    }
}

#[test]
fn errors() {
    for (src, pat, want) in [
        ("a", "%", "!malformed pattern (ends with '%')"),
        ("a", "a%", "!malformed pattern (ends with '%')"),
        ("b", "a%", "nil"),
        ("a", "[a", "!malformed pattern (missing ']')"),
        ("a", "[]", "!malformed pattern (missing ']')"),
        ("a", "[^]", "!malformed pattern (missing ']')"),
        ("a", "[a%]", "!malformed pattern (missing ']')"),
        ("a", "[a%", "!malformed pattern (missing ']')"),
        ("a", "[", "!malformed pattern (missing ']')"),
        ("a", "[\0]", "!malformed pattern (missing ']')"),
        ("a", "(a", "!unfinished capture"),
        ("a", "a)", "!invalid pattern capture"),
        ("a", "(a))", "!invalid pattern capture"),
        ("a", "%1", "!invalid capture index"),
        ("a", "(%1)", "!invalid capture index"),
        ("a", "(a)%2", "!invalid capture index"),
        ("a", "%0", "!invalid capture index"),
        ("a", "%b", "!unbalanced pattern"),
        ("a", "%ba", "!unbalanced pattern"),
        ("a", "%f", "!missing '[' after '%f' in pattern"),
        ("a", "%fa", "!missing '[' after '%f' in pattern"),
        ("a", "%f[a", "!malformed pattern (missing ']')"),
        ("", "%f[a", "!malformed pattern (missing ']')"),
        ("b", "a[", "nil"),
        ("b", "a(", "nil"),
    ] {
        assert_eq!(find(src, pat), want, "{src:?} {pat:?}");
    }
    assert_eq!(find("a", &"()".repeat(33)), "!too many captures");
    assert!(find("a", &"()".repeat(32)).starts_with("1,0:@1|"));
}

#[test]
fn zero_byte_ends_a_pattern() {
    assert_eq!(find("abc", "b\0zzz("), "2,2");
    assert!(is_plain(b"a\0."));
    assert!(!is_plain(b"a.\0"));
}

#[test]
fn depth_is_bounded_without_recursion() {
    let deep = 50_000;
    assert_eq!(find_fuel(&"a".repeat(deep), &"a?".repeat(deep), 1000), format!("1,{deep}"));
    assert_eq!(find_fuel("a", &"a-".repeat(200_001), 1000), "!pattern too complex");
}

#[test]
fn exponential_patterns_pause() {
    let src = "a".repeat(40);
    let pat = format!("{}b", "a-".repeat(30));
    let mut search = Search::new(pat.as_bytes(), 0, true);
    for _ in 0..1000 {
        search.refuel(1000);
        assert_eq!(search.run(src.as_bytes(), pat.as_bytes()), Ok(Found::Pause));
    }
}

#[test]
fn long_runs_pause() {
    let src = "x".repeat(1_000_000);
    for (src, pat) in
        [(src.clone(), ".*y"), (src.clone(), "a*y"), (format!("({src}"), "%b()"), (src.clone(), "y")]
    {
        let mut search = Search::new(pat.as_bytes(), 0, true);
        let mut pauses = 0;
        for _ in 0..5 {
            search.refuel(1000);
            if search.run(src.as_bytes(), pat.as_bytes()) == Ok(Found::Pause) {
                pauses += 1;
            }
        }
        assert_eq!(pauses, 5, "{pat}");
    }
}

#[test]
fn long_sets_count_as_steps() {
    let src = "a".repeat(100_000);
    let set = format!("[{}]", "b".repeat(100_000));
    for pat in [
        set.clone(),
        format!("{set}+"),
        format!("a-{set}"),
        format!("{set}-c"),
        format!("%f{set}"),
        format!(".-{set}?c"),
    ] {
        let mut search = Search::new(pat.as_bytes(), 0, true);
        for _ in 0..20 {
            search.refuel(1000);
            assert_eq!(search.run(src.as_bytes(), pat.as_bytes()), Ok(Found::Pause), "{}", &pat[..8]);
            // At most a few thousand of a set's bytes are read between two pauses, and never many sets.
            assert!(search.at() < 20 * 2, "{} read to {}", &pat[..8], search.at());
        }
    }
}

#[test]
fn sets_read_once_hold_the_same() {
    for set in [
        "[a-cx%d]",
        "[^%s%p]",
        "[]-a]",
        "[a-]",
        "[%a-z]",
        "[^^]",
        "[%]x]",
        "[z-a%w]",
        "[a%-z]",
        "[]]",
        "[^]a]",
        "[\u{1}-\u{7f}]",
    ] {
        let pat = set.as_bytes();
        let table = set_table(pat, 0, pat.len() - 1);
        for c in 0..=255u8 {
            assert_eq!(table[usize::from(c)], in_set(c, pat, 0, pat.len() - 1), "{set} {c}");
        }
    }
}

#[test]
fn gmatch_walks_over_empty_matches() {
    let (src, pat) = (b"abc", b"%w*");
    let mut search = Search::new(pat, 0, false);
    let mut found = Vec::new();
    loop {
        search.refuel(1000);
        match search.run(src, pat).unwrap() {
            Found::At(a, b) => {
                found.push((a, b));
                search.restart(if a == b { b + 1 } else { b });
            }
            Found::Nowhere => break,
            Found::Pause => {}
        }
    }
    assert_eq!(found, [(0, 3), (3, 3)]);
}

#[test]
fn plain_search() {
    let find = |hay: &[u8], needle: &[u8], mut from: usize| {
        let mut calls = 0;
        loop {
            calls += 1;
            match find_plain(hay, needle, from) {
                Ok(hit) => return (hit, calls),
                Err(next) => from = next,
            }
        }
    };
    assert_eq!(find(b"hello", b"l", 0), (Some(2), 1));
    assert_eq!(find(b"hello", b"lo", 0), (Some(3), 1));
    assert_eq!(find(b"hello", b"lx", 0), (None, 1));
    assert_eq!(find(b"hello", b"", 5), (Some(5), 1));
    assert_eq!(find(b"hello", b"hello!", 0), (None, 1));
    assert_eq!(find(b"hello", b"h", 1), (None, 1));
    let mut long = vec![b'a'; 300_000];
    long.extend(b"needle");
    assert_eq!(find(&long, b"needle", 0).0, Some(300_000));
    assert!(find(&long, b"needles", 0).1 > 3);
    assert!(find(&long, b"z", 0).1 > 3);
    let big = long[100_000..].to_vec();
    assert_eq!(find(&long, &big, 0).0, Some(100_000));
}

/// Start positions that cannot match are left out; `lua5.1` gave these answers.
#[test]
fn first_items() {
    for (src, pat, want) in [
        ("hello world", "(o) w", "5,7:o"),
        ("hello", "((l)(l))", "3,4:ll|l|l"),
        ("ab  12", "(%d+)", "5,6:12"),
        ("ab  12", "%d", "5,5"),
        ("abc", "%d", "nil"),
        ("a.b", "%.", "2,2"),
        ("a.b", "(%.)b", "2,3:."),
        ("ab", "%u", "nil"),
        ("ab", "%U+", "1,2"),
        ("  x", "%S", "3,3"),
        ("abc", "%a?c", "2,3"),
        ("abc", "(%a*)c", "1,3:ab"),
        ("abc", "(()b)", "2,2:b|@2"),
        ("abc", "()(c)", "3,3:@3|c"),
        ("aab", "%z", "nil"),
        ("abc", "(((((((((b)))))))))", "2,2:b|b|b|b|b|b|b|b|b"),
        ("abc", "(b", "!unfinished capture"),
        ("axc", "(b", "nil"),
        ("abc", "%bxy", "nil"),
        ("k=v;", "(%w+)=(%w+);", "1,4:k|v"),
        ("--k=v;", "(%w+)=(%w+);", "3,6:k|v"),
        ("ab", "(%", "!malformed pattern (ends with '%')"),
        ("x(y)", "%((%a)%)", "2,4:y"),
    ] {
        assert_eq!(find(src, pat), want, "{src:?} {pat:?}");
    }
}

#[test]
fn rows_of_one_kind() {
    for (src, pat, want) in [
        ("  hello world", "%w+", "3,7"),
        ("  hello world", "(%w+)", "3,7:hello"),
        ("a,b", "[^,]+", "1,1"),
        (",,b", "([^,]+)", "3,3:b"),
        (",,", "[^,]+", "nil"),
        ("", ".+", "nil"),
        ("abc", ".+", "1,3"),
        ("xaab", "a+", "2,3"),
        ("a%%b", "%%+", "2,3"),
        ("a]]b", "[]]+", "2,3"),
        ("a^^b", "%^+", "2,3"),
        ("x++", "++", "2,3"),
        ("(())", "%(+", "1,2"),
        ("a b", "(%s+)", "2,2: "),
        ("hello", "%z+", "nil"),
        ("f1", "%d+", "2,2"),
        ("aXb", "%l+", "1,1"),
        ("12ab", "%D+", "3,4"),
        ("(a+)", "(a+)", "2,2:a"),
        ("aa", "(a+", "!unfinished capture"),
        ("aa", "[a+", "!malformed pattern (missing ']')"),
        ("aa", "a+)", "!invalid pattern capture"),
    ] {
        assert_eq!(find(src, pat), want, "{src:?} {pat:?}");
    }
}

#[test]
fn rows_up_to_a_character() {
    // The same without the short way: a set of one character is no ordinary one.
    for item in ["[^,]", "%w", "a", "[ab]", "%a", "[^,;]"] {
        for (with, plain) in [
            (format!("({item}+),"), format!("({item}+)[,]")),
            (format!("{item}+,"), format!("{item}+[,]")),
            (format!("({item}+);"), format!("({item}+)[;]")),
            (format!("{item}+b"), format!("{item}+[b]")),
        ] {
            for text in
                ["", ",", "a", "a,", "ab,b;a", ",,a;;b,", "a;b;ab", "b,;a,", "aab", "ba;,", "ab,ab,ab,,a"]
            {
                assert_eq!(find(text, &with), find(text, &plain), "{text:?} {with:?}");
            }
        }
    }
    for n in [4095, 4096, 4097, 9000] {
        let row = "a".repeat(n);
        let at = |text: &str, pat: &str| find_fuel(text, pat, 500);
        assert_eq!(at(&format!("{row},"), "[^,]+,"), format!("1,{}", n + 1));
        assert_eq!(at(&format!(",{row},"), "([^,]+),"), format!("2,{}:{row}", n + 2));
        assert_eq!(at(&format!("b{row};b,"), "(b),"), format!("{},{}:b", n + 3, n + 4));
    }
}

#[test]
fn long_rows_end_where_they_end() {
    for n in [4095, 4096, 4097, 9000, 20_000] {
        for (pat, c) in [("%a+", 'a'), ("[^,]+", 'a'), (".+", 'a'), ("a+", 'a')] {
            let row: String = std::iter::repeat_n(c, n).collect();
            assert_eq!(find_fuel(&row, pat, 500), format!("1,{n}"), "{pat} {n}");
            if pat != ".+" {
                let before: String = std::iter::repeat_n(',', n).collect();
                let text = format!("{before}{row},");
                assert_eq!(find_fuel(&text, pat, 500), format!("{},{}", n + 1, 2 * n), "{pat} {n}");
            }
        }
        let commas: String = std::iter::repeat_n(',', n).collect();
        assert_eq!(find_fuel(&commas, "[^,]+", 500), "nil");
    }
}

#[test]
fn texts_of_ordinary_characters() {
    for (src, pat, want) in [
        ("a b c", " ", "2,2"),
        ("hello hello", "lo h", "4,7"),
        ("aaab", "aab", "2,4"),
        ("aaa", "aab", "nil"),
        ("aa", "aab", "nil"),
        ("", "a", "nil"),
        ("a]b", "]", "2,2"),
        ("a)b", "a)", "!invalid pattern capture"),
        ("xx)", "a)", "nil"),
    ] {
        assert_eq!(find(src, pat), want, "{src:?} {pat:?}");
    }
    let long = "ab".repeat(5000);
    assert_eq!(find_fuel(&long, "aa", 100), "nil");
    assert_eq!(find_fuel(&format!("{long}aa"), "aa", 100), "10001,10002");
}
