//! AUTH: authenticates the connection with the password of `requirepass`.
//!
//! ```transcript
//! > AUTH x
//! (error) ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?
//! > AUTH nouser x
//! (error) WRONGPASS invalid username-password pair or user is disabled.
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res, SYNTAX};
use crate::spec::{Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "auth",
    -2,
    Group::Connection,
    Flags::FAST
        .union(Flags::LOADING)
        .union(Flags::STALE)
        .union(Flags::NO_AUTH)
        .union(Flags::NOSCRIPT)
        .union(Flags::ALLOW_BUSY)
        .union(Flags::SKIP_MONITOR)
        .union(Flags::SENSITIVE),
    run,
)
.doc("1.0.0", "O(1)", "Authenticates the connection.");

const WRONG_PASS: CmdError = CmdError::new("WRONGPASS invalid username-password pair or user is disabled.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (user, password) = match cx.args {
        [_, password] => {
            if cx.sv.config.requirepass.is_empty() {
                return Err(CmdError::new(
                    "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?",
                ));
            }
            (&b"default"[..], *password)
        }
        [_, user, password] => (*user, *password),
        _ => return Err(SYNTAX),
    };
    authenticate(cx, user, password)?;
    cx.reply.ok();
    Ok(())
}

/// Checks user and password and marks the connection.
pub(super) fn authenticate(cx: &mut Cx<'_>, user: &[u8], password: &[u8]) -> Res {
    let expected = cx.sv.config.requirepass.as_bytes();
    // Without a password the default user takes any.
    let right = expected.is_empty() || same_secret(expected, password);
    if user != b"default" || !right {
        return Err(WRONG_PASS);
    }
    let client = cx.me()?;
    client.authenticated = true;
    client.user = "default".to_owned();
    Ok(())
}

/// Compares in a time that depends on the lengths only.
fn same_secret(a: &[u8], b: &[u8]) -> bool {
    let mut differ = a.len() ^ b.len();
    for i in 0..a.len().max(b.len()) {
        differ |= usize::from(a.get(i).unwrap_or(&0) ^ b.get(i).unwrap_or(&0));
    }
    differ == 0
}
