//! The service answers 429 with Retry-After after five calls, and lets everyone in when the server is gone.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use totality_testkit::server::Server;

fn get(address: SocketAddr, user: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nhost: x\r\nx-user: {user}\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn five_calls_then_429() {
    let server = Server::totality(&[]).unwrap();
    let url = format!("redis://127.0.0.1:{}/", server.port());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, example_limiter_axum::app(&url).unwrap()).await.unwrap();
        });
    });
    let answers: Vec<String> = (0..30).map(|_| get(address, "ann")).collect();
    assert!(answers[..5].iter().all(|a| a.starts_with("HTTP/1.1 200")), "{answers:?}");
    let refused = answers.iter().find(|a| a.starts_with("HTTP/1.1 429")).expect("a refusal");
    assert!(refused.to_lowercase().contains("retry-after: 1"), "{refused}");
    assert!(get(address, "bob").starts_with("HTTP/1.1 200"));
    assert!(get(address, "no{brace}s").starts_with("HTTP/1.1 400"));
    drop(server);
    assert!(get(address, "ann").starts_with("HTTP/1.1 200"), "open when the server is gone");
}

/// The guide shows what is compiled here, and it is short.
#[test]
fn the_guide_shows_this_service() {
    let guide = include_str!("../../../docs/guides/limits.md");
    let code = guide.split("```rust,ignore\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let source = include_str!("../src/lib.rs");
    let lines: Vec<&str> = code.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for line in &lines {
        assert!(source.contains(line), "the example has no {line}");
    }
    assert!(lines.len() < 20, "{} lines", lines.len());
}
