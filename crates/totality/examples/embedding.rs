//! A limiter and a stock inside a process, without a server: `cargo run --example embedding`.

use totality::{Db, Options, Script};

const LIMITER: &str = include_str!("../../../scripts/seed/fixed-window.lua");

fn main() -> Result<(), totality::Error> {
    let db = Db::open(Options::default().set("maxmemory", "64mb"))?;
    let mut session = db.session()?;

    let limiter = Script::new(LIMITER);
    for request in 1..=4 {
        let (allowed, count, ttl): (bool, i64, i64) =
            limiter.run(&mut session, &["rate:user:1"], &["60", "3"])?;
        println!(
            "request {request}: {} (call {count}, {ttl} s left)",
            if allowed { "allowed" } else { "refused" }
        );
    }

    session.call(&["SET", "stock", "5"])?;
    session.watch(&["stock"])?;
    let stock: i64 = session.query(&["GET", "stock"])?;
    let done =
        session.transaction().call(&["DECRBY", "stock", "2"]).call(&["LPUSH", "sold", "2"]).commit()?;
    println!("stock was {stock}, transaction gave {done:?}");
    Ok(())
}
