//! What the sorted set commands share.

use crate::commands::list_util::{MultiPop, bulk_item, count_arg};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::Event;
use crate::reply::Reply;
use crate::types::{Added, LexBound, LexRange, ScoreRange, ZAdd, ZSet, ZSetCfg};
use crate::value::Collection;
use totality_ds::listpack::entry_size_int;
use totality_ds::{Bytes, Item};

/// A member with its score, on its way to a key or a reply.
pub type Scored = (Bytes, f64);

/// How members with scores are shown.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Scores are shown too.
    pub scores: bool,
    /// Member and score are an array of their own (RESP3).
    pub nested: bool,
}

impl Shape {
    /// Members with scores where `scores` says so, nested in RESP3.
    pub fn new(reply: &Reply<'_>, scores: bool) -> Self {
        Shape { scores, nested: scores && reply.resp3() }
    }

    /// Length of the array that `n` members make.
    pub fn len(self, n: usize) -> usize {
        if self.scores && !self.nested { n.saturating_mul(2) } else { n }
    }

    /// Writes one member.
    #[inline]
    pub fn member(self, reply: &mut Reply<'_>, member: Item<'_>, score: f64) {
        if self.nested {
            reply.array(2);
        }
        bulk_item(reply, member);
        if self.scores {
            reply.double(score);
        }
    }
}

/// A number as a bound of scores. As `strtod` has it, a text ends at a zero byte, an empty one is 0, and what is too
/// large is infinite.
fn bound(arg: &[u8]) -> Option<(f64, bool)> {
    let (text, open) = match arg {
        [b'(', rest @ ..] => (rest, true),
        _ => (arg, false),
    };
    let text = text.split(|b| *b == 0).next().unwrap_or(b"");
    if text.is_empty() {
        return Some((0.0, open));
    }
    let number = std::str::from_utf8(text).ok()?.parse::<f64>().ok()?;
    (!number.is_nan()).then_some((number, open))
}

/// The bounds of a range of scores, `(` before a bound that is outside.
pub fn score_range(min: &[u8], max: &[u8]) -> Res<ScoreRange> {
    match (bound(min), bound(max)) {
        (Some((min, min_open)), Some((max, max_open))) => Ok(ScoreRange { min, max, min_open, max_open }),
        _ => Err(CmdError::new("ERR min or max is not a float")),
    }
}

/// The bounds of a range of members: `-`, `+`, `[member` or `(member`.
pub fn lex_range<'a>(min: &'a [u8], max: &'a [u8]) -> Res<LexRange<'a>> {
    let bound = |arg: &'a [u8]| match arg {
        b"-" => Ok(LexBound::Min),
        b"+" => Ok(LexBound::Max),
        [b'[', member @ ..] => Ok(LexBound::Closed(member)),
        [b'(', member @ ..] => Ok(LexBound::Open(member)),
        _ => Err(CmdError::new("ERR min or max not valid string range item")),
    };
    Ok(LexRange { min: bound(min)?, max: bound(max)? })
}

/// ZADD, and ZINCRBY with `incr`.
pub fn add(cx: &mut Cx<'_>, incr: bool) -> Res {
    let mut how = ZAdd { incr, ..ZAdd::default() };
    let mut count_changed = false;
    let mut at = 2;
    while at < cx.argc() {
        match cx.arg(at) {
            arg if arg.eq_ignore_ascii_case(b"nx") => how.nx = true,
            arg if arg.eq_ignore_ascii_case(b"xx") => how.xx = true,
            arg if arg.eq_ignore_ascii_case(b"ch") => count_changed = true,
            arg if arg.eq_ignore_ascii_case(b"incr") => how.incr = true,
            arg if arg.eq_ignore_ascii_case(b"gt") => how.gt = true,
            arg if arg.eq_ignore_ascii_case(b"lt") => how.lt = true,
            _ => break,
        }
        at += 1;
    }
    let pairs = &cx.args[at..];
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return Err(SYNTAX);
    }
    if how.nx && how.xx {
        return Err(CmdError::new("ERR XX and NX options at the same time are not compatible"));
    }
    if ((how.gt || how.lt) && how.nx) || (how.gt && how.lt) {
        return Err(CmdError::new("ERR GT, LT, and/or NX options at the same time are not compatible"));
    }
    if how.incr && pairs.len() > 2 {
        return Err(CmdError::new("ERR INCR option supports a single increment-element pair"));
    }
    let scores = pairs.iter().step_by(2).map(|score| crate::util::float_arg(score));
    let scores = scores.collect::<Res<smallvec::SmallVec<[f64; 8]>>>()?;
    let dirty = cx.ks.dirty;
    add_pairs(cx, pairs, &scores, how, count_changed)?;
    if cx.ks.dirty != dirty {
        cx.propagate_decimal((at..cx.argc()).step_by(2));
    }
    Ok(())
}

