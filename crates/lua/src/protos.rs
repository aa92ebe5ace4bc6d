//! Prototypes as loaded into a VM: constants interned in its heap, call-site cells, and addresses that do not move, so
//! that the interpreter holds plain references to code while scripts compile more of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::chunk::{Chunk, Const, Proto};
use crate::heap::Heap;
use crate::op::Instr;
use crate::value::{StrId, Value};

/// A constant that is a short string, with its table hash. Others have an id that no key has.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    pub(crate) s: StrId,
    pub(crate) hash: u32,
}

/// A loaded function.
pub(crate) struct Loaded {
    pub(crate) chunk: Arc<Chunk>,
    /// Way from the chunk's main function to this one
    path: Box<[u32]>,
    pub(crate) code: Box<[Instr]>,
    pub(crate) k: Box<[Value]>,
    /// The constants once more, as names of fields
    pub(crate) names: Box<[Name]>,
    pub(crate) sites: Box<[AtomicU32]>,
    /// Numbers of the functions inside this one
    pub(crate) inner: Box<[u32]>,
    pub(crate) ups: Box<[crate::chunk::UpDesc]>,
    pub(crate) num_params: u8,
    pub(crate) is_vararg: bool,
    pub(crate) needs_arg: bool,
    pub(crate) max_stack: u8,
}

impl Loaded {
    /// The prototype with its debug information.
    pub(crate) fn proto(&self) -> &Proto {
        let mut p = &self.chunk.main;
        for &i in &self.path {
            p = &p.protos[i as usize];
        }
        p
    }

    pub(crate) fn line(&self, pc: usize) -> u32 {
        self.proto().lines.get(pc).copied().unwrap_or(0)
    }
}

const FIRST_BITS: u32 = 6;
const SEGMENTS: usize = 22;

/// Append-only through a shared reference; shortened only between runs.
pub(crate) struct ProtoArena {
    fixed: Vec<Loaded>,
    segments: [OnceCell<Box<[OnceCell<Loaded>]>>; SEGMENTS],
    len: Cell<u32>,
    /// Places in the segments that [`ProtoArena::sweep`] emptied
    free: RefCell<Vec<u32>>,
    /// Bytes of the chunks in the segments
    late_bytes: Cell<usize>,
}

#[inline]
fn locate(id: u32) -> (usize, usize) {
    let n = id + (1 << FIRST_BITS);
    let top = 31 - n.leading_zeros();
    ((top - FIRST_BITS) as usize, (n ^ (1 << top)) as usize)
}

