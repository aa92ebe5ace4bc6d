//! What the string commands share: options of SET and its relatives, deadlines, conditions on the old value.

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res, SYNTAX};
use crate::keyspace::WriteGuard;
use crate::notify::{Class, Event};
use crate::value::Value;

/// In what an option gives a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// EX: seconds from now.
    Ex,
    /// PX: milliseconds from now.
    Px,
    /// EXAT: seconds since the Unix epoch.
    ExAt,
    /// PXAT: milliseconds since the Unix epoch.
    PxAt,
}

/// What the old value is compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// IFEQ: it is this value.
    Eq,
    /// IFNE: it is not this value.
    Ne,
    /// IFDEQ: its digest is this.
    DigestEq,
    /// IFDNE: its digest is not this.
    DigestNe,
}

/// Hexadecimal digits of a digest.
const DIGEST_DIGITS: usize = 16;

impl Condition {
    /// The condition that a word names.
    pub(crate) fn from_word(word: &[u8]) -> Option<Condition> {
        const WORDS: [(&[u8], Condition); 4] = [
            (b"IFEQ", Condition::Eq),
            (b"IFNE", Condition::Ne),
            (b"IFDEQ", Condition::DigestEq),
            (b"IFDNE", Condition::DigestNe),
        ];
        WORDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, condition)| *condition)
    }

    /// True when the old value satisfies it. An absent key equals nothing, so it satisfies IFNE and IFDNE.
    pub(crate) fn holds(self, old: Option<&[u8]>, operand: &[u8]) -> Res<bool> {
        let equal = match (old, self) {
            (None, _) => false,
            (Some(old), Condition::Eq | Condition::Ne) => old == operand,
            (Some(old), Condition::DigestEq | Condition::DigestNe) => {
                if operand.len() != DIGEST_DIGITS {
                    return Err(CmdError::new("ERR must be exactly 16 hexadecimal characters"));
                }
                digest(old).eq_ignore_ascii_case(operand)
            }
        };
        Ok(equal == matches!(self, Condition::Eq | Condition::DigestEq))
    }
}

/// The digest of a string as DIGEST answers it: XXH3 with 64 bits, in hexadecimal digits.
pub(crate) fn digest(value: &[u8]) -> [u8; DIGEST_DIGITS] {
    let hash = xxhash_rust::xxh3::xxh3_64(value);
    std::array::from_fn(|i| b"0123456789abcdef"[(hash >> (60 - 4 * i)) as usize & 15])
}

/// Which commands' options are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// SET
    Set,
    /// GETEX
    Get,
    /// MSETEX
    Mset,
}

