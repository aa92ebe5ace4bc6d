//! A disk in memory, for tests: after a crash it holds what was made safe, and it fails on demand.

use crate::disk::{Disk, DiskFile};
use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It is made, or opened for appending.
    Open,
    /// Bytes are written to it.
    Write,
    /// It is made safe.
    Sync,
    /// It is cut.
    Cut,
    /// It gets this name.
    Rename,
    /// The entries of its directory are made safe.
    SyncDir,
}

/// What fails, until [`MemoryDisk::heal`].
#[derive(Debug, Clone)]
pub struct Fault {
    /// What is done.
    pub op: Op,
    /// A part of the file's path.
    pub path: String,
    /// The system's number of the error.
    pub errno: i32,
    /// Bytes of a write that are written all the same.
    pub written: usize,
}

/// `ENOSPC`: the disk is full.
pub const FULL: i32 = 28;
/// `EIO`: the disk is broken.
pub const BROKEN: i32 = 5;

#[derive(Debug, Clone, Default)]
struct Node {
    bytes: Vec<u8>,
    /// Bytes that survive a crash.
    safe: usize,
}

#[derive(Debug, Default)]
struct State {
    nodes: Vec<Node>,
    /// Names as they are, and as they are after a crash.
    names: BTreeMap<PathBuf, usize>,
    safe_names: BTreeMap<PathBuf, usize>,
    faults: Vec<Fault>,
    later: Duration,
}

/// The disk. Clones are the same one.
#[derive(Debug, Clone)]
pub struct MemoryDisk {
    state: Arc<Mutex<State>>,
    began: Instant,
}

impl Default for MemoryDisk {
    fn default() -> Self {
        MemoryDisk { state: Arc::default(), began: Instant::now() }
    }
}

impl MemoryDisk {
    fn lock_state(&self) -> MutexGuard<'_, State> {
        // A panic in a test's thread leaves nothing half done here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on this fails.
    pub fn fail(&self, fault: Fault) {
        self.lock_state().faults.push(fault);
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        self.lock_state().faults.clear();
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.lock_state().later += by;
    }

    /// What is left after the machine lost its power: of each file what was made safe, and `torn` bytes more if there
    /// are so many.
    pub fn crash(&self, torn: usize) -> MemoryDisk {
        let state = self.lock_state();
        let names = state.safe_names.clone();
        let nodes = state.nodes.iter().map(|node| {
            let bytes = node.bytes[..node.bytes.len().min(node.safe.saturating_add(torn))].to_vec();
            Node { safe: bytes.len(), bytes }
        });
        let left = State {
            nodes: nodes.collect(),
            safe_names: names.clone(),
            names,
            faults: Vec::new(),
            later: state.later,
        };
        MemoryDisk { state: Arc::new(Mutex::new(left)), began: self.began }
    }

    /// The bytes of a file.
    pub fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.lock_state();
        state.names.get(path).map(|id| state.nodes[*id].bytes.clone())
    }

    /// Makes a file, or replaces it; it is safe.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.lock_state();
        let id = state.nodes.len();
        state.nodes.push(Node { bytes: bytes.to_vec(), safe: bytes.len() });
        state.names.insert(path.to_owned(), id);
        state.safe_names.insert(path.to_owned(), id);
    }
}

impl State {
    fn check(&self, op: Op, path: &Path) -> io::Result<()> {
        match self.fault(op, path) {
            Some(fault) => Err(io::Error::from_raw_os_error(fault.errno)),
            None => Ok(()),
        }
    }

    fn fault(&self, op: Op, path: &Path) -> Option<&Fault> {
        self.faults.iter().find(|f| f.op == op && path.to_string_lossy().contains(&f.path))
    }

    fn make(&mut self, path: &Path) -> usize {
        self.nodes.push(Node::default());
        self.names.insert(path.to_owned(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }
}

fn missing() -> io::Error {
    io::Error::from(io::ErrorKind::NotFound)
}

impl Disk for MemoryDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.lock_state();
        state.check(Op::Open, path)?;
        let id = state.make(path);
        Ok(Box::new(MemoryFile { disk: self.clone(), id, path: path.to_owned() }))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.lock_state();
        state.check(Op::Open, path)?;
        let id = state.names.get(path).copied().unwrap_or_else(|| state.make(path));
        Ok(Box::new(MemoryFile { disk: self.clone(), id, path: path.to_owned() }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::Cursor::new(self.read(path).ok_or_else(missing)?)))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        let state = self.lock_state();
        state.names.get(path).map(|id| state.nodes[*id].bytes.len() as u64).ok_or_else(missing)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.lock_state();
        state.check(Op::Rename, to)?;
        let id = state.names.remove(from).ok_or_else(missing)?;
        state.names.insert(to.to_owned(), id);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.lock_state().names.remove(path).map(drop).ok_or_else(missing)
    }

    fn create_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.lock_state();
        state.check(Op::SyncDir, path)?;
        let inside = |file: &PathBuf| file.parent() == Some(path);
        let State { names, safe_names, .. } = &mut *state;
        safe_names.retain(|file, _| !inside(file));
        safe_names
            .extend(names.iter().filter(|(file, _)| inside(file)).map(|(file, id)| (file.clone(), *id)));
        Ok(())
    }

    fn files(&self, path: &Path) -> Vec<PathBuf> {
        self.lock_state().names.keys().filter(|file| file.parent() == Some(path)).cloned().collect()
    }

    fn lock(&self, _path: &Path) -> io::Result<Box<dyn Any + Send>> {
        Ok(Box::new(()))
    }

    fn now(&self) -> Instant {
        self.began + self.lock_state().later
    }
}

struct MemoryFile {
    disk: MemoryDisk,
    id: usize,
    path: PathBuf,
}

impl DiskFile for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.lock_state();
        if let Some(fault) = state.fault(Op::Write, &self.path).cloned() {
            let written = fault.written.min(bytes.len());
            if written == 0 {
                return Err(io::Error::from_raw_os_error(fault.errno));
            }
            state.nodes[self.id].bytes.extend_from_slice(&bytes[..written]);
            // The rest of it fails.
            state.faults.iter_mut().filter(|f| f.op == Op::Write).for_each(|f| f.written = 0);
            return Ok(written);
        }
        state.nodes[self.id].bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let mut state = self.disk.lock_state();
        state.check(Op::Cut, &self.path)?;
        let node = &mut state.nodes[self.id];
        node.bytes.resize(len as usize, 0);
        node.safe = node.safe.min(node.bytes.len());
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.lock_state();
        state.check(Op::Sync, &self.path)?;
        let node = &mut state.nodes[self.id];
        node.safe = node.bytes.len();
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.lock_state().nodes[self.id].bytes.len() as u64)
    }

    fn again(&self) -> io::Result<Box<dyn DiskFile>> {
        let (disk, path) = (self.disk.clone(), self.path.clone());
        Ok(Box::new(MemoryFile { disk, id: self.id, path }))
    }
}
