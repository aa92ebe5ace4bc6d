//! GEOHASH: the positions of members as standard geohashes of eleven letters.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEOHASH g Palermo nobody Catania
//! 1) "sqc8b49rny0"
//! 2) (nil)
//! 3) "sqdtr74hyu0"
//! > GEOHASH nokey a
//! 1) (nil)
//! ```

use crate::commands::geo_util::each_member;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("geohash", -2, Group::Geo, Flags::READONLY, run).args("key:k@0 member:s?*")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("3.2.0", "O(1) for each member", "Returns the geohashes of members.");

fn run(cx: &mut Cx<'_>) -> Res {
    each_member(cx, |reply, (lon, lat)| reply.bulk(&totality_ds::geo::letters(lon, lat)), |reply| reply.null())
}
