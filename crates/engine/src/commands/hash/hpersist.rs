//! HPERSIST: removes the deadlines of fields: 1 where there was one, -1 where not, -2 for no such field.
//!
//! ```transcript
//! # since 7.4
//! > HSET h f 1 g 2
//! (integer) 2
//! > HEXPIRE h 100 FIELDS 1 f
//! 1) (integer) 1
//! > HPERSIST h FIELDS 3 f g x
//! 1) (integer) 1
//! 2) (integer) -1
//! 3) (integer) -2
//! > HTTL h FIELDS 1 f
//! 1) (integer) -1
//! ```

use crate::commands::hash_ttl_util::{NUM_FIELDS, plain_fields};
use crate::cx::Cx;
use crate::error::Res;
use crate::notify::Event;
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::{Hash, HashCfg, Timing};

/// The table's row.
pub const SPEC: Spec = Spec::new("hpersist", -5, Group::Hash, Flags::WRITE.union(Flags::FAST), run).args("key:k@0 fields:b'FIELDS'(numfields:i@0 field:s*)")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("7.4.0", "O(n), n the number of fields", "Removes the deadlines of fields of a hash.");

fn run(cx: &mut Cx<'_>) -> Res {
    let fields = plain_fields(cx, NUM_FIELDS)?;
    let (cfg, now) = (HashCfg::of(cx.ks), cx.ks.now);
    let mut guard = cx.ks.write(cx.args[1]);
    let mut hash = guard.get::<Hash>()?;
    cx.reply.array(fields.len());
    let mut changed = 0;
    for field in fields {
        let timing = hash.as_mut().map_or(Timing::NoField, |hash| hash.set_deadline(field, None, now, &cfg));
        cx.reply.int(match timing {
            Timing::NoField => -2,
            Timing::Was(None) => -1,
            Timing::Was(Some(_)) => {
                changed += 1;
                1
            }
        });
    }
    if changed > 0 {
        guard.changed(Event::hash("hpersist"), changed);
    }
    Ok(())
}
