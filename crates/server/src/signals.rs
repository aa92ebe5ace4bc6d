//! SIGTERM and SIGINT, and whatever else ends a server.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mio::{Interest, Registry};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::io::SIGNAL;

/// What ends a server from outside.
#[derive(Debug)]
pub struct Ends {
    /// Signals, if they are caught.
    pub signals: Option<Signals>,
    /// Another thread asked for it.
    pub stop: Arc<AtomicBool>,
}

impl Ends {
    /// True when something wants the server to end, with a line for the log. What asked for it stays.
    pub fn wanted(&mut self) -> Option<&'static str> {
        let line = self.signals.as_mut().and_then(Signals::seen).map(|signal| signal.line);
        line.or_else(|| self.stop.load(Ordering::SeqCst).then_some("Shutdown was requested"))
    }
}

/// Signals that were asked for. SIGPIPE needs no care: Rust ignores it at start.
#[derive(Debug)]
pub struct Signals {
    pipe: mio::net::UnixStream,
    terminate: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
    /// SIGINT came and the server has not said that it goes on.
    ending: Arc<AtomicBool>,
}

/// A signal that ends a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndSignal {
    /// The line for the log.
    pub line: &'static str,
    /// The parameter that says what is to be done.
    pub option: &'static str,
}

const TERMINATE: EndSignal =
    EndSignal { line: "Received SIGTERM scheduling shutdown...", option: "shutdown-on-sigterm" };
const INTERRUPT: EndSignal =
    EndSignal { line: "Received SIGINT scheduling shutdown...", option: "shutdown-on-sigint" };

impl Signals {
    /// Installs the handlers: they set a flag and write to a pipe that the poll watches. A second SIGINT, while the server
    /// is still busy with the first, ends the process at once; a second SIGTERM does not, since service managers send it
    /// while data is written out.
    pub fn install(registry: &Registry) -> io::Result<Signals> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut pipe = mio::net::UnixStream::from_std(ours);
        registry.register(&mut pipe, SIGNAL, Interest::READABLE)?;
        let flag = || Arc::new(AtomicBool::new(false));
        let signals = Signals { pipe, terminate: flag(), interrupt: flag(), ending: flag() };
        signal_hook::flag::register_conditional_shutdown(SIGINT, 1, Arc::clone(&signals.ending))?;
        signal_hook::flag::register(SIGINT, Arc::clone(&signals.ending))?;
        for (signal, flag) in [(SIGTERM, &signals.terminate), (SIGINT, &signals.interrupt)] {
            signal_hook::flag::register(signal, Arc::clone(flag))?;
            signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
        }
        Ok(signals)
    }

    /// The signal that came, if one did; it stays.
    pub fn seen(&mut self) -> Option<EndSignal> {
        // Only to empty the pipe: the flags say what came.
        let _ = self.pipe.read(&mut [0; 64]);
        if self.terminate.load(Ordering::SeqCst) {
            Some(TERMINATE)
        } else {
            self.interrupt.load(Ordering::SeqCst).then_some(INTERRUPT)
        }
    }

    /// The same, and it is forgotten.
    pub fn take(&mut self) -> Option<EndSignal> {
        let seen = self.seen()?;
        let flag = if seen == TERMINATE { &self.terminate } else { &self.interrupt };
        flag.store(false, Ordering::SeqCst);
        Some(seen)
    }

    /// The server goes on: the next SIGINT is a first one.
    pub fn go_on(&self) {
        self.ending.store(false, Ordering::SeqCst);
    }
}
