//! What the commands of collections share: items as replies, the options of the SCAN family, bounds of random output.

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::reply::Reply;
use crate::value::Type;
use totality_ds::{Item, glob};

/// Elements at most for a receiver whose memory is not watched byte by byte (a script, an embedder).
const MAX_ELEMENTS: usize = 1 << 24;
/// Bytes at most where no output buffer limit is configured.
const MAX_BYTES: usize = 1 << 30;

/// Writes an element of a compact encoding as a string.
#[inline]
pub fn item(reply: &mut Reply<'_>, item: Item<'_>) {
    match item {
        Item::Str(bytes) => reply.bulk(bytes),
        Item::Int(n) => reply.bulk_int(n),
    }
}

/// Reads a SCAN cursor: an unsigned number of 64 bits, as `strtoull` takes it.
pub fn scan_cursor(arg: &[u8]) -> Res<u64> {
    const INVALID: CmdError = CmdError::new("ERR invalid cursor");
    let trimmed = arg.trim_ascii_start();
    let digits = trimmed.strip_prefix(b"+").unwrap_or(trimmed);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(INVALID);
    }
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(INVALID)
}

/// Options of SCAN, HSCAN, SSCAN, ZSCAN and CLUSTERSCAN.
#[derive(Debug, Clone, Copy)]
pub struct ScanOptions<'a> {
    /// About how many elements a step looks at.
    pub count: usize,
    /// Only elements that this pattern matches.
    pub pattern: Option<&'a [u8]>,
    /// Names only (NOVALUES, NOSCORES).
    pub names_only: bool,
    /// Only keys of this type (TYPE).
    pub kind: Option<Type>,
    /// Only keys of this slot (SLOT).
    pub slot: Option<u16>,
}

/// Whose elements are scanned; decides which options there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanOf {
    /// SCAN
    Keys,
    /// CLUSTERSCAN
    Slots,
    /// SSCAN
    Set,
    /// HSCAN
    Hash,
    /// ZSCAN
    ZSet,
}

impl<'a> ScanOptions<'a> {
    /// Reads the options that follow the cursor, which is argument 1 of SCAN and CLUSTERSCAN and argument 2 of the
    /// others.
    ///
    /// # Errors
    /// In Redis's words.
    pub fn parse(cx: &Cx<'a>, of: ScanOf) -> Res<Self> {
        let mut options = ScanOptions { count: 10, pattern: None, names_only: false, kind: None, slot: None };
        let of_keys = matches!(of, ScanOf::Keys | ScanOf::Slots);
        let mut i = if of_keys { 2 } else { 3 };
        while i < cx.argc() {
            let more = i + 1 < cx.argc();
            if cx.is(i, "count") && more {
                let count = cx.int(i + 1)?;
                if count < 1 {
                    return Err(SYNTAX);
                }
                options.count = count as usize;
                i += 2;
            } else if cx.is(i, "match") && more {
                let pattern = cx.arg(i + 1);
                options.pattern = (pattern != b"*").then_some(pattern);
                i += 2;
            } else if cx.is(i, "type") && more && of_keys {
                options.kind = Some(type_by_name(cx.arg(i + 1))?);
                i += 2;
            } else if cx.is(i, "novalues") {
                if of != ScanOf::Hash {
                    return Err(CmdError::new("ERR NOVALUES option can only be used in HSCAN"));
                }
                options.names_only = true;
                i += 1;
            } else if cx.is(i, "noscores") {
                if of != ScanOf::ZSet {
                    return Err(CmdError::new("ERR NOSCORES option can only be used in ZSCAN"));
                }
                options.names_only = true;
                i += 1;
            } else if cx.is(i, "slot") && more && of == ScanOf::Slots {
                if options.slot.is_some() {
                    return Err(CmdError::new("ERR SLOT option can only be specified once"));
                }
                options.slot = Some(crate::cluster::slot_arg(cx.args[i + 1])?);
                i += 2;
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(options)
    }

    /// True when an element is wanted.
    #[inline]
    pub fn wants(&self, name: Item<'_>) -> bool {
        self.pattern.is_none_or(|pattern| name.with_bytes(|name| glob::matches(pattern, name, false)))
    }
}

fn type_by_name(name: &[u8]) -> Res<Type> {
    Type::ALL
        .into_iter()
        .find(|t| name.eq_ignore_ascii_case(t.name().as_bytes()))
        .ok_or_else(|| CmdError::owned([b"ERR unknown type name '", name, b"'"].concat()))
}

/// Writes the reply of a scan whose key is absent.
pub fn empty_scan(reply: &mut Reply<'_>) {
    reply.array(2);
    reply.bulk(b"0");
    reply.array(0);
}

/// Watches over a reply whose length the client chose freely (`SRANDMEMBER key -1000000000`).
pub struct Flood {
    start: usize,
    limit: usize,
    elements: usize,
}

impl Flood {
    /// To be asked for before anything is written.
    ///
    /// # Errors
    /// When the receiver is not a connection and the reply would be too long for it.
    pub fn begin(cx: &Cx<'_>, elements: usize) -> Res<Self> {
        let Some(start) = cx.reply.written() else {
            if elements > MAX_ELEMENTS {
                return Err(CmdError::new("ERR value is out of range"));
            }
            return Ok(Flood { start: 0, limit: usize::MAX, elements: 0 });
        };
        let hard = cx.sv.config.client_output_buffer_limit[0].hard as usize;
        Ok(Flood { start, limit: if hard == 0 { MAX_BYTES } else { hard }, elements: 0 })
    }

    /// After an element was written: true when the client's output buffer has taken all that it may. The caller
    /// stops and calls [`Flood::close`].
    #[inline]
    pub fn is_over(&mut self, reply: &Reply<'_>) -> bool {
        self.elements += 1;
        self.elements.is_multiple_of(256)
            && reply.written().is_some_and(|written| written.saturating_sub(self.start) > self.limit)
    }

    /// Closes the connection, whose reply is not complete.
    pub fn close(cx: &mut Cx<'_>) {
        if let Some(client) = cx.sv.clients.get_mut(cx.client) {
            client.close = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors() {
        assert_eq!(scan_cursor(b"0"), Ok(0));
        assert_eq!(scan_cursor(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(scan_cursor(b"007"), Ok(7));
        assert_eq!(scan_cursor(b" +7"), Ok(7));
        for bad in [&b""[..], b"-1", b"x", b"1x", b"18446744073709551616", b"7 "] {
            assert_eq!(scan_cursor(bad).unwrap_err().text(), b"ERR invalid cursor");
        }
    }
}
