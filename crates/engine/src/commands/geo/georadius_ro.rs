//! GEORADIUS_RO: GEORADIUS that never stores.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEORADIUS_RO g 15 37 100 km
//! 1) "Catania"
//! > GEORADIUS_RO g 15 37 100 km STORE d
//! (error) ERR syntax error
//! ```

use crate::commands::geo_util::{Search, search};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("georadius_ro", -6, Group::Geo, Flags::READONLY, run).args("key:k@0 longitude:d latitude:d radius:d unit:o(m:t'M' km:t'KM' ft:t'FT' mi:t'MI') withcoord:t'WITHCOORD'? withdist:t'WITHDIST'? withhash:t'WITHHASH'? count-block:b?(count:i'COUNT' any:t'ANY'?^6.2.0) order:o?(asc:t'ASC' desc:t'DESC')")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("3.2.10", "O(N + log M), N the members in the cells around the area, M the size of the set", "Finds members around a position.");

fn run(cx: &mut Cx<'_>) -> Res {
    search(cx, Search::Around { stores: false })
}
