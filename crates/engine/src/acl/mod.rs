//! Access control: users, what each may do, and what was refused.
//!
//! A client holds its user and one bit that says whether the user is restricted at all; commands of unrestricted users
//! are not looked at. Rules are kept as they were given, so that they can be shown, and as a bitmap of commands.

mod check;
mod file;
mod log;
mod rules;
mod runs;
mod sessions;
mod user;

pub use check::{Around, Denial, Reason, check, denial_text, unrestricted_keys};
pub use file::{configured, declarations, declare, parse_file};
pub use log::{Entry, Place, deny, login_by_certificate, refuse_login};
pub use rules::{RuleError, is_word, merge_selectors};
pub use sessions::{delete_user, kill_client, replace_all, set_default_password, set_user};
pub use user::{KeyPattern, Selector, User};

use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Name of the user that new connections have.
pub const DEFAULT: &[u8] = b"default";

/// How often users were refused, for INFO.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs)]
pub struct Denials {
    pub logins: u64,
    pub commands: u64,
    pub keys: u64,
    pub channels: u64,
    pub databases: u64,
    pub certificates: u64,
    pub scripts: u64,
}

/// The users and the log of refusals.
pub struct Acl {
    users: BTreeMap<Vec<u8>, Arc<User>>,
    default: Arc<User>,
    /// Refusals, newest first.
    pub log: VecDeque<Entry>,
    next_entry: u64,
    /// How often users were refused.
    pub denied: Denials,
    seed: [u8; 16],
    passwords: u64,
}

impl Acl {
    /// The default user alone, who may do everything. `seed` is the source of generated passwords.
    pub fn new(seed: [u8; 16]) -> Acl {
        let default = Arc::new(User::all_powerful());
        let users = BTreeMap::from([(DEFAULT.to_vec(), default.clone())]);
        Acl {
            users,
            default,
            log: VecDeque::new(),
            next_entry: 0,
            denied: Denials::default(),
            seed,
            passwords: 0,
        }
    }

    /// The user that new connections have.
    pub fn default_user(&self) -> &Arc<User> {
        &self.default
    }

    /// The user of this name.
    pub fn user(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.users.get(name)
    }

    /// All users by name.
    pub fn users(&self) -> impl Iterator<Item = &Arc<User>> {
        self.users.values()
    }

    /// Number of users.
    pub fn len(&self) -> usize {
        self.users.len()
    }

    /// Never true: the default user cannot be removed.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// True when new connections need not authenticate.
    pub fn is_open(&self) -> bool {
        self.default.nopass && self.default.enabled
    }

    /// The user whom this name and password belong to.
    pub fn login(&self, name: &[u8], password: &[u8]) -> Option<&Arc<User>> {
        // Who does not exist takes as long as who does.
        let Some(user) = self.users.get(name) else {
            std::hint::black_box(user::hash(password));
            return None;
        };
        user.accepts(password).then_some(user)
    }

    /// `bits` random bits (rounded up to 4) in hexadecimal digits, that nobody can guess who does not know the seed.
    pub fn generate_password(&mut self, bits: usize) -> String {
        let digits = bits.div_ceil(4);
        let mut out = String::with_capacity(digits + 64);
        while out.len() < digits {
            let mut sha = Sha256::new();
            sha.update(b"acl genpass");
            sha.update(self.seed);
            sha.update(self.passwords.to_le_bytes());
            self.passwords += 1;
            user::push_hex(&sha.finalize(), &mut out);
        }
        out.truncate(digits);
        out
    }

    /// The users in the format of an ACL file, a line each.
    pub fn file(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for user in self.users() {
            user.line(&mut text);
            text.push(b'\n');
        }
        text
    }

    fn put(&mut self, user: Arc<User>) {
        if user.name == DEFAULT {
            self.default = user.clone();
        }
        self.users.insert(user.name.clone(), user);
    }
}
