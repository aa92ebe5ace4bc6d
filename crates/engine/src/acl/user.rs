//! A user and its selectors: what is kept of the rules, and how it is shown.

use super::DEFAULT;
use crate::commands::{self, Command};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// SHA-256 of a password.
pub(super) type Hash = [u8; 32];

/// A user.
#[derive(Debug, Clone)]
pub struct User {
    /// Its name.
    pub name: Vec<u8>,
    /// It may authenticate.
    pub enabled: bool,
    /// Any password is right.
    pub nopass: bool,
    pub(super) passwords: Vec<Hash>,
    /// The rules given to the user itself, then one selector for each pair of parentheses.
    pub(super) selectors: Vec<Selector>,
}

impl User {
    /// A user who may do nothing, not even authenticate. `all_channels` is what `acl-pubsub-default` says.
    pub fn new(name: &[u8], all_channels: bool) -> User {
        User {
            name: name.to_vec(),
            enabled: false,
            nopass: false,
            passwords: Vec::new(),
            selectors: vec![Selector::new(all_channels)],
        }
    }

    /// The default user as it is at start.
    pub fn all_powerful() -> User {
        let mut user = User::new(DEFAULT, true);
        (user.enabled, user.nopass) = (true, true);
        let root = user.root();
        root.all_keys = true;
        root.allow_all();
        user
    }

    pub(super) fn root(&mut self) -> &mut Selector {
        &mut self.selectors[0]
    }

    /// The selectors, that of the user itself first.
    pub fn selectors(&self) -> &[Selector] {
        &self.selectors
    }

    /// True when some command may be refused to this user.
    pub fn is_restricted(&self) -> bool {
        !self
            .selectors
            .iter()
            .any(|s| s.all_commands && s.all_keys && s.all_channels && s.dbs.is_none() && s.runs.is_none())
    }

    /// Makes this the only password; an empty one stands for none at all.
    pub(super) fn set_password(&mut self, password: &[u8]) {
        self.nopass = password.is_empty();
        self.passwords.clear();
        if !password.is_empty() {
            self.passwords.push(hash(password));
        }
    }

    /// True when the user may log in with this password. The time depends on its length and the number of passwords only.
    pub fn accepts(&self, password: &[u8]) -> bool {
        let given = hash(password);
        let mut right = self.nopass;
        for password in &self.passwords {
            right |= password.iter().zip(given).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0;
        }
        right & self.enabled
    }

    /// The flags that ACL GETUSER shows.
    pub fn flags(&self) -> impl Iterator<Item = &'static str> {
        let enabled = if self.enabled { "on" } else { "off" };
        std::iter::once(enabled).chain(self.nopass.then_some("nopass"))
    }

    /// The hashes of the passwords in hexadecimal digits.
    pub fn hashes(&self) -> impl ExactSizeIterator<Item = String> {
        self.passwords.iter().map(|hash| {
            let mut out = String::with_capacity(64);
            push_hex(hash, &mut out);
            out
        })
    }

    /// The user in one line, as configuration files have it: `user <name> <rules>`.
    pub fn line(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"user ");
        out.extend_from_slice(&self.name);
        for flag in self.flags() {
            out.push(b' ');
            out.extend_from_slice(flag.as_bytes());
        }
        for hash in self.hashes() {
            out.extend_from_slice(b" #");
            out.extend_from_slice(hash.as_bytes());
        }
        for (i, selector) in self.selectors.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b" " } else { b" (" });
            selector.describe(out);
            if i > 0 {
                out.push(b')');
            }
        }
    }
}

pub(super) fn hash(password: &[u8]) -> Hash {
    Sha256::digest(password).into()
}

pub(super) fn push_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
}

/// A pattern of keys.
#[derive(Debug, Clone)]
pub struct KeyPattern {
    /// The glob.
    pub glob: Vec<u8>,
    /// What matches may be read.
    pub read: bool,
    /// What matches may be written.
    pub write: bool,
}

/// One set of permissions: a command passes when one selector allows all of it.
#[derive(Debug, Clone)]
pub struct Selector {
    pub(super) all_keys: bool,
    pub(super) all_channels: bool,
    /// Every command, without a look at the bitmap.
    pub(super) all_commands: bool,
    /// `+@all` came last before the rules.
    pub(super) starts_with_all: bool,
    /// One bit for each command id.
    pub(super) allowed: Vec<u64>,
    /// `+command|argument` for commands without subcommands.
    pub(super) first_args: BTreeMap<u16, Vec<Vec<u8>>>,
    /// The rules for commands in order: allowed, and what.
    pub(super) rules: Vec<(bool, Vec<u8>)>,
    pub(super) keys: Vec<KeyPattern>,
    pub(super) channels: Vec<Vec<u8>>,
    /// Databases, sorted; `None` for all.
    pub(super) dbs: Option<Vec<u32>>,
    /// Patterns of the scripts that may be run; `None` for all.
    pub(super) runs: Option<Vec<Vec<u8>>>,
}

