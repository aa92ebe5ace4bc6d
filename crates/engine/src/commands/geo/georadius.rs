//! GEORADIUS: members within a distance of a position; GEOSEARCH replaces it.
//!
//! STORE puts the members into another key, STOREDIST with their distances as scores.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEORADIUS g 15 37 200 km WITHDIST
//! 1) 1) "Palermo"
//!    2) "190.4424"
//! 2) 1) "Catania"
//!    2) "56.4413"
//! > GEORADIUS g 15 37 100 km
//! 1) "Catania"
//! > GEORADIUS g 15 37 200 km STOREDIST d
//! (integer) 2
//! > GEORADIUS g 15 37 -1 km
//! (error) ERR radius cannot be negative
//! ```

use crate::commands::geo_util::{Search, search};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Begin, Find, Flags, Group, KEY_READ, KEY_STORE, KeyFlags, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("georadius", -6, Group::Geo, Flags::WRITE.union(Flags::DENYOOM).union(Flags::MOVABLE_KEYS), run).args("key:k@0 longitude:d latitude:d radius:d unit:o(m:t'M' km:t'KM' ft:t'FT' mi:t'MI') withcoord:t'WITHCOORD'? withdist:t'WITHDIST'? withhash:t'WITHHASH'? count-block:b?(count:i'COUNT' any:t'ANY'?^6.2.0) order:o?(asc:t'ASC' desc:t'DESC') store:o?(storekey/key:k@1'STORE' storedistkey/key:k@2'STOREDIST')")
    .keys(&[
    KeySpec::one(1, KEY_READ),
    KeySpec {
        begin: Begin::Keyword("STORE", 6),
        find: Find::Range { last: 0, step: 1, limit: 0 },
        flags: KEY_STORE.union(KeyFlags::VARIABLE),
    },
    KeySpec {
        begin: Begin::Keyword("STOREDIST", 6),
        find: Find::Range { last: 0, step: 1, limit: 0 },
        flags: KEY_STORE.union(KeyFlags::VARIABLE),
    },
])
    .doc("3.2.0", "O(N + log M), N the members in the cells around the area, M the size of the set", "Finds members around a position, and stores them if wanted.");

fn run(cx: &mut Cx<'_>) -> Res {
    search(cx, Search::Around { stores: true })
}
