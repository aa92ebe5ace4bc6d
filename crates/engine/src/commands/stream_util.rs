//! What the stream commands share: ids, entries in replies, trimming.

use crate::commands::list_util::bulk_item;
use crate::cx::{Cx, Origin};
use crate::error::{CmdError, NOT_INTEGER, Res, SYNTAX};
use crate::reply::Reply;
use crate::types::{Group, Log};
use crate::util::{int_arg, parse_i64};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use totality_ds::StreamId;
use totality_ds::stream::{Entry, Keep};

/// The text of an id; it fits the stack.
pub type IdText = SmallVec<[u8; 64]>;

const INVALID_ID: CmdError = CmdError::new("ERR Invalid stream ID specified as stream command argument");
/// Longest text that is looked at as an id.
const MAX_ID_TEXT: usize = 127;

/// `ms-seq`
pub fn id_text(id: StreamId) -> IdText {
    let mut out = IdText::new();
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(digits.format(id.ms).as_bytes());
    out.push(b'-');
    out.extend_from_slice(digits.format(id.seq).as_bytes());
    out
}

/// Writes an id.
#[inline]
pub fn reply_id(reply: &mut Reply<'_>, id: StreamId) {
    reply.bulk(&id_text(id));
}

/// Writes an entry: its id, and an array of fields and values.
#[inline]
pub fn reply_entry(reply: &mut Reply<'_>, entry: &Entry<'_>) {
    reply.array(2);
    reply_id(reply, entry.id);
    reply.array(2 * entry.len());
    for (field, value) in entry.fields() {
        bulk_item(reply, field);
        bulk_item(reply, value);
    }
}

/// Writes entries as an array, at most `count` of them if that is not 0.
pub fn reply_entries<'a>(reply: &mut Reply<'_>, entries: impl Iterator<Item = Entry<'a>>, count: u64) {
    let array = reply.array_deferred();
    let mut n = 0;
    for entry in entries {
        reply_entry(reply, &entry);
        n += 1;
        if n as u64 == count {
            break;
        }
    }
    reply.end(array, n);
}

/// A part of an id: digits as C's `strtoull` has them, so blanks, a plus and zeros may stand before.
fn part(text: &[u8]) -> Option<u64> {
    if let Some(n) = parse_i64(text) {
        return u64::try_from(n).ok();
    }
    let text = text.trim_ascii_start();
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
    digits.parse().ok()
}

/// `ms` or `ms-seq`; the sequence number is `missing` where it is not given.
pub fn parse_id(text: &[u8], missing: u64) -> Option<StreamId> {
    if text.len() > MAX_ID_TEXT {
        return None;
    }
    match text.iter().position(|b| *b == b'-') {
        None => Some(StreamId { ms: part(text)?, seq: missing }),
        Some(dash) => Some(StreamId { ms: part(&text[..dash])?, seq: part(&text[dash + 1..])? }),
    }
}

/// An id argument without a sequence number: 0.
pub fn id_arg(text: &[u8]) -> Res<StreamId> {
    parse_id(text, 0).ok_or(INVALID_ID)
}

/// An id argument that may also be `-` or `+`.
pub fn any_id_arg(text: &[u8], missing: u64) -> Res<StreamId> {
    match text {
        b"-" => Ok(StreamId::MIN),
        b"+" => Ok(StreamId::MAX),
        _ => parse_id(text, missing).ok_or(INVALID_ID),
    }
}

/// The start of an interval; `(` leaves the id itself out.
pub fn start_arg(text: &[u8]) -> Res<StreamId> {
    match text {
        [b'(', id @ ..] if !id.is_empty() => {
            let error = CmdError::new("ERR invalid start ID for the interval");
            id_arg(id)?.next().ok_or(error)
        }
        _ => any_id_arg(text, 0),
    }
}

/// The end of an interval; `(` leaves the id itself out.
pub fn end_arg(text: &[u8]) -> Res<StreamId> {
    match text {
        [b'(', id @ ..] if !id.is_empty() => {
            let error = CmdError::new("ERR invalid end ID for the interval");
            parse_id(id, u64::MAX).ok_or(INVALID_ID)?.prev().ok_or(error)
        }
        _ => any_id_arg(text, u64::MAX),
    }
}

/// What is to become of what groups know of messages that are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum References {
    /// It stays.
    Keep,
    /// It goes, too.
    Delete,
    /// Only messages are deleted that no group needs.
    Acked,
}

