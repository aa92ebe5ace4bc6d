//! The threads that free what takes long to free, so that the loop does not wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use totality_engine::keyspace::Garbage;
use totality_engine::state::LazyFree as Counters;

/// Hands garbage to the thread. The thread ends with it.
pub struct LazyFree {
    sender: Sender<Garbage>,
    counters: Arc<Counters>,
}

impl LazyFree {
    /// Starts the thread, which keeps `counters` up to date.
    pub fn start(counters: Arc<Counters>) -> std::io::Result<LazyFree> {
        let (sender, receiver) = channel();
        let shared = counters.clone();
        std::thread::Builder::new().name("lazy-free".to_owned()).spawn(move || run(&receiver, &shared))?;
        Ok(LazyFree { sender, counters })
    }

    /// Frees `garbage` soon.
    pub fn free(&self, garbage: Garbage) {
        self.counters.pending.fetch_add(garbage.objects(), Ordering::Relaxed);
        if let Err(unsent) = self.sender.send(garbage) {
            // The thread is gone, which it never is in a sound process: free it here.
            free(unsent.0, &self.counters);
        }
    }
}

/// Large buffers of scripts that may wait to be freed, in bytes. Beyond it the script that leaves more waits: no script
/// makes them faster than they go.
const WAITING_MAX: usize = 512 << 20;

/// Has the large buffers that scripts leave behind freed by a thread, for all servers of the process.
///
/// # Errors
/// When the thread cannot be started.
pub fn free_buffers_of_scripts() -> std::io::Result<()> {
    let (sender, receiver) = channel::<Vec<u8>>();
    let waiting = Arc::new(AtomicUsize::new(0));
    let shared = waiting.clone();
    std::thread::Builder::new().name("lazy-free-lua".to_owned()).spawn(move || {
        while let Ok(buffer) = receiver.recv() {
            let bytes = buffer.capacity();
            drop(buffer);
            shared.fetch_sub(bytes, Ordering::Relaxed);
        }
    })?;
    totality_engine::dispose_with(move |buffer: Vec<u8>| {
        let bytes = buffer.capacity();
        if waiting.fetch_add(bytes, Ordering::Relaxed) > WAITING_MAX || sender.send(buffer).is_err() {
            waiting.fetch_sub(bytes, Ordering::Relaxed);
        }
    });
    Ok(())
}

fn run(receiver: &Receiver<Garbage>, counters: &Counters) {
    while let Ok(garbage) = receiver.recv() {
        free(garbage, counters);
    }
}

fn free(garbage: Garbage, counters: &Counters) {
    garbage.free(&mut |objects| {
        counters.pending.fetch_sub(objects, Ordering::Relaxed);
        counters.freed.fetch_add(objects, Ordering::Relaxed);
    });
}
