//! AUTH: authenticates the connection as a user; with a password alone, as the default user.
//!
//! ```transcript
//! > AUTH x
//! (error) ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?
//! > AUTH nouser x
//! (error) WRONGPASS invalid username-password pair or user is disabled.
//! ```

use crate::acl;
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
        .union(Flags::SENSITIVE),
    run,
).args("username:s?^6.0.0 password:s")
.doc("1.0.0", "O(1)", "Authenticates the connection.");

const WRONG_PASS: CmdError = CmdError::new("WRONGPASS invalid username-password pair or user is disabled.");

fn run(cx: &mut Cx<'_>) -> Res {
    let (user, password) = match cx.args {
        [_, password] => {
            if cx.sv.acl.default_user().nopass {
                return Err(CmdError::new(
                    "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?",
                ));
            }
            (acl::DEFAULT, *password)
        }
        [_, user, password] => (*user, *password),
        _ => return Err(SYNTAX),
    };
    authenticate(cx, user, password)?;
    cx.reply.ok();
    Ok(())
}

/// Checks user and password and gives the connection that user.
pub(super) fn authenticate(cx: &mut Cx<'_>, name: &[u8], password: &[u8]) -> Res {
    let Some(user) = cx.sv.acl.login(name, password).cloned() else {
        acl::refuse_login(cx.ks, cx.sv, cx.client, cx.args[0], name);
        return Err(WRONG_PASS);
    };
    let client = cx.me()?;
    client.authenticated = true;
    client.ever_authenticated = true;
    client.set_user(user);
    Ok(())
}
