//! Hash slots of Redis Cluster.

/// How many slots a cluster has.
pub const SLOTS: u16 = 16384;

/// CRC16 (XMODEM), one entry for each byte.
const TABLE: [u16; 256] = {
    let mut table = [0u16; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = (i as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { (crc << 1) ^ 0x1021 } else { crc << 1 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};

/// The slot of a key: of its hash tag, if it has one that is not empty.
pub fn slot(key: &[u8]) -> u16 {
    let tag = key.iter().position(|b| *b == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        rest.iter().position(|b| *b == b'}').filter(|n| *n > 0).map(|n| &rest[..n])
    });
    let crc =
        tag.unwrap_or(key).iter().fold(0u16, |crc, b| (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ b)]);
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::slot;

    #[test]
    fn slots_are_those_of_redis() {
        // CLUSTER KEYSLOT of redis-server 7.0.15.
        assert_eq!(slot(b"foo"), 12182);
        assert_eq!(slot(b"123456789"), 12739);
        assert_eq!(slot(b"{user1000}.following"), slot(b"user1000"));
        assert_ne!(slot(b"foo{}{bar}"), slot(b"bar"));
        assert_eq!(slot(b"foo{{bar}}zap"), slot(b"{bar"));
        assert_eq!(slot(b""), 0);
    }
}
