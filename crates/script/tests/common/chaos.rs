//! Clients that go on while everything around them breaks.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use totality_script::catalogue::{account, lock, rl, stock};
use totality_script::{Error, Runner, Target};

/// What the clients saw, to be held against what is stored in the end.
#[derive(Default)]
pub struct Seen {
    pub stop: AtomicBool,
    pub taken: AtomicI64,
    pub doubtful: AtomicI64,
    pub booked: Mutex<HashSet<String>>,
    pub inside: AtomicI64,
    pub token: AtomicI64,
    pub admitted: AtomicI64,
    pub calls: AtomicI64,
    /// Releases whose answer was lost, and whose repetition found the lock gone on.
    pub late: AtomicI64,
}

/// One round of a client: a call that may not be repeated, and three that may.
pub fn work(r: &mut Runner<impl Target>, client: usize, round: usize, seen: &Seen) {
    let id = format!("{client}-{round}");
    // Not repeatable: without an answer nobody knows, so it is counted as perhaps.
    match r.call(&stock::Deduct { item: "hot", quantity: 1 }) {
        Ok(stock::DeductReply::Taken { .. }) => {
            seen.taken.fetch_add(1, SeqCst);
        }
        Ok(_) => {}
        Err(Error::NoAnswer { executed: None, .. }) => {
            seen.doubtful.fetch_add(1, SeqCst);
        }
        Err(e) => panic!("{e}"),
    }
    // Repeatable by its id: it must be booked once, whatever happens.
    let call = account::Credit { account: "hot", amount: 3, txid: &id, keep_ms: 2_000_000, journal_max: 10 };
    match r.call(&call).unwrap() {
        account::CreditReply::Credited { .. } | account::CreditReply::Repeated { .. } => {
            seen.booked.lock().unwrap().insert(id.clone());
        }
        other => panic!("{other:?}"),
    }
    let call = rl::SlidingLog { subject: "hot", limit: 25, window_ms: 86_400_000, request: &id, cost: 1 };
    if let rl::SlidingLogReply::Allowed { .. } | rl::SlidingLogReply::Repeated { .. } = r.call(&call).unwrap()
    {
        seen.admitted.fetch_add(1, SeqCst);
    }
    let owner = format!("c{client}");
    let call = lock::Acquire { resource: "hot", owner: &owner, lease_ms: 60_000, request: &id };
    if let lock::AcquireReply::Acquired { token, .. } | lock::AcquireReply::Repeated { token, .. } =
        r.call(&call).unwrap()
    {
        assert_eq!(seen.inside.fetch_add(1, SeqCst), 0, "two holders at once");
        assert!(seen.token.swap(token, SeqCst) < token, "a token twice");
        seen.inside.fetch_sub(1, SeqCst);
        let call = lock::Release {
            resource: "hot",
            owner: &owner,
            token: token as u64,
            request: &id,
            keep_ms: 60_000,
        };
        // Of a lost reply only the last release is remembered: others may have come and gone in between.
        match r.call(&call).unwrap() {
            lock::ReleaseReply::Released { .. } => {}
            lock::ReleaseReply::Gone { .. } | lock::ReleaseReply::Fenced { .. } => {
                seen.late.fetch_add(1, SeqCst);
            }
            other => panic!("{other:?}"),
        }
    }
    seen.calls.fetch_add(1, SeqCst);
}
