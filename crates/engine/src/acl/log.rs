//! The log of refusals (ACL LOG) and their count.

use super::check::{Denial, Reason};
use super::runs;
use crate::client::ClientId;
use crate::commands::Command;
use crate::keyspace::Keyspace;
use crate::state::ServerState;

/// Where the refused command stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Sent by a client.
    TopLevel,
    /// In a transaction.
    Multi,
    /// Called by a script.
    Script,
}

impl Place {
    /// The word that ACL LOG shows.
    pub fn word(self) -> &'static str {
        match self {
            Place::TopLevel => "toplevel",
            Place::Multi => "multi",
            Place::Script => "lua",
        }
    }
}

/// An entry of the log. Times are in milliseconds since the Unix epoch.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How often it happened.
    pub count: u64,
    /// `command`, `key`, `channel`, `database` or `auth`.
    pub reason: &'static str,
    /// Where.
    pub place: Place,
    /// The command, key or channel.
    pub object: Vec<u8>,
    /// The user.
    pub user: Vec<u8>,
    /// When it happened first.
    pub created: i64,
    /// When it happened last.
    pub updated: i64,
    /// The client as CLIENT LIST shows it.
    pub client: Vec<u8>,
    /// Number of the entry.
    pub id: u64,
}

/// Entries of the same kind within this time are one, in milliseconds.
const GROUPING: i64 = 60_000;
/// So many entries are looked at for one of the same kind.
const LOOK_BACK: usize = 10;

/// Notes that a command was refused.
#[cold]
pub fn deny(
    ks: &Keyspace,
    sv: &mut ServerState,
    id: ClientId,
    command: &Command,
    argv: &[&[u8]],
    denial: Denial,
    place: Place,
) {
    let denied = &mut sv.acl.denied;
    let (reason, counter) = match denial.reason {
        Reason::Command => ("command", &mut denied.commands),
        Reason::Script => ("script", &mut denied.scripts),
        Reason::Key => ("key", &mut denied.keys),
        Reason::Channel => ("channel", &mut denied.channels),
        Reason::Database => ("database", &mut denied.databases),
    };
    *counter += 1;
    let object = match denial.at {
        0 if denial.reason == Reason::Script => runs::name_of(command, argv, &sv.scripts).into_owned(),
        0 => command.full_name.clone().into_bytes(),
        at => argv.get(at).map(|arg| arg.to_vec()).unwrap_or_default(),
    };
    let user = sv.clients.get(id).map(|client| client.user.name.clone()).unwrap_or_default();
    add(ks, sv, id, reason, place, object, user);
}

/// Notes that somebody could not log in. `command` is the word he used.
#[cold]
pub fn refuse_login(ks: &Keyspace, sv: &mut ServerState, id: ClientId, command: &[u8], user: &[u8]) {
    sv.acl.denied.logins += 1;
    let multi = sv.clients.get(id).is_some_and(|client| client.multi.is_some());
    let place = if multi { Place::Multi } else { Place::TopLevel };
    add(ks, sv, id, "auth", place, command.to_vec(), user.to_vec());
}

/// Gives a client the first user of these names, taken from its certificate, that may log in. Without names nothing
/// happens.
///
/// # Errors
/// None of them may: the first name, which the log notes too.
pub fn login_by_certificate<'a>(
    ks: &Keyspace,
    sv: &mut ServerState,
    id: ClientId,
    names: &'a [Vec<u8>],
) -> Result<(), &'a [u8]> {
    let Some(first) = names.first() else { return Ok(()) };
    let user = names.iter().find_map(|name| sv.acl.user(name).filter(|user| user.enabled)).cloned();
    let Some(client) = sv.clients.get_mut(id) else { return Ok(()) };
    match user {
        Some(user) => {
            client.authenticated = true;
            client.ever_authenticated = true;
            client.set_user(user);
            Ok(())
        }
        None => {
            sv.acl.denied.certificates += 1;
            add(ks, sv, id, "tls-cert", Place::TopLevel, b"TLS Client Certificate".to_vec(), first.clone());
            Err(first)
        }
    }
}

fn add(
    ks: &Keyspace,
    sv: &mut ServerState,
    id: ClientId,
    reason: &'static str,
    place: Place,
    object: Vec<u8>,
    user: Vec<u8>,
) {
    let max = usize::try_from(sv.config.acllog_max_len).unwrap_or(usize::MAX);
    sv.acl.log.truncate(max);
    if max == 0 {
        return;
    }
    let mut client = Vec::new();
    if let Some(c) = sv.clients.get(id) {
        crate::commands::connection::client::describe(c, ks, &sv.scripts.tracker, false, &mut client);
        client.truncate(client.trim_ascii_end().len());
    }
    let now = ks.now;
    let acl = &mut sv.acl;
    let same = acl.log.iter().take(LOOK_BACK).position(|e| {
        e.reason == reason
            && e.place == place
            && (e.updated - now).abs() <= GROUPING
            && e.object == object
            && e.user == user
    });
    let entry = match same.and_then(|at| acl.log.remove(at)) {
        Some(old) => Entry { count: old.count + 1, updated: now, client, ..old },
        None => {
            acl.next_entry += 1;
            let id = acl.next_entry - 1;
            Entry { count: 1, reason, place, object, user, created: now, updated: now, client, id }
        }
    };
    acl.log.push_front(entry);
    acl.log.truncate(max);
}
