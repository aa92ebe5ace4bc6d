//! The data directory on the real disk: its lock, and files that only their owner can read.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The file whose lock says that a process keeps its data here.
const LOCK: &str = "totality.lock";

/// Locks a directory for this process; the lock goes with the file.
///
/// # Errors
/// When another process has it, or the file cannot be made.
pub(crate) fn lock(dir: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(dir.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another process keeps its data in this directory",
        )),
        Err(std::fs::TryLockError::Error(e)) => Err(e),
    }
}

/// Makes a file that only its owner can read, empty.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)
}

/// Opens a file for appending, made if need be.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}
