//! The public test suite of Lua 5.1, which is not in the repository: `TOTALITY_LUA_SUITE=DIR` names a directory with its
//! files (`cargo xtask lua-suite DIR` does that). What cannot run in a sandbox is in `data/suite_excluded.tsv`, line by
//! line, with the reason. `TOTALITY_LUA_SUITE_TABLE=FILE` writes the results as a table.

mod support;

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;
use totality_lua::{
    Args, Chunk, CompileLimits, Flow, Host, HostFn, Inputs, Instrument, Limits, Reply, RunError, RunOptions,
    SandboxBuilder, ValueRef, Vm,
};

const FILES: [&str; 24] = [
    "all.lua",
    "api.lua",
    "attrib.lua",
    "big.lua",
    "calls.lua",
    "checktable.lua",
    "closure.lua",
    "code.lua",
    "constructs.lua",
    "db.lua",
    "errors.lua",
    "events.lua",
    "files.lua",
    "gc.lua",
    "literals.lua",
    "locals.lua",
    "main.lua",
    "math.lua",
    "nextvar.lua",
    "pm.lua",
    "sort.lua",
    "strings.lua",
    "vararg.lua",
    "verybig.lua",
];

/// Files that must run, whole or in part.
const RUNNING: usize = 18;

/// Lines that cannot run.
struct Excluded {
    file: String,
    first: usize,
    last: usize,
    word: String,
    why: String,
}

fn excluded() -> Vec<Excluded> {
    include_str!("data/suite_excluded.tsv")
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| {
            let f: Vec<&str> = l.split('\t').collect();
            let number = |i: usize| f[i].parse().expect("a line number");
            Excluded {
                file: f[0].into(),
                first: number(1),
                last: number(2),
                word: f[3].into(),
                why: f[4].into(),
            }
        })
        .collect()
}

/// What became of a file.
struct Verdict {
    file: &'static str,
    /// The error, when it did not pass
    failed: Option<String>,
    lines: usize,
    left_out: usize,
    why: Vec<String>,
}

impl Verdict {
    fn word(&self) -> &'static str {
        match (&self.failed, self.left_out == self.lines) {
            (Some(_), _) => "FAILED",
            (None, true) => "excluded",
            (None, false) => "passed",
        }
    }
}

struct Console;

impl Host for Console {
    /// `print`, whose output nobody reads.
    fn call(&mut self, _: HostFn, _: Args<'_>, _: &mut Reply) -> Flow {
        Flow::Return
    }
}

/// Blanks the lines that cannot run.
fn prepare(text: &[u8], rules: &[&Excluded]) -> (Vec<u8>, usize) {
    let mut lines: Vec<&[u8]> = text.split(|b| *b == b'\n').collect();
    let mut left_out = 0;
    for rule in rules {
        let first = String::from_utf8_lossy(lines.get(rule.first - 1).copied().unwrap_or_default());
        assert!(
            first.contains(&rule.word),
            "{}:{}: no '{}' here: is this the suite of 2008 for Lua 5.1?",
            rule.file,
            rule.first,
            rule.word
        );
        for line in &mut lines[rule.first - 1..rule.last] {
            *line = b"";
            left_out += 1;
        }
    }
    (lines.join(&b'\n'), left_out)
}

fn run(file: &str, text: &[u8], checktable: &[u8], instrument: Instrument) -> Result<(), String> {
    let sandbox = SandboxBuilder::unlocked().global_function("print", 1);
    let mut vm = Vm::new(&sandbox, Limits::default());
    let harness = include_bytes!("data/suite_harness.lua");
    let chunk = Chunk::compile(harness, "@harness", CompileLimits::default()).map_err(|e| e.to_string())?;
    let inputs = Inputs { keys: &[file.as_bytes()], argv: &[text, checktable] };
    match vm.run(&chunk, inputs, RunOptions { instrument }, &mut Console) {
        Ok(()) => Ok(()),
        Err(RunError::Raised) => Err(match vm.error() {
            ValueRef::Str(s) => String::from_utf8_lossy(s).into_owned(),
            other => format!("error value of type {}", other.type_name()),
        }),
        Err(other) => Err(other.to_string()),
    }
}

fn check(dir: &Path, file: &'static str, rules: &[Excluded]) -> Verdict {
    let read = |name: &str| std::fs::read(dir.join(name)).map_err(|e| format!("{name}: {e}"));
    let mut verdict = Verdict { file, failed: None, lines: 0, left_out: 0, why: Vec::new() };
    let rules: Vec<&Excluded> = rules.iter().filter(|r| r.file == file).collect();
    for rule in &rules {
        if !verdict.why.contains(&rule.why) {
            verdict.why.push(rule.why.clone());
        }
    }
    let done = || -> Result<(usize, usize), String> {
        let text = read(file)?;
        let lines = text.split(|b| *b == b'\n').count();
        if rules.iter().any(|r| r.last == 0) {
            return Ok((lines, lines));
        }
        let (text, left_out) = prepare(&text, &rules);
        let checktable = read("checktable.lua")?;
        let on = Instrument { lines: true, calls: true, ..Instrument::default() };
        for instrument in [Instrument::default(), on] {
            run(file, &text, &checktable, instrument)?;
        }
        Ok((lines, left_out))
    };
    match done() {
        Ok((lines, left_out)) => (verdict.lines, verdict.left_out) = (lines, left_out),
        Err(why) => verdict.failed = Some(why),
    }
    verdict
}

fn table(verdicts: &[Verdict]) -> String {
    let mut out = String::from("| file | result | lines | not run | why |\n|-|-|-:|-:|-|\n");
    for v in verdicts {
        let why = v.failed.clone().unwrap_or_else(|| v.why.join("; "));
        let _ = writeln!(out, "| {} | {} | {} | {} | {why} |", v.file, v.word(), v.lines, v.left_out);
    }
    let count = |word: &str| verdicts.iter().filter(|v| v.word() == word).count();
    let lines: usize = verdicts.iter().filter(|v| v.word() == "passed").map(|v| v.lines - v.left_out).sum();
    let _ = writeln!(
        out,
        "\n{} passed ({lines} lines), {} failed, {} excluded.",
        count("passed"),
        count("FAILED"),
        count("excluded")
    );
    out
}

#[test]
fn public_suite() {
    let test = "the public Lua 5.1 test suite";
    let Some(dir) = std::env::var_os("TOTALITY_LUA_SUITE") else {
        support::note_skip(test, "TOTALITY_LUA_SUITE names no directory with its files");
        return;
    };
    let rules = excluded();
    let verdicts: Vec<Verdict> = FILES
        .iter()
        .map(|file| {
            let began = Instant::now();
            let v = check(Path::new(&dir), file, &rules);
            println!("{:8} {:15} {:.1} s", v.word(), file, began.elapsed().as_secs_f64());
            v
        })
        .collect();
    let table = table(&verdicts);
    println!("{table}");
    if let Some(path) = std::env::var_os("TOTALITY_LUA_SUITE_TABLE") {
        let head = "# The public Lua 5.1 test suite\n\nWritten by `cargo xtask lua-suite DIR`, where DIR holds the suite's files. Each \
                    file runs twice: plainly and instrumented.\n\n";
        std::fs::write(path, format!("{head}{table}")).expect("the table can be written");
    }
    let passed = verdicts.iter().filter(|v| v.word() == "passed").count();
    support::count(test, passed);
    assert!(verdicts.iter().all(|v| v.failed.is_none()), "not all files pass");
    assert_eq!(passed, RUNNING, "files that ran");
}
