//! GEOSEARCHSTORE: GEOSEARCH that puts what it finds into another key.
//!
//! With STOREDIST the scores are the distances. Where nothing is found, the target is deleted.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEOSEARCHSTORE d g FROMLONLAT 15 37 BYRADIUS 200 km ASC COUNT 1
//! (integer) 1
//! > ZRANGE d 0 -1 WITHSCORES
//! 1) "Catania"
//! 2) "3479447370796909"
//! # resp3
//! 1) 1) "Catania"
//!    2) (double) 3479447370796909
//! > GEOSEARCHSTORE d g FROMLONLAT 0 0 BYRADIUS 1 km
//! (integer) 0
//! > EXISTS d
//! (integer) 0
//! ```

use crate::commands::geo_util::{Search, search};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KEY_STORE, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("geosearchstore", -8, Group::Geo, Flags::WRITE.union(Flags::DENYOOM), run).args("destination:k@0 source:k@1 from:o?(member:s'FROMMEMBER' fromlonlat:b'FROMLONLAT'(longitude:d latitude:d)) by:o(circle:b(radius:d'BYRADIUS' unit:o(m:t'M' km:t'KM' ft:t'FT' mi:t'MI')) box:b(width:d'BYBOX' height:d unit:o(m:t'M' km:t'KM' ft:t'FT' mi:t'MI')) polygon:b^9.0.0(num-vertices:i'BYPOLYGON' vertices:b*(longitude:d latitude:d))) order:o?(asc:t'ASC' desc:t'DESC') count-block:b?(count:i'COUNT' any:t'ANY'?) storedist:t'STOREDIST'?")
    .keys(&[KeySpec::one(1, KEY_STORE), KeySpec::one(2, KEY_READ)])
    .doc("6.2.0", "O(N + log M), N the members in the cells around the area, M the size of the set", "Stores the members within an area.");

fn run(cx: &mut Cx<'_>) -> Res {
    search(cx, Search::ShapeStore)
}
