//! OBJECT: how a value is kept and how it was used.
//!
//! ```transcript
//! > SET n 1
//! OK
//! > OBJECT ENCODING n
//! "int"
//! > OBJECT REFCOUNT nokey
//! (nil)
//! > OBJECT IDLETIME n
//! (integer) 0
//! > OBJECT FREQ n
//! (error) ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::keyspace::Entry;
use crate::spec::{Cat, Flags, Group, KEY_PEEK, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("object", -2, Group::Generic, Flags::empty(), super::super::container).subs(SUBS).doc(
        "2.2.3",
        "Depends on the subcommand",
        "Tells how the value of a key is kept and used.",
    );

const SUBS: &[Spec] = &[
    sub("encoding", encoding, "2.2.3", "Returns how the value of a key is encoded.").args("key:k@0"),
    sub("freq", freq, "4.0.0", "Returns how often a key is used, as a logarithm, under an LFU policy.").args("key:k@0"),
    Spec::new("help", 2, Group::Generic, Flags::LOADING.union(Flags::STALE), super::super::help)
        .cats(Cat::KEYSPACE)
        .doc("6.2.0", "O(1)", "Print this help."),
    sub("idletime", idletime, "2.2.3", "Returns the seconds since a key was used last.").args("key:k@0"),
    sub("refcount", refcount, "2.2.3", "Returns the number of references to the value of a key.").args("key:k@0"),
];

const KEY: &[KeySpec] = &[KeySpec::one(2, KEY_PEEK)];

const fn sub(
    name: &'static str,
    handler: fn(&mut Cx<'_>) -> Res,
    since: &'static str,
    summary: &'static str,
) -> Spec {
    Spec::new(name, 3, Group::Generic, Flags::READONLY, handler)
        .cats(Cat::KEYSPACE)
        .keys(KEY)
        .tips(&["nondeterministic_output"])
        .doc(since, "O(1)", summary)
}

const NO_LFU: CmdError = CmdError::new(
    "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.",
);
const IS_LFU: CmdError = CmdError::new(
    "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.",
);

/// The entry at argument 2; answers null when it is absent.
fn entry<'c>(cx: &'c mut Cx<'_>) -> Option<&'c Entry> {
    if cx.ks.glance(cx.args[2]).is_none() {
        cx.reply.null();
        return None;
    }
    cx.ks.view(cx.args[2])
}

fn encoding(cx: &mut Cx<'_>) -> Res {
    if let Some(entry) = entry(cx) {
        let name = entry.value.encoding();
        cx.reply.bulk(name.as_bytes());
    }
    Ok(())
}

fn refcount(cx: &mut Cx<'_>) -> Res {
    if entry(cx).is_some() {
        // Values are never shared.
        cx.reply.int(1);
    }
    Ok(())
}

fn idletime(cx: &mut Cx<'_>) -> Res {
    let lfu = cx.ks.lfu.is_some();
    if entry(cx).is_none() {
        return Ok(());
    }
    if lfu {
        return Err(IS_LFU);
    }
    let idle = cx.ks.view(cx.args[2]).map_or(0, |entry| cx.ks.idle_seconds(entry));
    cx.reply.int(idle as i64);
    Ok(())
}

fn freq(cx: &mut Cx<'_>) -> Res {
    let lfu = cx.ks.lfu.is_some();
    if entry(cx).is_none() {
        return Ok(());
    }
    if !lfu {
        return Err(NO_LFU);
    }
    let freq = cx.ks.view(cx.args[2]).map_or(0, |entry| cx.ks.frequency(entry));
    cx.reply.int(i64::from(freq));
    Ok(())
}
