//! The report of a failed check. A process has one hook for them, so this test has a process of its own.

mod common;

use totality_engine::Config;
use totality_server::Server;

#[test]
fn a_failed_check_is_reported_in_the_log_unless_that_is_not_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut config = Config::default();
    let socket = dir.path().join("socket").display().to_string();
    for (name, value) in [
        ("port", "0"),
        ("unixsocket", &socket),
        ("save", ""),
        ("logfile", log.to_str().unwrap()),
        ("debug-context", "test 7"),
    ] {
        config.set(name, &[value.as_bytes()]).unwrap();
    }
    let mut server = Server::new(config, None).unwrap();
    server.report_crashes();
    let handle = server.handle();
    let running = std::thread::spawn(move || server.run().unwrap());
    let fail = |text: &'static str| {
        let thread = std::thread::Builder::new().name("unlucky".to_owned()).spawn(move || panic!("{text}"));
        assert!(thread.unwrap().join().is_err());
        std::fs::read_to_string(&log).unwrap()
    };
    let text = fail("first fault");
    for part in [
        "\n=== TOTALITY BUG REPORT START",
        "in thread 'unlucky'",
        "first fault",
        "\nDebug context: test 7\n",
        "\n------ STACK TRACE ------\n",
        "\n=== TOTALITY BUG REPORT END",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    std::io::Write::write_all(&mut stream, b"CONFIG SET crash-log-enabled no\r\n").unwrap();
    let mut ok = [0; 5];
    std::io::Read::read_exact(&mut stream, &mut ok).unwrap();
    assert_eq!(&ok, b"+OK\r\n");
    // What was changed is told to the hook at the end of the turn.
    drop(stream);
    handle.stop();
    running.join().unwrap();
    assert!(!fail("second fault").contains("second fault"));
}
