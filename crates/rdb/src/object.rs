//! Values.

use crate::error::{Error, Kind};
use crate::input::{Input, Pause, Reader};
use crate::stream::{self, StreamObject};
use crate::{VERSION_VALKEY_9, types, zip};
use totality_ds::quicklist::Node;
use totality_ds::{Bytes, IntSet, Item, Listpack};

/// Elements that room is made for before they have been read.
const RESERVE: u64 = 4096;
/// Elements of a long value between two pauses.
const PAUSE: u64 = 1024;
/// The same of parts that hold many elements: nodes and blocks.
const PAUSE_PARTS: u64 = 16;

/// Behind an element: pauses when there were many.
#[inline]
pub(crate) fn rest<I: Input>(r: &Reader<I>, i: u64, pause: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
    if i % PAUSE == PAUSE - 1 && !pause(r.offset()) {
        return Err(Kind::Stopped.at(r.offset()));
    }
    Ok(())
}

/// The same behind a node or a block.
pub(crate) fn rest_part<I: Input>(
    r: &Reader<I>,
    i: u64,
    pause: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Error> {
    rest(r, i % PAUSE_PARTS + PAUSE - PAUSE_PARTS, pause)
}

/// A value as it was read. Compact encodings are well-formed; what they mean (no member twice, scores in order) is
/// judged by whoever takes them.
#[derive(Debug)]
pub enum Object {
    /// A string.
    Str(Bytes),
    /// A list, element by element.
    List(Vec<Bytes>),
    /// A list by its nodes.
    Nodes(Vec<Node>),
    /// A set.
    Set(Vec<Bytes>),
    /// A set of integers.
    IntSet(IntSet),
    /// A small set.
    SetPack(Listpack),
    /// A sorted set; no score is NaN.
    ZSet(Vec<(Bytes, f64)>),
    /// A small sorted set.
    ZSetPack(Listpack),
    /// A hash.
    Hash(Vec<HashField>),
    /// A small hash without deadlines.
    HashPack(Listpack),
    /// A stream.
    Stream(Box<StreamObject>),
}

/// A field of a hash.
#[derive(Debug)]
pub struct HashField {
    /// Its name.
    pub name: Bytes,
    /// Its value.
    pub value: Bytes,
    /// Its deadline, in milliseconds since the Unix epoch.
    pub deadline: Option<i64>,
}

impl Object {
    /// True for a collection without elements, which no key can hold. Older servers wrote some.
    pub fn is_empty(&self) -> bool {
        match self {
            Object::Str(_) | Object::Stream(_) => false,
            Object::List(v) | Object::Set(v) => v.is_empty(),
            Object::Nodes(v) => v.is_empty(),
            Object::IntSet(v) => v.is_empty(),
            Object::SetPack(v) | Object::ZSetPack(v) | Object::HashPack(v) => v.is_empty(),
            Object::ZSet(v) => v.is_empty(),
            Object::Hash(v) => v.is_empty(),
        }
    }
}

fn reserve<T>(n: u64) -> Vec<T> {
    Vec::with_capacity(n.min(RESERVE) as usize)
}

fn listpack<I: Input>(r: &mut Reader<I>, what: &'static str) -> Result<Listpack, Error> {
    Listpack::from_vec(r.blob()?).map_err(|_| r.corrupt(what))
}

/// Reads a value of type `ty` as `version` of the format has it.
///
/// # Errors
/// When the input is cut or anything in it is not as it must be.
pub fn read_object<I: Input>(
    r: &mut Reader<I>,
    ty: u8,
    version: u16,
    pause: Pause<'_>,
) -> Result<Object, Error> {
    if !types::is_value(ty, version) {
        return Err(Kind::Type(ty).at(r.offset()));
    }
    Ok(match ty {
        types::STRING => Object::Str(r.string_pausing(pause)?),
        types::LIST => Object::List(strings(r, pause)?),
        types::SET => Object::Set(strings(r, pause)?),
        types::ZSET | types::ZSET_2 => Object::ZSet(scores(r, ty, pause)?),
        types::HASH => Object::Hash(fields(r, pause, |_| Ok(None), |_| Ok(None))?),
        types::HASH_2 if version >= VERSION_VALKEY_9 => {
            Object::Hash(fields(r, pause, |_| Ok(None), |r| Ok(Some(r.millis()?).filter(|at| *at >= 0)))?)
        }
        // The early form of Redis 7.4: a deadline as it is.
        types::HASH_2 => Object::Hash(fields(r, pause, |r| deadline(r, None), |_| Ok(None))?),
        types::HASH_METADATA => {
            let base = r.millis()?;
            Object::Hash(fields(r, pause, |r| deadline(r, Some(base)), |_| Ok(None))?)
        }
        types::HASH_LISTPACK_EX_EARLY => Object::Hash(triples(r)?),
        types::HASH_LISTPACK_EX => {
            // The earliest deadline follows from the fields.
            r.millis()?;
            Object::Hash(triples(r)?)
        }
        types::HASH_ZIPMAP => Object::HashPack(
            zip::zipmap(&r.blob()?).ok_or_else(|| r.corrupt("Zipmap integrity check failed."))?,
        ),
        types::LIST_ZIPLIST => {
            let lp =
                zip::ziplist(&r.blob()?).ok_or_else(|| r.corrupt("List ziplist integrity check failed."))?;
            // One node, however long: its elements find their nodes again.
            Object::List(lp.iter().map(|item| item.to_bytes()).collect())
        }
        types::ZSET_ZIPLIST => Object::ZSetPack(
            zip::ziplist(&r.blob()?).ok_or_else(|| r.corrupt("Zset ziplist integrity check failed."))?,
        ),
        types::HASH_ZIPLIST => Object::HashPack(
            zip::ziplist(&r.blob()?).ok_or_else(|| r.corrupt("Hash ziplist integrity check failed."))?,
        ),
        types::SET_INTSET => Object::IntSet(
            IntSet::from_vec(r.blob()?).map_err(|_| r.corrupt("Intset integrity check failed."))?,
        ),
        types::SET_LISTPACK => Object::SetPack(listpack(r, "Set listpack integrity check failed.")?),
        types::ZSET_LISTPACK => Object::ZSetPack(listpack(r, "Zset listpack integrity check failed.")?),
        types::HASH_LISTPACK => Object::HashPack(listpack(r, "Hash listpack integrity check failed.")?),
        types::LIST_QUICKLIST | types::LIST_QUICKLIST_2 => Object::Nodes(nodes(r, ty, pause)?),
        types::STREAM | types::STREAM_2 | types::STREAM_3 => {
            Object::Stream(Box::new(stream::read(r, ty, pause)?))
        }
        _ => {
            let name = if ty == types::MODULE_2 { module_name(r.length()?) } else { "?".to_owned() };
            return Err(Kind::Module { name, aux: false }.at(r.offset()));
        }
    })
}

/// The nine letters that a module's id says.
pub(crate) fn module_name(id: u64) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    (0..9).map(|i| LETTERS[(id >> (10 + 6 * (8 - i)) & 63) as usize] as char).collect()
}

