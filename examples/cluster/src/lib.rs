//! An order on a cluster: a limit per customer, an idempotency key, a reservation, a lock.
//!
//! Keys of one call share a hash tag, because the types build them: each call is on one node. Calls of different tags are
//! on different nodes and are different steps; what ties them together is that each may be repeated.

use totality_script::catalogue::{idem, lock, rl, stock};
use totality_script::{Cluster, Error, Runner};

/// What became of an order.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken; the text is what was answered.
    Taken(String),
    /// The same order was taken before, with this answer.
    Before(String),
    /// Not now; come back after so many milliseconds.
    Later(i64),
    /// There is not enough.
    SoldOut,
}

/// A runner on a cluster by some of its nodes.
///
/// # Errors
/// When a URL cannot be read.
pub fn connect(urls: &[&str]) -> Result<Runner<Cluster>, totality_script::LinkError> {
    Ok(Runner::new(Cluster::open(urls)?))
}

/// Takes an order. It may be called again with the same `order` after any failure.
///
/// # Errors
/// [`Error`] when the cluster gives no answer.
pub fn order(
    scripts: &mut Runner<Cluster>,
    customer: &str,
    order: &str,
    item: &str,
) -> Result<Outcome, Error> {
    let limit = rl::Gcra { subject: customer, limit: 10, period_ms: 1000, burst: 10, cost: 1 };
    if let rl::GcraReply::Rejected { retry_ms, .. } = scripts.call(&limit)? {
        return Ok(Outcome::Later(retry_ms));
    }
    let (scope, key, owner) = (customer, order, order);
    let begin = idem::Begin { scope, key, fingerprint: item, owner, lease_ms: 10_000, ttl_ms: 3_600_000 };
    match scripts.call(&begin)? {
        idem::BeginReply::Completed { result, .. } => {
            return Ok(Outcome::Before(String::from_utf8_lossy(&result).into_owned()));
        }
        idem::BeginReply::InProgress { ms, .. } => return Ok(Outcome::Later(ms)),
        _ => {}
    }
    // On the node of the item; the id makes it safe to repeat.
    let reserve = stock::Reserve { item, id: order, quantity: 1, lease_ms: 60_000 };
    let left = match scripts.call(&reserve)? {
        stock::ReserveReply::Reserved { left } | stock::ReserveReply::Repeated { left } => left,
        _ => return Ok(Outcome::SoldOut),
    };
    // The warehouse takes one order at a time, and refuses tokens older than the newest that it saw.
    let acquire = lock::Acquire { resource: "warehouse", owner: order, lease_ms: 5000, request: order };
    let token = match scripts.call(&acquire)? {
        lock::AcquireReply::Acquired { token, .. } | lock::AcquireReply::Repeated { token, .. } => token,
        lock::AcquireReply::Held { ms, .. } => return Ok(Outcome::Later(ms)),
        lock::AcquireReply::BadState { .. } => return Ok(Outcome::Later(1000)),
    };
    let text = format!("order {order} with token {token}, {left} left");
    scripts.call(&stock::Confirm { item, id: order, keep_ms: 3_600_000 })?;
    let complete =
        idem::Complete { scope, key, fingerprint: item, owner, result: text.as_bytes(), ttl_ms: 3_600_000 };
    scripts.call(&complete)?;
    let release = lock::Release {
        resource: "warehouse",
        owner: order,
        token: token as u64,
        request: order,
        keep_ms: 60_000,
    };
    scripts.call(&release)?;
    Ok(Outcome::Taken(text))
}
