//! Hostile, dying, slow and numerous clients: nothing dies, memory stays bounded, others are served.

mod common;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use common::{drained_to_end, eventually, resident, serve};
use totality_resp::write::command;
use totality_testkit::rng::Rng;

#[test]
fn a_million_random_bytes_hurt_nobody() {
    let server = serve(&[]);
    let mut rng = Rng::new(0x5eed);
    let mut left = 1_000_000usize;
    let pieces: [&[u8]; 6] = [b"*3\r\n", b"$5\r\n", b"\r\n", b"*1\r\n$4\r\nPING\r\n", b"\"", b"SET a "];
    while left > 0 {
        let mut bytes = Vec::new();
        let length = 1 + rng.below(20_000);
        while bytes.len() < length {
            if rng.below(8) == 0 {
                bytes.extend_from_slice(rng.pick(&pieces));
            }
            bytes.extend((0..rng.below(64)).map(|_| rng.below(256) as u8));
        }
        left = left.saturating_sub(bytes.len());
        let mut stream = server.connect();
        // The server may close in the middle.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let (_, ended) = drained_to_end(&mut stream);
        assert!(ended, "a connection hangs");
    }
    server.assert_alive();
}

#[test]
fn clients_may_die_in_the_middle_of_anything() {
    let server = serve(&[]);
    let mut command_bytes = Vec::new();
    command(&mut command_bytes, &[&b"SET"[..], b"key", &[b'v'; 100_000]]);
    for i in 0..300 {
        let mut stream = server.connect();
        let cut = (i * 337) % command_bytes.len();
        let _ = stream.write_all(&command_bytes[..cut]);
        if i % 3 == 0 {
            // Replies that nobody will read.
            let _ = stream.write_all(&b"PING\r\n".repeat(1000));
        }
        if i % 2 == 0 {
            // A reset instead of an orderly end.
            socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
        drop(stream);
    }
    server.assert_alive();
}

#[test]
fn a_half_closed_client_gets_its_answers() {
    let server = serve(&[]);
    let mut big = server.client();
    big.call(&["SET", "k", &"v".repeat(3 << 20)]).unwrap();
    let answer = server.exchange(b"PING\r\nGET k\r\nPING\r\n");
    assert_eq!(answer.len(), 7 + 10 + (3 << 20) + 2 + 7);
    assert!(answer.ends_with(b"v\r\n+PONG\r\n"));
}

#[test]
fn a_slow_reader_is_bounded_by_its_limit_and_costs_others_nothing() {
    let server = serve(&["--client-output-buffer-limit", "normal 4mb 0 0"]);
    let mut other = server.client();
    other.call(&["SET", "k", &"v".repeat(100_000)]).unwrap();
    let mut slow = server.connect();
    let mut sent = Vec::new();
    (0..1000).for_each(|_| command(&mut sent, &["GET", "k"]));
    slow.write_all(&sent).unwrap();
    let began = Instant::now();
    assert_eq!(other.call(&["PING"]).unwrap().text(), "PONG");
    assert!(began.elapsed() < Duration::from_secs(2));
    // Nothing is read until the server has given the client up: only then is it a slow reader.
    while other.call(&["CLIENT", "LIST"]).unwrap().text().lines().count() > 1 {
        assert!(began.elapsed() < Duration::from_secs(30), "the slow reader is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (bytes, ended) = drained_to_end(&mut slow);
    assert!(ended && bytes < 100_000_000, "{bytes} bytes came");
    server.assert_alive();
}

#[test]
fn what_waits_for_a_slow_reader_is_shown() {
    let server = serve(&[]);
    let mut other = server.client();
    let mut slow = server.connect();
    let mut sent = Vec::new();
    command(&mut sent, &["SUBSCRIBE", "news"]);
    slow.write_all(&sent).unwrap();
    let news = "n".repeat(100_000);
    let waits = |list: &str| -> Vec<usize> {
        let fields = list.split(' ').filter_map(|field| field.strip_prefix("omem="));
        fields.map(|n| n.parse().unwrap()).collect()
    };
    // First the kernel's buffers fill, then ours, and each message must be seen to add to it.
    let mut seen = Vec::new();
    for _ in 0..1000 {
        other.call(&["PUBLISH", "news", &news]).unwrap();
        let list = other.call(&["CLIENT", "LIST", "TYPE", "pubsub"]).unwrap().text();
        seen.extend(waits(&list).into_iter().filter(|n| *n > 0));
        if seen.len() == 5 {
            break;
        }
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen[4] > 400_000 && seen.is_sorted(), "{seen:?}");
}

#[test]
fn a_soft_limit_holds_after_its_time() {
    let server = serve(&["--client-output-buffer-limit", "normal 0 1mb 1"]);
    let mut other = server.client();
    other.call(&["SET", "k", &"v".repeat(1_000_000)]).unwrap();
    let mut slow = server.connect();
    let mut sent = Vec::new();
    (0..30).for_each(|_| command(&mut sent, &["GET", "k"]));
    slow.write_all(&sent).unwrap();
    std::thread::sleep(Duration::from_millis(3500));
    let (bytes, ended) = drained_to_end(&mut slow);
    assert!(ended && bytes < 30_000_000, "{bytes} bytes came");
}

#[test]
fn announced_bytes_cost_nothing_and_sent_ones_are_limited() {
    let server = serve(&["--client-query-buffer-limit", "1mb"]);
    let before = resident();
    let mut streams: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"*2\r\n$3\r\nGET\r\n$536870912\r\nx").unwrap();
    }
    server.assert_alive();
    assert!(resident().saturating_sub(before) < 64 << 20);
    let stream = &mut streams[0];
    let mut sent = 0;
    let chunk = [b'x'; 1 << 16];
    while sent < 8 << 20 && stream.write_all(&chunk).is_ok() {
        sent += chunk.len();
    }
    let (_, ended) = drained_to_end(stream);
    assert!(ended, "{sent} bytes were taken");
    server.assert_alive();
}

#[test]
fn strangers_have_small_limits() {
    let server = serve(&["--requirepass", "secret"]);
    let answer = server.exchange(b"*11\r\n");
    assert_eq!(answer, b"-ERR Protocol error: unauthenticated multibulk length\r\n");
    let answer = server.exchange(b"*1\r\n$16385\r\n");
    assert_eq!(answer, b"-ERR Protocol error: unauthenticated bulk length\r\n");
    // Answers that a stranger does not read end the connection.
    let mut stream = server.connect();
    let _ = stream.write_all(&b"GET a\r\n".repeat(500_000));
    let (bytes, ended) = drained_to_end(&mut stream);
    assert!(ended && bytes < 500_000 * 36, "{bytes} bytes came");
    server.assert_not_authenticated();
}

#[test]
fn too_many_clients_are_told_so() {
    let server = serve(&["--maxclients", "3"]);
    let mut kept: Vec<_> = (0..3).map(|_| server.client()).collect();
    kept.iter_mut().for_each(|c| assert_eq!(c.call(&["PING"]).unwrap().text(), "PONG"));
    let mut refused = String::new();
    server.connect().read_to_string(&mut refused).unwrap();
    assert_eq!(refused, "-ERR max number of clients reached\r\n");
    kept.pop();
    assert!(eventually(|| server.client().call(&["PING"]).is_ok()));
}

#[test]
fn idle_clients_are_dropped_after_the_timeout() {
    let server = serve(&["--timeout", "1"]);
    let mut stream = server.connect();
    stream.write_all(b"PING\r\n").unwrap();
    let began = Instant::now();
    let (bytes, ended) = drained_to_end(&mut stream);
    assert!(ended && bytes == 7);
    let waited = began.elapsed();
    assert!(waited > Duration::from_millis(900) && waited < Duration::from_secs(6), "{waited:?}");
}

#[test]
fn one_client_does_not_hold_up_another() {
    let server = serve(&[]);
    let mut greedy = server.connect();
    let mut writer = greedy.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        let chunk = b"SET a b\r\n".repeat(10_000);
        (0..100).for_each(|_| writer.write_all(&chunk).unwrap());
    });
    let reading = std::thread::spawn(move || {
        let mut got = vec![0; 100 * 10_000 * 5];
        greedy.read_exact(&mut got).unwrap();
    });
    let mut other = server.client();
    let mut worst = Duration::ZERO;
    for _ in 0..100 {
        let began = Instant::now();
        other.call(&["PING"]).unwrap();
        worst = worst.max(began.elapsed());
    }
    writing.join().unwrap();
    reading.join().unwrap();
    assert!(worst < Duration::from_secs(1), "{worst:?}");
}

