//! A replica of a replica: the stream goes through the one in the middle, links are cut on either side, and the parts are
//! exchanged.

use super::{BATCH, Kind, Plan, Report, command, follow, info, link_up, same, tail};
use crate::client::Command;
use crate::rng::Rng;
use crate::server::Server;

/// Three servers, of which each follows the one before.
struct Chain {
    first: Server,
    middle: Server,
    last: Server,
    name: String,
}

impl Chain {
    fn compare(&self, report: &mut Report) {
        report.keys += same(&self.first, &self.middle, &self.name);
        report.keys += same(&self.middle, &self.last, &self.name);
        report.compared += 2;
    }

    /// Cuts a link, or lets the middle take over for good: the first becomes the last.
    fn disturb(&mut self, number: usize) {
        let call = |server: &Server, words: &[&str]| {
            let reply = server.client().call(words).expect("a reply");
            assert!(!reply.is_error(), "{words:?}: {reply:?}");
        };
        match number % 4 {
            0 => call(&self.first, &["CLIENT", "KILL", "TYPE", "replica"]),
            1 => call(&self.last, &["CLIENT", "KILL", "TYPE", "master"]),
            2 => call(&self.middle, &["CLIENT", "KILL", "TYPE", "replica"]),
            _ => {
                call(&self.middle, &["REPLICAOF", "NO", "ONE"]);
                follow(&self.first, &self.last);
                std::mem::swap(&mut self.first, &mut self.middle);
                std::mem::swap(&mut self.middle, &mut self.last);
            }
        }
        link_up(&self.middle);
        link_up(&self.last);
    }
}

/// Runs a plan with a chain of these kinds. The report counts the synchronizations of all three.
///
/// # Panics
/// When a replica differs from what it follows, or a server fails.
pub fn run_chain(kinds: [Kind; 3], plan: Plan) -> Report {
    let start = |kind: Kind| kind.start(&[]).expect("a server starts");
    let [first, middle, last] = kinds.map(start);
    let name = format!("{kinds:?}, seed {}", plan.seed);
    follow(&middle, &first);
    follow(&last, &middle);
    let mut chain = Chain { first, middle, last, name };
    let mut rng = Rng::new(plan.seed);
    let (mut report, mut sent, mut cuts) = (Report::default(), 0, 0);
    while sent < plan.commands {
        // A connection of its own: a transaction that is left open ends with it.
        let mut client = chain.first.client();
        let mut open = false;
        while sent < plan.commands {
            let batch: Vec<Command> = (0..BATCH).map(|_| command(&mut rng, &mut open)).collect();
            let replies = client
                .pipeline(&batch)
                .unwrap_or_else(|e| panic!("{}: {e}\n{}", chain.name, tail(&chain.first.log())));
            report.succeeded += replies.iter().filter(|reply| !reply.value.is_error()).count();
            sent += batch.len();
            if cuts < plan.cuts && sent * plan.cuts >= (cuts + 1) * plan.commands {
                break;
            }
        }
        drop(client);
        chain.compare(&mut report);
        if cuts < plan.cuts {
            chain.disturb(cuts);
            cuts += 1;
            chain.compare(&mut report);
        }
    }
    for server in [&chain.first, &chain.middle, &chain.last] {
        let mut client = server.client();
        let mut count = |field: &str| info(&mut client, "stats", field).parse().unwrap_or(0);
        report.syncs = (report.syncs.0 + count("sync_full"), report.syncs.1 + count("sync_partial_ok"));
    }
    report
}
