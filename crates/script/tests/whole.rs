//! Every script of the catalogue has everything: a model, a contract page with examples, cases, and a place in a parallel
//! test. The seeds' own scripts are left out: they are as they came, and the testkit runs them.

mod common;

use std::path::Path;

/// Is a script called there, by its name or by its typed call?
fn names(text: &str, script: &str) -> bool {
    let (family, short) = script.split_once('.').unwrap();
    let upper = |word: &str| word[..1].to_uppercase() + &word[1..];
    let call = short.split('_').map(upper).collect::<String>();
    text.contains(&format!("\"{script}\"")) || text.contains(&format!("{family}::{call} {{"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_script_has_everything() {
    let root = common::root();
    let tests = root.join("crates/script/tests");
    let models = ["models", "small_models", "lease_models", "limiter_models", "store_models"];
    let models: String = models.iter().map(|f| read(&tests.join(f).with_extension("rs"))).collect();
    let parallel = read(&tests.join("common/invariants.rs")) + &read(&tests.join("common/races.rs"));
    let mut missing = Vec::new();
    let mut n = 0;
    for (script, cases) in common::catalogue() {
        n += 1;
        let name = script.name();
        let mut must = |holds: bool, what: &str| {
            if !holds {
                missing.push(format!("{name}: {what}"));
            }
        };
        must(names(&models, name), "no model");
        must(names(&parallel, name), "no parallel test");
        must(cases.iter().any(|case| !case.steps.is_empty()), "no cases");
        let page = read(&root.join("docs/scripts").join(name.replace('.', "/")).with_extension("md"));
        must(
            page.contains("## Examples") && page.contains("\ncall") && page.contains("\n  → "),
            "no examples on its page",
        );
        let h = script.header();
        must(!h.codes.is_empty() && !h.keys.is_empty() && !h.summary.is_empty(), "no contract");
        let source = read(&root.join("scripts").join(name.replace('.', "/")).with_extension("lua"));
        must(
            ["@retry", "@clock", "@cost", "@slot same"]
                .iter()
                .all(|tag| source.contains(&format!("--- {tag}"))),
            "tags",
        );
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(n >= 82, "{n} scripts");
    common::count(n, "scripts with a model, examples, cases and a parallel test");
}
