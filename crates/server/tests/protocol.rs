//! What clients may send, and how the bytes may arrive.

mod common;

use std::io::{Read, Write};
use std::time::Duration;

use common::serve;
use totality_resp::write::command;

/// Some commands of each form, and the replies to them.
fn dialogue() -> (Vec<u8>, Vec<u8>) {
    let mut sent = Vec::new();
    command(&mut sent, &["SET", "k", "a\r\nb"]);
    sent.extend_from_slice(b"GET k\r\n\r\n");
    command(&mut sent, &["GET", "missing"]);
    sent.extend_from_slice(b"*0\r\nSET \"x y\" 'it\\'s'\n*-1\r\n");
    command(&mut sent, &["GET", "x y"]);
    command(&mut sent, &["NOSUCH", "a"]);
    command(&mut sent, &["PING"]);
    let replies = b"+OK\r\n$4\r\na\r\nb\r\n$-1\r\n+OK\r\n$4\r\nit's\r\n\
        -ERR unknown command 'NOSUCH', with args beginning with: 'a' \r\n+PONG\r\n";
    (sent, replies.to_vec())
}

#[test]
fn a_pipeline_may_be_split_at_every_byte() {
    let server = serve(&[]);
    let (sent, replies) = dialogue();
    assert_eq!(String::from_utf8_lossy(&server.exchange(&sent)), String::from_utf8_lossy(&replies));
    for cut in 1..sent.len() {
        let mut stream = server.connect();
        stream.write_all(&sent[..cut]).unwrap();
        std::thread::sleep(Duration::from_micros(500));
        stream.write_all(&sent[cut..]).unwrap();
        let mut got = vec![0; replies.len()];
        stream.read_exact(&mut got).unwrap();
        assert_eq!(got, replies, "cut at {cut}");
    }
    let mut stream = server.connect();
    for byte in &sent {
        stream.write_all(&[*byte]).unwrap();
    }
    let mut got = vec![0; replies.len()];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(got, replies, "byte by byte");
}

#[test]
fn protocol_errors_are_told_and_end_the_connection() {
    let server = serve(&[]);
    for (sent, error) in [
        (&b"PING\r\n*x\r\nPING\r\n"[..], "invalid multibulk length"),
        (b"PING\r\n*1\r\n$-5\r\n", "invalid bulk length"),
        (b"PING\r\n*1\r\nPING\r\n", "expected '$', got 'P'"),
        (b"PING\r\nGET \"a\r\n", "unbalanced quotes in request"),
    ] {
        let want = format!("+PONG\r\n-ERR Protocol error: {error}\r\n");
        assert_eq!(String::from_utf8_lossy(&server.exchange(sent)), want);
    }
    for head in ["", "*", "*1\r\n$"] {
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&[b'1'; 65 * 1024]).unwrap();
        let mut answer = String::new();
        // The server may close while bytes are under way: then the end is a reset.
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.contains("Protocol error: too big "), "{answer}");
    }
}

#[test]
fn big_arguments_arrive_whole() {
    let server = serve(&[]);
    let mut client = server.client();
    // Around the sizes at which buffers change; the last one is Redis's largest.
    let mut sizes = vec![32 * 1024 - 1, 32 * 1024, 64 * 1024, 1 << 20, (8 << 20) + 3, 64 << 20];
    if std::env::var_os("TOTALITY_SLOW_TESTS").is_some() {
        sizes.push(512 << 20);
    }
    for size in sizes {
        let value: Vec<u8> = (0..size).map(|i: usize| (i * 7 + i / 251) as u8).collect();
        let mut sent = Vec::new();
        command(&mut sent, &[&b"SET"[..], b"big", &value]);
        command(&mut sent, &[&b"GET"[..], b"big"]);
        client.send_raw(&sent).unwrap();
        assert_eq!(client.read().unwrap().raw, b"+OK\r\n");
        let mut want = Vec::new();
        totality_resp::write::bulk(&mut want, &value);
        assert!(client.read().unwrap().raw == want, "{size} bytes");
    }
}

#[test]
fn a_thousand_commands_in_one_write_are_all_answered() {
    let server = serve(&[]);
    let n = 50_000;
    let sent = b"PING\r\n".repeat(n);
    let mut stream = server.connect();
    let mut writer = stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(&sent).unwrap());
    let mut got = vec![0; n * 7];
    stream.read_exact(&mut got).unwrap();
    writing.join().unwrap();
    assert!(got.chunks(7).all(|c| c == b"+PONG\r\n"));
}

#[test]
fn a_unix_socket_serves_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let server = serve(&["--unixsocket", path.to_str().unwrap(), "--unixsocketperm", "700"]);
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    stream.write_all(b"PING\r\n").unwrap();
    let mut got = [0; 7];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"+PONG\r\n");
    drop(server);
    assert!(!path.exists(), "the file goes with the server");
}

#[test]
fn the_loop_tells_what_it_did() {
    let server = serve(&[]);
    let mut client = server.client();
    let mut text = String::new();
    for section in ["stats", "debug", "all"] {
        text.push_str(&client.call(&["INFO", section]).unwrap().text());
    }
    let fields = [
        "cycles",
        "duration_sum",
        "duration_cmd_sum",
        "duration_cron_sum",
        "duration_max",
        "cmd_per_cycle_max",
    ];
    for field in fields.map(|field| format!("\r\neventloop_{field}:")) {
        assert!(text.contains(&field), "{field} in {text}");
    }
    assert_eq!(text.matches("eventloop_duration_aof_sum").count(), 1, "only where the section is named");
    assert!(!text.contains("\r\neventloop_cycles:0\r"), "{text}");
}
