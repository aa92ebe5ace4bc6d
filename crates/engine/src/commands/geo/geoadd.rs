//! GEOADD: adds members at positions. They are a sorted set, whose scores are the positions as 52-bit integers.
//!
//! The replicas see the ZADD that it amounts to.
//!
//! ```transcript
//! > GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
//! (integer) 2
//! > GEOADD g CH XX 13.361389 38.115556 Palermo
//! (integer) 0
//! > ZSCORE g Palermo
//! "3479099956230698"
//! > GEOADD g 200 10 x
//! (error) ERR invalid longitude,latitude pair 200.000000,10.000000
//! > GEOADD g 1 2
//! (error) ERR wrong number of arguments for 'geoadd' command
//! > GEOADD g NX XX 1 2 x
//! (error) ERR syntax error
//! ```

use crate::commands::{geo_util, zset_util};
use crate::cx::Cx;
use crate::error::{Res, SYNTAX};
use crate::spec::{Flags, Group, KEY_UPDATE, KeySpec, Spec};
use crate::types::ZAdd;
use totality_ds::geo;

/// The table's row.
pub const SPEC: Spec = Spec::new("geoadd", -5, Group::Geo, Flags::WRITE.union(Flags::DENYOOM), run).args("key:k@0 condition:o?^6.2.0(nx:t'NX' xx:t'XX') change:t'CH'?^6.2.0 data:b*(longitude:d latitude:d member:s)")
    .keys(&[KeySpec::one(1, KEY_UPDATE)])
    .doc("3.2.0", "O(log N) for each member, N the size of the set", "Adds members with their positions.");

fn run(cx: &mut Cx<'_>) -> Res {
    let mut how = ZAdd::default();
    let mut changed = false;
    let mut at = 2;
    while at < cx.argc() {
        match cx.arg(at) {
            arg if arg.eq_ignore_ascii_case(b"nx") => how.nx = true,
            arg if arg.eq_ignore_ascii_case(b"xx") => how.xx = true,
            arg if arg.eq_ignore_ascii_case(b"ch") => changed = true,
            _ => break,
        }
        at += 1;
    }
    let triples = &cx.args[at..];
    if triples.is_empty() || !triples.len().is_multiple_of(3) || (how.nx && how.xx) {
        return Err(SYNTAX);
    }
    let mut texts = Vec::with_capacity(triples.len() / 3);
    let mut scores = Vec::with_capacity(triples.len() / 3);
    for triple in triples.chunks_exact(3) {
        let (lon, lat) = geo_util::position_args(triple[0], triple[1])?;
        let bits = geo::encode52(lon, lat).unwrap_or(0);
        texts.push(bits.to_string());
        scores.push(bits as f64);
    }
    let pairs: Vec<&[u8]> = texts
        .iter()
        .zip(triples.chunks_exact(3))
        .flat_map(|(score, triple)| [score.as_bytes(), triple[2]])
        .collect();
    let dirty = cx.ks.dirty;
    zset_util::add_pairs(cx, &pairs, &scores, how, changed)?;
    if cx.ks.dirty != dirty {
        let mut argv: Vec<&[u8]> = vec![b"ZADD"];
        argv.extend_from_slice(&cx.args[1..at]);
        argv.extend_from_slice(&pairs);
        cx.propagate_as(&argv);
    }
    Ok(())
}
