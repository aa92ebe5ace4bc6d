//! What the generic commands share: deadlines and database numbers.

use crate::commands::string_util::{already_past, delete_past};
use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::notify::Event;
use crate::util::until_nul;

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
                _ => return Err(CmdError::owned([b"ERR Unsupported option ", until_nul(arg)].concat())),
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
