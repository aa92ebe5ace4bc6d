//! The entries of a stream: blocks of listpacks ordered by id, byte for byte as Redis keeps them.
//!
//! A block starts with a master entry (number of live and of deleted entries, field names, 0), which lends its field
//! names to the entries that have the same ones. An entry is flags, its id as differences to the block's, the fields
//! (unless they are the master's), the values, and the number of these elements, so that it can be read from the
//! right. Deleting marks an entry; a block goes when its last live entry does.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;

use crate::listpack::{Item, Listpack, MAX_BYTES};

const DELETED: i64 = 1;
const SAME_FIELDS: i64 = 2;
/// What a new block allocates at most, if its limit is not lower: most blocks come to be about as large.
const PREALLOCATE: usize = 1024;

/// The id of an entry: milliseconds and a sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Unix time in milliseconds, usually.
    pub ms: u64,
    /// Distinguishes entries of the same millisecond.
    pub seq: u64,
}

impl StreamId {
    /// 0-0, which no entry has.
    pub const MIN: StreamId = StreamId { ms: 0, seq: 0 };
    /// The largest id.
    pub const MAX: StreamId = StreamId { ms: u64::MAX, seq: u64::MAX };

    /// The id after this one; None after the largest.
    pub fn next(self) -> Option<StreamId> {
        match self.seq.checked_add(1) {
            Some(seq) => Some(StreamId { seq, ..self }),
            None => Some(StreamId { ms: self.ms.checked_add(1)?, seq: 0 }),
        }
    }

    /// The id before this one; None before 0-0.
    pub fn prev(self) -> Option<StreamId> {
        match self.seq.checked_sub(1) {
            Some(seq) => Some(StreamId { seq, ..self }),
            None => Some(StreamId { ms: self.ms.checked_sub(1)?, seq: u64::MAX }),
        }
    }

    /// Appends `ms-seq`.
    pub fn push(self, out: &mut Vec<u8>) {
        let mut b = itoa::Buffer::new();
        out.extend_from_slice(b.format(self.ms).as_bytes());
        out.push(b'-');
        out.extend_from_slice(b.format(self.seq).as_bytes());
    }

    /// Sixteen bytes, big endian: the order of the bytes is that of the ids.
    pub fn to_be_bytes(self) -> [u8; 16] {
        ((self.ms as u128) << 64 | self.seq as u128).to_be_bytes()
    }

    /// The inverse of [`StreamId::to_be_bytes`].
    pub fn from_be_bytes(b: [u8; 16]) -> StreamId {
        let v = u128::from_be_bytes(b);
        StreamId { ms: (v >> 64) as u64, seq: v as u64 }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

/// Why a block or an entry was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// Foreign bytes are not a well-formed block.
    Malformed,
    /// The id is not greater than all before.
    NotGreater,
    /// The entry is larger than a block can be (1 GiB).
    TooLarge,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StreamError::Malformed => "malformed block of a stream",
            StreamError::NotGreater => "id is not greater than the last one",
            StreamError::TooLarge => "entry too large for a stream",
        })
    }
}

impl std::error::Error for StreamError {}

/// When a block is full.
#[derive(Clone, Copy, Debug)]
pub struct BlockLimits {
    /// Bytes of a block (`stream-node-max-bytes`); 0 for no limit.
    pub bytes: usize,
    /// Entries of a block, deleted ones included (`stream-node-max-entries`); 0 for no limit.
    pub entries: u64,
}

/// What a trim keeps.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// This many entries.
    Len(u64),
    /// Entries from this id on.
    From(StreamId),
}

/// The master entry of a block.
#[derive(Clone, Copy)]
struct Header {
    live: i64,
    deleted: i64,
    fields: i64,
    /// Position of the first field name (or of the 0 behind them).
    names: usize,
}

fn int_at(lp: &Listpack, pos: usize) -> Option<i64> {
    lp.get(pos).as_i64()
}

