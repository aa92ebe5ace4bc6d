//! LATENCY: what took long.
//!
//! From `latency-monitor-threshold` milliseconds on these events are kept, at most one sample a second of each:
//! `command` and `fast-command` for commands, `expire-cycle` for the removal of keys whose time is over, `eviction-cycle`
//! for that of keys for which memory does not suffice. HISTOGRAM shows how long each command took as sums up to 1, 2, 4, …
//! microseconds, whatever the threshold.
//!
//! ```transcript
//! > LATENCY RESET
//! ~\(integer\) \d+
//! > LATENCY LATEST
//! (empty array)
//! > LATENCY HISTORY command
//! (empty array)
//! > LATENCY GRAPH command
//! (error) ERR No samples available for event 'command'
//! > LATENCY RESET command
//! (integer) 0
//! > LATENCY HISTOGRAM nosuchcommand
//! (empty array)
//! # resp3
//! (empty hash)
//! ```

use crate::commands::{self, Command};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::latency::{Histogram, Series};
use crate::reply::Reply;
use crate::spec::{Flags, Group, Handler, Spec};
use crate::util::until_nul;
use std::fmt::Write;

const BASE: Flags = Flags::LOADING.union(Flags::STALE);
const ADMIN: Flags = Flags::ADMIN.union(Flags::NOSCRIPT);

/// The table's row.
pub const SPEC: Spec = Spec::new("latency", -2, Group::Server, Flags::empty(), commands::container)
    .doc("2.8.13", "Depends on the subcommand", "What took long.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, flags: Flags, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Server, BASE.union(flags), run).doc("2.8.13", "O(1)", summary)
}

const EVERYWHERE: &[&str] =
    &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"];

const SUBS: &[Spec] = &[
    sub("doctor", 2, ADMIN, "A report on all events.", doctor).tips(EVERYWHERE),
    sub("graph", 3, ADMIN, "The samples of an event as a picture.", graph).args("event:s").tips(EVERYWHERE),
    crate::commands::help_row(Group::Server, "2.8.13"),
    Spec::new("histogram", -2, Group::Server, BASE.union(ADMIN), histogram).args("command:s?*")
        .doc("7.0.0", "O(N) for N commands", "How long commands took.")
        .tips(EVERYWHERE),
    sub("history", 3, ADMIN, "The samples of an event.", history).args("event:s").tips(EVERYWHERE),
    sub("latest", 2, ADMIN, "The newest sample of each event.", latest).tips(EVERYWHERE),
    sub("reset", -2, ADMIN, "Forgets events.", reset).no_rollback().args("event:s?*")
        .tips(&["request_policy:all_nodes", "response_policy:agg_sum"]),
];

fn now(cx: &Cx<'_>) -> i64 {
    cx.ks.now / 1000
}

fn latest(cx: &mut Cx<'_>) -> Res {
    let events = cx.sv.latency.iter();
    cx.reply.array(events.len());
    for (name, series) in events {
        let (time, ms) = series.samples.back().copied().unwrap_or_default();
        cx.reply.array(6);
        cx.reply.bulk(name.as_bytes());
        cx.reply.int(time);
        for n in [ms, series.max, series.sum, series.count] {
            cx.reply.int(n as i64);
        }
    }
    Ok(())
}

fn history(cx: &mut Cx<'_>) -> Res {
    let Some((_, series)) = cx.sv.latency.get(cx.args[2]) else {
        cx.reply.array(0);
        return Ok(());
    };
    cx.reply.array(series.samples.len());
    for (time, ms) in &series.samples {
        cx.reply.array(2);
        cx.reply.int(*time);
        cx.reply.int(*ms as i64);
    }
    Ok(())
}

fn reset(cx: &mut Cx<'_>) -> Res {
    let count = match &cx.args[2..] {
        [] => cx.sv.latency.reset(None),
        names => names.iter().map(|name| cx.sv.latency.reset(Some(name))).sum(),
    };
    cx.reply.len(count);
    Ok(())
}

fn histogram(cx: &mut Cx<'_>) -> Res {
    let mut wanted: Vec<&Command> = Vec::new();
    match &cx.args[2..] {
        [] => wanted.extend(commands::all()),
        names => {
            for command in names.iter().filter_map(|name| commands::by_full_name(name)) {
                wanted.push(command);
                if !command.full_name.contains('|') {
                    wanted.extend(command.subcommands());
                }
            }
        }
    }
    let histograms = &cx.sv.stats.histograms;
    let found: Vec<(&Command, &Histogram)> = wanted
        .into_iter()
        .filter_map(|command| Some((command, &**histograms[command.id as usize].as_ref()?)))
        .collect();
    cx.reply.map(found.len());
    for (command, histogram) in found {
        cx.reply.bulk(command.full_name.as_bytes());
        sums(&mut cx.reply, histogram);
    }
    Ok(())
}

fn sums(reply: &mut Reply<'_>, histogram: &Histogram) {
    reply.map(2);
    reply.bulk(b"calls");
    reply.int(histogram.total() as i64);
    reply.bulk(b"histogram_usec");
    let sums = histogram.cumulative();
    reply.map(sums.len());
    for (us, count) in sums {
        reply.int(us as i64);
        reply.int(count as i64);
    }
}

