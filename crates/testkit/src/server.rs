//! Servers for tests: ours and Redis's, each on a free port in a directory of its own, gone when dropped.

use crate::client::Client;
use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to answer its first PING.
const START: Duration = Duration::from_secs(20);

/// A running server; killed on drop.
#[derive(Debug)]
pub struct Server {
    child: Child,
    port: u16,
    dir: tempfile::TempDir,
}

/// What is heard on a server's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// Nothing yet.
    None,
    /// Another server.
    Foreign,
    /// The server, which loads its data.
    Loading,
    /// The server.
    Ready,
}

/// CPU time that a process used, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cpu {
    /// In its own code.
    pub user: f64,
    /// In its own code and in the kernel.
    pub total: f64,
}

impl Server {
    /// Starts the `totality` binary that this build made (or `TOTALITY_BIN`).
    pub fn totality(extra: &[&str]) -> io::Result<Server> {
        let program = totality_binary()?;
        Server::start(&[program.to_string_lossy().as_ref(), "serve"], extra)
    }

    /// Starts Debian's `redis-server`, which the tests use as oracle (or `TOTALITY_ORACLE`).
    pub fn redis(extra: &[&str]) -> io::Result<Server> {
        let program = std::env::var("TOTALITY_ORACLE").unwrap_or_else(|_| "redis-server".into());
        let mut args = vec!["--enable-debug-command", "yes"];
        args.extend(extra);
        Server::start(&[&program], &args)
    }

    /// Starts any server that takes Redis's arguments and waits until its data set is loaded. A port that was taken in
    /// the meantime is tried again.
    pub fn start(command: &[&str], extra: &[&str]) -> io::Result<Server> {
        Server::start_until(command, extra, Answer::Ready)
    }

    /// The same, but does not wait for the data set.
    pub fn start_loading(extra: &[&str]) -> io::Result<Server> {
        let program = totality_binary()?;
        Server::start_loading_of(&[program.to_string_lossy().as_ref(), "serve"], extra)
    }

    /// The same of any server.
    pub fn start_loading_of(command: &[&str], extra: &[&str]) -> io::Result<Server> {
        Server::start_until(command, extra, Answer::Loading)
    }

    fn start_until(command: &[&str], extra: &[&str], wanted: Answer) -> io::Result<Server> {
        let mut last = String::new();
        for _ in 0..5 {
            match Server::try_start(command, extra, wanted)? {
                Ok(server) => return Ok(server),
                Err(log) => last = log,
            }
        }
        Err(io::Error::other(format!("{} did not start: {last}", command.join(" "))))
    }

    fn try_start(command: &[&str], extra: &[&str], wanted: Answer) -> io::Result<Result<Server, String>> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let dir = tempfile::tempdir()?;
        let log = File::create(dir.path().join("log"))?;
        let child = Command::new(command[0])
            .args(&command[1..])
            .args(["--port", &port.to_string(), "--save", "", "--dir"])
            .arg(dir.path())
            .args(extra)
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", command[0])))?;
        let mut server = Server { child, port, dir };
        let began = Instant::now();
        while began.elapsed() < START {
            match server.answer() {
                Answer::Foreign => return Ok(Err(format!("port {port} belongs to another server"))),
                answer if answer >= wanted => return Ok(Ok(server)),
                _ => {}
            }
            if server.child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let log = std::fs::read_to_string(server.log_path()).unwrap_or_default();
        Ok(Err(log.lines().rev().take(5).collect::<Vec<_>>().join(" | ")))
    }

    /// Who answers on the port: between the choice of the port and its use another server may have taken it.
    fn answer(&self) -> Answer {
        let Ok(mut client) = Client::connect(self.port) else { return Answer::None };
        let (info, ping) = (client.call(&["INFO", "server"]), client.call(&["PING"]));
        let (Ok(info), Ok(ping)) = (info, ping) else { return Answer::None };
        let (info, ping) = (info.text(), ping.text());
        // Who asks for a password does not say who he is.
        if info.contains("process_id:") && !info.contains(&format!("process_id:{}\r\n", self.pid())) {
            return Answer::Foreign;
        }
        if ping == "PONG" || ping.contains("NOAUTH") {
            Answer::Ready
        } else if ping.contains("LOADING") {
            Answer::Loading
        } else {
            Answer::None
        }
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its working directory, removed with it.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Where its output goes.
    pub fn log_path(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    /// What it printed until now.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Bytes of its resident memory.
    pub fn resident(&self) -> io::Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid()))?;
        let field = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = field.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
        kilobytes.map(|n| n * 1024.0).ok_or_else(|| io::Error::other("no VmRSS"))
    }

    /// A new connection.
    pub fn client(&self) -> Client {
        Client::connect(self.port).unwrap_or_else(|e| panic!("connect: {e}; {}", self.log()))
    }

    /// A new connection that speaks RESP2 or RESP3.
    pub fn client_with(&self, protocol: u8) -> Client {
        Client::with_protocol(self.port, protocol).unwrap_or_else(|e| panic!("connect: {e}; {}", self.log()))
    }

    /// CPU time until now, from `/proc`. In steps of 10 ms.
    pub fn cpu(&self) -> io::Result<Cpu> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid()))?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks: Vec<f64> =
            after_name.split_whitespace().skip(11).take(2).filter_map(|t| t.parse().ok()).collect();
        match ticks[..] {
            [user, system] => Ok(Cpu { user: user / 100.0, total: (user + system) / 100.0 }),
            _ => Err(io::Error::other("no CPU times in /proc")),
        }
    }

    /// Resident memory in bytes, from `/proc`.
    pub fn rss(&self) -> io::Result<u64> {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.pid()))?;
        let pages: u64 = statm.split_whitespace().nth(1).and_then(|p| p.parse().ok()).unwrap_or(0);
        Ok(pages * 4096)
    }

    /// True while the process lives.
    pub fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends SIGTERM and waits up to 10 s for the end; true if it ended with code 0.
    pub fn terminate(&mut self) -> bool {
        let sent = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        let began = Instant::now();
        while sent.is_ok() && began.elapsed() < Duration::from_secs(10) {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only when the process is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Path of the `totality` binary: `TOTALITY_BIN`, or beside the running test in the build directory.
pub fn totality_binary() -> io::Result<PathBuf> {
    if let Some(path) = std::env::var_os("TOTALITY_BIN") {
        return Ok(path.into());
    }
    let test = std::env::current_exe()?;
    let found = test.ancestors().skip(1).map(|d| d.join("totality")).take(3).find(|p| p.is_file());
    found.ok_or_else(|| io::Error::other("the binary is not built: run `cargo build` first"))
}

/// Is the oracle there? When it is not, says so where `cargo xtask test` counts it; with `CI=true` that is a failure.
pub fn oracle_or_skip(test: &str) -> Option<Server> {
    match Server::redis(&[]) {
        Ok(server) => Some(server),
        Err(e) => {
            crate::skip(test, &format!("no redis-server to compare with ({e})"), crate::Need::InCi);
            None
        }
    }
}