fn skip(lp: &Listpack, mut pos: usize, n: i64) -> Option<usize> {
    for _ in 0..n {
        pos = lp.next(pos)?;
    }
    Some(pos)
}

impl Header {
    fn read(lp: &Listpack) -> Option<Header> {
        let live = lp.first()?;
        let deleted = lp.next(live)?;
        let fields = lp.next(deleted)?;
        let names = lp.next(fields)?;
        let h = Header {
            live: int_at(lp, live)?,
            deleted: int_at(lp, deleted)?,
            fields: int_at(lp, fields)?,
            names,
        };
        if h.live >= 0 && h.deleted >= 0 && h.fields >= 0 { Some(h) } else { None }
    }

    /// Position of the first entry.
    fn first_entry(&self, lp: &Listpack) -> Option<usize> {
        lp.next(skip(lp, self.names, self.fields)?)
    }

    fn set_counts(lp: &mut Listpack, live: i64, deleted: i64) {
        if let Some(p) = lp.first() {
            lp.replace_int(p, live);
            if let Some(p) = lp.next(p) {
                lp.replace_int(p, deleted);
            }
        }
    }
}

/// An entry of a stream.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// The id.
    pub id: StreamId,
    lp: &'a Listpack,
    /// Position of the flags.
    at: usize,
    flags: i64,
    fields: i64,
    /// Position of the first field name, in the master entry or in this one.
    names: usize,
    /// Position of the first value, or of the first pair.
    body: usize,
}

impl<'a> Entry<'a> {
    fn read(lp: &'a Listpack, block: StreamId, header: &Header, at: usize) -> Option<Entry<'a>> {
        let flags = int_at(lp, at)?;
        let ms = lp.next(at)?;
        let seq = lp.next(ms)?;
        let id = StreamId {
            ms: block.ms.wrapping_add(int_at(lp, ms)? as u64),
            seq: block.seq.wrapping_add(int_at(lp, seq)? as u64),
        };
        let mut body = lp.next(seq)?;
        let mut fields = header.fields;
        let mut names = header.names;
        if flags & SAME_FIELDS == 0 {
            fields = int_at(lp, body)?;
            body = lp.next(body)?;
            names = body;
        }
        if fields < 0 { None } else { Some(Entry { id, lp, at, flags, fields, names, body }) }
    }

    fn is_deleted(&self) -> bool {
        self.flags & DELETED != 0
    }

    fn is_same(&self) -> bool {
        self.flags & SAME_FIELDS != 0
    }

    /// Number of elements of fields and values.
    fn elements(&self) -> i64 {
        if self.is_same() { self.fields } else { self.fields.saturating_mul(2) }
    }

    /// Position of the number of elements, the last one.
    fn count_pos(&self) -> Option<usize> {
        skip(self.lp, self.body, self.elements())
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.fields as usize
    }

    /// True if there is no field.
    pub fn is_empty(&self) -> bool {
        self.fields == 0
    }

    /// Fields and values in their order.
    pub fn fields(&self) -> impl Iterator<Item = (Item<'a>, Item<'a>)> {
        let Entry { lp, mut names, mut body, .. } = *self;
        let same = self.is_same();
        (0..self.fields).map_while(move |_| {
            let field = lp.get(names);
            if same {
                names = lp.next(names)?;
            } else {
                body = lp.next(names)?;
            }
            let value = lp.get(body);
            // The number of elements follows the last value.
            body = lp.next(body)?;
            if !same {
                names = body;
            }
            Some((field, value))
        })
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.id)?;
        f.debug_list().entries(self.fields()).finish()
    }
}

/// The entries of a stream in ascending order of ids.
#[derive(Default)]
pub struct Stream {
    blocks: BTreeMap<StreamId, Listpack>,
    len: u64,
    heap: usize,
    /// There while changes are to be taken back perhaps.
    saved: Option<Box<Saved>>,
}

