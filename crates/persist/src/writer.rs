//! Writes a snapshot on a thread of its own, so that the disk does not hold up commands.

use crate::disk::{Disk, DiskFile, rename_safely, write_all};
use crate::reason;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, channel, sync_channel};
use totality_ds::crc::crc64;

/// Pieces that may wait for the disk.
const QUEUE: usize = 16;
/// Bytes after which the system is told to write, so that the last fsync is not a long one.
const SYNC_EVERY: u64 = 32 << 20;

/// Wakes the owner of a loop.
pub(crate) type Waker = Arc<dyn Fn() + Send + Sync>;

enum Piece {
    Bytes(Vec<u8>),
    /// All is there.
    End(Seal),
}

/// What stands behind all that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The checksum.
    Checksum,
    /// Eight zero bytes: a snapshot without one.
    Zeros,
    /// Nothing: it is no snapshot.
    None,
}

/// A file in the making. Dropping it gives it up.
pub(crate) struct FileWriter {
    pieces: Option<SyncSender<Piece>>,
    done: Receiver<Result<u64, String>>,
    /// What the queue had no room for.
    waiting: VecDeque<Piece>,
}

/// Where a file is written, and what becomes of it.
pub(crate) struct Target {
    pub(crate) temp: PathBuf,
    /// Its name once it is complete and safe.
    pub(crate) path: PathBuf,
}

impl FileWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// When the file or the thread cannot be made.
    pub(crate) fn begin(disk: Arc<dyn Disk>, target: Target, waker: Waker) -> std::io::Result<FileWriter> {
        let file = disk.create(&target.temp)?;
        let (pieces, queue) = sync_channel(QUEUE);
        let (tell, done) = channel();
        std::thread::Builder::new().name("snapshot".into()).spawn(move || {
            let result = write(&*disk, file, &target, &queue).map_err(|e| reason(&e));
            if result.is_err() {
                // It is of no use to anybody.
                let _ = disk.remove(&target.temp);
            }
            // The owner is gone when it gave the file up.
            let _ = tell.send(result);
            waker();
        })?;
        Ok(FileWriter { pieces: Some(pieces), done, waiting: VecDeque::new() })
    }

    /// Hands over what waits; true when nothing is left, so that more can be taken.
    pub(crate) fn has_room(&mut self) -> bool {
        let Some(pieces) = &self.pieces else { return true };
        while let Some(piece) = self.waiting.pop_front() {
            if let Err(TrySendError::Full(piece)) = pieces.try_send(piece) {
                self.waiting.push_front(piece);
                return false;
            }
        }
        true
    }

    /// Hands over bytes. `block`: waits for the disk.
    pub(crate) fn send(&mut self, bytes: Vec<u8>, block: bool) {
        if !bytes.is_empty() {
            self.pass(Piece::Bytes(bytes), block);
        }
    }

    /// All was sent: the seal is written, the file is made safe and gets its name.
    pub(crate) fn finish(&mut self, seal: Seal, block: bool) {
        self.pass(Piece::End(seal), block);
    }

    fn pass(&mut self, piece: Piece, block: bool) {
        self.waiting.push_back(piece);
        match &self.pieces {
            Some(pieces) if block => {
                for piece in self.waiting.drain(..) {
                    // A thread that is gone has said why.
                    let _ = pieces.send(piece);
                }
            }
            _ => {
                self.has_room();
            }
        }
    }

    /// How it ended, if it has: bytes of the file, or what went wrong.
    pub(crate) fn ended(&mut self) -> Option<Result<u64, String>> {
        match self.done.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err("the writing thread is gone".to_owned())),
        }
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> Result<u64, String> {
        self.done.recv().unwrap_or_else(|_| Err("the writing thread is gone".to_owned()))
    }
}

fn write(
    disk: &dyn Disk,
    mut file: Box<dyn DiskFile>,
    target: &Target,
    queue: &Receiver<Piece>,
) -> io::Result<u64> {
    let put = |file: &mut dyn DiskFile, bytes: &[u8]| write_all(file, bytes).map_err(|(_, e)| e);
    let (mut crc, mut size, mut synced) = (0, 0u64, 0u64);
    loop {
        match queue.recv() {
            Ok(Piece::Bytes(bytes)) => {
                put(&mut *file, &bytes)?;
                crc = crc64(crc, &bytes);
                size += bytes.len() as u64;
                if size - synced >= SYNC_EVERY {
                    file.sync()?;
                    synced = size;
                }
            }
            Ok(Piece::End(seal)) => {
                let crc = if seal == Seal::Checksum { crc } else { 0 };
                if seal != Seal::None {
                    put(&mut *file, &crc.to_le_bytes())?;
                    size += 8;
                }
                file.sync()?;
                rename_safely(disk, &target.temp, &target.path)?;
                return Ok(size);
            }
            Err(_) => return Err(io::Error::other("given up")),
        }
    }
}
