//! Every script of the catalogue has everything: a model, a contract page with examples, cases, and a place in a parallel
//! test. The seeds' own scripts are left out: they are as they came, and the testkit runs them.

#[allow(unreachable_pub)]
#[path = "../examples/costs/calls.rs"]
mod calls;
mod common;

use std::path::Path;
use totality_script::{Rendering, Retry, catalogue};
use totality_testkit::client::Client;

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

/// The commands that a script ran since the last look, as `redis-server` counts them.
fn ran(client: &mut Client) -> usize {
    let stats = client.call(&["INFO", "commandstats"]).unwrap().text();
    client.call(&["CONFIG", "RESETSTAT"]).unwrap();
    let own = ["cmdstat_evalsha", "cmdstat_info", "cmdstat_config"];
    let lines = stats.lines().filter(|line| !own.iter().any(|name| line.starts_with(name)));
    lines.filter_map(|l| l.split_once("calls=")?.1.split(',').next()?.parse::<usize>().ok()).sum()
}

/// What the costs are measured by: each call succeeds, and runs no more commands than the header says.
#[test]
fn typical_calls_keep_to_their_cost() {
    let Some(place) = common::Place::redis("costs of scripts", &[]) else { return };
    let mut client = Client::connect(place.server.port()).unwrap();
    for script in catalogue::all() {
        client.call(&["SCRIPT", "LOAD", script.text(Rendering::Redis)]).unwrap();
    }
    ran(&mut client);
    let rows = calls::rows().unwrap();
    let mut send = |template: &calls::Template, i: usize| {
        let mut out = Vec::new();
        template.encode(i, &mut out);
        client.send_raw(&out).unwrap();
        let reply = client.read().unwrap().value;
        assert!(!reply.is_error(), "{:?}: {}", template.words, reply.text());
        (reply, ran(&mut client))
    };
    let mut wrong = Vec::new();
    for row in &rows {
        let script = catalogue::get(&row.name).unwrap();
        let most = script
            .header()
            .cost
            .split("max_commands=")
            .nth(1)
            .and_then(|n| n.split(' ').next()?.parse().ok());
        let most: usize = most.unwrap_or_else(|| panic!("{}: no max_commands", row.name));
        for i in 1..4 {
            row.before.iter().for_each(|template| drop(send(template, i)));
            let (reply, commands) = send(&row.call, i);
            assert!(reply.items()[0].int().unwrap() > 0, "{}: {reply:?}", row.name);
            if commands > most {
                wrong.push(format!("{}: {commands} commands, {most} said", row.name));
            }
        }
        send(&calls::Template { words: vec!["FLUSHALL".into()] }, 0);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let missing =
        catalogue::all().find(|s| !s.name().starts_with("seed.") && rows.iter().all(|r| r.name != s.name()));
    assert_eq!(missing.map(|s| s.name()), None, "calls.txt has no typical call");
}

/// What is stored, with its times to live.
fn stored(session: &mut totality::Session) -> Vec<(String, String, i64)> {
    let mut keys: Vec<String> = session.query(&["KEYS", "*"]).unwrap();
    keys.sort();
    let all = keys.into_iter().map(|key| {
        let dump = format!("{:?}", session.call(&["DUMP", &key]).unwrap());
        let left = session.query(&["PTTL", &key]).unwrap();
        (key, dump, left)
    });
    all.collect()
}

/// A call that a client repeats because it got no answer changes nothing the second time, where the header says that it may.
#[test]
fn what_may_be_repeated_is_done_once() {
    let (mut repeated, mut twice, mut effects, mut wrong) = (0, Vec::new(), 0, Vec::new());
    for row in &calls::rows().unwrap() {
        let script = catalogue::get(&row.name).unwrap();
        let clock = totality::ManualClock::new(1_800_000_000_000_000);
        let db = totality::Db::open(totality::Options::default().clock(clock.clone())).unwrap();
        let mut session = db.session().unwrap();
        for script in catalogue::all() {
            session.call(&["SCRIPT", "LOAD", script.text(Rendering::Redis)]).unwrap();
        }
        for i in 1..4 {
            row.before.iter().for_each(|template| drop(session.call(&template.filled(i)).unwrap()));
            let before = stored(&mut session);
            session.call(&row.call.filled(i)).unwrap();
            let once = stored(&mut session);
            effects += usize::from(before != once);
            session.call(&row.call.filled(i)).unwrap();
            let same = stored(&mut session) == once;
            if script.header().retry == Retry::Unsafe {
                twice.push((row.name.clone(), same));
            } else {
                repeated += 1;
                // A second block is another one: its numbers are unique all the same, as its page says.
                if !same && row.name != "id.block" {
                    wrong.push(format!("{}, call {i}", row.name));
                }
            }
            clock.advance_ms(10);
        }
    }
    assert!(wrong.is_empty(), "done twice: {wrong:#?}");
    assert!(repeated > 100 && effects > 150, "{repeated} {effects}");
    // The test would see it: most of the others do more the second time.
    let changed = twice.iter().filter(|(_, same)| !same).count();
    assert!(changed * 2 > twice.len(), "{twice:?}");
    common::count(repeated, "calls repeated without a second effect");
}
