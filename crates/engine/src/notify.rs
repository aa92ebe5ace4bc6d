//! Keyspace events: classes, names and the `notify-keyspace-events` flags.

use bitflags::bitflags;

bitflags! {
    /// Classes of events, as the letters of `notify-keyspace-events` select them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Class: u16 {
        /// `K`: published on `__keyspace@<db>__:<key>`
        const KEYSPACE = 1;
        /// `E`: published on `__keyevent@<db>__:<event>`
        const KEYEVENT = 1 << 1;
        /// `g`: generic commands
        const GENERIC = 1 << 2;
        /// `$`: strings
        const STRING = 1 << 3;
        /// `l`: lists
        const LIST = 1 << 4;
        /// `s`: sets
        const SET = 1 << 5;
        /// `h`: hashes
        const HASH = 1 << 6;
        /// `z`: sorted sets
        const ZSET = 1 << 7;
        /// `x`: expired keys
        const EXPIRED = 1 << 8;
        /// `e`: evicted keys
        const EVICTED = 1 << 9;
        /// `t`: streams
        const STREAM = 1 << 10;
        /// `m`: misses
        const MISS = 1 << 11;
        /// `d`: module keys
        const MODULE = 1 << 12;
        /// `n`: new keys
        const NEW = 1 << 13;
        /// `A`: everything that `A` stands for
        const ALL = Self::GENERIC.bits() | Self::STRING.bits() | Self::LIST.bits() | Self::SET.bits()
            | Self::HASH.bits() | Self::ZSET.bits() | Self::EXPIRED.bits() | Self::EVICTED.bits()
            | Self::STREAM.bits() | Self::MODULE.bits();
    }
}

const LETTERS: [(u8, Class); 15] = [
    (b'A', Class::ALL),
    (b'g', Class::GENERIC),
    (b'$', Class::STRING),
    (b'l', Class::LIST),
    (b's', Class::SET),
    (b'h', Class::HASH),
    (b'z', Class::ZSET),
    (b'x', Class::EXPIRED),
    (b'e', Class::EVICTED),
    (b't', Class::STREAM),
    (b'd', Class::MODULE),
    (b'n', Class::NEW),
    (b'K', Class::KEYSPACE),
    (b'E', Class::KEYEVENT),
    (b'm', Class::MISS),
];

impl Class {
    /// Reads the letters of `notify-keyspace-events`; `None` when one is unknown.
    pub fn from_letters(letters: &[u8]) -> Option<Class> {
        let mut class = Class::empty();
        for letter in letters {
            class |= LETTERS.iter().find(|(l, _)| l == letter)?.1;
        }
        Some(class)
    }

    /// The letters, in the order in which Redis prints them.
    pub fn letters(self) -> String {
        let mut out = String::new();
        let all = self.contains(Class::ALL);
        if all {
            out.push('A');
        }
        for (letter, class) in &LETTERS[1..] {
            if self.contains(*class) && !(all && Class::ALL.contains(*class)) {
                out.push(char::from(*letter));
            }
        }
        out
    }
}

/// An event that a command raises on a key.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// The class that must be selected for the event to be published.
    pub class: Class,
    /// The event's name, as published.
    pub name: &'static str,
}

impl Event {
    /// An event of class `g`.
    pub const fn generic(name: &'static str) -> Self {
        Event { class: Class::GENERIC, name }
    }
    /// An event of class `$`.
    pub const fn string(name: &'static str) -> Self {
        Event { class: Class::STRING, name }
    }
    /// An event of class `l`.
    pub const fn list(name: &'static str) -> Self {
        Event { class: Class::LIST, name }
    }
    /// An event of class `s`.
    pub const fn set(name: &'static str) -> Self {
        Event { class: Class::SET, name }
    }
    /// An event of class `h`.
    pub const fn hash(name: &'static str) -> Self {
        Event { class: Class::HASH, name }
    }
    /// An event of class `z`.
    pub const fn zset(name: &'static str) -> Self {
        Event { class: Class::ZSET, name }
    }
    /// An event of class `t`.
    pub const fn stream(name: &'static str) -> Self {
        Event { class: Class::STREAM, name }
    }
}

/// A key was deleted.
pub const DEL: Event = Event::generic("del");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_in_redis_order() {
        assert_eq!(Class::from_letters(b"KEA").unwrap().letters(), "AKE");
        assert_eq!(Class::from_letters(b"$gKx").unwrap().letters(), "g$xK");
        assert_eq!(Class::from_letters(b"").unwrap().letters(), "");
        assert!(Class::from_letters(b"q").is_none());
    }
}
