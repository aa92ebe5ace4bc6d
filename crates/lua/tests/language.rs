//! Features of the language and their error texts, with the replies of a real server.

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

/// Shows the results of a protected call; the snippets were sent to the server in the same wrapper.
const SHOW: &str = "local function S(v) local t=type(v) if t=='table' then return 'table' elseif t=='function' then \
    return 'function' end return tostring(v) end local function P(ok,...) local o={} for i=1,select('#',...) do \
    o[i]=S((select(i,...))) end return (ok and 'OK:' or 'ERR:')..table.concat(o,'|') end ";

fn unescape(s: &str) -> String {
    s.replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace('\0', "\\")
}

fn escape(s: &[u8]) -> String {
    let mut out = String::new();
    for &b in s {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x20..=0x7E => out.push(b as char),
            _ => out.push_str(&format!("\\x{b:02x}")),
        }
    }
    out
}

fn run(vm: &mut Vm, snippet: &str) -> String {
    let source = format!("{SHOW}return P(pcall(function(...) {snippet}\nend))");
    let chunk = match Chunk::compile(source.as_bytes(), "@user_script", CompileLimits::default()) {
        Ok(c) => c,
        Err(e) => return format!("LOADERR:{}", escape(e.message())),
    };
    match vm.run(&chunk, Inputs::default(), RunOptions::default(), &mut NoHost) {
        Ok(()) => match vm.result(0) {
            ValueRef::Str(s) => escape(s),
            v => v.type_name().to_owned(),
        },
        Err(RunError::Raised) => "raised".to_owned(),
        Err(e) => e.to_string(),
    }
}

#[test]
fn language_snippets() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/language.tsv")).unwrap();
    for soft_bytes in [4 << 20, 0] {
        let mut vm = Vm::new(&SandboxBuilder::new(), Limits { soft_bytes, ..Limits::default() });
        let mut wrong = Vec::new();
        let mut n = 0;
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            let (snippet, want) = line.split_once('\t').unwrap();
            let got = run(&mut vm, &unescape(snippet));
            n += 1;
            if got != want {
                wrong.push(format!("{snippet}\n  want {want}\n  got  {got}"));
            }
        }
        assert!(n > 170, "only {n}");
        assert!(wrong.is_empty(), "{} of {n} differ:\n{}", wrong.len(), wrong.join("\n"));
    }
}