/// Blocks as they were before they were changed, and how many entries there were.
#[derive(Clone, Debug, Default)]
pub struct Saved {
    blocks: BTreeMap<StreamId, Option<Listpack>>,
    len: Option<u64>,
    bytes: usize,
}

impl Saved {
    /// Bytes that it holds, nearly. O(1).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Notes a block as it is; `None`: it is about to be made. What was noted before counts.
    fn note(&mut self, id: StreamId, block: Option<Listpack>) {
        if let std::collections::btree_map::Entry::Vacant(slot) = self.blocks.entry(id) {
            let heap = block.as_ref().map_or(0, Listpack::heap_bytes);
            self.bytes += heap + (size_of::<StreamId>() + size_of::<Option<Listpack>>()) * 3 / 2;
            slot.insert(block);
        }
    }
}

impl Clone for Stream {
    fn clone(&self) -> Self {
        // A copy has no room to spare, so its account is another one.
        let blocks = self.blocks.clone();
        let heap = blocks.values().map(Listpack::heap_bytes).sum();
        Stream { blocks, len: self.len, heap, saved: self.saved.clone() }
    }
}

impl Stream {
    /// No entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of live entries.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if there is no live entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Allocated bytes, nearly. O(1).
    pub fn mem_bytes(&self) -> usize {
        // Nodes of the ordered map are about two thirds full.
        self.heap + self.blocks.len() * (size_of::<StreamId>() + size_of::<Listpack>()) * 3 / 2
    }

