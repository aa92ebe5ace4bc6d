//! Sessions that clients may take up again: `tls-session-cache-size` of them, each for `tls-session-cache-timeout`.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use rustls::server::StoresServerSessions;

/// Bytes of a session that are kept at most: a client's certificates are part of it.
const MAX_SESSION: usize = 16 * 1024;

/// A bounded memory of sessions; the oldest go first.
pub struct Sessions {
    size: usize,
    timeout: Duration,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sessions: HashMap<Vec<u8>, (Vec<u8>, Instant)>,
    /// Keys in the order of their coming; some are gone already.
    order: VecDeque<Vec<u8>>,
}

impl Sessions {
    /// Room for `size` sessions (0: no limit, as in OpenSSL, which here means a million).
    pub fn new(size: usize, timeout: Duration) -> Sessions {
        let size = if size == 0 { 1_000_000 } else { size };
        Sessions { size, timeout, kept: Mutex::default() }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Kept) -> T) -> T {
        f(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn fresh(&self, entry: (Vec<u8>, Instant)) -> Option<Vec<u8>> {
        (entry.1.elapsed() < self.timeout).then_some(entry.0)
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is kept is secret.
        f.debug_struct("Sessions").field("size", &self.size).finish_non_exhaustive()
    }
}

impl StoresServerSessions for Sessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        if value.len() > MAX_SESSION {
            return false;
        }
        self.with(|kept| {
            kept.order.push_back(key.clone());
            kept.sessions.insert(key, (value, Instant::now()));
            while kept.order.len() > self.size {
                if let Some(oldest) = kept.order.pop_front() {
                    kept.sessions.remove(&oldest);
                }
            }
        });
        true
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.with(|kept| kept.sessions.get(key).cloned()).and_then(|entry| self.fresh(entry))
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.with(|kept| kept.sessions.remove(key)).and_then(|entry| self.fresh(entry))
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_the_old_are_void() {
        let sessions = Sessions::new(2, Duration::from_secs(60));
        for key in [b"a", b"b", b"c"] {
            assert!(sessions.put(key.to_vec(), b"v".to_vec()));
        }
        assert_eq!(sessions.get(b"a"), None);
        assert_eq!(sessions.get(b"b"), Some(b"v".to_vec()));
        assert_eq!(sessions.take(b"c"), Some(b"v".to_vec()));
        assert_eq!(sessions.take(b"c"), None);
        assert!(!sessions.put(b"d".to_vec(), vec![0; MAX_SESSION + 1]));
        let none = Sessions::new(2, Duration::ZERO);
        none.put(b"a".to_vec(), b"v".to_vec());
        assert_eq!(none.get(b"a"), None);
    }
}
