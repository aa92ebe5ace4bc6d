//! GEODIST: the distance of two members, in metres or another unit, on a globe of 6372.797560856 km.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEODIST g Palermo Catania
//! "166274.1516"
//! > GEODIST g Palermo Catania km
//! "166.2742"
//! > GEODIST g Palermo nobody
//! (nil)
//! > GEODIST g Palermo Catania yards
//! (error) ERR unsupported unit provided. please use M, KM, FT, MI
//! ```

use crate::commands::geo_util::{decode, reply_distance, unit_arg};
use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_READ, KeySpec, Spec};
use crate::types::ZSet;

/// The table's row.
pub const SPEC: Spec = Spec::new("geodist", -4, Group::Geo, Flags::READONLY, run).args("key:k@0 member1:s member2:s unit:o?(m:t'M' km:t'KM' ft:t'FT' mi:t'MI')")
    .keys(&[KeySpec::one(1, KEY_READ)])
    .doc("3.2.0", "O(1)", "Returns the distance of two members.");

fn run(cx: &mut Cx<'_>) -> Res {
    let unit = match cx.argc() {
        4 => 1.0,
        5 => unit_arg(cx.args[4])?,
        _ => return Err(SYNTAX),
    };
    let set = cx.ks.read_as::<ZSet>(cx.args[1])?;
    let place = |member: &[u8]| set.and_then(|set| set.score(member)).map(decode);
    match (place(cx.args[2]), place(cx.args[3])) {
        (Some(a), Some(b)) => reply_distance(&mut cx.reply, totality_ds::geo::distance(a, b) / unit),
        _ => cx.reply.null(),
    }
    Ok(())
}
