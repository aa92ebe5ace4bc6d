//! The data directory: its lock, and files that are replaced as a whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

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

/// Makes the entries of a directory safe.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Renames a file, and makes that safe.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    sync_dir(to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Replaces a file as a whole: whoever opens it gets the old or the new text.
pub(crate) fn replace(path: &Path, temp: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = create(temp)?;
    file.write_all(text)?;
    file.sync_all()?;
    drop(file);
    rename(temp, path)
}

/// Removes what saves and rewrites of processes that are gone left behind.
pub(crate) fn remove_temporary(dir: &Path) -> Vec<PathBuf> {
    let mut gone = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = name.starts_with("temp-totality-") && (name.ends_with(".rdb") || name.ends_with(".aof"));
        if ours && std::fs::remove_file(entry.path()).is_ok() {
            gone.push(entry.path());
        }
    }
    gone
}
