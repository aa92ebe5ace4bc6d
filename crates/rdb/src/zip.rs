//! The compact encodings of older versions: ziplists and zipmaps. They are read into listpacks.

use totality_ds::{Item, Listpack};

const END: u8 = 0xFF;

/// Reads a ziplist after checking all of it.
pub(crate) fn ziplist(buf: &[u8]) -> Option<Listpack> {
    let total = u32::from_le_bytes(buf.get(..4)?.try_into().ok()?) as usize;
    let tail = u32::from_le_bytes(buf.get(4..8)?.try_into().ok()?) as usize;
    let count = u16::from_le_bytes(buf.get(8..10)?.try_into().ok()?);
    if total != buf.len() || buf.len() < 11 || *buf.last()? != END {
        return None;
    }
    let mut lp = Listpack::with_capacity(buf.len());
    let (mut pos, mut last, mut previous, mut n) = (10, 10, 0, 0usize);
    while *buf.get(pos)? != END {
        let (header, item) = entry(&buf[..buf.len() - 1], pos, previous)?;
        if !lp.safe_to_add(item.byte_len() + 16) {
            return None;
        }
        lp.push_back_item(item);
        last = pos;
        previous = header;
        pos += header;
        n += 1;
    }
    let counted = count == u16::MAX || usize::from(count) == n;
    // An empty list's tail is its end.
    (pos == buf.len() - 1 && counted && tail == last).then_some(lp)
}

/// The entry at `pos`, behind one of `previous` bytes: its length and its element.
fn entry(buf: &[u8], pos: usize, previous: usize) -> Option<(usize, Item<'_>)> {
    let (before, at) = match *buf.get(pos)? {
        254 => (u32::from_le_bytes(buf.get(pos + 1..pos + 5)?.try_into().ok()?) as usize, pos + 5),
        END => return None,
        n => (usize::from(n), pos + 1),
    };
    if before != previous {
        return None;
    }
    let b = *buf.get(at)?;
    let string = |head: usize, len: usize| {
        let from = at + head;
        let s = buf.get(from..from.checked_add(len)?)?;
        Some((from + len - pos, Item::Str(s)))
    };
    let int = |n: usize| {
        let raw = buf.get(at + 1..at + 1 + n)?;
        let mut le = [if raw[n - 1] & 0x80 != 0 { 0xFF } else { 0 }; 8];
        le[..n].copy_from_slice(raw);
        Some((at + 1 + n - pos, Item::Int(i64::from_le_bytes(le))))
    };
    match b {
        0..=0x3F => string(1, usize::from(b)),
        0x40..=0x7F => string(2, usize::from(b & 0x3F) << 8 | usize::from(*buf.get(at + 1)?)),
        0x80..=0xBF => string(5, u32::from_be_bytes(buf.get(at + 1..at + 5)?.try_into().ok()?) as usize),
        0xC0 => int(2),
        0xD0 => int(4),
        0xE0 => int(8),
        0xF0 => int(3),
        0xFE => int(1),
        0xF1..=0xFD => Some((at + 1 - pos, Item::Int(i64::from(b & 0x0F) - 1))),
        _ => None,
    }
}

/// Reads a zipmap, the form of small hashes before Redis 2.6, after checking all of it.
pub(crate) fn zipmap(buf: &[u8]) -> Option<Listpack> {
    let count = *buf.first()?;
    if buf.len() < 2 || *buf.last()? != END {
        return None;
    }
    let mut lp = Listpack::with_capacity(buf.len() * 2);
    let (mut pos, mut n) = (1, 0usize);
    let len = |pos: &mut usize| {
        let first = *buf.get(*pos)?;
        *pos += 1;
        match first {
            END => None,
            254 => {
                let n = u32::from_le_bytes(buf.get(*pos..*pos + 4)?.try_into().ok()?);
                *pos += 4;
                // A short length must be written short.
                (n >= 254).then_some(n as usize)
            }
            n => Some(usize::from(n)),
        }
    };
    while *buf.get(pos)? != END {
        let name_len = len(&mut pos)?;
        let name = buf.get(pos..pos.checked_add(name_len)?)?;
        pos += name_len;
        let value_len = len(&mut pos)?;
        let free = usize::from(*buf.get(pos)?);
        pos += 1;
        let value = buf.get(pos..pos.checked_add(value_len)?)?;
        pos = pos.checked_add(value_len + free)?;
        if !lp.safe_to_add(name_len + value_len + 32) {
            return None;
        }
        lp.push_back(name);
        lp.push_back(value);
        n += 1;
    }
    let counted = count >= 254 || usize::from(count) == n;
    (pos == buf.len() - 1 && counted && n > 0).then_some(lp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(lp: &Listpack) -> Vec<String> {
        lp.iter().map(|i| i.with_bytes(|b| String::from_utf8_lossy(b).into_owned())).collect()
    }

    #[test]
    fn a_zipmap() {
        let map = b"\x02\x03foo\x03\x00bar\x05hello\x05\x01world!\xff";
        assert_eq!(strings(&zipmap(map).unwrap()), ["foo", "bar", "hello", "world"]);
        assert!(zipmap(&map[..map.len() - 1]).is_none());
        assert!(zipmap(b"\x03\x03foo\x03\x00bar\xff").is_none());
        assert!(zipmap(b"\x00\xff").is_none());
        assert!(zipmap(b"\x01\x03foo\xfe\xff\xff\xff\xff\x00bar\xff").is_none());
    }

    #[test]
    fn a_ziplist() {
        // "2", "5", "Hello World", 1024, as the format's description has the first two.
        let list = b"\x21\0\0\0\x1c\0\0\0\x04\0\x00\xf3\x02\xf6\x02\x0bHello World\x0d\xc0\x00\x04\xff";
        let mut good = list.to_vec();
        let n = good.len() as u32;
        good[..4].copy_from_slice(&n.to_le_bytes());
        good[4..8].copy_from_slice(&(n - 5).to_le_bytes());
        assert_eq!(strings(&ziplist(&good).unwrap()), ["2", "5", "Hello World", "1024"]);
        for i in 0..good.len() {
            let mut bad = good.clone();
            bad[i] ^= 0x80;
            // Never more than a wrong list; mostly none.
            let _ = ziplist(&bad);
            assert!(ziplist(&good[..i]).is_none());
        }
    }
}
