//! Scripts by their text, called by their SHA1.

use crate::error::Error;
use crate::session::Session;
use crate::value::FromFrame;
use sha1::{Digest, Sha1};

/// A script's text with its SHA1, to be run often.
#[derive(Debug, Clone)]
pub struct Script {
    source: String,
    sha: String,
}

impl Script {
    /// Prepares a script. It is compiled when it first runs.
    pub fn new(source: impl Into<String>) -> Script {
        let source = source.into();
        let digest: [u8; 20] = Sha1::digest(source.as_bytes()).into();
        let sha = digest.iter().map(|b| format!("{b:02x}")).collect();
        Script { source, sha }
    }

    /// The SHA1 of the text in hexadecimal, as EVALSHA takes it.
    pub fn sha(&self) -> &str {
        &self.sha
    }

    /// Runs it by EVALSHA, and by EVAL when it is not known yet, and converts its reply.
    ///
    /// # Errors
    /// As [`Session::query`].
    pub fn run<T: FromFrame>(
        &self,
        session: &mut Session,
        keys: &[impl AsRef<[u8]>],
        args: &[impl AsRef<[u8]>],
    ) -> Result<T, Error> {
        let count = keys.len().to_string();
        let rest = keys.iter().map(AsRef::as_ref).chain(args.iter().map(AsRef::as_ref));
        let mut words: Vec<&[u8]> = vec![b"EVALSHA", self.sha.as_bytes(), count.as_bytes()];
        words.extend(rest);
        let reply = match session.call(&words) {
            Err(Error::Command(text)) if text.starts_with("NOSCRIPT") => {
                words[0] = b"EVAL";
                words[1] = self.source.as_bytes();
                session.call(&words)
            }
            other => other,
        };
        T::from_frame(reply?)
    }
}
