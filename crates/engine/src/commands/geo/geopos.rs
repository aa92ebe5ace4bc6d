//! GEOPOS: longitude and latitude of members.
//!
//! They are the middle of the cell that the stored integer names, so a little beside what was added.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo
//! (integer) 1
//! > GEOPOS g Palermo nobody
//! 1) 1) "13.36138933897018433"
//!    2) "38.11555639549629859"
//! 2) (nil)
//! # resp3
//! 1) 1) (double) 13.36138933897018433
//!    2) (double) 38.11555639549629859
//! 2) (nil)
//! ```

use crate::commands::geo_util::{each_member, reply_position};
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec = Spec::new("geopos", -2, Group::Geo, Flags::READONLY, run).args("key:k@0 member:s?*")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("3.2.0", "O(1) for each member", "Returns the positions of members.");

fn run(cx: &mut Cx<'_>) -> Res {
    each_member(cx, reply_position, |reply| reply.null_array())
}