impl ProtoArena {
    pub(crate) fn new() -> ProtoArena {
        ProtoArena {
            fixed: Vec::new(),
            segments: [const { OnceCell::new() }; SEGMENTS],
            len: Cell::new(0),
            free: RefCell::default(),
            late_bytes: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &Loaded {
        // Chunks loaded before the run are in a plain vector; only what `load` compiles is found the long way.
        match self.fixed.get(id as usize) {
            Some(l) => l,
            None => self.get_late(id - self.fixed.len() as u32),
        }
    }

    /// Moves everything loaded so far to where access is cheapest. Between runs only.
    /// Then it no longer counts for the heap. False when that would change the numbers of prototypes.
    pub(crate) fn settle(&mut self, heap: &mut Heap) -> bool {
        if !self.free.get_mut().is_empty() {
            return false;
        }
        heap.mem.used = heap.mem.used.saturating_sub(self.late_bytes.replace(0));
        for id in 0..self.len.get() {
            let (s, i) = locate(id);
            if let Some(l) = self.segments[s].get_mut().and_then(|seg| seg[i].take()) {
                self.fixed.push(l);
            }
        }
        self.len.set(0);
        true
    }

    fn get_late(&self, id: u32) -> &Loaded {
        self.late(id).expect("a closure's prototype stays loaded")
    }

    fn late(&self, id: u32) -> Option<&Loaded> {
        let (s, i) = locate(id);
        self.segments[s].get()?[i].get()
    }

    /// Constants of a prototype; none when it was swept.
    pub(crate) fn constants(&self, id: u32) -> &[Value] {
        let l = match self.fixed.get(id as usize) {
            Some(l) => Some(l),
            None => self.late(id - self.fixed.len() as u32),
        };
        l.map_or(&[], |l| &l.k)
    }

    /// Bytes that code takes which was compiled in the run.
    pub(crate) fn late_bytes(&self) -> usize {
        self.late_bytes.get()
    }

    /// Forgets the chunks compiled in the run of which no function is in `live`; returns the bytes that they took.
    pub(crate) fn sweep(&mut self, live: impl Iterator<Item = u32>) -> usize {
        let base = self.fixed.len() as u32;
        let chunk = |l: &Loaded| Arc::as_ptr(&l.chunk) as usize;
        let live: HashSet<usize> =
            live.filter_map(|id| id.checked_sub(base)).filter_map(|id| self.late(id)).map(chunk).collect();
        let before = self.late_bytes.get();
        for id in 0..self.len.get() {
            let (s, i) = locate(id);
            let Some(place) = self.segments[s].get_mut().map(|seg| &mut seg[i]) else { continue };
            if let Some(l) = place.get_mut()
                && !live.contains(&chunk(l))
            {
                if l.path.is_empty() {
                    self.late_bytes.set(self.late_bytes.get().saturating_sub(l.chunk.cost()));
                }
                place.take();
                self.free.get_mut().push(id);
            }
        }
        before - self.late_bytes.get()
    }

    pub(crate) fn len(&self) -> u32 {
        self.fixed.len() as u32 + self.len.get()
    }

    fn push(&self, l: Loaded) -> Option<u32> {
        if let Some(id) = self.free.borrow_mut().pop() {
            let (s, i) = locate(id);
            self.segments[s].get()?[i].set(l).ok()?;
            return Some(self.fixed.len() as u32 + id);
        }
        let id = self.len.get();
        let (s, i) = locate(id);
        let seg = self
            .segments
            .get(s)?
            .get_or_init(|| (0..1usize << (s as u32 + FIRST_BITS)).map(|_| OnceCell::new()).collect());
        seg[i].set(l).ok()?;
        self.len.set(id + 1);
        Some(self.fixed.len() as u32 + id)
    }

    /// Forgets the prototypes from `len` on.
    pub(crate) fn truncate(&mut self, len: u32) {
        self.free.get_mut().clear();
        self.late_bytes.set(0);
        while self.len() > len {
            if self.len.get() == 0 {
                self.fixed.truncate(len as usize);
                return;
            }
            let id = self.len.get() - 1;
            let (s, i) = locate(id);
            if let Some(seg) = self.segments[s].get_mut() {
                seg[i].take();
                if i == 0 && s > 0 {
                    self.segments[s].take();
                }
            }
            self.len.set(id);
        }
    }

    /// Loads a chunk: interns its constants in `heap` and returns the number of its main function; `None` when there
    /// are too many functions (beyond 2^27).
    pub(crate) fn load(&self, chunk: &Arc<Chunk>, heap: &mut Heap) -> Option<u32> {
        self.late_bytes.set(self.late_bytes.get() + chunk.cost());
        heap.mem.used += chunk.cost();
        self.load_proto(chunk, &chunk.main, &mut Vec::new(), heap)
    }

    /// The depth is that of the parser's bound on nested functions.
    fn load_proto(&self, chunk: &Arc<Chunk>, p: &Proto, path: &mut Vec<u32>, heap: &mut Heap) -> Option<u32> {
        let mut inner = Vec::with_capacity(p.protos.len());
        for (i, q) in p.protos.iter().enumerate() {
            path.push(i as u32);
            inner.push(self.load_proto(chunk, q, path, heap)?);
            path.pop();
        }
        let k: Box<[Value]> = p
            .consts
            .iter()
            .map(|c| match c {
                Const::Nil => Value::Nil,
                Const::Bool(b) => Value::Bool(*b),
                Const::Num(n) => Value::Num(*n),
                Const::Str(s) => {
                    let id = heap.intern(s);
                    heap.strs.table_hash(id);
                    Value::Str(id)
                }
            })
            .collect();
        let names = k
            .iter()
            .map(|v| match *v {
                Value::Str(s) if !s.is_long() => Name { s, hash: heap.strs.table_hash(s) },
                _ => Name { s: StrId::NONE, hash: 0 },
            })
            .collect();
        self.push(Loaded {
            chunk: chunk.clone(),
            path: path.as_slice().into(),
            code: p.code.as_slice().into(),
            k,
            names,
            sites: (0..p.sites).map(|_| AtomicU32::new(0)).collect(),
            inner: inner.into(),
            ups: p.upvals.as_slice().into(),
            num_params: p.num_params,
            is_vararg: p.is_vararg,
            needs_arg: p.needs_arg,
            max_stack: p.max_stack,
        })
    }
}
