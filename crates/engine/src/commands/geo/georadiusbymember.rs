//! GEORADIUSBYMEMBER: members within a distance of a member; GEOSEARCH replaces it.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEORADIUSBYMEMBER g Palermo 200 km ASC
//! 1) "Palermo"
//! 2) "Catania"
//! > GEORADIUSBYMEMBER g Palermo 200 km COUNT 1 DESC STORE d
//! (integer) 1
//! > ZRANGE d 0 -1
//! 1) "Catania"
//! # since 9.0
//! > GEORADIUSBYMEMBER g nobody 200 km
//! (error) ERR member nobody does not exist
//! ```

use crate::commands::geo_util::{Search, search};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Begin, Find, Flags, Group, KEY_READ, KEY_STORE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("georadiusbymember", -5, Group::Geo, Flags::WRITE.union(Flags::DENYOOM).union(Flags::MOVABLE_KEYS), run).args("key:k@0 member:s radius:d unit:o(m:t'M' km:t'KM' ft:t'FT' mi:t'MI') withcoord:t'WITHCOORD'? withdist:t'WITHDIST'? withhash:t'WITHHASH'? count-block:b?(count:i'COUNT' any:t'ANY'?) order:o?(asc:t'ASC' desc:t'DESC') store:o?(storekey/key:k@1'STORE' storedistkey/key:k@2'STOREDIST')")
    .keys(&[
    KeySpec::one(1, KEY_READ),
    KeySpec {
        begin: Begin::Keyword("STORE", 5),
        find: Find::Range { last: 0, step: 1, limit: 0 },
        flags: KEY_STORE.union(KeyFlags::VARIABLE),
    },
    KeySpec {
        begin: Begin::Keyword("STOREDIST", 5),
        find: Find::Range { last: 0, step: 1, limit: 0 },
        flags: KEY_STORE.union(KeyFlags::VARIABLE),
    },
])
    .doc("3.2.0", "O(N + log M), N the members in the cells around the area, M the size of the set", "Finds members around a member, and stores them if wanted.");

fn run(cx: &mut Cx<'_>) -> Res {
    search(cx, Search::AroundMember { stores: true })
}
