//! The invariants of every family under eight clients, on the embedded engine, on Totality over TCP and on `redis-server`.

mod common;

use common::{Place, invariants};
use totality_script::{Embedded, Runner};

#[test]
fn embedded() {
    let db = totality::Db::open(totality::Options::default()).unwrap();
    let n = invariants::all(&|| Runner::new(Embedded::new(db.session().unwrap())), "embedded");
    common::count(n, "invariants on the embedded engine");
}

#[test]
fn totality_over_tcp() {
    let place = Place::totality(&[]);
    common::count(invariants::all(&|| Runner::new(place.single()), "totality"), "invariants on totality");
}

#[test]
fn redis_server() {
    let Some(place) = Place::redis("invariants on redis-server", &[]) else { return };
    common::count(invariants::all(&|| Runner::new(place.single()), "redis"), "invariants on redis-server");
}

/// By hand, as in `cases.rs`.
#[test]
#[ignore = "for one more server, which TOTALITY_PEER names; the others run without asking"]
fn peer() {
    let program = std::env::var("TOTALITY_PEER").unwrap();
    let place = Place::of(totality_testkit::server::Server::start(&[&program], &[]).unwrap());
    println!("{} invariants", invariants::all(&|| Runner::new(place.single()), "peer"));
}