impl Selector {
    pub(super) fn new(all_channels: bool) -> Selector {
        Selector {
            all_keys: false,
            all_channels,
            all_commands: false,
            starts_with_all: false,
            allowed: vec![0; commands::all().len().div_ceil(64)],
            first_args: BTreeMap::new(),
            rules: Vec::new(),
            keys: Vec::new(),
            channels: Vec::new(),
            dbs: None,
            runs: None,
        }
    }

    pub(super) fn allow_all(&mut self) {
        self.set_all(true);
    }

    pub(super) fn set_all(&mut self, allow: bool) {
        self.allowed.fill(if allow { u64::MAX } else { 0 });
        self.all_commands = allow;
        self.starts_with_all = allow;
        self.rules.clear();
        self.first_args.clear();
    }

    fn set_bit(&mut self, id: u16, allow: bool) {
        let (word, bit) = (usize::from(id) / 64, 1u64 << (id % 64));
        if allow {
            self.allowed[word] |= bit;
        } else {
            self.allowed[word] &= !bit;
            self.all_commands = false;
        }
    }

    pub(super) fn has_bit(&self, id: u16) -> bool {
        self.allowed[usize::from(id) / 64] & (1 << (id % 64)) != 0
    }

    /// Allows or forbids a command with its subcommands.
    pub(super) fn set_command(&mut self, command: &Command, allow: bool) {
        self.set_bit(command.id, allow);
        self.first_args.remove(&command.id);
        for sub in command.subcommands() {
            self.set_bit(sub.id, allow);
        }
    }

    /// Notes a rule in place of those that it makes void: the same one, and those for subcommands.
    pub(super) fn note(&mut self, allow: bool, name: &[u8]) {
        let name = name.to_ascii_lowercase();
        self.rules.retain(|(_, old)| {
            !old.strip_prefix(name.as_slice()).is_some_and(|rest| rest.is_empty() || rest[0] == b'|')
        });
        self.rules.push((allow, name));
    }

    /// The rules for commands: `-@all +get`.
    pub fn command_rules(&self) -> Vec<u8> {
        let mut out = if self.starts_with_all { b"+@all".to_vec() } else { b"-@all".to_vec() };
        for (allow, name) in &self.rules {
            out.extend_from_slice(if *allow { b" +" } else { b" -" });
            out.extend_from_slice(name);
        }
        out
    }

    /// The patterns of keys: `~* %R~x`.
    pub fn key_rules(&self) -> Vec<u8> {
        if self.all_keys {
            return b"~*".to_vec();
        }
        let one = |key: &KeyPattern| {
            let mark: &[u8] = match (key.read, key.write) {
                (true, false) => b"%R~",
                (false, true) => b"%W~",
                _ => b"~",
            };
            [mark, &key.glob].concat()
        };
        self.keys.iter().map(one).collect::<Vec<_>>().join(&b' ')
    }

    /// The patterns of channels: `&*`.
    pub fn channel_rules(&self) -> Vec<u8> {
        if self.all_channels {
            return b"&*".to_vec();
        }
        self.channels.iter().map(|glob| [b"&", glob.as_slice()].concat()).collect::<Vec<_>>().join(&b' ')
    }

    /// The databases: `alldbs`, `db=0,1`, or nothing for none.
    pub fn database_rules(&self) -> String {
        match &self.dbs {
            None => "alldbs".to_owned(),
            Some(dbs) if dbs.is_empty() => String::new(),
            Some(dbs) => {
                let numbers: Vec<String> = dbs.iter().map(u32::to_string).collect();
                format!("db={}", numbers.join(","))
            }
        }
    }

    fn describe(&self, out: &mut Vec<u8>) {
        let mut parts = vec![self.key_rules()];
        if !self.all_channels {
            parts.push(b"resetchannels".to_vec());
        }
        parts.push(self.channel_rules());
        if let Some(dbs) = &self.dbs {
            // All databases go without saying.
            parts.push(if dbs.is_empty() {
                b"resetdbs".to_vec()
            } else {
                self.database_rules().into_bytes()
            });
        }
        parts.push(self.run_rules());
        parts.push(self.command_rules());
        parts.retain(|part| !part.is_empty());
        out.extend_from_slice(&parts.join(&b' '));
    }
}
