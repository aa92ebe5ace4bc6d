//! What the generic commands share: deadlines, and the cursors and options of the SCAN family.

use crate::commands::string_util::{already_past, delete_past};
use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::notify::Event;

/// Conditions of EXPIRE on the old deadline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ExpireIf {
    /// NX: there is none.
    pub nx: bool,
    /// XX: there is one.
    pub xx: bool,
    /// GT: the new one is later; none counts as never.
    pub gt: bool,
    /// LT: the new one is earlier.
    pub lt: bool,
}

impl ExpireIf {
    /// Reads the options NX, XX, GT and LT.
    pub(crate) fn parse(args: &[&[u8]]) -> Res<ExpireIf> {
        let mut o = ExpireIf::default();
        for arg in args {
            match arg {
                arg if arg.eq_ignore_ascii_case(b"NX") => o.nx = true,
                arg if arg.eq_ignore_ascii_case(b"XX") => o.xx = true,
                arg if arg.eq_ignore_ascii_case(b"GT") => o.gt = true,
                arg if arg.eq_ignore_ascii_case(b"LT") => o.lt = true,
                _ => return Err(CmdError::owned([b"ERR Unsupported option ", *arg].concat())),
            }
        }
        if o.nx && (o.xx || o.gt || o.lt) {
            return Err(CmdError::new("ERR NX and XX, GT or LT options at the same time are not compatible"));
        }
        if o.gt && o.lt {
            return Err(CmdError::new("ERR GT and LT options at the same time are not compatible"));
        }
        Ok(o)
    }

    /// True when the deadline `new` may replace `old`.
    pub(crate) fn allows(self, old: Option<i64>, new: i64) -> bool {
        match old {
            None => !self.xx && !self.gt,
            Some(old) => !self.nx && (!self.gt || new > old) && (!self.lt || new < old),
        }
    }
}

/// EXPIRE and relatives: sets the deadline of the key at argument 1 to argument 2, which counts from `base`
/// (milliseconds since the Unix epoch) in units of `scale` milliseconds.
pub(crate) fn expire(cx: &mut Cx<'_>, base: i64, scale: i64) -> Res {
    let key = cx.args[1];
    let condition = ExpireIf::parse(&cx.args[3..])?;
    let at = cx
        .int(2)?
        .checked_mul(scale)
        .and_then(|ms| ms.checked_add(base))
        .ok_or_else(|| CmdError::invalid_expire(&cx.command.full_name))?
        .max(0);
    let past = already_past(cx, at);
    let mut guard = cx.ks.write(key);
    if !guard.exists() || !condition.allows(guard.deadline(), at) {
        drop(guard);
        cx.reply.int(0);
        return Ok(());
    }
    if past {
        drop(guard);
        delete_past(cx, key);
    } else {
        guard.set_deadline(Some(at));
        guard.changed(Event::generic("expire"), 1);
        drop(guard);
        let mut digits = itoa::Buffer::new();
        cx.propagate_as(&[b"PEXPIREAT", key, digits.format(at).as_bytes()]);
    }
    cx.reply.int(1);
    Ok(())
}

/// TTL and relatives: the deadline of the key at argument 1, converted by `show`; -1 without one, -2 without key.
pub(crate) fn deadline(cx: &mut Cx<'_>, show: impl Fn(i64) -> i64) -> Res {
    let answer = match cx.ks.deadline(cx.args[1]) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => show(at),
    };
    cx.reply.int(answer);
    Ok(())
}

/// Milliseconds as the nearest number of seconds.
pub(crate) fn seconds(ms: i64) -> i64 {
    ms.saturating_add(500) / 1000
}

/// A database number of an argument, or `ERR DB index is out of range`.
pub(crate) fn database(cx: &Cx<'_>, arg: &[u8]) -> Res<usize> {
    let n = crate::util::int32_arg(arg)?;
    usize::try_from(n)
        .ok()
        .filter(|n| *n < cx.ks.dbs().len())
        .ok_or(CmdError::new("ERR DB index is out of range"))
}

/// Reads a cursor of the SCAN family: what `strtoull` reads completely, or `ERR invalid cursor`.
pub(crate) fn cursor(arg: &[u8]) -> Res<u64> {
    const BAD: CmdError = CmdError::new("ERR invalid cursor");
    if let Some(n) = crate::util::parse_i64(arg) {
        return u64::try_from(n).map_err(|_| BAD);
    }
    let (negative, digits) = match arg {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return Err(BAD);
    }
    let value = digits.iter().try_fold(0u64, |n, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    });
    let value = value.ok_or(BAD)?;
    Ok(if negative { value.wrapping_neg() } else { value })
}

/// What is scanned, which decides the options that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// Keys: TYPE is allowed.
    Keys,
    /// Members of a set.
    Set,
    /// Fields of a hash: NOVALUES is allowed.
    Hash,
    /// Members of a sorted set: NOSCORES is allowed.
    ZSet,
}

/// Options of the SCAN family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScanOptions<'a> {
    /// COUNT: about how many elements a step gives.
    pub count: usize,
    /// MATCH, unless it matches everything.
    pub pattern: Option<&'a [u8]>,
    /// TYPE: the type's name.
    pub type_: Option<&'a [u8]>,
    /// NOVALUES or NOSCORES.
    pub only_keys: bool,
}

impl<'a> ScanOptions<'a> {
    /// Reads the options `args`.
    pub(crate) fn parse(args: &[&'a [u8]], scanned: Scanned) -> Res<ScanOptions<'a>> {
        let mut o = ScanOptions { count: 10, pattern: None, type_: None, only_keys: false };
        let mut i = 0;
        while i < args.len() {
            let (word, next) = (args[i], args.get(i + 1).copied());
            if let (true, Some(next)) = (word.eq_ignore_ascii_case(b"COUNT"), next) {
                o.count = match crate::util::int_arg(next)? {
                    n if n < 1 => return Err(SYNTAX),
                    n => n as usize,
                };
                i += 2;
            } else if let (true, Some(next)) = (word.eq_ignore_ascii_case(b"MATCH"), next) {
                o.pattern = Some(next).filter(|pattern| *pattern != b"*");
                i += 2;
            } else if let (true, Some(next), Scanned::Keys) =
                (word.eq_ignore_ascii_case(b"TYPE"), next, scanned)
            {
                o.type_ = Some(next);
                i += 2;
            } else if word.eq_ignore_ascii_case(b"NOVALUES") {
                if scanned != Scanned::Hash {
                    return Err(CmdError::new("ERR NOVALUES option can only be used in HSCAN"));
                }
                o.only_keys = true;
                i += 1;
            } else if word.eq_ignore_ascii_case(b"NOSCORES") {
                if scanned != Scanned::ZSet {
                    return Err(CmdError::new("ERR NOSCORES option can only be used in ZSCAN"));
                }
                o.only_keys = true;
                i += 1;
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(o)
    }

    /// True when an element's name is wanted.
    #[inline]
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        self.pattern.is_none_or(|pattern| totality_ds::glob::matches(pattern, name, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_strtoull_reads_them() {
        for (text, value) in
            [("0", 0), ("18446744073709551615", u64::MAX), ("+7", 7), ("007", 7), ("-01", u64::MAX)]
        {
            assert_eq!(cursor(text.as_bytes()).unwrap(), value, "{text}");
        }
        for text in ["", "-", "-1", "x", "1x", " 1", "18446744073709551616"] {
            assert!(cursor(text.as_bytes()).is_err(), "{text}");
        }
    }
}