/// Bytes that a new compact set of these pairs takes, about.
fn capacity(pairs: &[&[u8]], scores: &[f64]) -> usize {
    let score = |score: &f64, text: &[u8]| {
        if score.fract() == 0.0 { entry_size_int(*score as i64) } else { text.len() + 2 }
    };
    let pairs = pairs.chunks_exact(2).zip(scores);
    7 + pairs.map(|(pair, value)| score(value, pair[0]) + pair[1].len() + 2).sum::<usize>()
}

/// Adds pairs of score and member, whose scores were read already, and replies as ZADD does.
pub fn add_pairs(cx: &mut Cx<'_>, pairs: &[&[u8]], scores: &[f64], how: ZAdd, count_changed: bool) -> Res {
    let cfg = ZSetCfg::of(cx.ks);
    let mut guard = cx.ks.write(cx.args[1]);
    match guard.get::<ZSet>()? {
        Some(set) => set.prepare(scores.len(), &cfg),
        None if how.xx => {
            drop(guard);
            if how.incr {
                cx.reply.null();
            } else {
                cx.reply.int(0);
            }
            return Ok(());
        }
        None => {}
    }
    let set = guard
        .get_or_create(|| ZSet::with_capacity(scores.len(), pairs[1].len(), capacity(pairs, scores), &cfg))?;
    let (mut added, mut updated, mut result) = (0, 0, None);
    for (pair, score) in pairs.chunks_exact(2).zip(scores) {
        result = match set.add(pair[1], *score, how, &cfg) {
            Added::New(score) => {
                added += 1;
                Some(score)
            }
            Added::Updated { new, .. } => {
                updated += 1;
                Some(new)
            }
            Added::Same(score) => Some(score),
            Added::Skipped => None,
            // Only an increment can do that, so this pair is the only one.
            Added::NaN => return Err(CmdError::new("ERR resulting score is not a number (NaN)")),
        };
    }
    if added + updated > 0 {
        guard.changed(Event::zset(if how.incr { "zincr" } else { "zadd" }), added + updated);
    }
    drop(guard);
    match result {
        Some(score) if how.incr => cx.reply.double(score),
        None if how.incr => cx.reply.null(),
        _ => cx.reply.int(if count_changed { added + updated } else { added } as i64),
    }
    Ok(())
}

/// Puts a result into a key, in the place of whatever was there; an empty one deletes the key. Replies with the number
/// of members.
pub fn store(cx: &mut Cx<'_>, key: &[u8], set: ZSet, event: &'static str) {
    let len = set.len();
    if len == 0 {
        cx.ks.delete(key);
    } else {
        let mut guard = cx.ks.write(key);
        guard.overwrite(set.into_value());
        guard.changed(Event::zset(event), 1);
    }
    cx.reply.len(len);
}

