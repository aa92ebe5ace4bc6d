//! What each script costs on Totality beside `redis-server`: `cargo xtask bench catalogue [write]`.
//!
//! User CPU of the server per call, from `/proc`, both servers in turns in one run. The calls are those of `calls.txt`.
//! With `write` the table goes to `docs/guides/costs.md`.

mod calls;

use calls::{Row, SPREAD, Template, rows};
use std::path::Path;
use totality_script::catalogue::all;
use totality_script::{Rendering, Script};
use totality_testkit::client::Client;
use totality_testkit::server::Server;

type Result<T> = calls::Result<T>;

/// Calls of one measurement, and measurements of each server. `/proc` counts in steps of 10 ms.
const CALLS: usize = 20_000;
const ROUNDS: usize = 4;
const PIPELINE: usize = 100;

struct Place {
    server: Server,
    client: Client,
    user: f64,
    total: f64,
}

impl Place {
    fn new(server: Server) -> Result<Place> {
        let mut client = Client::connect(server.port())?;
        for script in all() {
            client.call(&["SCRIPT", "LOAD", script.text(Rendering::Redis)])?;
        }
        Ok(Place { server, client, user: 0.0, total: 0.0 })
    }

    /// Sends a command for each number, in pipelines. Says how many of the replies began with a code that is no success.
    fn send(&mut self, template: &Template, numbers: std::ops::Range<usize>) -> Result<usize> {
        let (mut out, mut failed, mut at) = (Vec::new(), 0, numbers.start);
        while at < numbers.end {
            let end = (at + PIPELINE).min(numbers.end);
            out.clear();
            (at..end).for_each(|i| template.encode(i, &mut out));
            self.client.send_raw(&out)?;
            for _ in at..end {
                let reply = self.client.read()?.value;
                if reply.is_error() {
                    return Err(format!("{:?}: {}", template.words, reply.text()).into());
                }
                failed +=
                    usize::from(reply.items().first().and_then(|v| v.int()).is_some_and(|code| code < 1));
            }
            at = end;
        }
        Ok(failed)
    }

    fn before(&mut self, row: &Row, round: usize) -> Result<()> {
        if round == 0 {
            (self.user, self.total) = (0.0, 0.0);
            self.client.call(&["FLUSHALL"])?;
        }
        for template in &row.before {
            let numbers = match (template.holds('@'), template.holds('~'), round) {
                (true, ..) => round * CALLS + 1..(round + 1) * CALLS + 1,
                (false, true, 0) => 0..SPREAD,
                (false, false, 0) => 0..1,
                _ => 0..0,
            };
            self.send(template, numbers)?;
        }
        Ok(())
    }

    fn measure(&mut self, row: &Row, round: usize) -> Result<()> {
        let before = self.server.cpu()?;
        let failed = self.send(&row.call, round * CALLS + 1..(round + 1) * CALLS + 1)?;
        let after = self.server.cpu()?;
        if failed > 0 {
            return Err(format!("{}: {failed} of {CALLS} calls were refused", row.name).into());
        }
        self.user += after.user - before.user;
        self.total += after.total - before.total;
        Ok(())
    }

    /// Commands that scripts ran since the last look.
    fn commands(&mut self) -> Result<f64> {
        let stats = self.client.call(&["INFO", "commandstats"])?.text();
        let calls = stats
            .lines()
            .filter(|l| !["evalsha", "info", "config"].iter().any(|c| l.contains(&format!("_{c}"))));
        let count = |line: &str| line.split_once("calls=")?.1.split(',').next()?.parse::<f64>().ok();
        let sum = calls.filter_map(count).sum();
        self.client.call(&["CONFIG", "RESETSTAT"])?;
        Ok(sum)
    }
}

fn main() -> Result<()> {
    let rows = rows()?;
    let known: Vec<&str> = all().map(Script::name).filter(|n| !n.starts_with("seed.")).collect();
    let lost = known.iter().find(|n| !rows.iter().any(|row| row.name == **n));
    if let Some(name) = lost {
        return Err(format!("calls.txt has no {name}").into());
    }
    let (mut ours, mut theirs) = (Place::new(Server::totality(&[])?)?, Place::new(Server::redis(&[])?)?);
    let mut table = String::from(
        "| script | commands | Totality µs | redis-server µs | ratio | ratio with kernel |\n|---|--:|--:|--:|--:|--:|\n",
    );
    print!("{table}");
    let (mut ratios, per) = (Vec::new(), 1e6 / (CALLS * ROUNDS) as f64);
    for row in &rows {
        let mut commands = 0.0;
        for round in 0..ROUNDS {
            ours.before(row, round)?;
            theirs.before(row, round)?;
            ours.measure(row, round)?;
            theirs.commands()?;
            theirs.measure(row, round)?;
            commands += theirs.commands()?;
        }
        let (a, b) = (ours.user * per, theirs.user * per);
        let (ratio, total) = (a / b.max(1e-9), ours.total / theirs.total.max(1e-9));
        let commands = commands / (CALLS * ROUNDS) as f64;
        let line = format!("| {} | {commands:.1} | {a:.2} | {b:.2} | {ratio:.2} | {total:.2} |\n", row.name);
        print!("{line}");
        table += &line;
        ratios.push(ratio);
    }
    let mean = (ratios.iter().map(|r| r.max(1e-3).ln()).sum::<f64>() / ratios.len() as f64).exp();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let end =
        format!("\nGeometric mean of the ratios {mean:.2}, worst {worst:.2}, {} scripts.\n", ratios.len());
    print!("{end}");
    if std::env::args().nth(1).as_deref() == Some("write") {
        write(&(table + &end))?;
    }
    Ok(())
}

/// Puts the table into the guide.
fn write(table: &str) -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/costs.md");
    let text = std::fs::read_to_string(&path)?;
    let (head, _) = text.split_once("| script |").ok_or("the guide has no table")?;
    Ok(std::fs::write(&path, format!("{head}{table}"))?)
}