    /// The blocks with their ids, as RDB files carry them.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = (StreamId, &Listpack)> + ExactSizeIterator {
        self.blocks.iter().map(|(id, lp)| (*id, lp))
    }

    /// The blocks from an id on.
    pub fn blocks_from(&self, id: StreamId) -> impl Iterator<Item = (StreamId, &Listpack)> {
        self.blocks.range(id..).map(|(id, lp)| (*id, lp))
    }

    /// From now on keeps blocks as they are before they are changed, beside those that `saved` holds already.
    pub fn save_changes(&mut self, mut saved: Box<Saved>) {
        saved.len.get_or_insert(self.len);
        self.saved = Some(saved);
    }

    /// Ends the keeping and gives what was kept.
    pub fn take_saved(&mut self) -> Option<Box<Saved>> {
        self.saved.take()
    }

    /// Takes back what was changed since the keeping began.
    pub fn restore(&mut self, saved: Saved) {
        for (id, block) in saved.blocks {
            let gone = match block {
                Some(lp) => {
                    self.heap += lp.heap_bytes();
                    self.blocks.insert(id, lp)
                }
                None => self.blocks.remove(&id),
            };
            self.heap -= gone.map_or(0, |lp| lp.heap_bytes());
        }
        self.len = saved.len.unwrap_or(self.len);
    }

    /// Keeps a copy of a block that is about to be changed.
    #[inline]
    fn save(&mut self, id: StreamId) {
        if let Some(saved) = &mut self.saved
            && !saved.blocks.contains_key(&id)
        {
            saved.note(id, self.blocks.get(&id).cloned());
        }
    }

    /// Removes a block, which may have to be kept.
    fn drop_block(&mut self, id: StreamId) {
        let Some(lp) = self.blocks.remove(&id) else { return };
        self.heap -= lp.heap_bytes();
        if let Some(saved) = &mut self.saved {
            saved.note(id, Some(lp));
        }
    }

    /// Appends a foreign block after checking all of it.
    ///
    /// # Errors
    /// [`StreamError::Malformed`], or [`StreamError::NotGreater`] if blocks come in a wrong order.
    pub fn push_block(&mut self, id: StreamId, lp: Listpack) -> Result<(), StreamError> {
        if self.blocks.last_key_value().is_some_and(|(last, _)| *last >= id) {
            return Err(StreamError::NotGreater);
        }
        let live = check_block(&lp, id).ok_or(StreamError::Malformed)?;
        self.save(id);
        self.len += live;
        self.heap += lp.heap_bytes();
        self.blocks.insert(id, lp);
        Ok(())
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// [`StreamError::TooLarge`], or [`StreamError::NotGreater`] if `id` is not greater than that of the last block's
    /// last entry; nothing is changed then.
    pub fn append<'b>(
        &mut self,
        id: StreamId,
        pairs: impl Iterator<Item = (&'b [u8], &'b [u8])> + Clone,
        limits: BlockLimits,
    ) -> Result<(), StreamError> {
        let (mut size, mut fields) = (0usize, 0i64);
        for (f, v) in pairs.clone() {
            size = size.saturating_add(f.len() + v.len());
            fields += 1;
        }
        // Every element takes up to eleven bytes around its content.
        if size > MAX_BYTES || size.saturating_add(fields as usize * 22 + 100) > MAX_BYTES {
            return Err(StreamError::TooLarge);
        }
        let max = if limits.bytes == 0 { MAX_BYTES } else { limits.bytes.min(MAX_BYTES) };
        if self.saved.is_some()
            && let Some(block) = self.blocks.last_key_value().map(|(id, _)| *id)
        {
            self.save(block);
        }
        if let Some(mut last) = self.blocks.last_entry() {
            let block = *last.key();
            let lp = last.get_mut();
            let header = Header::read(lp).ok_or(StreamError::Malformed)?;
            let last_id = last_entry_id(lp, block, &header).unwrap_or(block);
            if id <= last_id || id <= block {
                return Err(StreamError::NotGreater);
            }
            let entries = (header.live + header.deleted) as u64;
            let full = lp.byte_len() + size >= max || (limits.entries > 0 && entries >= limits.entries);
            let before = lp.heap_bytes();
            if full || !lp.safe_to_add(size + fields as usize * 22 + 100) {
                lp.shrink_to_fit();
                self.heap = self.heap + lp.heap_bytes() - before;
            } else {
                Header::set_counts(lp, header.live + 1, header.deleted);
                let header =
                    Header { live: header.live + 1, ..Header::read(lp).ok_or(StreamError::Malformed)? };
                let same = same_fields(lp, &header, fields, pairs.clone());
                push_entry(lp, block, id, pairs, fields, same);
                self.heap = self.heap + lp.heap_bytes() - before;
                self.len += 1;
                return Ok(());
            }
        }
        let mut lp = Listpack::with_capacity((size + 64).max(PREALLOCATE.min(max)));
        lp.push_back_int(1);
        lp.push_back_int(0);
        lp.push_back_int(fields);
        pairs.clone().for_each(|(f, _)| lp.push_back(f));
        lp.push_back_int(0);
        push_entry(&mut lp, id, id, pairs, fields, true);
        self.save(id);
        self.heap += lp.heap_bytes();
        self.len += 1;
        self.blocks.insert(id, lp);
        Ok(())
    }

    /// Live entries with ids from `start` to `end`, both included, ascending.
    pub fn range(&self, start: StreamId, end: StreamId) -> Range<'_> {
        let first = self.blocks.range(..=start).next_back().map_or(StreamId::MIN, |(id, _)| *id);
        Range { blocks: self.blocks.range(first..), start, end, current: None }
    }

    /// Live entries with ids from `end` down to `start`, both included.
    pub fn range_rev(&self, start: StreamId, end: StreamId) -> RangeRev<'_> {
        RangeRev {
            blocks: self.blocks.range((Bound::Unbounded, Bound::Included(end))),
            start,
            end,
            current: None,
        }
    }

    /// The first live entry's id.
    pub fn first_id(&self) -> Option<StreamId> {
        Some(self.range(StreamId::MIN, StreamId::MAX).next()?.id)
    }

    /// The last live entry's id.
    pub fn last_id(&self) -> Option<StreamId> {
        Some(self.range_rev(StreamId::MIN, StreamId::MAX).next()?.id)
    }

    /// The live entry with this id.
    pub fn get(&self, id: StreamId) -> Option<Entry<'_>> {
        self.range(id, id).next()
    }

    /// Deletes an entry; true if it was there.
    pub fn remove(&mut self, id: StreamId) -> bool {
        let Some(at) = self.get(id).map(|e| e.at) else { return false };
        if self.saved.is_some()
            && let Some(block) = self.blocks.range(..=id).next_back().map(|(id, _)| *id)
        {
            self.save(block);
        }
        let Some((&block, lp)) = self.blocks.range_mut(..=id).next_back() else { return false };
        let Some(header) = Header::read(lp) else { return false };
        self.len -= 1;
        if header.live <= 1 {
            self.drop_block(block);
            return true;
        }
        let before = lp.heap_bytes();
        let flags = int_at(lp, at).unwrap_or(0);
        lp.replace_int(at, flags | DELETED);
        Header::set_counts(lp, header.live - 1, header.deleted + 1);
        self.heap = self.heap + lp.heap_bytes() - before;
        true
    }

    /// Removes old entries until what `keep` says is left; gives their number. If `approx`, only whole blocks; at most
    /// `limit` entries (0 for no limit).
    pub fn trim(&mut self, keep: Keep, approx: bool, limit: u64) -> u64 {
        let mut gone = 0;
        while let Some((&block, lp)) = self.blocks.first_key_value() {
            let Some(header) = Header::read(lp) else { break };
            let live = header.live as u64;
            if matches!(keep, Keep::Len(n) if self.len <= n) || (limit > 0 && gone + live > limit) {
                break;
            }
            let whole = match keep {
                Keep::Len(n) => self.len.saturating_sub(live) >= n,
                Keep::From(id) => last_entry_id(lp, block, &header).unwrap_or(StreamId::MIN) < id,
            };
            if whole {
                self.drop_block(block);
                self.len -= live;
                gone += live;
                continue;
            }
            if !approx {
                gone += self.trim_block(block, header, keep);
            }
            break;
        }
        gone
    }

    /// Marks entries at the beginning of a block as deleted.
    fn trim_block(&mut self, block: StreamId, header: Header, keep: Keep) -> u64 {
        self.save(block);
        let Some(lp) = self.blocks.get_mut(&block) else { return 0 };
        let before = lp.heap_bytes();
        let mut gone = 0;
        let mut next = header.first_entry(lp);
        while let Some(at) = next {
            let Some(e) = Entry::read(lp, block, &header, at) else { break };
            let stop = match keep {
                Keep::Len(n) => self.len <= n,
                Keep::From(id) => e.id >= id,
            };
            if stop {
                break;
            }
            next = e.count_pos().and_then(|p| lp.next(p));
            if !e.is_deleted() {
                let flags = e.flags | DELETED;
                lp.replace_int(at, flags);
                self.len -= 1;
                gone += 1;
            }
        }
        Header::set_counts(lp, header.live - gone as i64, header.deleted + gone as i64);
        self.heap = self.heap + lp.heap_bytes() - before;
        gone
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.range(StreamId::MIN, StreamId::MAX)).finish()
    }
}

