//! The disk, as far as the files of a data set need it. There is the real one, and one in memory that forgets what was not
//! made safe and fails on demand, for tests.

use crate::dir;
use std::any::Any;
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where files are kept. Errors are the system's.
///
/// Whatever makes, renames or removes a file is safe only when [`Disk::sync_dir`] was called for its directory.
pub trait Disk: Send + Sync + Debug {
    /// Makes a file that only its owner can read, empty.
    ///
    /// # Errors
    /// The system's.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens a file for appending, made if need be.
    ///
    /// # Errors
    /// The system's.
    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// The system's.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// Bytes of a file.
    ///
    /// # Errors
    /// The system's.
    fn len(&self, path: &Path) -> io::Result<u64>;

    /// Renames a file, in place of another.
    ///
    /// # Errors
    /// The system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The system's.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a directory and those above it, if they are not there.
    ///
    /// # Errors
    /// The system's.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the entries of a directory safe.
    ///
    /// # Errors
    /// The system's.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Files of a directory; none when it cannot be read.
    fn files(&self, path: &Path) -> Vec<PathBuf>;

    /// Locks a directory for this process, as long as what is given lives.
    ///
    /// # Errors
    /// When another process has it, or the system's.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send>>;

    /// The time by which the append-only file is made safe.
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// A file that is written.
pub trait DiskFile: Send {
    /// Writes some of the bytes and says how many.
    ///
    /// # Errors
    /// The system's.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file.
    ///
    /// # Errors
    /// The system's.
    fn set_len(&mut self, len: u64) -> io::Result<()>;

    /// Makes what was written safe.
    ///
    /// # Errors
    /// The system's. What was written before may be lost then, whatever a later call says.
    fn sync(&mut self) -> io::Result<()>;

    /// Bytes of the file.
    ///
    /// # Errors
    /// The system's.
    fn size(&self) -> io::Result<u64>;

    /// Another handle to it.
    ///
    /// # Errors
    /// The system's.
    fn again(&self) -> io::Result<Box<dyn DiskFile>>;
}

/// Writes all bytes; on an error says how many were written, and what went wrong.
pub(crate) fn write_all(file: &mut dyn DiskFile, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write(&bytes[done..]) {
            Ok(0) => return Err((done, io::Error::new(io::ErrorKind::WriteZero, "Short write"))),
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err((done, e)),
        }
    }
    Ok(())
}

/// Renames a file, and makes that safe.
pub(crate) fn rename_safely(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    disk.rename(from, to)?;
    disk.sync_dir(to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Replaces a file as a whole: whoever opens it gets the old or the new text.
pub(crate) fn replace(disk: &dyn Disk, path: &Path, temp: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = disk.create(temp)?;
    write_all(&mut *file, text).map_err(|(_, e)| e)?;
    file.sync()?;
    drop(file);
    rename_safely(disk, temp, path)
}

/// Removes what saves and rewrites of processes that are gone left behind.
pub(crate) fn remove_temporary(disk: &dyn Disk, path: &Path) {
    for file in disk.files(path) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("temp-totality-") && (name.ends_with(".rdb") || name.ends_with(".aof")) {
            // What cannot be removed is only a waste.
            let _ = disk.remove(&file);
        }
    }
}

/// The machine's disk.
#[derive(Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(dir::create(path)?))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(dir::append(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(path)?))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(std::fs::metadata(path)?.len())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn files(&self, path: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send>> {
        Ok(Box::new(dir::lock(path)?))
    }
}

impl DiskFile for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(self, bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(self.try_clone()?))
    }
}
