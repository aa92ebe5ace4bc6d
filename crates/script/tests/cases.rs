//! Every case of the catalogue on the embedded engine, on Totality over TCP and on `redis-server`; and, made from the
//! headers, every argument missing or of a wrong kind and every key of another type.

mod common;

use common::{Place, catalogue};
use totality_script::cases::Bench;
use totality_script::{Runner, Target};

fn all<T: Target>(place: &str, target: T) {
    let mut runner = Runner::new(target);
    let mut bench = Bench::new(&mut runner);
    let (mut cases, mut refused, mut typed) = (0, 0, 0);
    let mut failures = Vec::new();
    for (script, list) in catalogue() {
        let name = script.name();
        assert!(!list.is_empty(), "{name} has no cases");
        for case in &list {
            cases += 1;
            if let Err(why) = bench.case(script, case) {
                failures.push(format!("{name}: {}: {why}", case.name));
            }
        }
        match bench.bad_arguments(script, &list[0]) {
            Ok(n) => refused += n,
            Err(why) => failures.push(format!("{name}: {why}")),
        }
        match bench.wrong_types(script, &list[0]) {
            Ok(n) => typed += n,
            Err(why) => failures.push(format!("{name}: {why}")),
        }
    }
    assert!(failures.is_empty(), "{place}:\n{}", failures.join("\n"));
    assert!(cases > 150 && refused > 2000 && typed > 100, "{cases} {refused} {typed}");
    println!("{place}: {cases} cases, {refused} refused calls, {typed} keys of another type");
    common::count(cases + refused + typed, &format!("catalogue on {place}"));
}

#[test]
fn embedded() {
    let db = totality::Db::open(totality::Options::default()).unwrap();
    all("the embedded engine", totality_script::Embedded::new(db.session().unwrap()));
}

#[test]
fn totality_over_tcp() {
    let place = Place::totality(&[]);
    all("totality", place.single());
}

#[test]
fn redis_server() {
    let Some(place) = Place::redis("catalogue cases on redis-server", &[]) else { return };
    all("redis-server", place.single());
}

/// By hand: `TOTALITY_PEER=/path/to/valkey-server cargo test -p totality-script --test cases peer -- --ignored`.
#[test]
#[ignore = "for one more server, which TOTALITY_PEER names; the others run without asking"]
fn peer() {
    let program = std::env::var("TOTALITY_PEER").unwrap();
    let server = totality_testkit::server::Server::start(&[&program], &[]).unwrap();
    let place = Place::of(server);
    all(&program, place.single());
}
