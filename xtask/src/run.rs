//! Running other programs.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A program with its arguments and environment.
#[derive(Clone)]
pub struct Job {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Job {
    /// A program to run in the workspace's root.
    pub fn new(program: &str, args: &[&str]) -> Job {
        Job { program: program.into(), args: args.iter().map(|a| (*a).into()).collect(), env: Vec::new() }
    }

    /// The same with more arguments.
    pub fn with(mut self, args: &[&str]) -> Job {
        self.args.extend(args.iter().map(|a| String::from(*a)));
        self
    }

    /// The same with an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Job {
        self.env.push((name.into(), value.into()));
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(root()).stdin(Stdio::null());
        command.envs(self.env.iter().map(|(k, v)| (k, v)));
        command
    }

    /// Runs it with its output thrown away; true when it ended well.
    pub fn quiet(&self) -> bool {
        self.command().stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    }

    /// Runs it, shows its standard output and hands each line to `line`; true when it ended well.
    pub fn watch(&self, mut line: impl FnMut(&str)) -> Result<bool, String> {
        let fail = |e: std::io::Error| format!("{}: {e}", self.program);
        let mut child = self.command().stdout(Stdio::piped()).spawn().map_err(fail)?;
        if let Some(out) = child.stdout.take() {
            for text in BufReader::new(out).lines().map_while(Result::ok) {
                println!("{text}");
                line(&text);
            }
        }
        Ok(child.wait().map_err(fail)?.success())
    }
}

/// A call of the cargo that runs us.
pub fn cargo(args: &[&str]) -> Job {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // The runner's own package must not leak into the build scripts of others: it would rebuild them.
    Job::new(&cargo, args)
}

/// Runs a named step and says how long it took.
pub fn step(name: &str, job: &Job) -> Result<(), String> {
    println!("== {name}");
    let began = Instant::now();
    let status = job.command().status().map_err(|e| format!("{}: {e}", job.program))?;
    println!(
        "== {name}: {} in {:.1} s",
        if status.success() { "ok" } else { "FAILED" },
        began.elapsed().as_secs_f64()
    );
    status.success().then_some(()).ok_or_else(|| format!("{name} failed"))
}

/// The workspace's root.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// The build directory.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| root().join("target"))
}
