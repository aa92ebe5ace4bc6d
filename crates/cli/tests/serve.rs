//! `totality serve` as a process: start, signals, configuration, errors.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The binary with these arguments, in a directory of its own, its output piped.
fn totality(dir: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_totality"))
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// The lines of the log up to the one that says that connections are accepted.
fn wait_until_ready(child: &mut Child) -> String {
    let mut log = String::new();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap());
    while !log.contains("Ready to accept connections tcp") {
        assert_ne!(lines.read_line(&mut log).unwrap(), 0, "{log}");
    }
    log
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

fn ping(port: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"PING\r\n").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn starts_says_so_and_ends_on_signals() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["-TERM", "-INT"] {
        let port = free_port();
        let mut child = totality(dir.path(), &["serve", "--port", &port, "--pidfile", "pid", "--save", ""]);
        let log = wait_until_ready(&mut child);
        let pid = child.id();
        assert!(log.contains(&format!("PID: {pid}")) && log.contains("Server initialized"), "{log}");
        assert!(log.contains("Data is kept in memory only"), "{log}");
        assert!(log.lines().all(|l| l.starts_with(&format!("{pid}:M "))), "{log}");
        assert_eq!(std::fs::read_to_string(dir.path().join("pid")).unwrap(), format!("{pid}\n"));
        assert_eq!(ping(&port), "+PONG\r\n");
        signal(&child, name);
        let mut rest = String::new();
        child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(rest.contains(&format!("Received SIG{} scheduling shutdown...", &name[1..])), "{rest}");
        assert!(rest.trim_end().ends_with("# Totality is now ready to exit, bye bye..."), "{rest}");
        assert!(!dir.path().join("pid").exists());
    }
}

#[test]
fn starts_quickly() {
    let dir = tempfile::tempdir().unwrap();
    // The best of several: the machine may be busy with other tests.
    let best = (0..10)
        .map(|_| {
            let port = free_port();
            let began = Instant::now();
            let mut child = totality(dir.path(), &["serve", "--port", &port]);
            wait_until_ready(&mut child);
            let took = began.elapsed();
            child.kill().unwrap();
            child.wait().unwrap();
            took
        })
        .min();
    assert!(best.is_some_and(|took| took < Duration::from_millis(50)), "{best:?}");
}

#[test]
fn the_file_then_standard_input_then_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let port = free_port();
    std::fs::write(dir.path().join("t.conf"), "port 1\nrequirepass file\nlogfile \"the log\"\n").unwrap();
    let mut child = totality(dir.path(), &["serve", "t.conf", "--port", &port, "-"]);
    child.stdin.take().unwrap().write_all(b"requirepass stdin\n").unwrap();
    let log = dir.path().join("the log");
    let began = Instant::now();
    while !std::fs::read_to_string(&log).is_ok_and(|l| l.contains("Ready to accept connections tcp")) {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(ping(&port), "-NOAUTH Authentication required.\r\n");
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn mistakes_are_told_on_standard_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bad.conf"), "# fine\nport seven\n").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port().to_string();
    for (args, want) in [
        (
            &["serve", "bad.conf"][..],
            "at line 2\n>>> 'port seven'\nargument couldn't be parsed into an integer\n",
        ),
        (
            &["serve", "none.conf"],
            "Fatal error, can't open config file 'none.conf': No such file or directory\n",
        ),
        (&["serve", "--port", &taken, "--bind", "127.0.0.1"], "(tcp), aborting.\n"),
        (&["serve", "--port", "0"], "Configured to not listen anywhere, exiting.\n"),
    ] {
        let output = totality(dir.path(), args).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.ends_with(want), "{args:?}: {text}");
    }
}

#[test]
fn a_signal_that_is_not_obeyed_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let port = free_port();
    let args = ["serve", "--port", &port, "--save", "900 1", "--shutdown-on-sigterm", "force"];
    let mut child = totality(dir.path(), &args);
    wait_until_ready(&mut child);
    // The final snapshot cannot take the place of a directory.
    std::fs::create_dir(dir.path().join("dump.rdb")).unwrap();
    let mut log = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..2 {
        signal(&child, "-INT");
        let mut line = String::new();
        while !line.contains("errors trying to shut down the server") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "it ended");
        }
        assert_eq!(ping(&port), "+PONG\r\n");
    }
    signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_version_is_told_and_what_is_not_there_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for word in ["--version", "-v"] {
        let out = totality(dir.path(), &["serve", word]).wait_with_output().unwrap();
        assert!(out.status.success());
        assert!(String::from_utf8_lossy(&out.stdout).starts_with("Totality server v="), "{out:?}");
    }
    let out = totality(dir.path(), &["serve", "x.conf", "--sentinel"]).wait_with_output().unwrap();
    assert!(!out.status.success());
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(text.starts_with("--sentinel: Sentinel is not part of Totality"), "{text}");
}
