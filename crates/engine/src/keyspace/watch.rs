//! WATCH: who waits for a change of which key.

use crate::client::ClientId;
use std::collections::{HashMap, HashSet};

/// Database, key, and whether the key was past its deadline already.
type Watched = (usize, Box<[u8]>, bool);

/// Keys that clients watch, and the clients whose watched keys changed.
#[derive(Default)]
pub struct WatchTable {
    by_key: HashMap<(usize, Box<[u8]>), Vec<ClientId>>,
    /// What each client watches; `true`: the key was already past its deadline then.
    by_client: HashMap<ClientId, Vec<Watched>>,
    broken: HashSet<ClientId>,
    /// Bytes that the watched keys of each client take.
    bytes: HashMap<ClientId, usize>,
}

/// Bytes that a watched key takes beside its name: its places in the tables.
const WATCHED: usize = 128;

impl WatchTable {
    /// True when nobody watches anything.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Number of clients that watch something.
    pub fn clients(&self) -> usize {
        self.by_client.len()
    }

    /// Number of watched keys.
    pub fn keys(&self) -> usize {
        self.by_key.len()
    }

    /// Number of keys that `client` watches.
    pub fn count(&self, client: ClientId) -> usize {
        self.by_client.get(&client).map_or(0, Vec::len)
    }

    /// True when a key that `client` watches was changed.
    pub fn is_touched(&self, client: ClientId) -> bool {
        self.broken.contains(&client)
    }

    /// Lets `client` watch a key. `stale`: the key is past its deadline already, so its deletion is no change.
    pub fn watch(&mut self, client: ClientId, db: usize, key: &[u8], stale: bool) {
        // Few clients watch one key, while one client may watch very many.
        let clients = self.by_key.entry((db, key.into())).or_default();
        if clients.contains(&client) {
            return;
        }
        clients.push(client);
        self.by_client.entry(client).or_default().push((db, key.into(), stale));
        *self.bytes.entry(client).or_default() += 2 * key.len() + WATCHED;
    }

    /// Bytes that the keys take that `client` watches. O(1).
    #[inline]
    pub fn memory(&self, client: ClientId) -> usize {
        if self.bytes.is_empty() { 0 } else { self.bytes.get(&client).copied().unwrap_or(0) }
    }

    /// Forgets all that `client` watches.
    pub fn unwatch(&mut self, client: ClientId) {
        self.broken.remove(&client);
        self.bytes.remove(&client);
        for (db, key, _) in self.by_client.remove(&client).unwrap_or_default() {
            let slot = (db, key);
            if let Some(clients) = self.by_key.get_mut(&slot) {
                clients.retain(|c| *c != client);
                if clients.is_empty() {
                    self.by_key.remove(&slot);
                }
            }
        }
    }

    /// A key changed. `newly` gets the clients that did not know of a change yet.
    pub fn touch(&mut self, db: usize, key: &[u8], newly: Option<&mut Vec<ClientId>>) {
        let Some(clients) = self.by_key.get(&(db, Box::from(key))) else { return };
        let new = clients.iter().filter(|client| self.broken.insert(**client));
        match newly {
            Some(newly) => newly.extend(new),
            None => new.for_each(drop),
        }
    }

    /// Takes a change back of which `touch` said that the client did not know of another.
    pub(crate) fn mend(&mut self, client: ClientId) {
        self.broken.remove(&client);
    }

    /// A key past its deadline is deleted: no change for those who watched it when it was stale already.
    pub fn touch_expired(&mut self, db: usize, key: &[u8], mut newly: Option<&mut Vec<ClientId>>) {
        let Some(clients) = self.by_key.get(&(db, Box::from(key))) else { return };
        for client in clients {
            let stale = self
                .by_client
                .get(client)
                .is_some_and(|l| l.iter().any(|(d, k, stale)| *d == db && **k == *key && *stale));
            if !stale
                && self.broken.insert(*client)
                && let Some(newly) = &mut newly
            {
                newly.push(*client);
            }
        }
    }

    /// Whole databases change: `concerned` says for whom that is a change of a watched key. It is told database and
    /// key, and whether the key was past its deadline already when the client began to watch it.
    pub fn touch_where(
        &mut self,
        mut newly: Option<&mut Vec<ClientId>>,
        concerned: impl Fn(usize, &[u8], bool) -> bool,
    ) {
        for (client, keys) in &self.by_client {
            if keys.iter().any(|(db, key, stale)| concerned(*db, key, *stale))
                && self.broken.insert(*client)
                && let Some(newly) = &mut newly
            {
                newly.push(*client);
            }
        }
    }

    /// Databases were swapped: `stale` says which watched keys of them are now there but past their deadline. `None`:
    /// the database is not concerned.
    pub fn refresh(&mut self, mut stale: impl FnMut(usize, &[u8]) -> Option<bool>) {
        for (db, key, was_stale) in self.by_client.values_mut().flatten() {
            if let Some(now_stale) = stale(*db, key) {
                *was_stale = now_stale;
            }
        }
    }

    /// True when a key that `client` watches changed, or passed its deadline since (`expired` says so).
    pub fn is_broken(&self, client: ClientId, expired: impl Fn(usize, &[u8]) -> bool) -> bool {
        self.broken.contains(&client)
            || self
                .by_client
                .get(&client)
                .is_some_and(|l| l.iter().any(|(db, key, stale)| !*stale && expired(*db, key)))
    }
}
