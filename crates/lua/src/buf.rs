//! Buffers of bytes whose memory, when there is much of it, is freed somewhere else: the kernel takes back a hundred
//! megabytes in ten milliseconds, which a stop may not take.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// Buffers with room for more bytes are handed over.
const LARGE: usize = 4 << 20;

type Dispose = dyn Fn(Vec<u8>) + Send + Sync;

static DISPOSE: OnceLock<Box<Dispose>> = OnceLock::new();

/// Tells the process what frees buffers of more than 4 MiB that scripts leave behind, such as a thread of the
/// embedder's. Only the first call counts; before it they are freed where they are left.
pub fn dispose_with(dispose: impl Fn(Vec<u8>) + Send + Sync + 'static) {
    // A second embedder in the process has its buffers freed by the first: any thread can do it.
    let _ = DISPOSE.set(Box::new(dispose));
}

/// Bytes of a string, or on their way to one.
#[derive(Debug, Default)]
pub(crate) struct Buf(Vec<u8>);

impl Buf {
    pub(crate) fn with_capacity(n: usize) -> Buf {
        Buf(Vec::with_capacity(n))
    }
}

impl From<Vec<u8>> for Buf {
    fn from(bytes: Vec<u8>) -> Buf {
        Buf(bytes)
    }
}

impl Deref for Buf {
    type Target = Vec<u8>;

    #[inline]
    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Buf {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Buf {
    #[inline]
    fn drop(&mut self) {
        if self.0.capacity() > LARGE {
            hand_over(std::mem::take(&mut self.0));
        }
    }
}

#[cold]
fn hand_over(bytes: Vec<u8>) {
    match DISPOSE.get() {
        Some(dispose) => dispose(bytes),
        None => drop(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn large_buffers_are_handed_over_and_small_ones_are_not() {
        static FREED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
        dispose_with(|bytes| FREED.lock().expect("no panic under the lock").push(bytes.capacity()));
        drop(Buf::with_capacity(LARGE + 4321));
        drop(Buf::with_capacity(4321));
        let freed = FREED.lock().expect("no panic under the lock");
        assert!(freed.contains(&(LARGE + 4321)), "{freed:?}");
        assert!(!freed.contains(&4321));
    }
}