/// `[KEEPREF|DELREF|ACKED] IDS numids id …` from argument `at` on: what XDELEX and XACKDEL take.
pub fn delete_args(cx: &Cx<'_>, at: usize) -> Res<(References, SmallVec<[StreamId; 8]>)> {
    let (mut references, mut i) = (References::Keep, at);
    while !cx.is(i, "IDS") {
        references = match cx.need(i)? {
            word if word.eq_ignore_ascii_case(b"keepref") => References::Keep,
            word if word.eq_ignore_ascii_case(b"delref") => References::Delete,
            word if word.eq_ignore_ascii_case(b"acked") => References::Acked,
            _ => return Err(SYNTAX),
        };
        i += 1;
    }
    let count = crate::util::parse_i64(cx.need(i + 1)?).filter(|n| *n > 0);
    let count = count.ok_or(CmdError::new("ERR Number of IDs must be a positive integer"))?;
    if count as u64 != (cx.argc() - i - 2) as u64 {
        return Err(CmdError::new("ERR The `numids` parameter must match the number of arguments"));
    }
    Ok((references, id_args(cx, i + 2)?))
}

/// What XDELEX and XACKDEL did, which not every server has: their effect is replayed by XACK and XDEL.
#[derive(Debug, Default)]
pub struct Removed {
    /// Messages that are no longer pending, by group.
    acknowledged: BTreeMap<Box<[u8]>, Vec<StreamId>>,
    deleted: Vec<StreamId>,
}

impl Removed {
    /// A group does not wait for the message any more.
    pub fn acknowledge(&mut self, group: &[u8], id: StreamId) {
        match self.acknowledged.get_mut(group) {
            Some(ids) => ids.push(id),
            None => drop(self.acknowledged.insert(group.into(), vec![id])),
        }
    }

    /// The message is gone.
    pub fn delete(&mut self, id: StreamId) {
        self.deleted.push(id);
    }

    /// Messages that are gone.
    pub fn deleted(&self) -> u64 {
        self.deleted.len() as u64
    }

    /// Hands the effects on `key` over to replicas and the append-only file.
    pub fn propagate(self, cx: &mut Cx<'_>, key: &[u8]) {
        if !cx.ks.effects.recording {
            return;
        }
        let texts = |ids: &[StreamId]| ids.iter().map(|id| id.to_string().into_bytes()).collect::<Vec<_>>();
        for (group, ids) in &self.acknowledged {
            let ids = texts(ids);
            let mut argv: Vec<&[u8]> = vec![b"XACK", key, group];
            argv.extend(ids.iter().map(|id| &id[..]));
            cx.propagate_as(&argv);
        }
        if !self.deleted.is_empty() {
            let ids = texts(&self.deleted);
            let mut argv: Vec<&[u8]> = vec![b"XDEL", key];
            argv.extend(ids.iter().map(|id| &id[..]));
            cx.propagate_as(&argv);
        }
    }
}

/// The ids from argument `from` on.
pub fn id_args(cx: &Cx<'_>, from: usize) -> Res<SmallVec<[StreamId; 8]>> {
    cx.args[from..].iter().map(|arg| id_arg(arg)).collect()
}

/// An integer argument with an error of its own.
pub fn int_or(text: &[u8], error: &'static str) -> Res<i64> {
    parse_i64(text).ok_or(CmdError::new(error))
}

/// A name in an error text, which ends at a zero byte as C's strings do.
fn name(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or(b"")
}

fn joined(parts: &[&[u8]]) -> CmdError {
    CmdError::owned(parts.concat())
}

/// `ERR unknown subcommand or wrong number of arguments for …`
pub fn subcommand_syntax(cx: &Cx<'_>) -> CmdError {
    let word = name(&cx.args[1][..cx.args[1].len().min(128)]);
    let container = cx.args[0].to_ascii_uppercase();
    joined(&[
        b"ERR unknown subcommand or wrong number of arguments for '",
        word,
        b"'. Try ",
        &container,
        b" HELP.",
    ])
}

/// `NOGROUP No such key 'k' or consumer group 'g'` and what `more` adds.
pub fn no_key_or_group(key: &[u8], group: &[u8], more: &str) -> CmdError {
    let (key, group) = (name(key), name(group));
    joined(&[b"NOGROUP No such key '", key, b"' or consumer group '", group, b"'", more.as_bytes()])
}

