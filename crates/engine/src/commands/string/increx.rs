//! INCREX: adds to a number, within bounds, and sets its deadline, in one step.
//!
//! The answer is the new number and what was added. A sum outside of LBOUND and UBOUND (or of the type) is declined:
//! the number is answered as it is, with 0, and nothing changes, not even the deadline; with SATURATE the number
//! becomes the bound. ENX sets the deadline only when there is none. NX and XX, as Valkey has them, decline where the
//! key exists or does not.
//!
//! ```transcript
//! # since 8.8
//! > INCREX n UBOUND 2 EX 100 ENX
//! 1) (integer) 1
//! 2) (integer) 1
//! > INCREX n BYINT 5 UBOUND 2
//! 1) (integer) 1
//! 2) (integer) 0
//! > INCREX n BYINT 5 UBOUND 2 SATURATE
//! 1) (integer) 2
//! 2) (integer) 1
//! > TTL n
//! ~\(integer\) (99|100)
//! > INCREX n BYFLOAT 0.5 PERSIST
//! 1) "2.5"
//! 2) "0.5"
//! # resp3
//! 1) (double) 2.5
//! 2) (double) 0.5
//! > TTL n
//! (integer) -1
//! > INCREX n ENX
//! (error) ERR ENX flag requires an expiration
//! > INCREX n LBOUND 2 UBOUND 1
//! (error) ERR LBOUND can't be greater than UBOUND
//! ```

use crate::commands::string_util::{Unit, already_past, deadline, delete_past, unit_of};
use crate::cx::Cx;
use crate::error::{CmdError, NOT_FLOAT, NOT_INTEGER, Res, SYNTAX};
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeyFlags, KeySpec, Spec};
use crate::value::Value;
use std::cmp::Ordering;
use totality_ds::Bytes;
use totality_ds::num::F80;

/// The table's row.
pub const SPEC: Spec =
    Spec::new("increx", -2, Group::String, Flags::WRITE.union(Flags::DENYOOM).union(Flags::FAST), run).args("key:k@0 increment:o?(integer:i'BYINT' float:d'BYFLOAT') lower-bound:d'LBOUND'? upper-bound:d'UBOUND'? saturate:t'SATURATE'? condition:o?(nx:t'NX' xx:t'XX') expiration:o?(seconds:i'EX' milliseconds:i'PX' unix-time-seconds:u'EXAT' unix-time-milliseconds:u'PXAT' persist:t'PERSIST') enx:t'ENX'?")
        .keys(&[KeySpec::one(1, KEY_UPDATE.union(KeyFlags::ACCESS))])
        .doc("8.8.0", "O(1)", "Adds to the number at a key within bounds and sets its deadline.");

const CROSSED: CmdError = CmdError::new("ERR LBOUND can't be greater than UBOUND");

#[derive(Default)]
struct Options<'a> {
    nx: bool,
    xx: bool,
    int: Option<&'a [u8]>,
    float: Option<&'a [u8]>,
    lower: Option<&'a [u8]>,
    upper: Option<&'a [u8]>,
    saturate: bool,
    expire: Option<(Unit, &'a [u8])>,
    persist: bool,
    enx: bool,
}

/// What becomes of the number.
struct Outcome<T> {
    /// The number that is answered.
    value: T,
    /// What was added.
    applied: T,
    /// False: nothing changes.
    stored: bool,
}

fn run(cx: &mut Cx<'_>) -> Res {
    let o = parse(&cx.args[2..])?;
    if o.float.is_some() { float(cx, &o) } else { int(cx, &o) }
}

/// Reads the options; each may be given once.
fn parse<'a>(args: &[&'a [u8]]) -> Res<Options<'a>> {
    let mut o = Options::default();
    let mut i = 0;
    while i < args.len() {
        let (word, next) = (args[i], args.get(i + 1).copied());
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        let flag = if is(b"NX") {
            Some(&mut o.nx)
        } else if is(b"XX") {
            Some(&mut o.xx)
        } else if is(b"SATURATE") {
            Some(&mut o.saturate)
        } else if is(b"PERSIST") {
            Some(&mut o.persist)
        } else if is(b"ENX") {
            Some(&mut o.enx)
        } else {
            None
        };
        i += 1;
        if let Some(flag) = flag {
            if std::mem::replace(flag, true) {
                return Err(SYNTAX);
            }
            continue;
        }
        let next = next.ok_or(SYNTAX)?;
        i += 1;
        let again = if let Some(unit) = unit_of(word) {
            o.expire.replace((unit, next)).is_some()
        } else {
            let slot = if is(b"BYINT") {
                &mut o.int
            } else if is(b"BYFLOAT") {
                &mut o.float
            } else if is(b"LBOUND") {
                &mut o.lower
            } else if is(b"UBOUND") {
                &mut o.upper
            } else {
                return Err(SYNTAX);
            };
            slot.replace(next).is_some()
        };
        if again {
            return Err(SYNTAX);
        }
    }
    let contradicts = (o.nx && o.xx)
        || (o.int.is_some() && o.float.is_some())
        || (o.persist && (o.enx || o.expire.is_some()));
    if contradicts {
        return Err(SYNTAX);
    }
    if o.enx && o.expire.is_none() {
        return Err(CmdError::new("ERR ENX flag requires an expiration"));
    }
    Ok(o)
}

