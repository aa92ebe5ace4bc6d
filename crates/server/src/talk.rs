//! Talking with one client at once, outside of the loop: what a debugging session needs.

use std::io::ErrorKind;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use totality_engine::engine::Heard;

use crate::conn::{Read, Stream};

/// Milliseconds that a client has for taking what it is sent.
const SEND_MS: i64 = 5000;
/// Bytes of one read.
const READ: usize = 4096;

/// Waits until a socket is ready.
fn ready(stream: &Stream, what: PollFlags, ms: i64) -> bool {
    let fd = stream.as_fd();
    let mut fds = [PollFd::from_borrowed_fd(fd, what)];
    let timeout = Timespec { tv_sec: ms / 1000, tv_nsec: (ms % 1000) * 1_000_000 };
    poll(&mut fds, Some(&timeout)).is_ok_and(|n| n > 0)
}

/// Sends all of `bytes`. False when the client is gone or takes nothing for seconds.
pub(crate) fn send_all(stream: &mut Stream, mut bytes: &[u8]) -> bool {
    loop {
        let sent = if bytes.is_empty() { stream.flush().map(|()| 0) } else { stream.send(bytes) };
        match sent {
            Ok(_) if bytes.is_empty() => return true,
            Ok(n) if n > 0 => bytes = &bytes[n..],
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() != ErrorKind::WouldBlock => return false,
            _ if ready(stream, PollFlags::OUT, SEND_MS) => {}
            _ => return false,
        }
    }
}

/// Appends what the client sends to `input`, waiting for it so many milliseconds.
pub(crate) fn hear(stream: &mut Stream, input: &mut Vec<u8>, ms: i64) -> Heard {
    for last in [false, true] {
        match stream.read(input, READ) {
            Read::Some(n) | Read::Drained(n) if n > 0 => return Heard::Bytes,
            Read::Eof | Read::Broken => return Heard::Gone,
            _ if last || !ready(stream, PollFlags::IN, ms) => return Heard::Nothing,
            _ => {}
        }
    }
    Heard::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn both_ways_and_the_end() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let [mut ours, mut theirs] = [ours, theirs].map(|stream| {
            stream.set_nonblocking(true).unwrap();
            Stream::Unix(mio::net::UnixStream::from_std(stream))
        });
        let mut input = Vec::new();
        assert_eq!(hear(&mut ours, &mut input, 1), Heard::Nothing);
        let big = vec![b'x'; 1 << 20];
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(send_all(&mut theirs, &big)));
            while input.len() < big.len() {
                assert_ne!(hear(&mut ours, &mut input, 1000), Heard::Gone);
            }
        });
        assert_eq!(input, big);
        drop(theirs);
        assert_eq!(hear(&mut ours, &mut input, 1000), Heard::Gone);
        assert!(!send_all(&mut ours, b"x"));
    }
}
