//! A server in this process, on a port of its own.
#![allow(dead_code, reason = "each test file uses a part")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use totality_engine::Config;
use totality_server::config_file::CommandLine;
use totality_server::{Handle, Server};
use totality_testkit::client::Client;

/// A running server; ended, and its end checked, when dropped.
pub struct Running {
    pub port: u16,
    handle: Handle,
    thread: Option<JoinHandle<bool>>,
}

/// Starts a server with these options.
pub fn serve(options: &[&str]) -> Running {
    serve_file(None, options)
}

/// Starts a server with this configuration file and these options.
pub fn serve_file(file: Option<&Path>, options: &[&str]) -> Running {
    // Another test may take the free port in between: try again.
    for _ in 0..20 {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let file = file.map(Path::to_owned);
        let mut words: Vec<String> = file.iter().map(|f| f.display().to_string()).collect();
        words.extend(["--port".to_owned(), port.to_string(), "--bind".to_owned(), "127.0.0.1".to_owned()]);
        // Servers of one process have one working directory: none of them keeps files there.
        words.extend(["--loglevel", "warning", "--save", ""].map(str::to_owned));
        words.extend(options.iter().map(|s| (*s).to_owned()));
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut config = Config::default();
            CommandLine::parse(&words).load(&mut config).unwrap();
            match Server::new(config, file) {
                Ok(mut server) => {
                    tell.send(Some(server.handle())).unwrap();
                    server.run().is_ok()
                }
                Err(_) => {
                    tell.send(None).unwrap();
                    true
                }
            }
        });
        if let Some(handle) = told.recv().unwrap() {
            return Running { port, handle, thread: Some(thread) };
        }
    }
    panic!("no free port");
}

impl Running {
    /// A client of the testkit.
    pub fn client(&self) -> Client {
        Client::connect(self.port).unwrap()
    }

    /// A bare connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes, then the end; everything that the server answers.
    pub fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }

    /// The server answers.
    pub fn assert_alive(&self) {
        assert_eq!(self.exchange(b"PING\r\n"), b"+PONG\r\n");
    }

    /// The server answers, but only to those who know the password.
    pub fn assert_not_authenticated(&self) {
        assert_eq!(self.exchange(b"PING\r\n"), b"-NOAUTH Authentication required.\r\n");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            assert!(ended.unwrap(), "the loop ended with an error");
        }
    }
}

/// Waits until `what` holds.
pub fn eventually(what: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Reads until the server closes; false when it does not within the time.
pub fn drained_to_end(stream: &mut TcpStream) -> (usize, bool) {
    let mut chunk = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return (total, true),
            Ok(n) => total += n,
            Err(e) => return (total, e.kind() == std::io::ErrorKind::ConnectionReset),
        }
    }
}

/// Resident memory of this process in bytes.
pub fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