/// The id of the last entry of a block, live or deleted.
fn last_entry_id(lp: &Listpack, block: StreamId, header: &Header) -> Option<StreamId> {
    let (at, _) = entry_before(lp, lp.last()?)?;
    Some(Entry::read(lp, block, header, at)?.id)
}

/// Where the entry begins whose last element is at `count`, and where the one before ends. None at the master entry.
fn entry_before(lp: &Listpack, count: usize) -> Option<(usize, Option<usize>)> {
    let n = int_at(lp, count)?;
    if n <= 0 {
        return None;
    }
    let mut at = count;
    for _ in 0..n {
        at = lp.prev(at)?;
    }
    Some((at, lp.prev(at)))
}

fn same_fields<'b>(
    lp: &Listpack,
    header: &Header,
    fields: i64,
    mut pairs: impl Iterator<Item = (&'b [u8], &'b [u8])>,
) -> bool {
    if fields != header.fields {
        return false;
    }
    let mut names = lp.iter_from(header.names);
    pairs.all(|(f, _)| names.next().is_some_and(|name| name.eq_bytes(f)))
}

fn push_entry<'b>(
    lp: &mut Listpack,
    block: StreamId,
    id: StreamId,
    pairs: impl Iterator<Item = (&'b [u8], &'b [u8])>,
    fields: i64,
    same: bool,
) {
    lp.push_back_int(if same { SAME_FIELDS } else { 0 });
    lp.push_back_int(id.ms.wrapping_sub(block.ms) as i64);
    lp.push_back_int(id.seq.wrapping_sub(block.seq) as i64);
    if !same {
        lp.push_back_int(fields);
    }
    for (f, v) in pairs {
        if !same {
            lp.push_back(f);
        }
        lp.push_back(v);
    }
    lp.push_back_int(if same { fields + 3 } else { 2 * fields + 4 });
}

