//! Keeps the snippets under `tests/corpus` true: all replies in them come from running servers.
//!
//! ```text
//! cargo run -p totality-lua --example corpus -- refresh              # ask the servers for every reply again
//! cargo run -p totality-lua --example corpus -- add string < FILE    # one snippet a line (⏎ for a line end), new ones are appended
//! cargo run -p totality-lua --example corpus -- generate             # write arguments.tsv (wrong arguments everywhere),
//!                                                               # mechanisms.tsv and calls.tsv (made from seeds)
//! ```
//! `TOTALITY_REDIS8` names a `redis-server` of version 8 and `TOTALITY_ORACLE` one of 7.0 (else the one in `PATH`).

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::HashSet;
use std::io::{Error, Read, Result};
use support::Row;
use support::redis::Redis;
use support::rng::Rng;
use support::{mechanisms, random};

const HEAD: &str = "# id\tsnippet (in the wrapper of tests/support; \\n \\t \\\\ \\xHH escaped)\treply of Redis 8\tof Redis 7.0 where it differs\n\
                    # Written by examples/corpus.rs from the replies of running servers.\n";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let new = std::env::var("TOTALITY_REDIS8").map_err(|_| Error::other("TOTALITY_REDIS8 is not set"))?;
    let mut servers = Servers { new: Redis::start(&new)?, old: Redis::oracle()? };
    match args.as_slice() {
        ["refresh"] => {
            for entry in std::fs::read_dir(support::corpus_dir())? {
                let path = entry?.path();
                if path.extension().is_some_and(|e| e == "tsv")
                    && path.file_stem().is_some_and(|s| s != "compat")
                {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    let bodies = support::parse_corpus(&std::fs::read_to_string(&path)?);
                    servers.write(&name, bodies.into_iter().map(|r| r.body).collect())?;
                }
            }
            Ok(())
        }
        ["add", name] => {
            let path = support::corpus_dir().join(format!("{name}.tsv"));
            let had = std::fs::read_to_string(path).unwrap_or_default();
            let mut bodies: Vec<String> = support::parse_corpus(&had).into_iter().map(|r| r.body).collect();
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            bodies.extend(text.lines().filter(|l| !l.is_empty()).map(|l| l.replace('⏎', "\n")));
            servers.write(name, bodies)
        }
        ["generate"] => {
            servers.write("arguments", support::generate::wrong_arguments())?;
            servers.write("mechanisms", chosen(300, |seed| mechanisms::statements(seed, true).join("\n")))?;
            servers.write("calls", chosen(1000, |seed| random::call(&mut Rng::new(seed), true)))
        }
        _ => Err(Error::other("say refresh, add NAME or generate")),
    }
}

/// Snippets of the first seeds, as far as they are short.
fn chosen(seeds: u64, make: impl Fn(u64) -> String) -> Vec<String> {
    (1..=seeds).map(make).filter(|body| body.len() < 1500).collect()
}

struct Servers {
    new: Redis,
    old: Redis,
}

impl Servers {
    fn write(&mut self, name: &str, mut bodies: Vec<String>) -> Result<()> {
        let mut seen = HashSet::new();
        bodies.retain(|b| seen.insert(b.clone()));
        let new = support::eval_all(&mut self.new, &bodies)?;
        let old = support::eval_all(&mut self.old, &bodies)?;
        let mut text = HEAD.to_owned();
        let replies = new.into_iter().zip(old);
        let mut written = 0;
        for (i, (body, (reply, old))) in bodies.into_iter().zip(replies).enumerate() {
            if support::shows_address(&reply) || reply.len() > 4000 {
                continue;
            }
            written += 1;
            let old = (old != reply).then_some(old);
            let row = Row { id: format!("{name}-{:03}", i + 1), body, reply, old };
            text.push_str(&format!("{}\t{}\t{}", row.id, support::escape(row.body.as_bytes()), row.reply));
            if let Some(old) = &row.old {
                text.push_str(&format!("\t{old}"));
            }
            text.push('\n');
        }
        let path = support::corpus_dir().join(format!("{name}.tsv"));
        std::fs::write(&path, text)?;
        println!("{}: {written} snippets", path.display());
        Ok(())
    }
}
