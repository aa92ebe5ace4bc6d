//! What the commands on deadlines of fields share: `FIELDS n f…`, options, times.

use crate::cx::{Cx, Origin};
use crate::error::{CmdError, Res, SYNTAX};
use crate::types::Hash;

/// `numfields` and the fields do not agree.
pub const NUM_FIELDS: CmdError =
    CmdError::new("ERR numfields should be greater than 0 and match the provided number of fields");

/// Where `FIELDS` stands, searched from argument `from` on; never the last argument.
pub fn find_fields(cx: &Cx<'_>, from: usize) -> Option<usize> {
    (from..cx.argc().saturating_sub(1)).find(|i| cx.is(*i, "fields"))
}

/// The words after `FIELDS n`, `step` of them for each field, where `FIELDS` stands at argument `at`.
///
/// # Errors
/// When n is not an integer, or the `mismatch` when it does not fit.
pub fn fields<'a>(cx: &Cx<'a>, at: usize, step: usize, mismatch: CmdError) -> Res<&'a [&'a [u8]]> {
    let n = cx.int(at + 1)?;
    let words = &cx.args[at + 2..];
    let wanted = usize::try_from(n).ok().and_then(|n| n.checked_mul(step));
    if n == 0 || wanted != Some(words.len()) { Err(mismatch) } else { Ok(words) }
}

/// The fields of a command of the form `NAME key FIELDS n f…`.
pub fn plain_fields<'a>(cx: &Cx<'a>, mismatch: CmdError) -> Res<&'a [&'a [u8]]> {
    if !cx.is(2, "fields") {
        return Err(SYNTAX);
    }
    fields(cx, 2, 1, mismatch)
}

/// How a time is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Milliseconds, not seconds.
    pub millis: bool,
    /// A point in time, not a distance from now.
    pub absolute: bool,
}

/// Milliseconds since the Unix epoch that an argument means.
///
/// # Errors
/// When it is no integer, negative or too far away.
pub fn deadline(cx: &Cx<'_>, arg: &[u8], unit: Unit) -> Res<i64> {
    let invalid = || CmdError::invalid_expire(&cx.command.full_name);
    let n = crate::util::int_arg(arg)?;
    if n < 0 {
        return Err(invalid());
    }
    let ms = if unit.millis { Some(n) } else { n.checked_mul(1000) };
    ms.and_then(|ms| ms.checked_add(if unit.absolute { 0 } else { cx.ks.now })).ok_or_else(invalid)
}

/// True when a deadline means that fields go at once. What is replayed is taken as it is: the deletion follows.
pub fn is_past(cx: &Cx<'_>, at: i64) -> bool {
    at <= cx.ks.now && cx.origin != Origin::Replay && !cx.ks.keeps_past()
}

/// Options of HGETEX and HSETEX.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Only when the key is absent (HSETEX).
    pub nx: bool,
    /// Only when the key exists (HSETEX).
    pub xx: bool,
    /// Only when no field exists (HSETEX).
    pub fnx: bool,
    /// Only when all fields exist (HSETEX).
    pub fxx: bool,
    /// Fields keep their deadlines (HSETEX).
    pub keep_ttl: bool,
    /// Fields lose their deadlines (HGETEX).
    pub persist: bool,
    /// The new deadline.
    pub expire: Option<(&'a [u8], Unit)>,
}

impl<'a> Options<'a> {
    /// Reads the options from argument 2 up to `FIELDS` at `end`.
    ///
    /// # Errors
    /// A syntax error for unknown options and for such that exclude each other.
    pub fn parse(cx: &Cx<'a>, end: usize, setting: bool) -> Res<Self> {
        const UNITS: [(&str, Unit); 4] = [
            ("ex", Unit { millis: false, absolute: false }),
            ("px", Unit { millis: true, absolute: false }),
            ("exat", Unit { millis: false, absolute: true }),
            ("pxat", Unit { millis: true, absolute: true }),
        ];
        let mut o = Options::default();
        let mut i = 2;
        while i < end {
            let timed = UNITS.iter().find(|(word, _)| cx.is(i, word));
            if let Some((_, unit)) = timed {
                let other = o.expire.is_some_and(|(_, before)| before != *unit);
                if other || o.keep_ttl || o.persist || i + 1 >= end {
                    return Err(SYNTAX);
                }
                o.expire = Some((cx.args[i + 1], *unit));
                i += 2;
                continue;
            }
            match () {
                () if setting && cx.is(i, "nx") && !o.xx => o.nx = true,
                () if setting && cx.is(i, "xx") && !o.nx => o.xx = true,
                () if setting && cx.is(i, "fnx") && !o.fxx => o.fnx = true,
                () if setting && cx.is(i, "fxx") && !o.fnx => o.fxx = true,
                () if setting && cx.is(i, "keepttl") && o.expire.is_none() => o.keep_ttl = true,
                () if !setting && cx.is(i, "persist") && o.expire.is_none() => o.persist = true,
                () => return Err(SYNTAX),
            }
            i += 1;
        }
        Ok(o)
    }
}

/// What is told of fields in HTTL and its kin: -2 for an absent field, -1 for one without a deadline, else what `f`
/// makes of the deadline.
pub fn reply_deadlines(cx: &mut Cx<'_>, f: fn(at: i64, now: i64) -> i64) -> Res {
    let fields = plain_fields(cx, SYNTAX)?;
    let now = cx.ks.now;
    let hash = cx.ks.read_as::<Hash>(cx.args[1])?;
    cx.reply.array(fields.len());
    for field in fields {
        cx.reply.int(match hash.and_then(|hash| hash.deadline(field, now)) {
            None => -2,
            Some(None) => -1,
            Some(Some(at)) => f(at, now),
        });
    }
    Ok(())
}

/// Seconds, rounded.
pub fn seconds(ms: i64) -> i64 {
    ms.saturating_add(500) / 1000
}