fn int(cx: &mut Cx<'_>, o: &Options<'_>) -> Res {
    let read = |arg: Option<&[u8]>, default: i64, error: &'static str| match arg {
        None => Ok(default),
        Some(arg) => crate::util::parse_i64(arg).ok_or(CmdError::new(error)),
    };
    let by = read(o.int, 1, "ERR Increment is not an integer or out of range")?;
    let low = read(o.lower, i64::MIN, "ERR LBOUND is not an integer or out of range")?;
    let high = read(o.upper, i64::MAX, "ERR UBOUND is not an integer or out of range")?;
    if low > high {
        return Err(CROSSED);
    }
    let at = o.expire.map(|expire| deadline(cx, expire)).transpose()?;
    let (exists, old) = match cx.ks.peek(cx.args[1]).map(|entry| &entry.value) {
        None => (false, 0),
        Some(Value::Int(n)) => (true, *n),
        Some(value) => (true, crate::util::parse_i64(&value.as_str()?).ok_or(NOT_INTEGER)?),
    };
    let wanted = i128::from(old) + i128::from(by);
    let new = wanted.clamp(i128::from(low), i128::from(high));
    let outcome = if declined(exists, o) || (new != wanted && !o.saturate) {
        Outcome { value: old, applied: 0, stored: false }
    } else {
        let applied = i64::try_from(new - i128::from(old))
            .map_err(|_| CmdError::new("ERR applied increment would overflow"))?;
        Outcome { value: new as i64, applied, stored: true }
    };
    if outcome.stored {
        store(cx, o, at, Value::Int(outcome.value), "incrby");
    }
    cx.reply.array(2);
    cx.reply.int(outcome.value);
    cx.reply.int(outcome.applied);
    Ok(())
}

fn float(cx: &mut Cx<'_>, o: &Options<'_>) -> Res {
    let read = |arg: Option<&[u8]>, default: F80, error: &'static str| match arg {
        None => Ok(default),
        Some(arg) => F80::parse(arg).ok_or(CmdError::new(error)),
    };
    let by = read(o.float, F80::ZERO, "ERR Increment is not a valid float")?;
    if !by.is_finite() {
        return Err(CmdError::new("ERR BYFLOAT increment cannot be Infinity"));
    }
    let low = read(o.lower, -F80::MAX, "ERR LBOUND is not a valid float")?;
    let high = read(o.upper, F80::MAX, "ERR UBOUND is not a valid float")?;
    if low.order(high) == Ordering::Greater {
        return Err(CROSSED);
    }
    let at = o.expire.map(|expire| deadline(cx, expire)).transpose()?;
    let (exists, old) = match cx.ks.peek(cx.args[1]) {
        None => (false, F80::ZERO),
        Some(entry) => (true, F80::parse(&entry.value.as_str()?).ok_or(NOT_FLOAT)?),
    };
    if !old.is_finite() {
        return Err(CmdError::new("ERR value cannot be Infinity"));
    }
    // Both are finite, so there is a sum, if only an infinite one.
    let wanted = old.plus(by).unwrap_or(F80::ZERO);
    let (new, fits) = if wanted.order(low) == Ordering::Less {
        (low, false)
    } else if wanted.order(high) == Ordering::Greater || !wanted.is_finite() {
        (high, false)
    } else {
        (wanted, true)
    };
    let outcome = if declined(exists, o) || (!fits && !o.saturate) {
        Outcome { value: old, applied: F80::ZERO, stored: false }
    } else {
        let applied = new.plus(-old).filter(|applied| applied.is_finite());
        let applied = applied.ok_or(CmdError::new("ERR applied increment would be Infinity"))?;
        Outcome { value: new, applied, stored: true }
    };
    let value = text(outcome.value);
    if outcome.stored {
        // Not an integer even where it looks like one, as with INCRBYFLOAT.
        store(cx, o, at, Value::Str(Bytes::from(&value[..])), "incrbyfloat");
    }
    cx.reply.array(2);
    for number in [value, text(outcome.applied)] {
        match totality_ds::num::parse_f64(&number) {
            Some(double) if cx.reply.resp3() => cx.reply.double(double),
            _ => cx.reply.bulk(&number),
        }
    }
    Ok(())
}

fn declined(exists: bool, o: &Options<'_>) -> bool {
    (o.nx && exists) || (o.xx && !exists)
}

fn text(number: F80) -> Vec<u8> {
    let mut text = Vec::with_capacity(40);
    number.push(&mut text);
    text
}

/// Stores the number and settles the deadline. Replicas see SET.
fn store(cx: &mut Cx<'_>, o: &Options<'_>, at: Option<i64>, value: Value, event: &'static str) {
    let key = cx.args[1];
    let timed = cx.ks.peek(key).is_some_and(|entry| entry.expire != crate::keyspace::NO_EXPIRY);
    let at = at.filter(|_| !(o.enx && timed));
    if at.is_some_and(|at| already_past(cx, at)) {
        delete_past(cx, key);
        return;
    }
    let digits: Vec<u8> = value.as_str().map(|text| text.to_vec()).unwrap_or_default();
    let mut guard = cx.ks.write(key);
    guard.set(value);
    guard.changed(Event::string(event), 1);
    if at.is_some() {
        guard.set_deadline(at);
        guard.event(Event::generic("expire"));
    } else if o.persist && guard.set_deadline(None) {
        guard.event(Event::generic("persist"));
    }
    drop(guard);
    if let Some(at) = at {
        let mut buffer = itoa::Buffer::new();
        cx.propagate_as(&[b"SET", key, &digits, b"PXAT", buffer.format(at).as_bytes()]);
    } else if timed && !o.persist {
        cx.propagate_as(&[b"SET", key, &digits, b"KEEPTTL"]);
    } else {
        cx.propagate_as(&[b"SET", key, &digits]);
    }
}