#[test]
fn idle_connections_cost_little() {
    let n = if std::env::var_os("TOTALITY_SLOW_TESTS").is_some() { 9_000 } else { 1_500 };
    let server = serve(&["--maxclients", "10000"]);
    server.assert_alive();
    let before = resident();
    let mut streams: Vec<_> = (0..n).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"SET a b\r\n").unwrap();
    }
    for stream in &mut streams {
        let mut got = [0; 5];
        stream.read_exact(&mut got).unwrap();
    }
    let each = resident().saturating_sub(before) / n;
    assert!(each < 4096, "{each} bytes for each idle connection");
    drop(streams);
    server.assert_alive();
}

#[test]
fn the_largest_clients_go_when_all_take_too_much() {
    let server = serve(&["--maxmemory-clients", "30mb"]);
    let mut small = server.client();
    small.call(&["PING"]).unwrap();
    let mut streams: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for (i, stream) in streams.iter_mut().enumerate() {
        // Unfinished arguments, in buffers of up to twice the size: only with the last one it is too much.
        let megabytes = [2, 2, 40][i];
        stream.write_all(b"*2\r\n$3\r\nGET\r\n$100000000\r\n").unwrap();
        // The last one may be gone before it has sent all.
        let sent = stream.write_all(&vec![b'x'; megabytes << 20]);
        assert!(sent.is_ok() || i == 2);
    }
    let (_, ended) = drained_to_end(&mut streams[2]);
    assert!(ended, "the largest stays");
    for stream in &mut streams[..2] {
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let (_, ended) = drained_to_end(stream);
        assert!(!ended, "a small one went");
    }
    assert_eq!(small.call(&["PING"]).unwrap().text(), "PONG");
}