/// `NOGROUP No such consumer group 'g' for key name 'k'`
pub fn no_group(key: &[u8], group: &[u8]) -> CmdError {
    joined(&[b"NOGROUP No such consumer group '", name(group), b"' for key name '", name(key), b"'"])
}

/// `ERR Unrecognized XCLAIM option 'x'`
pub fn unrecognized_option(option: &[u8]) -> CmdError {
    joined(&[b"ERR Unrecognized XCLAIM option '", name(option), b"'"])
}

/// The id that a message has which the caller gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewId {
    /// `*`: made from the time.
    Auto,
    /// `ms-*`: only the sequence number is made.
    AutoSeq(u64),
    /// A whole id.
    Given(StreamId),
}

impl NewId {
    /// Reads XADD's id.
    pub fn read(text: &[u8]) -> Res<NewId> {
        if text == b"*" {
            return Ok(NewId::Auto);
        }
        if let Some(ms) = text.strip_suffix(b"-*").filter(|_| text.len() <= MAX_ID_TEXT) {
            return part(ms).map(NewId::AutoSeq).ok_or(INVALID_ID);
        }
        id_arg(text).map(NewId::Given)
    }

    /// The id after `last`; `None` when there is none.
    pub fn after(self, last: StreamId, now: i64) -> Option<StreamId> {
        let id = match self {
            NewId::Auto => {
                let ms = now.max(0) as u64;
                if ms > last.ms { StreamId { ms, seq: 0 } } else { last.next()? }
            }
            NewId::AutoSeq(ms) if ms == last.ms => StreamId { ms, seq: last.seq.checked_add(1)? },
            NewId::AutoSeq(ms) => StreamId { ms, seq: 0 },
            NewId::Given(id) => id,
        };
        (id > last).then_some(id)
    }
}

/// How a stream is to be trimmed.
#[derive(Debug, Clone, Copy)]
pub struct Trim {
    keep: Keep,
    approx: bool,
    limit: u64,
    /// Where the threshold stands among the arguments.
    at: usize,
}

/// Options of XADD and XTRIM.
#[derive(Debug, Default)]
pub struct TrimOptions {
    /// How to trim.
    pub trim: Option<Trim>,
    /// NOMKSTREAM was given.
    pub no_create: bool,
    limit: Option<i64>,
}

impl TrimOptions {
    /// Reads the options from argument 2 on; stops where XADD's id is. Gives the position of the first argument that
    /// is none of them.
    pub fn read(cx: &Cx<'_>, xadd: bool) -> Res<(TrimOptions, usize)> {
        let mut options = TrimOptions::default();
        let mut i = 2;
        while i < cx.argc() {
            let more = cx.argc() - 1 - i;
            if xadd && cx.args[i] == b"*" {
                break;
            } else if more > 0 && (cx.is(i, "MAXLEN") || cx.is(i, "MINID")) {
                i = options.read_threshold(cx, i, more)?;
            } else if more > 0 && cx.is(i, "LIMIT") {
                let limit = int_arg(cx.args[i + 1])?;
                if limit < 0 {
                    return Err(CmdError::new("ERR The LIMIT argument must be >= 0."));
                }
                options.limit = Some(limit);
                i += 1;
            } else if xadd && cx.is(i, "NOMKSTREAM") {
                options.no_create = true;
            } else if xadd {
                break;
            } else {
                return Err(SYNTAX);
            }
            i += 1;
        }
        Ok((options, i))
    }

    fn read_threshold(&mut self, cx: &Cx<'_>, i: usize, more: usize) -> Res<usize> {
        if self.trim.is_some() {
            return Err(CmdError::new(
                "ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
            ));
        }
        let sign = if more >= 2 { cx.args[i + 1] } else { b"" };
        let approx = sign == b"~";
        let at = if approx || sign == b"=" { i + 2 } else { i + 1 };
        let keep = if cx.is(i, "MAXLEN") {
            let len = int_arg(cx.args[at])?;
            if len < 0 {
                return Err(CmdError::new("ERR The MAXLEN argument must be >= 0."));
            }
            Keep::Len(len as u64)
        } else {
            Keep::From(id_arg(cx.args[at])?)
        };
        self.trim = Some(Trim { keep, approx, limit: 0, at });
        Ok(at)
    }