fn strings<I: Input>(r: &mut Reader<I>, pause: Pause<'_>) -> Result<Vec<Bytes>, Error> {
    let n = r.length()?;
    let mut out = reserve(n);
    for i in 0..n {
        out.push(r.string_pausing(pause)?);
        rest(r, i, pause)?;
    }
    Ok(out)
}

fn scores<I: Input>(r: &mut Reader<I>, ty: u8, pause: Pause<'_>) -> Result<Vec<(Bytes, f64)>, Error> {
    let n = r.length()?;
    let mut out = reserve(n);
    for i in 0..n {
        let member = r.string_pausing(pause)?;
        let score = if ty == types::ZSET_2 { r.binary_double()? } else { r.text_double()? };
        if score.is_nan() {
            return Err(r.corrupt("Zset with NAN score detected"));
        }
        out.push((member, score));
        rest(r, i, pause)?;
    }
    Ok(out)
}

/// Fields with what stands before or behind each.
fn fields<I: Input>(
    r: &mut Reader<I>,
    pause: Pause<'_>,
    before: impl Fn(&mut Reader<I>) -> Result<Option<i64>, Error>,
    behind: impl Fn(&mut Reader<I>) -> Result<Option<i64>, Error>,
) -> Result<Vec<HashField>, Error> {
    let n = r.length()?;
    let mut out = reserve(n);
    for i in 0..n {
        let at = before(r)?;
        let (name, value) = (r.string_pausing(pause)?, r.string_pausing(pause)?);
        let deadline = behind(r)?.or(at);
        out.push(HashField { name, value, deadline });
        rest(r, i, pause)?;
    }
    Ok(out)
}

/// A deadline as Redis 7.4 and 8 write it: 0 for none, else one more than what is to be added to `base`.
fn deadline<I: Input>(r: &mut Reader<I>, base: Option<i64>) -> Result<Option<i64>, Error> {
    let n = r.length()?;
    if n == 0 {
        return Ok(None);
    }
    let n = i64::try_from(n).map_err(|_| r.corrupt("invalid expireAt time"))?;
    let at = match base {
        Some(base) => base.checked_add(n - 1),
        None => Some(n),
    };
    at.filter(|at| (0..1 << 48).contains(at)).map(Some).ok_or_else(|| r.corrupt("invalid expireAt time"))
}

/// A listpack of names, values and deadlines.
fn triples<I: Input>(r: &mut Reader<I>) -> Result<Vec<HashField>, Error> {
    const BAD: &str = "Hash listpack integrity check failed.";
    let lp = listpack(r, BAD)?;
    let mut out = Vec::with_capacity(lp.len() / 3);
    let mut items = lp.iter();
    while let Some(name) = items.next() {
        let (Some(value), Some(Item::Int(at))) = (items.next(), items.next()) else {
            return Err(r.corrupt(BAD));
        };
        if at < 0 {
            return Err(r.corrupt("invalid expireAt time"));
        }
        let deadline = Some(at).filter(|at| *at > 0);
        out.push(HashField { name: name.to_bytes(), value: value.to_bytes(), deadline });
    }
    Ok(out)
}

fn nodes<I: Input>(r: &mut Reader<I>, ty: u8, pause: Pause<'_>) -> Result<Vec<Node>, Error> {
    const PLAIN: u64 = 1;
    const PACKED: u64 = 2;
    let n = r.length()?;
    let mut out = reserve(n);
    for i in 0..n {
        let container = if ty == types::LIST_QUICKLIST_2 { r.length()? } else { PACKED };
        let node = match container {
            PLAIN => {
                let bytes = r.string_pausing(pause)?;
                if bytes.is_empty() {
                    return Err(r.corrupt("Quicklist integrity check failed."));
                }
                Node::Plain(bytes)
            }
            PACKED if ty == types::LIST_QUICKLIST => Node::Pack(
                zip::ziplist(&r.blob()?).ok_or_else(|| r.corrupt("Ziplist integrity check failed."))?,
            ),
            PACKED => Node::Pack(listpack(r, "Listpack integrity check failed.")?),
            _ => return Err(r.corrupt("Quicklist integrity check failed.")),
        };
        if !node.is_empty() {
            out.push(node);
        }
        rest_part(r, i, pause)?;
    }
    Ok(out)
}
