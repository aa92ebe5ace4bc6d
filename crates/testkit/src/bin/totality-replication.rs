//! Random commands on a primary with a replica, for all ordered pairs of servers, or with `chain` on three of which each
//! follows the one before: `totality-replication [chain] [COMMANDS] [CUTS] [SEED]`. With `TOTALITY_VALKEY` naming a program,
//! Valkey takes part.

#![forbid(unsafe_code)]

use std::time::Instant;
use totality_testkit::replicas::{Kind, Plan, Report, run, run_chain};

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |i: usize, default| numbers.get(i).copied().unwrap_or(default);
    let (commands, cuts, seed) = (number(0, 20_000) as usize, number(1, 8) as usize, number(2, 1));
    let mut kinds = vec![Kind::Totality, Kind::Redis];
    if std::env::var_os("TOTALITY_VALKEY").is_some() {
        kinds.push(Kind::Valkey);
    }
    let plan = Plan { commands, cuts, seed };
    if std::env::args().any(|arg| arg == "chain") {
        for other in kinds.iter().filter(|kind| **kind != Kind::Totality) {
            for chain in [[*other, Kind::Totality, *other], [Kind::Totality, *other, Kind::Totality]] {
                let began = Instant::now();
                show(&format!("{chain:?}"), plan, run_chain(chain, plan), began);
            }
        }
        return;
    }
    for primary in &kinds {
        for replica in kinds.iter().filter(|replica| *replica != primary || *replica == &Kind::Totality) {
            if (*primary, *replica) == (Kind::Valkey, Kind::Redis) {
                println!("{primary:?} -> {replica:?}: Valkey writes no snapshot that Redis 7.0 reads");
                continue;
            }
            let began = Instant::now();
            let report = run(*primary, *replica, plan);
            show(&format!("{primary:?} -> {replica:?}"), plan, report, began);
        }
    }
}

fn show(who: &str, plan: Plan, report: Report, began: Instant) {
    println!(
        "{who}: {} commands ({} without an error), {} cuts, {} full and {} partial synchronizations, {} keys compared in {} \
         comparisons, {:.1} s",
        plan.commands,
        report.succeeded,
        plan.cuts,
        report.syncs.0,
        report.syncs.1,
        report.keys,
        report.compared,
        began.elapsed().as_secs_f64()
    );
}
