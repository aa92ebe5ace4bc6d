//! Every snippet of the compatibility table gives Redis 8's reply, byte for byte.

use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Limits, Reply, RunError, RunOptions,
    SandboxBuilder, ValueRef, Vm,
};

struct NoHost;

impl Host for NoHost {
    fn call(&mut self, _id: HostFn, _args: Args<'_>, _reply: &mut Reply) -> Flow {
        Flow::Return
    }
}

fn unescape(s: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut it = s.bytes().peekable();
    while let Some(b) = it.next() {
        if b != b'\\' {
            out.push(b);
            continue;
        }
        match it.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    out
}

/// As the table writes replies: Python's escapes.
fn escape(s: &[u8]) -> String {
    let mut out = String::new();
    for &b in s {
        match b {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\\""),
            b'\'' => out.push_str("\\'"),
            0x20..=0x7E => out.push(b as char),
            _ => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out
}

fn show(v: ValueRef<'_>) -> String {
    match v {
        ValueRef::Nil | ValueRef::Bool(false) => "(nil)".into(),
        ValueRef::Bool(true) => "1".into(),
        ValueRef::Number(n) => format!("{}", n as i64),
        ValueRef::Str(s) => escape(s),
        other => format!("<{}>", other.type_name()),
    }
}

fn run(vm: &mut Vm, source: &[u8]) -> String {
    let chunk = match Chunk::compile(source, "@user_script", CompileLimits::default()) {
        Ok(c) => c,
        Err(e) => return format!("LOADERR:{}", escape(e.message())),
    };
    match vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost) {
        Ok(()) => show(vm.result(0)),
        Err(RunError::Raised) => match vm.error() {
            ValueRef::Str(s) => format!("-ERR {}", escape(s)),
            v => format!("-{}", show(v)),
        },
        Err(e) => format!("-{e}"),
    }
}

/// Addresses are free.
fn mask(s: &str) -> String {
    let mut out = String::new();
    let mut rest = s;
    while let Some(i) = rest.find("0x") {
        out.push_str(&rest[..i]);
        let digits = rest[i + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(if digits >= 6 { "ADDR" } else { &rest[i..i + 2 + digits] });
        rest = &rest[i + 2 + digits..];
    }
    out.push_str(rest);
    out
}

#[test]
fn compat_table() {
    check(Limits::default());
}

/// The same while everything unreachable is freed at every chance.
#[test]
fn compat_table_with_an_eager_collector() {
    check(Limits { soft_bytes: 0, ..Limits::default() });
}

fn check(limits: Limits) {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/compat.tsv")).unwrap();
    let mut vm = Vm::new(&SandboxBuilder::new(), limits);
    let mut wrong = Vec::new();
    let mut n = 0;
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let cols: Vec<&str> = line.split('\t').collect();
        // One generator serves all scripts of a server; each row was taken from a fresh one.
        vm.reset_random();
        let got = run(&mut vm, &unescape(cols[1]));
        n += 1;
        if mask(&got) != mask(cols[2]) {
            wrong.push(format!("{}: {}\n  want {}\n  got  {}", cols[0], cols[1], cols[2], got));
        }
    }
    assert!(n > 140, "only {n} rows");
    assert!(wrong.is_empty(), "{} of {n} differ:\n{}", wrong.len(), wrong.join("\n"));
}
