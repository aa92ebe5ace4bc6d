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
        let line = self.signals.as_mut().and_then(Signals::taken);
        line.or_else(|| self.stop.load(Ordering::SeqCst).then_some("Shutdown was requested"))
    }
}

/// Signals that were asked for. SIGPIPE needs no care: Rust ignores it at start.
#[derive(Debug)]
pub struct Signals {
    pipe: mio::net::UnixStream,
    terminate: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers: they set a flag and write to a pipe that the poll watches. A second signal of the same
    /// kind, while the first is not yet obeyed, ends the process at once.
    pub fn install(registry: &Registry) -> io::Result<Signals> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut pipe = mio::net::UnixStream::from_std(ours);
        registry.register(&mut pipe, SIGNAL, Interest::READABLE)?;
        let signals = Signals {
            pipe,
            terminate: Arc::new(AtomicBool::new(false)),
            interrupt: Arc::new(AtomicBool::new(false)),
        };
        for (signal, flag) in [(SIGTERM, &signals.terminate), (SIGINT, &signals.interrupt)] {
            signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(flag))?;
            signal_hook::flag::register(signal, Arc::clone(flag))?;
            signal_hook::low_level::pipe::register(signal, theirs.try_clone()?)?;
        }
        Ok(signals)
    }

    /// The line for the log if the server was told to end.
    pub fn taken(&mut self) -> Option<&'static str> {
        // Only to empty the pipe: the flags say what came.
        let _ = self.pipe.read(&mut [0; 64]);
        if self.terminate.load(Ordering::SeqCst) {
            Some("Received SIGTERM scheduling shutdown...")
        } else if self.interrupt.load(Ordering::SeqCst) {
            Some("Received SIGINT scheduling shutdown...")
        } else {
            None
        }
    }
}
