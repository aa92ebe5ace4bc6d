use super::super::push_f64;
use super::*;
use proptest::prelude::*;

fn add(a: &str, b: &str) -> String {
    match add_float_str(a.as_bytes(), b.as_bytes()) {
        Ok(v) => String::from_utf8(v).unwrap(),
        Err(e) => format!("{e:?}"),
    }
}

fn show(v: f64) -> String {
    let mut out = Vec::new();
    push_f64(&mut out, v);
    String::from_utf8(out).unwrap()
}

#[test]
fn sums_as_redis() {
    assert_eq!(add("3.0e3", "200"), "3200");
    assert_eq!(add("10.50", "0.1"), "10.6");
    assert_eq!(add("0.1", "0.2"), "0.3");
    assert_eq!(add("0", "1e-17"), "0.00000000000000001");
    assert_eq!(add("0", "-1e-18"), "0");
    assert_eq!(add("17179869184", "0.000001"), "17179869184.00000100024044514");
    assert_eq!(add("1", "1e-4900"), "1");
    assert_eq!(add("0x10", "1"), "17");
    assert_eq!(add("1e4930", "-1e4930"), "0");
    assert_eq!(add("1.7976931348623157e308", "0").len(), 309);
    for bad in ["", " 1", "1 ", "abc", "1e", "nan", "1e5000", "1e-5000", "0x", "1.2.3", "--1", "+", "."] {
        assert_eq!(add(bad, "1"), "Invalid", "{bad}");
    }
    assert_eq!(add("inf", "1"), "NotFinite");
    assert_eq!(add("1e4932", "1e4932"), "NotFinite");
    assert_eq!(add("-inf", "inf"), "NotFinite");
}

#[test]
fn doubles_as_redis() {
    for (v, s) in [
        (3.0, "3"),
        (1e20, "1e+20"),
        (12345678912345678e3, "12345678912345678000"),
        (1e21, "1e+21"),
        (0.1 + 0.2, "0.30000000000000004"),
        (f64::NEG_INFINITY, "-inf"),
        (-0.0, "-0"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (-123.456, "-123.456"),
        (4611686018427387904.0, "4611686018427387904"),
    ] {
        assert_eq!(show(v), s);
    }
}

#[test]
fn reads_doubles() {
    for (s, v) in [
        ("1.5", Some(1.5)),
        ("0x1p3", Some(8.0)),
        ("-INF", Some(f64::NEG_INFINITY)),
        ("1e400", None),
        ("1e-400", None),
        ("0e-999", Some(0.0)),
        (" 1", None),
        ("nan", None),
        ("1e", None),
        ("+.5", Some(0.5)),
        ("5.", Some(5.0)),
        ("0x1.8", Some(1.5)),
        ("0x1p-1074", Some(5e-324)),
        ("0x1p-1076", None),
        ("01", Some(1.0)),
        ("", None),
        ("infinity", Some(f64::INFINITY)),
        ("0x.8p1", Some(1.0)),
        ("-", None),
        ("4.9e-324", Some(5e-324)),
    ] {
        assert_eq!(parse_f64(s.as_bytes()), v, "{s}");
    }
    for (s, v) in [
        ("", Some(0.0)),
        (" 1", Some(1.0)),
        ("1 ", None),
        ("1e999", Some(f64::INFINITY)),
        ("nan", None),
        ("1e-999", Some(0.0)),
    ] {
        assert_eq!(parse_f64_loose(s.as_bytes()), v, "{s}");
    }
}

#[test]
fn order_of_values() {
    let f = |s: &str| F80::parse(s.as_bytes()).unwrap();
    let rising =
        ["-inf", "-1e4000", "-2", "-1.5", "-1e-4000", "0", "1e-4000", "1.5", "2", "3", "1e4000", "inf"];
    for (i, a) in rising.iter().enumerate() {
        for (j, b) in rising.iter().enumerate() {
            assert_eq!(f(a).order(f(b)), i.cmp(&j), "{a} {b}");
        }
    }
    assert_eq!(f("-0").order(f("0")), std::cmp::Ordering::Equal);
    assert_eq!(F80::MAX.order(f("inf")), std::cmp::Ordering::Less);
    assert_eq!(F80::MAX.plus(F80::MAX), Some(f("inf")));
    assert_eq!((-f("1.5")).plus(f("1.5")), Some(F80::ZERO));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn printing_reads_back(bits in any::<u64>()) {
        let v = f64::from_bits(bits);
        if v.is_finite() {
            prop_assert_eq!(show(v).parse::<f64>().unwrap(), v);
            prop_assert_eq!(parse_f64(show(v).as_bytes()), Some(v));
            prop_assert_eq!(parse_f64_loose(show(v).as_bytes()), Some(v));
        }
    }

    #[test]
    fn own_reader_as_std(s in "-?[0-9]{1,30}(\\.[0-9]{1,40})?(e[-+]?[0-9]{1,3})?") {
        let std: f64 = s.parse().unwrap();
        prop_assert_eq!(parse_f64_loose(s.as_bytes()).unwrap().to_bits(), std.to_bits());
    }

    #[test]
    fn addition_is_exact_on_integers(a in -1i64 << 61..1 << 61, b in -1i64 << 61..1 << 61) {
        prop_assert_eq!(add(&a.to_string(), &b.to_string()), (a + b).to_string());
    }

    #[test]
    fn survives_garbage(s in prop::collection::vec(prop_oneof![b'0'..=b'9', Just(b'.'), Just(b'e'), Just(b'-'), Just(b'x'), Just(b'p'), any::<u8>()], 0..30)) {
        let _ = parse_f64(&s);
        let _ = parse_f64_loose(&s);
        if let Some(f) = F80::parse(&s) { f.push(&mut Vec::new()); }
    }
}
