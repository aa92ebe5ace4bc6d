//! The packed strings that some scripts answer with: netstrings, `length:bytes,`, one after the other.

use crate::error::Error;

/// A job that `queue.claim` handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: Vec<u8>,
    /// The token of this lease, to be named at `queue.ack` and the like.
    pub token: u64,
    /// Which attempt this is, from 1.
    pub attempt: u64,
    /// What was pushed.
    pub body: Vec<u8>,
}

/// A member of a leaderboard with its score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The member.
    pub member: Vec<u8>,
    /// Its score.
    pub score: u64,
}

/// Takes netstrings apart; `None` when the bytes are none.
pub fn unpack(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let colon = bytes.iter().take(12).position(|b| *b == b':')?;
        let digits = &bytes[..colon];
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let n: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let rest = &bytes[colon + 1..];
        if rest.get(n) != Some(&b',') {
            return None;
        }
        out.push(&rest[..n]);
        bytes = &rest[n + 1..];
    }
    Some(out)
}

fn number(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn broken(script: &str) -> Error {
    Error::Contract { script: script.into(), why: "the packed string is malformed".into() }
}

impl Job {
    /// The jobs in the reply of `queue.claim`.
    ///
    /// # Errors
    /// [`Error::Contract`].
    pub fn unpack(packed: &[u8]) -> Result<Vec<Job>, Error> {
        let fields = unpack(packed).filter(|f| f.len() % 4 == 0).ok_or_else(|| broken("queue.claim"))?;
        let job = |f: &[&[u8]]| {
            let (token, attempt) = (number(f[1])?, number(f[2])?);
            Some(Job { id: f[0].to_vec(), token, attempt, body: f[3].to_vec() })
        };
        fields.chunks_exact(4).map(job).collect::<Option<_>>().ok_or_else(|| broken("queue.claim"))
    }
}

impl Placed {
    /// The neighbours in the reply of `lb.around`.
    ///
    /// # Errors
    /// [`Error::Contract`].
    pub fn unpack(packed: &[u8]) -> Result<Vec<Placed>, Error> {
        let fields = unpack(packed).filter(|f| f.len() % 2 == 0).ok_or_else(|| broken("lb.around"))?;
        let one = |f: &[&[u8]]| Some(Placed { member: f[0].to_vec(), score: number(f[1])? });
        fields.chunks_exact(2).map(one).collect::<Option<_>>().ok_or_else(|| broken("lb.around"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn netstrings() {
        let jobs = Job::unpack(b"2:j1,1:3,1:1,5:a:b,c,").unwrap();
        assert_eq!(jobs, [Job { id: b"j1".to_vec(), token: 3, attempt: 1, body: b"a:b,c".to_vec() }]);
        assert_eq!(unpack(b""), Some(vec![]));
        for bad in [&b"3:ab,"[..], b"2:ab", b":,", b"99999999999999999999:x,", b"-1:x,", b"+1:x,"] {
            assert_eq!(unpack(bad), None, "{bad:?}");
        }
        assert!(Job::unpack(b"1:a,").is_err());
    }
}