/// ZRANK and ZREVRANK.
pub fn rank(cx: &mut Cx<'_>, reverse: bool) -> Res {
    if cx.argc() > 4 {
        return Err(CmdError::arity(cx.command.spec.name));
    }
    let with_score = cx.argc() == 4;
    if with_score && !cx.is(3, "WITHSCORE") {
        return Err(SYNTAX);
    }
    let set = cx.ks.read_as::<ZSet>(cx.args[1])?;
    let found = set.and_then(|set| {
        let (rank, score) = set.rank(cx.args[2])?;
        Some((if reverse { set.len() - 1 - rank } else { rank }, score))
    });
    match found {
        Some((rank, score)) if with_score => {
            cx.reply.array(2);
            cx.reply.len(rank);
            cx.reply.double(score);
        }
        Some((rank, _)) => cx.reply.len(rank),
        None if with_score => cx.reply.null_array(),
        None => cx.reply.null(),
    }
    Ok(())
}

fn pop_event(max: bool) -> Event {
    Event::zset(if max { "zpopmax" } else { "zpopmin" })
}

/// ZPOPMIN and ZPOPMAX.
pub fn pop(cx: &mut Cx<'_>, max: bool) -> Res {
    if cx.argc() > 3 {
        return Err(SYNTAX);
    }
    let count = cx.args.get(2).map(|arg| count_arg(arg)).transpose()?;
    let mut guard = cx.ks.write(cx.args[1]);
    let set = guard.get::<ZSet>()?;
    let n = set.as_ref().map_or(0, |set| set.len()).min(count.unwrap_or(1));
    let Some(set) = set.filter(|_| n > 0) else {
        cx.reply.array(0);
        return Ok(());
    };
    let shape = Shape { scores: true, nested: count.is_some() && cx.reply.resp3() };
    cx.reply.array(shape.len(n));
    for _ in 0..n {
        set.pop(max, |member, score| shape.member(&mut cx.reply, member, score));
    }
    guard.changed(pop_event(max), n as u64);
    guard.delete_if_empty();
    Ok(())
}

/// BZPOPMIN's and BZPOPMAX's part that does not wait. False, and no reply, when no set has members.
pub fn pop_first(cx: &mut Cx<'_>, keys: &[&[u8]], max: bool) -> Res<bool> {
    for key in keys {
        let mut guard = cx.ks.write(key);
        let Some(set) = guard.get::<ZSet>()? else { continue };
        cx.reply.array(3);
        cx.reply.bulk(key);
        set.pop(max, |member, score| {
            bulk_item(&mut cx.reply, member);
            cx.reply.double(score);
        });
        guard.changed(pop_event(max), 1);
        guard.delete_if_empty();
        drop(guard);
        cx.propagate_as(&[if max { b"ZPOPMAX" } else { b"ZPOPMIN" }, key]);
        return Ok(true);
    }
    Ok(false)
}

/// MIN or MAX; true for MAX.
pub fn min_max_arg(arg: &[u8]) -> Res<bool> {
    match arg {
        arg if arg.eq_ignore_ascii_case(b"min") => Ok(false),
        arg if arg.eq_ignore_ascii_case(b"max") => Ok(true),
        _ => Err(SYNTAX),
    }
}

/// ZMPOP without waiting. False, and no reply, when no set has members.
pub fn multi_pop(cx: &mut Cx<'_>, what: &MultiPop<'_, bool>) -> Res<bool> {
    let max = what.from;
    for key in what.keys {
        let mut guard = cx.ks.write(key);
        let Some(set) = guard.get::<ZSet>()? else { continue };
        let n = what.count.min(set.len());
        cx.reply.array(2);
        cx.reply.bulk(key);
        cx.reply.array(n);
        let shape = Shape { scores: true, nested: true };
        for _ in 0..n {
            set.pop(max, |member, score| shape.member(&mut cx.reply, member, score));
        }
        guard.changed(pop_event(max), n as u64);
        guard.delete_if_empty();
        drop(guard);
        let mut digits = itoa::Buffer::new();
        let name: &[u8] = if max { b"ZPOPMAX" } else { b"ZPOPMIN" };
        cx.propagate_as(&[name, key, digits.format(n).as_bytes()]);
        return Ok(true);
    }
    Ok(false)
}
