//! The thread that frees what takes long to free, so that the loop does not wait for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
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
