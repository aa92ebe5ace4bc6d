//! What the list commands share.

use crate::cx::Cx;
use crate::error::{CmdError, NOT_POSITIVE, Res, SYNTAX};
use crate::keyspace::WriteGuard;
use crate::notify::Event;
use crate::reply::Reply;
use crate::types::{End, List};
use crate::value::Type;
use smallvec::SmallVec;
use totality_ds::Item;

/// An element on its way from one list to another: on the stack unless it is long.
pub type Element = SmallVec<[u8; 64]>;

/// Writes an element of a compact collection.
#[inline]
pub fn bulk_item(reply: &mut Reply<'_>, item: Item<'_>) {
    match item {
        Item::Str(s) => reply.bulk(s),
        Item::Int(n) => reply.bulk_int(n),
    }
}

/// LEFT or RIGHT.
pub fn end_arg(arg: &[u8]) -> Res<End> {
    if arg.eq_ignore_ascii_case(b"left") {
        Ok(End::Left)
    } else if arg.eq_ignore_ascii_case(b"right") {
        Ok(End::Right)
    } else {
        Err(SYNTAX)
    }
}

/// An integer from `min` on. Whatever is wrong with it, the error is `error`.
pub fn at_least(arg: &[u8], min: i64, error: CmdError) -> Res<i64> {
    crate::util::parse_i64(arg).filter(|n| *n >= min).ok_or(error)
}

/// The count of LPOP, ZPOPMIN and others: zero or more.
pub fn count_arg(arg: &[u8]) -> Res<usize> {
    Ok(at_least(arg, 0, NOT_POSITIVE)? as usize)
}

/// The timeout in seconds at argument `at`, as a deadline in milliseconds since the Unix epoch; 0: none.
pub fn timeout_arg(cx: &Cx<'_>, at: usize) -> Res<i64> {
    const BAD: CmdError = CmdError::new("ERR timeout is not a float or out of range");
    const TOO_LATE: CmdError = CmdError::new("ERR timeout is out of range");
    let seconds = match crate::util::float_arg(cx.arg(at)) {
        Ok(seconds) => seconds,
        Err(_) => beyond(cx.arg(at)).ok_or(BAD)?,
    };
    let ms = (seconds * 1000.0).ceil();
    if ms >= i64::MAX as f64 {
        return Err(TOO_LATE);
    }
    match ms as i64 {
        ms if ms < 0 => Err(CmdError::new("ERR timeout is negative")),
        0 => Ok(0),
        ms => ms.checked_add(cx.ks.now).ok_or(TOO_LATE),
    }
}

/// The infinity that decimal digits too large for a double stand for: Redis reads timeouts with more range.
#[cold]
fn beyond(text: &[u8]) -> Option<f64> {
    let decimal = text.iter().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (decimal && value.is_infinite()).then_some(value)
}

/// Lets the client wait for one of `keys`, or answers null where it must not.
pub fn block(cx: &mut Cx<'_>, keys: &[&[u8]], kind: Type, deadline: i64) {
    if cx.may_block() {
        cx.block(keys, kind, deadline);
    } else {
        cx.reply.null_array();
    }
}

/// The same for the source of BLMOVE and BRPOPLPUSH, which answer with another null.
pub fn block_for_move(cx: &mut Cx<'_>, deadline: i64) {
    if cx.may_block() {
        cx.block(&cx.args[1..2], Type::List, deadline);
    } else {
        cx.reply.null();
    }
}

fn push_event(end: End) -> Event {
    Event::list(if end == End::Left { "lpush" } else { "rpush" })
}

fn pop_event(end: End) -> Event {
    Event::list(pop_name(end))
}

fn pop_name(end: End) -> &'static str {
    if end == End::Left { "lpop" } else { "rpop" }
}

/// LPUSH, RPUSH and, with `must_exist`, LPUSHX, RPUSHX.
pub fn push(cx: &mut Cx<'_>, end: End, must_exist: bool) -> Res {
    let size = cx.ks.enc.list_size;
    let values = &cx.args[2..];
    let mut guard = cx.ks.write(cx.args[1]);
    if must_exist && guard.get::<List>()?.is_none() {
        cx.reply.int(0);
        return Ok(());
    }
    let list = guard.get_or_create(List::new)?;
    list.prepare(size, values.iter().map(|v| v.len()).sum(), values.len());
    for value in values {
        list.push(end, value);
    }
    let len = list.len();
    guard.changed(push_event(end), values.len() as u64);
    drop(guard);
    cx.reply.len(len);
    Ok(())
}

/// After `n` elements were taken from an end: event, deletion of an empty list, encoding.
fn popped(guard: &mut WriteGuard<'_>, end: End, n: usize, size: i64) {
    guard.changed(pop_event(end), n as u64);
    settle(guard, size);
}

/// After elements were removed: deletes an empty list, chooses the encoding of another.
pub fn settle(guard: &mut WriteGuard<'_>, size: i64) {
    if !guard.delete_if_empty()
        && let Ok(Some(list)) = guard.get::<List>()
    {
        list.settle(size);
    }
}

/// Replies with an array of up to `count` elements of an end and removes them. Returns how many.
fn take(list: &mut List, end: End, count: usize, reply: &mut Reply<'_>) -> usize {
    let n = count.min(list.len());
    reply.array(n);
    match end {
        End::Left => {
            list.for_each(0, n, |item| bulk_item(reply, item));
            list.remove_range(0, n);
        }
        End::Right => {
            let mut left = n;
            list.scan(End::Right, |item| {
                bulk_item(reply, item);
                left -= 1;
                left > 0
            });
            list.remove_range(-(n as i64), n);
        }
    }
    n
}

