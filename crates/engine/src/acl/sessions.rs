//! Changes of users, and what they mean for those who are connected.

use super::check::may_hear;
use super::{DEFAULT, User};
use crate::client::{Client, ClientId};
use crate::engine::Outgoing;
use crate::pubsub::Kind;
use crate::state::ServerState;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Closes a client's connection; that of `me`, whose command is running, after the reply.
pub fn kill_client(sv: &mut ServerState, victim: ClientId, me: Option<ClientId>) {
    let mut protected = false;
    if let Some(client) = sv.clients.get_mut(victim) {
        client.close = true;
        protected = client.protected;
    }
    if me != Some(victim) && !protected {
        sv.outgoing.push_back(Outgoing::Kill { client: victim, after_reply: false });
    }
}

/// Creates or changes a user. Subscribers who lose a channel are disconnected.
pub fn set_user(sv: &mut ServerState, user: User, me: Option<ClientId>) {
    let old = sv.acl.user(&user.name).cloned();
    let user = Arc::new(user);
    let kept = old.as_ref().and_then(|old| remaining_channels(&user, old));
    if let Some(kept) = kept {
        for id in clients_of(sv, &user.name) {
            if listens_beyond(sv, id, &kept) {
                kill_client(sv, id, me);
            }
        }
    }
    sv.acl.put(user.clone());
    for client in sv.clients.iter_mut().filter(|client| client.user.name == user.name) {
        client.set_user(user.clone());
    }
}

/// Removes a user and closes its connections. False when there is none.
pub fn delete_user(sv: &mut ServerState, name: &[u8], me: ClientId) -> bool {
    if name == DEFAULT || sv.acl.users.remove(name).is_none() {
        return false;
    }
    for id in clients_of(sv, name) {
        expel(sv, id, Some(me));
    }
    true
}

/// What `requirepass` means: the password of the default user, or that it needs none.
pub fn set_default_password(sv: &mut ServerState, password: &str) {
    let mut user = User::clone(sv.acl.default_user());
    user.set_password(password.as_bytes());
    set_user(sv, user, None);
}

/// Puts other users in place of all there are (ACL LOAD). Who has no user any more is disconnected.
pub fn replace_all(sv: &mut ServerState, users: Vec<User>, me: Option<ClientId>) {
    let mut users: BTreeMap<Vec<u8>, Arc<User>> =
        users.into_iter().map(|user| (user.name.clone(), Arc::new(user))).collect();
    let default = users.entry(DEFAULT.to_vec()).or_insert_with(|| Arc::new(User::all_powerful())).clone();
    let old = std::mem::replace(&mut sv.acl.users, users);
    sv.acl.default = default;
    let ids: Vec<ClientId> = sv.clients.iter().map(|client| client.id).collect();
    for id in ids {
        let Some(client) = sv.clients.get(id) else { continue };
        let now = sv.acl.user(&client.user.name).cloned();
        let before = old.get(&client.user.name);
        let kept = now.as_ref().zip(before).and_then(|(now, before)| remaining_channels(now, before));
        match now {
            Some(user) if !kept.is_some_and(|kept| listens_beyond(sv, id, &kept)) => {
                if let Some(client) = sv.clients.get_mut(id) {
                    client.set_user(user);
                }
            }
            _ => expel(sv, id, me),
        }
    }
}

/// Makes a client a stranger, then closes its connection.
fn expel(sv: &mut ServerState, id: ClientId, me: Option<ClientId>) {
    let default = sv.acl.default_user().clone();
    if let Some(client) = sv.clients.get_mut(id) {
        client.set_user(default);
        client.authenticated = false;
    }
    kill_client(sv, id, me);
}

fn clients_of(sv: &ServerState, name: &[u8]) -> Vec<ClientId> {
    sv.clients.iter().filter(|client| client.user.name == name).map(|client: &Client| client.id).collect()
}

/// The channels that `new` may hear; `None` when those are all that `old` might.
fn remaining_channels(new: &User, old: &User) -> Option<Vec<Vec<u8>>> {
    if new.selectors.iter().any(|s| s.all_channels) {
        return None;
    }
    let kept: Vec<Vec<u8>> = new.selectors.iter().flat_map(|s| s.channels.iter().cloned()).collect();
    let superset =
        old.selectors.iter().all(|s| !s.all_channels && s.channels.iter().all(|c| kept.contains(c)));
    if superset { None } else { Some(kept) }
}

/// True when a client subscribed to something that is not among `kept`.
fn listens_beyond(sv: &ServerState, id: ClientId, kept: &[Vec<u8>]) -> bool {
    [Kind::Channel, Kind::Pattern, Kind::Shard].into_iter().any(|kind| {
        let names = sv.pubsub.of_client(kind, id);
        names.iter().any(|name| !may_hear(kept.iter(), name, kind == Kind::Pattern))
    })
}
