//! Every seed script gives the replies, deadlines and errors that its document promises: by EVAL, by EVALSHA, over
//! RESP2 and RESP3, from the embedded engine, and on a real `redis-server`.

mod common;

use common::{Call, Case, cases, matches, scripts};
use totality::{Db, Options};
use totality_testkit::client::Command;
use totality_testkit::print;
use totality_testkit::server::{Server, oracle_or_skip};
use totality_testkit::transcript::run::Target;

fn words(strings: &[String]) -> Command {
    strings.iter().map(|s| s.clone().into_bytes()).collect()
}

/// Runs all cases; `sha` calls scripts by EVALSHA after SCRIPT LOAD.
fn run(target: &mut dyn Target, sha: bool) {
    let scripts = scripts();
    let mut failed = Vec::new();
    let mut used = std::collections::BTreeSet::new();
    for Case { name, steps } in cases() {
        target.call(&vec![b"FLUSHALL".to_vec()]).unwrap();
        for (i, step) in steps.iter().enumerate() {
            let command = match &step.call {
                Call::Command(w) => words(w),
                Call::Script(script, keys, args) => {
                    used.insert(script.clone());
                    let source = scripts.get(script).unwrap_or_else(|| panic!("no script {script}"));
                    let mut command: Command = vec![b"EVAL".to_vec(), source.clone().into_bytes()];
                    if sha {
                        let load = vec![b"SCRIPT".to_vec(), b"LOAD".to_vec(), source.clone().into_bytes()];
                        command[0] = b"EVALSHA".to_vec();
                        command[1] = target.call(&load).unwrap().text().into_bytes();
                    }
                    command.push(keys.len().to_string().into_bytes());
                    command.extend(words(keys).into_iter().chain(words(args)));
                    command
                }
            };
            let got = target.call(&command).unwrap();
            if !matches(&step.want, &got) {
                failed.push(format!(
                    "{name}, step {}: wanted {}, got {}",
                    i + 1,
                    step.want,
                    print::reply(&got)
                ));
                break;
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let unused: Vec<&String> = scripts.keys().filter(|s| !used.contains(*s)).collect();
    assert!(unused.is_empty(), "no case uses {unused:?}");
}

#[test]
fn by_eval() {
    let server = Server::totality(&[]).unwrap();
    run(&mut server.client(), false);
    run(&mut server.client_with(3), false);
}

#[test]
fn by_evalsha() {
    let server = Server::totality(&[]).unwrap();
    run(&mut server.client(), true);
    run(&mut server.client_with(3), true);
}

#[test]
fn embedded() {
    let db = Db::open(Options::default()).unwrap();
    run(&mut db.session().unwrap(), false);
    run(&mut db.session().unwrap(), true);
}

#[test]
fn on_redis_server() {
    let Some(server) = oracle_or_skip("seed scripts on redis-server") else { return };
    run(&mut server.client(), false);
    run(&mut server.client_with(3), true);
}
