//! The example on six nodes.

use example_cluster::{Outcome, connect, order};
use totality_script::cases::Bench;
use totality_testkit::cluster::Six;
use totality_testkit::server::oracle_or_skip;

#[test]
fn orders_on_a_cluster() {
    if oracle_or_skip("the cluster example").is_none() {
        return;
    }
    let six = Six::start();
    let urls = six.urls();
    let mut scripts = connect(&urls.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    Bench::new(&mut scripts).command(&["SET", "stock:{book}", "2"]).unwrap();
    let mut take = |id: &str| order(&mut scripts, "ann", id, "book").unwrap();
    assert_eq!(take("o1"), Outcome::Taken("order o1 with token 1, 1 left".into()));
    assert_eq!(take("o1"), Outcome::Before("order o1 with token 1, 1 left".into()));
    assert_eq!(take("o2"), Outcome::Taken("order o2 with token 2, 0 left".into()));
    assert_eq!(take("o3"), Outcome::SoldOut);
}
