//! `cluster-slot-stats-enabled`: what commands cost, by the slot of their keys.

use super::{SLOTS, slot_of};
use crate::client::ClientId;
use crate::commands::Command;
use crate::record::request_len;
use crate::state::ServerState;

/// What the commands of a slot took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SlotUse {
    /// Microseconds.
    pub(crate) cpu_us: u64,
    /// Bytes of requests.
    pub(crate) net_in: u64,
    /// Bytes of replies.
    pub(crate) net_out: u64,
}

/// That of all slots; there is nothing before the first command is counted.
#[derive(Debug, Default)]
pub(crate) struct Usage(Vec<SlotUse>);

impl Usage {
    /// What a slot took.
    pub(crate) fn of(&self, slot: u16) -> SlotUse {
        self.0.get(usize::from(slot)).copied().unwrap_or_default()
    }

    /// Forgets all.
    pub(crate) fn reset(&mut self) {
        self.0.clear();
    }

    pub(crate) fn add(&mut self, slot: u16, more: SlotUse) {
        if self.0.is_empty() {
            self.0.resize(SLOTS, SlotUse::default());
        }
        if let Some(used) = self.0.get_mut(usize::from(slot)) {
            used.cpu_us += more.cpu_us;
            used.net_in += more.net_in;
            used.net_out += more.net_out;
        }
    }
}

/// Bytes of MULTI as a request.
const MULTI: usize = 15;

/// The slot that a client's command is counted for, and the bytes of its request. EXEC stands for the transaction.
#[cold]
pub(crate) fn counted(
    sv: &ServerState,
    id: ClientId,
    command: &Command,
    argv: &[&[u8]],
) -> Option<(u16, usize)> {
    if !sv.config.cluster_enabled {
        return None;
    }
    let multi = sv.client(id).and_then(|client| client.multi.as_deref());
    let slot = slot_of(command, argv, multi).ok().flatten()?;
    let mut bytes = request_len(argv);
    if command.spec.name == "exec" {
        for queued in multi.into_iter().flat_map(|multi| &multi.queue) {
            let argv: Vec<&[u8]> = queued.argv.iter().map(|arg| &**arg).collect();
            bytes += request_len(&argv);
        }
        bytes += MULTI;
    }
    Some((slot, bytes))
}
