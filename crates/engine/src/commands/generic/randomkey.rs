//! RANDOMKEY: the name of some key.
//!
//! ```transcript
//! > RANDOMKEY
//! (nil)
//! > SET k v
//! OK
//! > RANDOMKEY
//! "k"
//! ```

use crate::cx::{Cx, Origin};
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("randomkey", 1, Group::Generic, Flags::READONLY, run)
    .cats(Cat::KEYSPACE)
    .tips(&["request_policy:all_shards", "response_policy:special", "nondeterministic_output"])
    .doc("1.0.0", "O(1)", "Returns the name of a random key.");

/// Where keys past their deadline may not be deleted, one is answered after so many tries.
const TRIES: usize = 100;

fn run(cx: &mut Cx<'_>) -> Res {
    let mut tries = 0;
    loop {
        let random = cx.ks.random();
        let dict = cx.ks.db().dict();
        let Some(entry) = dict.random(random).map(|pos| dict.get(pos)) else {
            cx.reply.null();
            return Ok(());
        };
        tries += 1;
        if !cx.ks.is_past(entry.expire) || (!cx.ks.may_delete() && tries > TRIES) {
            cx.reply.bulk(&entry.key);
            return Ok(());
        }
        let key = entry.key.clone();
        let db = cx.ks.cur;
        cx.ks.effects.apart = cx.origin == Origin::Client;
        cx.ks.expire_key(db, &key);
    }
}