/// Options of SET, GETEX and MSETEX.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options<'a> {
    /// NX
    pub nx: bool,
    /// XX
    pub xx: bool,
    /// GET
    pub get: bool,
    /// KEEPTTL
    pub keep_ttl: bool,
    /// PERSIST
    pub persist: bool,
    /// EX, PX, EXAT or PXAT with its argument.
    pub expire: Option<(Unit, &'a [u8])>,
    /// IFEQ and relatives with their argument.
    pub condition: Option<(Condition, &'a [u8])>,
}

impl<'a> Options<'a> {
    /// Reads the options `args`. As in Redis an option may be repeated, but not combined with one that contradicts it.
    ///
    /// # Errors
    /// A syntax error.
    pub(crate) fn parse(args: &[&'a [u8]], family: Family) -> Res<Options<'a>> {
        let mut o = Options::default();
        let sets = family != Family::Get;
        let mut i = 0;
        while i < args.len() {
            let word = args[i];
            let next = args.get(i + 1).copied();
            i += 1;
            if is(word, b"NX") && sets && !o.xx && o.condition.is_none() {
                o.nx = true;
            } else if is(word, b"XX") && sets && !o.nx && o.condition.is_none() {
                o.xx = true;
            } else if is(word, b"GET") && family == Family::Set {
                o.get = true;
            } else if is(word, b"KEEPTTL") && sets && o.expire.is_none() {
                o.keep_ttl = true;
            } else if is(word, b"PERSIST") && family == Family::Get && o.expire.is_none() {
                o.persist = true;
            } else if let (Some(unit), Some(next)) = (unit_of(word), next) {
                let other = o.expire.is_some_and(|(before, _)| before != unit);
                if o.keep_ttl || o.persist || other {
                    return Err(SYNTAX);
                }
                o.expire = Some((unit, next));
                i += 1;
            } else if let (Some(condition), Some(next), Family::Set) =
                (Condition::from_word(word), next, family)
            {
                if o.nx || o.xx || o.condition.is_some() {
                    return Err(SYNTAX);
                }
                o.condition = Some((condition, next));
                i += 1;
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(o)
    }

    /// The deadline that the options give, in milliseconds since the Unix epoch.
    pub(crate) fn deadline(&self, cx: &Cx<'_>) -> Res<Option<i64>> {
        self.expire.map(|expire| deadline(cx, expire)).transpose()
    }
}

#[inline]
fn is(word: &[u8], name: &[u8]) -> bool {
    word.eq_ignore_ascii_case(name)
}

/// The unit that a word names.
pub(crate) fn unit_of(word: &[u8]) -> Option<Unit> {
    match word.len() {
        2 if is(word, b"EX") => Some(Unit::Ex),
        2 if is(word, b"PX") => Some(Unit::Px),
        4 if is(word, b"EXAT") => Some(Unit::ExAt),
        4 if is(word, b"PXAT") => Some(Unit::PxAt),
        _ => None,
    }
}

/// A deadline in milliseconds since the Unix epoch from an option's argument, which must be positive.
pub(crate) fn deadline(cx: &Cx<'_>, (unit, arg): (Unit, &[u8])) -> Res<i64> {
    let n = crate::util::int_arg(arg)?;
    let invalid = || CmdError::invalid_expire(&cx.command.full_name);
    if n <= 0 {
        return Err(invalid());
    }
    let ms = match unit {
        Unit::Px | Unit::PxAt => n,
        Unit::Ex | Unit::ExAt => n.checked_mul(1000).ok_or_else(invalid)?,
    };
    match unit {
        Unit::Ex | Unit::Px => ms.checked_add(cx.ks.now).ok_or_else(invalid),
        Unit::ExAt | Unit::PxAt => Ok(ms),
    }
}

/// True when a key that gets this deadline is to be deleted instead. What is replayed decided that already.
pub(crate) fn already_past(cx: &Cx<'_>, at: i64) -> bool {
    at <= cx.ks.now && cx.origin != Origin::Replay && !cx.ks.keeps_past()
}

/// A key was deleted because it was given a deadline that has passed.
const EXPIRED: Event = Event { class: Class::EXPIRED, name: "expired" };

/// Deletes the key of a guard because its new deadline has passed; replicas see UNLINK or DEL.
pub(crate) fn delete_past(cx: &mut Cx<'_>, key: &[u8]) {
    if cx.ks.delete_as(key, EXPIRED) {
        cx.ks.stats.expired += 1;
        cx.propagate_as(&[cx.ks.effects.expired_by(), key]);
    }
}

/// How SET and its relatives answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// OK or null.
    Status,
    /// 1 or 0.
    Bit,
}

/// SET with all its options, for the key at argument 1.
pub(crate) fn set(cx: &mut Cx<'_>, value: &[u8], o: &Options<'_>, answer: Answer) -> Res {
    let key = cx.args[1];
    let at = o.deadline(cx)?;
    let mut admitted = true;
    if o.get || o.condition.is_some() {
        admitted = compare(cx, key, o)?;
    }
    if admitted && (o.nx || o.xx) {
        admitted = cx.ks.exists(key) == o.xx;
    }
    if !admitted {
        match answer {
            _ if o.get => {}
            Answer::Status => cx.reply.null(),
            Answer::Bit => cx.reply.int(0),
        }
        return Ok(());
    }
    if let Some(at) = at
        && already_past(cx, at)
    {
        delete_past(cx, key);
    } else {
        let mut guard = cx.ks.write(key);
        store(&mut guard, value, at, o.keep_ttl);
        drop(guard);
        propagate_set(cx, key, value, at, o);
    }
    match answer {
        _ if o.get => {}
        Answer::Status => cx.reply.ok(),
        Answer::Bit => cx.reply.int(1),
    }
    Ok(())
}

/// Checks the condition on the old value and, with GET, answers the old value.
fn compare(cx: &mut Cx<'_>, key: &[u8], o: &Options<'_>) -> Res<bool> {
    let old = if o.get {
        cx.ks.read_str(key)?
    } else {
        cx.ks.peek(key).map(|entry| entry.value.as_str()).transpose()?
    };
    let holds = match o.condition {
        None => true,
        Some((condition, operand)) => condition.holds(old.as_deref(), operand)?,
    };
    if o.get {
        match &old {
            Some(old) => cx.reply.bulk(old),
            None => cx.reply.null(),
        }
    }
    Ok(holds)
}

/// Gives the guard's key a string value and a deadline, and says so.
pub(crate) fn store(guard: &mut WriteGuard<'_>, value: &[u8], at: Option<i64>, keep_ttl: bool) {
    let value = Value::from_bytes(value);
    if keep_ttl {
        guard.set(value);
    } else if at.is_some() {
        guard.set(value);
        guard.set_deadline(at);
    } else {
        guard.overwrite(value);
    }
    guard.changed(Event::string("set"), 1);
    if at.is_some() {
        guard.event(Event::generic("expire"));
    }
}

/// What replicas see of SET: an absolute deadline, and neither GET nor a condition that was judged here.
fn propagate_set(cx: &mut Cx<'_>, key: &[u8], value: &[u8], at: Option<i64>, o: &Options<'_>) {
    if let Some(at) = at {
        if o.expire.is_some_and(|(unit, _)| unit != Unit::PxAt) || o.get || o.condition.is_some() {
            let mut digits = itoa::Buffer::new();
            cx.propagate_as(&[b"SET", key, value, b"PXAT", digits.format(at).as_bytes()]);
        }
    } else if o.get || o.condition.is_some() {
        if o.keep_ttl {
            cx.propagate_as(&[b"SET", key, value, b"KEEPTTL"]);
        } else {
            cx.propagate_as(&[b"SET", key, value]);
        }
    }
}

/// The longest string that a command may make, in bytes. What is replayed was judged by the primary; it is bounded
/// all the same.
pub(crate) fn max_len(cx: &Cx<'_>) -> u64 {
    match cx.origin {
        Origin::Replay => cx.sv.config.proto_max_bulk_len.max(u64::from(u32::MAX)),
        _ => cx.sv.config.proto_max_bulk_len,
    }
}

/// Refuses a string of `len` and `more` bytes that would be longer than allowed.
pub(crate) fn check_len(cx: &Cx<'_>, len: u64, more: u64) -> Res {
    match len.checked_add(more) {
        Some(total) if total <= max_len(cx) => Ok(()),
        _ => Err(crate::error::STRING_TOO_BIG),
    }
}

/// The bytes that GETRANGE and BITCOUNT mean by a pair of indexes into `len` elements; `None` when there are none.
/// Unlike the ranges of lists, an end before the first element is the first element.
pub(crate) fn clamp_range(mut start: i64, mut end: i64, len: u64) -> Option<(u64, u64)> {
    if start < 0 && end < 0 && start > end {
        return None;
    }
    let len = len as i64;
    if start < 0 {
        start = start.saturating_add(len).max(0);
    }
    if end < 0 {
        end = end.saturating_add(len).max(0);
    }
    end = end.min(len - 1);
    (start <= end).then_some((start as u64, end as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_contradict_each_other() {
        let parse = |words: &str, family| {
            let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
            Options::parse(&words, family).is_ok()
        };
        for ok in ["NX GET EX 1", "XX KEEPTTL", "IFEQ a GET PX 1", "nx nx", "EX 1 EX 2", "IFDNE x"] {
            assert!(parse(ok, Family::Set), "{ok}");
        }
        for bad in [
            "NX XX",
            "IFEQ a NX",
            "NX IFEQ a",
            "IFEQ",
            "IFEQ a IFEQ a",
            "EX 1 PX 1",
            "EX 1 KEEPTTL",
            "EX",
            "PERSIST",
        ] {
            assert!(!parse(bad, Family::Set), "{bad}");
        }
        assert!(parse("PERSIST", Family::Get) && !parse("PERSIST EX 1", Family::Get));
        assert!(
            !parse("NX", Family::Get) && !parse("KEEPTTL", Family::Get) && !parse("IFEQ a", Family::Mset)
        );
    }

    #[test]
    fn digests_of_known_values() {
        assert_eq!(&digest(b"hello"), b"9555e8555c62dcfd");
        assert_eq!(&digest(b""), b"2d06800538d394c2");
        assert_eq!(&digest(b"v8"), b"0cc76dbb41381419");
    }

    #[test]
    fn ranges_as_getrange_reads_them() {
        assert_eq!(clamp_range(0, -1, 3), Some((0, 2)));
        assert_eq!(clamp_range(-1, -2, 3), None);
        assert_eq!(clamp_range(0, -100, 3), Some((0, 0)));
        assert_eq!(clamp_range(5, 9, 3), None);
        assert_eq!(clamp_range(i64::MIN, i64::MAX, 3), Some((0, 2)));
        assert_eq!(clamp_range(0, 0, 0), None);
    }
}
