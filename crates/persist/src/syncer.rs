//! fsync on a thread of its own, once a second at most.

use crate::disk::DiskFile;
use crate::reason;
use crate::writer::Waker;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The thread.
pub(crate) struct Syncer {
    jobs: Sender<(Box<dyn DiskFile>, u64)>,
    done: Receiver<Result<u64, String>>,
    busy: bool,
}

impl Syncer {
    /// Starts the thread.
    pub(crate) fn start(waker: Waker) -> io::Result<Syncer> {
        let (jobs, queue) = channel::<(Box<dyn DiskFile>, u64)>();
        let (tell, done) = channel();
        std::thread::Builder::new().name("fsync".into()).spawn(move || {
            while let Ok((mut file, offset)) = queue.recv() {
                let result = file.sync().map(|()| offset).map_err(|e| reason(&e));
                if tell.send(result).is_err() {
                    return;
                }
                waker();
            }
        })?;
        Ok(Syncer { jobs, done, busy: false })
    }

    /// True while an fsync is under way.
    pub(crate) fn busy(&self) -> bool {
        self.busy
    }

    /// Begins an fsync of a file that was written up to `offset`.
    pub(crate) fn begin(&mut self, file: &dyn DiskFile, offset: u64) -> io::Result<()> {
        self.jobs.send((file.again()?, offset)).map_err(|_| io::Error::other("the fsync thread is gone"))?;
        self.busy = true;
        Ok(())
    }

    /// What became of it: the offset that is safe now, or what went wrong. `wait`: waits for it.
    pub(crate) fn ended(&mut self, wait: bool) -> Option<Result<u64, String>> {
        if !self.busy {
            return None;
        }
        let result = if wait { self.done.recv().ok() } else { self.done.try_recv().ok() };
        self.busy = result.is_none();
        result
    }
}