/// Columns of a picture, and its rows; each row has three steps.
const COLUMNS: usize = 80;
const ROWS: usize = 4;
const STEPS: [char; 3] = ['_', 'o', '#'];

fn graph(cx: &mut Cx<'_>) -> Res {
    let now = now(cx);
    let Some((name, series)) = cx.sv.latency.get(cx.args[2]) else {
        let text = [b"ERR No samples available for event '", until_nul(cx.args[2]), b"'"].concat();
        return Err(CmdError::owned(text));
    };
    let text = picture(name, series, now);
    cx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

/// How long ago, with one letter for the unit.
fn ago(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Columns as high as the samples, and under each, downwards, how long ago it was.
fn picture(name: &str, series: &Series, now: i64) -> String {
    let values = || series.samples.iter().map(|(_, ms)| *ms);
    let (low, high) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
    let mut out = format!("{name} - high {high} ms, low {low} ms (all time high {} ms)\n", series.max);
    out.push_str(&"-".repeat(COLUMNS));
    out.push('\n');
    let samples: Vec<(u64, String)> =
        series.samples.iter().map(|(time, ms)| (*ms, ago((now - time).max(0)))).collect();
    let all = (STEPS.len() * ROWS) as u64;
    for (i, chunk) in samples.chunks(COLUMNS).enumerate() {
        if i > 0 {
            out.push('\n');
        }
        for row in 0..ROWS {
            let below = (ROWS - row - 1) * STEPS.len();
            out.extend(chunk.iter().map(|(ms, _)| {
                let step = ((ms - low) * all / (high - low).max(1)).min(all - 1) as usize;
                match step.checked_sub(below) {
                    None => ' ',
                    Some(i) => STEPS.get(i).copied().unwrap_or('|'),
                }
            }));
            out.push('\n');
        }
        out.push_str(&" ".repeat(chunk.len()));
        out.push('\n');
        let longest = chunk.iter().map(|(_, label)| label.len()).max().unwrap_or(0);
        for at in 0..longest {
            out.extend(chunk.iter().map(|(_, label)| label.chars().nth(at).unwrap_or(' ')));
            out.push('\n');
        }
    }
    out
}

fn doctor(cx: &mut Cx<'_>) -> Res {
    let text = report(cx);
    cx.reply.verbatim("txt", text.as_bytes());
    Ok(())
}

/// What is known of the events, and what can be done.
fn report(cx: &Cx<'_>) -> String {
    let (events, config) = (&cx.sv.latency, &cx.sv.config);
    let threshold = config.latency_monitor_threshold;
    if events.iter().len() == 0 {
        return match threshold {
            0 => "Nothing is watched: CONFIG SET latency-monitor-threshold <milliseconds> switches it on.\n".to_owned(),
            n => format!("Nothing took {n} ms or longer since the server started or LATENCY RESET.\n"),
        };
    }
    let mut out = String::from("Events that took long:\n\n");
    for (i, (name, series)) in events.iter().enumerate() {
        let a = series.analysis(now(cx));
        let _ = writeln!(
            out,
            "{}. {name}: {} latency spikes (average {}ms, mean deviation {}ms, period {:.2} sec). Worst all time event {}ms.",
            i + 1,
            a.samples,
            a.average,
            a.deviation,
            a.period,
            series.max
        );
    }
    out.push_str("\nWhat can be done:\n\n");
    let has = |name: &str| events.get(name.as_bytes()).is_some();
    if has("command") {
        if config.slowlog_log_slower_than < 0 || config.slowlog_max_len == 0 {
            out.push_str("- The slow log is off: CONFIG SET slowlog-log-slower-than and slowlog-max-len.\n");
        } else if config.slowlog_log_slower_than as u64 / 1000 > threshold.max(1) {
            let _ = writeln!(
                out,
                "- The slow log leaves out commands that are watched here: CONFIG SET slowlog-log-slower-than {}.",
                threshold * 1000
            );
        }
        out.push_str("- SLOWLOG GET names the commands. Those that touch many elements do better in steps: SCAN and its relatives, ranges, COUNT.\n");
    }
    if has("fast-command") {
        out.push_str("- Commands that do little took long: the machine gave the process no time, or it swaps. Look at the load, at steal time and at memory.\n");
    }
    if has("expire-cycle") {
        out.push_str("- Many keys end at the same time: spread their deadlines, or lower active-expire-effort.\n");
    }
    if has("eviction-cycle") {
        out.push_str("- Memory grows faster than eviction frees it: raise maxmemory, or write more slowly.\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_columns_as_high_as_the_samples() {
        let series = Series { samples: [(0, 10), (50, 20), (100, 70)].into(), max: 90, sum: 0, count: 3 };
        let text = picture("command", &series, 3640);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "command - high 70 ms, low 10 ms (all time high 90 ms)");
        assert_eq!(lines[1].len(), COLUMNS);
        assert_eq!(&lines[2..], ["  #", "  |", "  |", "_#|", "   ", "155", "h99", " mm"]);
    }
}
