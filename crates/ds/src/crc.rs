//! The two checksums of Redis: CRC-16 of cluster slots and CRC-64 of RDB files.

/// Number of hash slots of a cluster.
pub const SLOTS: u16 = 16384;

const fn crc16_table() -> [u16; 256] {
    let mut t = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut c = (i as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            c = if c & 0x8000 != 0 { (c << 1) ^ 0x1021 } else { c << 1 };
            bit += 1;
        }
        t[i] = c;
        i += 1;
    }
    t
}

static CRC16: [u16; 256] = crc16_table();

/// CRC-16/XMODEM.
#[inline]
pub fn crc16(data: &[u8]) -> u16 {
    data.iter().fold(0, |c, &b| (c << 8) ^ CRC16[((c >> 8) as u8 ^ b) as usize])
}

/// The cluster slot of a key: of the part between the first `{` and the next `}` if there is one and it is not empty,
/// otherwise of the whole key.
#[inline]
pub fn key_slot(key: &[u8]) -> u16 {
    let tag = key.iter().position(|&b| b == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        match rest.iter().position(|&b| b == b'}') {
            Some(n) if n > 0 => Some(&rest[..n]),
            _ => None,
        }
    });
    crc16(tag.unwrap_or(key)) % SLOTS
}

/// The Jones polynomial, reflected.
const POLY: u64 = 0x95ac_9329_ac4b_c9b5;

const fn crc64_tables() -> [[u64; 256]; 8] {
    let mut t = [[0; 256]; 8];
    let mut i = 0;
    while i < 256 {
        let mut c = i as u64;
        let mut bit = 0;
        while bit < 8 {
            c = if c & 1 != 0 { (c >> 1) ^ POLY } else { c >> 1 };
            bit += 1;
        }
        t[0][i] = c;
        i += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut i = 0;
        while i < 256 {
            let c = t[k - 1][i];
            t[k][i] = (c >> 8) ^ t[0][(c & 0xFF) as usize];
            i += 1;
        }
        k += 1;
    }
    t
}

static CRC64: [[u64; 256]; 8] = crc64_tables();

/// Continues the CRC-64 `crc` (0 to begin) over `data`, eight bytes at a time.
pub fn crc64(mut crc: u64, data: &[u8]) -> u64 {
    let (words, rest) = data.as_chunks::<8>();
    for w in words {
        let x = crc ^ u64::from_le_bytes(*w);
        let b = x.to_le_bytes();
        crc = 0;
        for (k, &byte) in b.iter().enumerate() {
            crc ^= CRC64[7 - k][byte as usize];
        }
    }
    rest.iter().fold(crc, |c, &b| (c >> 8) ^ CRC64[0][(c as u8 ^ b) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_values() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(crc64(0, b"123456789"), 0xe9c6_d914_c4b8_d9ca);
        let data: Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        for cut in [0, 1, 7, 8, 9, 500, 999, 1000] {
            assert_eq!(crc64(crc64(0, &data[..cut]), &data[cut..]), crc64(0, &data));
        }
    }

    #[test]
    fn slots() {
        // What CLUSTER KEYSLOT answers.
        assert_eq!(key_slot(b"foo"), 12182);
        assert_eq!(key_slot(b"{user1000}.following"), key_slot(b"user1000"));
        assert_eq!(key_slot(b"foo{}{bar}"), crc16(b"foo{}{bar}") % SLOTS);
        assert_eq!(key_slot(b"foo{{bar}}zap"), key_slot(b"{bar"));
        assert_eq!(key_slot(b"foo{bar"), crc16(b"foo{bar") % SLOTS);
        assert_eq!(key_slot(b""), 0);
    }
}