/// Checks a foreign block; gives the number of live entries.
fn check_block(lp: &Listpack, block: StreamId) -> Option<u64> {
    let header = Header::read(lp)?;
    let zero = skip(lp, header.names, header.fields)?;
    if int_at(lp, zero)? != 0 {
        return None;
    }
    let (mut live, mut deleted, mut last) = (0, 0, None);
    let mut next = lp.next(zero);
    while let Some(at) = next {
        let e = Entry::read(lp, block, &header, at)?;
        let end = e.count_pos()?;
        let want = e.elements() + if e.is_same() { 3 } else { 4 };
        if int_at(lp, end)? != want || e.id < block || last.is_some_and(|l| e.id <= l) {
            return None;
        }
        if e.is_deleted() {
            deleted += 1
        } else {
            live += 1
        }
        last = Some(e.id);
        next = lp.next(end);
    }
    if (live, deleted) == (header.live, header.deleted) { Some(live as u64) } else { None }
}

/// Live entries in ascending order.
pub struct Range<'a> {
    blocks: std::collections::btree_map::Range<'a, StreamId, Listpack>,
    start: StreamId,
    end: StreamId,
    current: Option<(StreamId, &'a Listpack, Header, usize)>,
}

impl<'a> Iterator for Range<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let Some((block, lp, header, at)) = self.current.take() else {
                let (&block, lp) = self.blocks.next()?;
                if block > self.end {
                    return None;
                }
                if let Some(header) = Header::read(lp) {
                    self.current = header.first_entry(lp).map(|at| (block, lp, header, at));
                }
                continue;
            };
            let Some(e) = Entry::read(lp, block, &header, at) else { continue };
            if e.id > self.end {
                // The rest is out of range too.
                self.current = Some((block, lp, header, at));
                return None;
            }
            self.current = e.count_pos().and_then(|p| lp.next(p)).map(|at| (block, lp, header, at));
            if e.id >= self.start && !e.is_deleted() {
                return Some(e);
            }
        }
    }
}

/// Live entries in descending order.
pub struct RangeRev<'a> {
    blocks: std::collections::btree_map::Range<'a, StreamId, Listpack>,
    start: StreamId,
    end: StreamId,
    current: Option<(StreamId, &'a Listpack, Header, usize)>,
}

impl<'a> Iterator for RangeRev<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            let Some((block, lp, header, count)) = self.current.take() else {
                let (&block, lp) = self.blocks.next_back()?;
                if let (Some(header), Some(last)) = (Header::read(lp), lp.last()) {
                    self.current = Some((block, lp, header, last));
                }
                continue;
            };
            let Some((at, before)) = entry_before(lp, count) else { continue };
            let Some(e) = Entry::read(lp, block, &header, at) else { continue };
            if e.id < self.start {
                self.current = Some((block, lp, header, count));
                return None;
            }
            self.current = before.map(|count| (block, lp, header, count));
            if e.id <= self.end && !e.is_deleted() {
                return Some(e);
            }
        }
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
