//! Data sets that several tests begin with.

/// Commands that make one key of each kind, in databases 0 and 3; 0 is selected at the end.
pub const ONE_OF_EACH: [&str; 15] = [
    "SET str hello",
    "SET int 12345",
    "SET timed x PX 9999999",
    "RPUSH list a b c 1 2 3",
    "SADD ints 1 2 3",
    "SADD words a b c",
    "ZADD zset 1 a 2.5 b",
    "HSET hash f v g w",
    "XADD stream 1-1 f v",
    "XADD stream 2-1 f w",
    "XGROUP CREATE stream group 0",
    "XREADGROUP GROUP group alice COUNT 1 STREAMS stream >",
    "SELECT 3",
    "SET other db",
    "SELECT 0",
];
