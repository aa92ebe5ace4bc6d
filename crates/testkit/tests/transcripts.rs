//! Every transcript in the documentation of a command, in every way that the command can be reached.

use std::collections::BTreeMap;
use totality::{Db, Options};
use totality_engine::commands::resolve_any_arity;
use totality_engine::spec::Flags;
use totality_testkit::client::Command;
use totality_testkit::server::{Server, oracle_or_skip};
use totality_testkit::transcript::run::{self, Target, Way};
use totality_testkit::transcript::{Block, blocks};
use totality_testkit::{count, sources};

fn all_blocks() -> Vec<Block> {
    let read = |path: &std::path::PathBuf| {
        let source = sources::read(path);
        blocks(sources::short(path).as_ref(), &source).unwrap_or_else(|e| panic!("{e}"))
    };
    sources::files("crates/engine/src/commands", "rs").iter().flat_map(read).collect()
}

fn flags(command: &Command) -> Flags {
    let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
    resolve_any_arity(&words).map_or(Flags::empty(), |c| c.spec.flags)
}

/// Why a block cannot go a way: what it says itself, else what the table says of its commands.
fn reason(block: &Block, way: Way) -> Option<String> {
    if let Some((_, why)) = block.not.iter().find(|(w, _)| w == way.name()) {
        return Some(why.clone());
    }
    let banned = match way {
        Way::Multi => Flags::NO_MULTI.union(Flags::IMMEDIATE),
        Way::Script => Flags::NOSCRIPT.union(Flags::IMMEDIATE),
        _ => return None,
    };
    let hit = block.steps.iter().find(|s| flags(&s.command).intersects(banned))?;
    Some(format!("{} is not allowed there", String::from_utf8_lossy(&hit.command[0]).to_ascii_uppercase()))
}

fn run_all(way: Way, target: &mut dyn Target) {
    let blocks = all_blocks();
    let (mut passed, mut failed) = (0, Vec::new());
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    for block in &blocks {
        if let Some(why) = reason(block, way) {
            *left_out.entry(why).or_default() += 1;
            continue;
        }
        match run::block(block, way, target) {
            Ok(()) => passed += 1,
            Err(why) => failed.push(why),
        }
        // What a failed block left open must not spoil the next.
        for line in ["DISCARD", "RESET"] {
            let _ = target.call(&vec![line.as_bytes().to_vec()]);
        }
        if way == Way::Resp3 {
            let _ = target.call(&vec![b"HELLO".to_vec(), b"3".to_vec()]);
        }
    }
    for (why, n) in left_out {
        println!("{}: {n} transcripts do not run this way: {why}", way.name());
    }
    count(&format!("transcripts {}", way.name()), passed);
    assert!(failed.is_empty(), "{} of {} failed:\n{}", failed.len(), blocks.len(), failed.join("\n"));
    assert!(passed > 0, "no transcript ran");
}

#[test]
fn embedded() {
    let db = Db::open(Options::default()).unwrap();
    run_all(Way::Embedded, &mut db.session().unwrap());
}

#[test]
fn resp2() {
    let server = Server::totality(&[]).unwrap();
    run_all(Way::Resp2, &mut server.client());
}

#[test]
fn resp3() {
    let server = Server::totality(&[]).unwrap();
    run_all(Way::Resp3, &mut server.client_with(3));
}

#[test]
fn multi() {
    let server = Server::totality(&[]).unwrap();
    run_all(Way::Multi, &mut server.client());
}

#[test]
fn script() {
    let server = Server::totality(&[]).unwrap();
    run_all(Way::Script, &mut server.client());
}

#[test]
fn oracle() {
    let Some(server) = oracle_or_skip("transcripts oracle") else { return };
    run_all(Way::Oracle, &mut server.client());
}

#[test]
fn every_command_has_a_transcript() {
    let without: Vec<String> = sources::files("crates/engine/src/commands", "rs")
        .iter()
        .filter(|p| {
            let text = sources::read(p);
            let excused = text.lines().any(|l| l.starts_with("//! No transcript: "));
            text.contains("pub const SPEC") && !text.contains("```transcript") && !excused
        })
        .map(|p| sources::short(p))
        .collect();
    assert!(without.is_empty(), "without a transcript: {}", without.join(" "));
}