/// LPOP and RPOP.
pub fn pop(cx: &mut Cx<'_>, end: End) -> Res {
    if cx.argc() > 3 {
        return Err(CmdError::arity(pop_name(end)));
    }
    let count = cx.args.get(2).map(|arg| count_arg(arg)).transpose()?;
    let size = cx.ks.enc.list_size;
    let mut guard = cx.ks.write(cx.args[1]);
    let Some(list) = guard.get::<List>()? else {
        match count {
            Some(_) => cx.reply.null_array(),
            None => cx.reply.null(),
        }
        return Ok(());
    };
    let n = match count {
        Some(0) => {
            cx.reply.array(0);
            return Ok(());
        }
        Some(count) => take(list, end, count, &mut cx.reply),
        None => {
            list.pop(end, |item| bulk_item(&mut cx.reply, item));
            1
        }
    };
    popped(&mut guard, end, n, size);
    Ok(())
}

/// BLPOP's and BRPOP's part that does not wait: takes one element of the first list that has one. False when none has.
pub fn pop_first(cx: &mut Cx<'_>, keys: &[&[u8]], end: End) -> Res<bool> {
    let size = cx.ks.enc.list_size;
    for key in keys {
        let mut guard = cx.ks.write(key);
        let Some(list) = guard.get::<List>()? else { continue };
        cx.reply.array(2);
        cx.reply.bulk(key);
        list.pop(end, |item| bulk_item(&mut cx.reply, item));
        popped(&mut guard, end, 1, size);
        drop(guard);
        cx.propagate_as(&[pop_name(end).to_ascii_uppercase().as_bytes(), key]);
        return Ok(true);
    }
    Ok(false)
}

/// What LMPOP and BLMPOP were told.
pub struct MultiPop<'a, W> {
    /// The keys to look at, in order.
    pub keys: &'a [&'a [u8]],
    /// From where.
    pub from: W,
    /// At most so many elements.
    pub count: usize,
}

/// Reads `numkeys key [key …] where [COUNT count]` from argument `at` on.
pub fn multi_pop_args<'a, W>(
    cx: &Cx<'a>,
    at: usize,
    read_from: impl Fn(&[u8]) -> Res<W>,
) -> Res<MultiPop<'a, W>> {
    let numkeys = at_least(cx.arg(at), 1, CmdError::new("ERR numkeys should be greater than 0"))? as usize;
    let first = at + 1;
    let where_at = first.checked_add(numkeys).filter(|i| *i < cx.argc()).ok_or(SYNTAX)?;
    let from = read_from(cx.arg(where_at))?;
    let mut count = None;
    let mut i = where_at + 1;
    while i < cx.argc() {
        if count.is_some() || !cx.is(i, "COUNT") || i + 1 >= cx.argc() {
            return Err(SYNTAX);
        }
        let error = CmdError::new("ERR count should be greater than 0");
        count = Some(at_least(cx.arg(i + 1), 1, error)? as usize);
        i += 2;
    }
    Ok(MultiPop { keys: &cx.args[first..where_at], from, count: count.unwrap_or(1) })
}

/// LMPOP without waiting: takes from the first list that has elements. False, and no reply, when none has.
pub fn multi_pop(cx: &mut Cx<'_>, what: &MultiPop<'_, End>) -> Res<bool> {
    let size = cx.ks.enc.list_size;
    for key in what.keys {
        let mut guard = cx.ks.write(key);
        let Some(list) = guard.get::<List>()? else { continue };
        cx.reply.array(2);
        cx.reply.bulk(key);
        let n = take(list, what.from, what.count, &mut cx.reply);
        popped(&mut guard, what.from, n, size);
        drop(guard);
        let mut digits = itoa::Buffer::new();
        let name = pop_name(what.from).to_ascii_uppercase();
        cx.propagate_as(&[name.as_bytes(), key, digits.format(n).as_bytes()]);
        return Ok(true);
    }
    Ok(false)
}

/// LMOVE, RPOPLPUSH and what BLMOVE does without waiting: moves one element from argument 1 to argument 2. False, and
/// no reply, when there is nothing to move.
pub fn move_element(cx: &mut Cx<'_>, from: End, to: End) -> Res<bool> {
    let size = cx.ks.enc.list_size;
    let (source, target) = (cx.args[1], cx.args[2]);
    if cx.ks.write(source).get::<List>()?.is_none() {
        return Ok(false);
    }
    cx.ks.write(target).get::<List>()?;

    let mut element = Element::new();
    let mut counted = 0;
    if let Some(list) = cx.ks.write(source).get::<List>()? {
        let quick = list.quicklist().is_some();
        list.pop(from, |item| {
            // Redis counts an integer that comes out of a quicklist as no bytes.
            let int = item.as_i64().is_some();
            item.with_bytes(|bytes| element.extend_from_slice(bytes));
            counted = if quick && int { 0 } else { element.len() };
        });
    }
    let mut guard = cx.ks.write(target);
    let list = guard.get_or_create(List::new)?;
    list.prepare(size, counted, 1);
    list.push(to, &element);
    guard.changed(push_event(to), 0);
    drop(guard);
    cx.reply.bulk(&element);
    popped(&mut cx.ks.write(source), from, 1, size);
    Ok(true)
}
