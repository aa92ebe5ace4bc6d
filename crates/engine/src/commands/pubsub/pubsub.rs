//! PUBSUB: what is subscribed to.
//!
//! ```transcript
//! > PUBSUB CHANNELS
//! (empty array)
//! > PUBSUB NUMPAT
//! (integer) 0
//! > PUBSUB NUMSUB a
//! 1) "a"
//! 2) (integer) 0
//! ```

use crate::cx::Cx;
use crate::error::{CmdError, Res};
use crate::pubsub::Kind;
use crate::spec::{Flags, Group, Handler, Spec};

const FLAGS: Flags = Flags::PUBSUB.union(Flags::LOADING).union(Flags::STALE);

/// The table's row.
pub const SPEC: Spec = Spec::new("pubsub", -2, Group::Pubsub, Flags::empty(), crate::commands::container)
    .doc("2.8.0", "Depends on the subcommand", "Shows what is subscribed to.")
    .subs(SUBS);

const fn sub(name: &'static str, arity: i32, since: &'static str, summary: &'static str, run: Handler) -> Spec {
    Spec::new(name, arity, Group::Pubsub, FLAGS, run).doc(since, "O(N) for N channels", summary)
}

const SUBS: &[Spec] = &[
    sub("channels", -2, "2.8.0", "Channels that have subscribers.", |cx| channels(cx, Kind::Channel)).args("pattern:p?"),
    crate::commands::help_row(Group::Pubsub, "6.2.0"),
    sub("numpat", 2, "2.8.0", "Number of patterns.", numpat),
    sub("numsub", -2, "2.8.0", "Number of subscribers of channels.", |cx| numsub(cx, Kind::Channel)).args("channel:s?*"),
    sub("shardchannels", -2, "7.0.0", "Shard channels that have subscribers.", |cx| channels(cx, Kind::Shard)).args("pattern:p?"),
    sub("shardnumsub", -2, "7.0.0", "Number of subscribers of shard channels.", |cx| numsub(cx, Kind::Shard)).args("shardchannel:s?*"),
];

fn channels(cx: &mut Cx<'_>, kind: Kind) -> Res {
    if cx.argc() > 3 {
        return Err(CmdError::owned(
            [b"ERR unknown subcommand or wrong number of arguments for '", cx.args[1], b"'. Try PUBSUB HELP."].concat(),
        ));
    }
    let pattern = cx.args.get(2);
    let list = cx.reply.array_deferred();
    let mut count = 0;
    for (name, _) in cx.sv.pubsub.names(kind) {
        if pattern.is_none_or(|p| totality_ds::glob::matches(p, name, false)) {
            cx.reply.bulk(name);
            count += 1;
        }
    }
    cx.reply.end(list, count);
    Ok(())
}

fn numpat(cx: &mut Cx<'_>) -> Res {
    cx.reply.len(cx.sv.pubsub.len(Kind::Pattern));
    Ok(())
}

fn numsub(cx: &mut Cx<'_>, kind: Kind) -> Res {
    cx.reply.array((cx.argc() - 2) * 2);
    for name in &cx.args[2..] {
        cx.reply.bulk(name);
        cx.reply.len(cx.sv.pubsub.subscribers(kind, name));
    }
    Ok(())
}