    /// Judges the options together, once all have been read.
    pub fn finish(&mut self, cx: &Cx<'_>, xadd: bool) -> Res {
        if self.trim.is_none() && self.limit.is_some_and(|limit| limit != 0) {
            return Err(CmdError::new(
                "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
            ));
        }
        if self.trim.is_none() && !xadd {
            return Err(CmdError::new("ERR syntax error, XTRIM must be called with a trimming strategy"));
        }
        if cx.origin == Origin::Replay {
            // What was propagated says exactly what is left.
            return Ok(());
        }
        let trim = self.trim.as_mut().filter(|trim| trim.approx);
        match (trim, self.limit) {
            (None, Some(_)) => {
                return Err(CmdError::new(
                    "ERR syntax error, LIMIT cannot be used without the special ~ option",
                ));
            }
            (None, None) => {}
            (Some(trim), Some(limit)) => trim.limit = limit as u64,
            (Some(trim), None) => {
                let limit = cx.sv.config.stream_node_max_entries.saturating_mul(100);
                trim.limit = if limit == 0 { 10_000 } else { limit.min(1_000_000) };
            }
        }
        Ok(())
    }
}

impl Trim {
    /// Trims; gives the number of entries that are gone.
    pub fn apply(&self, log: &mut Log) -> u64 {
        log.trim(self.keep, self.approx, self.limit)
    }

    /// How an approximate trim is to be repeated exactly: position of `~`, which becomes `=`, and what the argument
    /// after it becomes. `None` for an exact one.
    pub fn rewrite(&self, log: &Log) -> Option<(usize, IdText)> {
        let threshold = match self.keep {
            Keep::Len(_) => SmallVec::from_slice(itoa::Buffer::new().format(log.entries().len()).as_bytes()),
            // A block has the id of its first entry, which may be deleted; without blocks nothing is left.
            Keep::From(_) => id_text(log.entries().blocks().next().map_or(StreamId::MAX, |(id, _)| id)),
        };
        self.approx.then_some((self.at - 1, threshold))
    }
}

/// Makes replicas see the command with some arguments replaced.
pub fn propagate_replaced(cx: &mut Cx<'_>, replace: &[(usize, &[u8])]) {
    if !cx.ks.effects.recording {
        return;
    }
    let mut argv: SmallVec<[&[u8]; 16]> = SmallVec::from_slice(cx.args);
    for (at, arg) in replace {
        argv[*at] = arg;
    }
    cx.propagate_as(&argv);
}

/// A delivery to be repeated elsewhere.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The entry.
    pub id: StreamId,
    /// Whose it is.
    pub consumer: Box<[u8]>,
    /// When it was delivered, in milliseconds since the Unix epoch.
    pub time: i64,
    /// How often it was delivered.
    pub count: u64,
    /// What its group had read up to then.
    pub last_id: StreamId,
}

/// Propagates deliveries as XCLAIM, which has the same effect whenever it is repeated.
pub fn propagate_deliveries(cx: &mut Cx<'_>, key: &[u8], group: &[u8], deliveries: &[Delivery]) {
    for delivery in deliveries {
        let (mut time, mut count) = (itoa::Buffer::new(), itoa::Buffer::new());
        cx.propagate_as(&[
            b"XCLAIM",
            key,
            group,
            &delivery.consumer,
            b"0",
            &id_text(delivery.id),
            b"TIME",
            time.format(delivery.time).as_bytes(),
            b"RETRYCOUNT",
            count.format(delivery.count).as_bytes(),
            b"FORCE",
            b"JUSTID",
            b"LASTID",
            &id_text(delivery.last_id),
        ]);
    }
}

/// Propagates how far a group has read.
pub fn propagate_group_id(cx: &mut Cx<'_>, key: &[u8], name: &[u8], last_id: StreamId, read: Option<u64>) {
    let mut digits = itoa::Buffer::new();
    let read = read.map_or("-1", |n| digits.format(n));
    let last_id = id_text(last_id);
    cx.propagate_as(&[b"XGROUP", b"SETID", key, name, &last_id, b"ENTRIESREAD", read.as_bytes()]);
}

/// A pending entry as a delivery.
pub fn delivery_of(group: &Group, id: StreamId) -> Option<Delivery> {
    let pending = group.pending().get(&id)?;
    let consumer = group.owner(pending)?.name.clone();
    Some(Delivery { id, consumer, time: pending.time, count: pending.count, last_id: group.last_id })
}

/// A COUNT, which is no limit when it is below 0.
pub fn count_arg(text: &[u8]) -> Res<u64> {
    Ok(parse_i64(text).ok_or(NOT_INTEGER)?.max(0) as u64)
}
