//! GEOSEARCH: members within a circle, a box or a polygon.
//!
//! COUNT keeps the nearest, or with ANY the first that are found. The distances of members within a polygon are those
//! from the middle of its corners.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC
//! 1) "Catania"
//! 2) "Palermo"
//! > GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km DESC COUNT 1 WITHCOORD
//! 1) 1) "Palermo"
//!    2) 1) "13.36138933897018433"
//!       2) "38.11555639549629859"
//! # resp3
//! 1) 1) "Palermo"
//!    2) 1) (double) 13.36138933897018433
//!       2) (double) 38.11555639549629859
//! > GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 km ANY
//! (error) ERR the ANY argument requires COUNT argument
//! # since 9.0
//! > GEOSEARCH g BYPOLYGON 3 13 38 14 38 13 39
//! 1) "Palermo"
//! ```

use crate::commands::geo_util::{Search, search};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("geosearch", -7, Group::Geo, Flags::READONLY, run).args("key:k@0 from:o?(member:s'FROMMEMBER' fromlonlat:b'FROMLONLAT'(longitude:d latitude:d)) by:o(circle:b(radius:d'BYRADIUS' unit:o(m:t'M' km:t'KM' ft:t'FT' mi:t'MI')) box:b(width:d'BYBOX' height:d unit:o(m:t'M' km:t'KM' ft:t'FT' mi:t'MI')) polygon:b^9.0.0(num-vertices:i'BYPOLYGON' vertices:b*(longitude:d latitude:d))) order:o?(asc:t'ASC' desc:t'DESC') count-block:b?(count:i'COUNT' any:t'ANY'?) withcoord:t'WITHCOORD'? withdist:t'WITHDIST'? withhash:t'WITHHASH'?")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("6.2.0", "O(N + log M), N the members in the cells around the area, M the size of the set", "Finds members within an area.");

fn run(cx: &mut Cx<'_>) -> Res {
    search(cx, Search::Shape)
}
