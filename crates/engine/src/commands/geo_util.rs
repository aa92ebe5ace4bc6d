//! What the geo commands share: positions, units, distances, and the search of GEOSEARCH and GEORADIUS.

use crate::cx::Cx;
use crate::error::{CmdError, NOT_FLOAT, Res, SYNTAX};
use crate::keyspace::Keyspace;
use crate::notify::Event;
use crate::reply::Reply;
use crate::types::{ScoreRange, ZSet, ZSetCfg};
use crate::util::until_nul;
use crate::value::Collection;
use std::cmp::Ordering;
use totality_ds::Bytes;
use totality_ds::geo::{self, Shape};

/// Longitude and latitude in degrees.
pub type Position = (f64, f64);

/// Reads longitude and latitude and refuses what is not on the map.
pub fn position_args(lon: &[u8], lat: &[u8]) -> Res<Position> {
    let (lon, lat) = (crate::util::float_arg(lon)?, crate::util::float_arg(lat)?);
    if lon.abs() > geo::LONGITUDE_MAX || lat.abs() > geo::LATITUDE_MAX {
        return Err(CmdError::owned(format!("ERR invalid longitude,latitude pair {lon:.6},{lat:.6}")));
    }
    Ok((lon, lat))
}

/// Metres in a unit.
pub fn unit_arg(arg: &[u8]) -> Res<f64> {
    const UNITS: [(&[u8], f64); 4] = [(b"m", 1.0), (b"km", 1000.0), (b"ft", 0.3048), (b"mi", 1609.34)];
    let found = UNITS.iter().find(|(name, _)| arg.eq_ignore_ascii_case(name));
    found
        .map(|(_, metres)| *metres)
        .ok_or(CmdError::new("ERR unsupported unit provided. please use M, KM, FT, MI"))
}

/// The position that a score stands for.
pub fn decode(score: f64) -> Position {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    let bits =
        if score < HALF { truncate(score) as u64 } else { (truncate(score - HALF) as u64) ^ (1 << 63) };
    geo::decode52(bits)
}

/// The integer part. Any score may be read as a position, so what does not fit becomes what processors make of it.
fn truncate(score: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&score) { score as i64 } else { i64::MIN }
}

/// A distance with four decimals.
pub fn reply_distance(reply: &mut Reply<'_>, distance: f64) {
    // Half goes to the even digit, as in Redis.
    let scaled = (distance * 10_000.0).round_ties_even() as u64;
    reply.bulk(format!("{}.{:04}", scaled / 10_000, scaled % 10_000).as_bytes());
}

/// Longitude and latitude of a member, or null.
pub fn reply_position(reply: &mut Reply<'_>, position: Position) {
    reply.array(2);
    reply.decimal(position.0);
    reply.decimal(position.1);
}

/// Replies with one value per member of the arguments from the third on: `some` of its score, or `none`.
pub fn each_member(cx: &mut Cx<'_>, some: fn(&mut Reply<'_>, Position), none: fn(&mut Reply<'_>)) -> Res {
    let set = cx.ks.read_as::<ZSet>(cx.args[1])?;
    cx.reply.array(cx.args.len() - 2);
    for member in &cx.args[2..] {
        match set.and_then(|set| set.score(member)) {
            Some(score) => some(&mut cx.reply, decode(score)),
            None => none(&mut cx.reply),
        }
    }
    Ok(())
}

/// Which command searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// GEORADIUS, GEORADIUS_RO
    Around {
        /// STORE and STOREDIST are taken.
        stores: bool,
    },
    /// GEORADIUSBYMEMBER, GEORADIUSBYMEMBER_RO
    AroundMember {
        /// STORE and STOREDIST are taken.
        stores: bool,
    },
    /// GEOSEARCH
    Shape,
    /// GEOSEARCHSTORE
    ShapeStore,
}

impl Search {
    fn has_shapes(self) -> bool {
        matches!(self, Search::Shape | Search::ShapeStore)
    }
    fn takes_store(self) -> bool {
        matches!(self, Search::Around { stores: true } | Search::AroundMember { stores: true })
    }
}

/// A shape as it was asked for, in the unit of its command.
#[derive(Debug, Clone)]
enum Area {
    Circle(f64),
    Box(f64, f64),
    Polygon(Vec<Position>),
}

/// What to search for and how to answer.
struct Query<'a> {
    center: Option<Position>,
    area: Option<Area>,
    /// Metres in the unit.
    unit: f64,
    store: Option<&'a [u8]>,
    store_dist: bool,
    with_dist: bool,
    with_hash: bool,
    with_coord: bool,
    /// Ascending; `None` for no order.
    ascending: Option<bool>,
    count: usize,
    any: bool,
}

/// A member that was found.
struct Point {
    position: Position,
    /// Metres.
    distance: f64,
    score: f64,
    member: Bytes,
}

/// GEORADIUS, GEORADIUSBYMEMBER, GEOSEARCH and their relatives.
pub fn search(cx: &mut Cx<'_>, kind: Search) -> Res {
    let source = cx.args[if kind == Search::ShapeStore { 2 } else { 1 }];
    let exists = cx.ks.read_as::<ZSet>(source)?.is_some();
    let query = Parser { args: cx.args, ks: cx.ks, source, exists, kind }.query()?;
    let mut found = if exists { find(cx.ks, source, &query) } else { Vec::new() };
    order(&mut found, &query);
    let dirty = cx.ks.dirty;
    match query.store {
        Some(key) => store(cx, key, &found, &query, kind),
        None if !exists => cx.reply.array(0),
        None => reply_points(&mut cx.reply, &found, &query),
    }
    if cx.ks.dirty != dirty {
        // Keys and members come first, or behind these words.
        let named = |i: usize| ["FROMMEMBER", "STORE", "STOREDIST"].iter().any(|word| cx.is(i - 1, word));
        let first = if matches!(kind, Search::Around { .. }) { 2 } else { 3 };
        let numbers: Vec<usize> = (first..cx.argc()).filter(|i| !named(*i)).collect();
        cx.propagate_decimal(numbers.into_iter());
    }
    Ok(())
}

struct Parser<'a, 'k> {
    args: &'a [&'a [u8]],
    ks: &'k Keyspace,
    source: &'a [u8],
    exists: bool,
    kind: Search,
}

impl<'a> Parser<'a, '_> {
    /// Position of a member; `None` when there is no key to look in.
    fn member(&self, member: &[u8]) -> Res<Option<Position>> {
        let Some(set) = self.ks.view_as::<ZSet>(self.source) else { return Ok(None) };
        match set.score(member) {
            Some(score) => Ok(Some(decode(score))),
            None => Err(CmdError::owned([b"ERR member ", until_nul(member), b" does not exist"].concat())),
        }
    }

    fn radius(&self, at: usize) -> Res<(f64, f64)> {
        let radius = number(self.args[at], "ERR need numeric radius")?;
        if radius < 0.0 {
            return Err(CmdError::new("ERR radius cannot be negative"));
        }
        Ok((radius, unit_arg(self.args[at + 1])?))
    }

    fn rectangle(&self, at: usize) -> Res<(f64, f64, f64)> {
        let width = number(self.args[at], "ERR need numeric width")?;
        let height = number(self.args[at + 1], "ERR need numeric height")?;
        if width < 0.0 || height < 0.0 {
            return Err(CmdError::new("ERR height or width cannot be negative"));
        }
        Ok((width, height, unit_arg(self.args[at + 2])?))
    }

    fn polygon(&self, at: usize) -> Res<Vec<Position>> {
        let corners = crate::util::int32_arg(self.args[at])
            .map_err(|_| CmdError::new("ERR invalid number of vertices"))?;
        let possible = (self.args.len() - at - 1) / 2;
        match usize::try_from(corners) {
            Ok(n) if n >= 3 && n <= possible => {
                let pairs = self.args[at + 1..at + 1 + 2 * n].chunks_exact(2);
                pairs.map(|pair| position_args(pair[0], pair[1])).collect()
            }
            _ => Err(CmdError::new("ERR GEOSEARCH BYPOLYGON must have at least 3 vertices")),
        }
    }

    fn query(&self) -> Res<Query<'a>> {
        let mut q = Query {
            center: None,
            area: None,
            unit: 1.0,
            store: None,
            store_dist: false,
            with_dist: false,
            with_hash: false,
            with_coord: false,
            ascending: None,
            count: 0,
            any: false,
        };
        let at = match self.kind {
            Search::Around { .. } => {
                q.center = Some(position_args(self.args[2], self.args[3])?);
                let (radius, unit) = self.radius(4)?;
                (q.area, q.unit) = (Some(Area::Circle(radius)), unit);
                6
            }
            Search::AroundMember { .. } => {
                if self.exists {
                    q.center = self.member(self.args[2])?;
                    let (radius, unit) = self.radius(3)?;
                    (q.area, q.unit) = (Some(Area::Circle(radius)), unit);
                }
                5
            }
            Search::Shape => 2,
            Search::ShapeStore => {
                q.store = Some(self.args[1]);
                3
            }
        };
        let (from_member, by_polygon) = self.options(at, &mut q)?;
        self.judge(&q, from_member, by_polygon)?;
        if let (Some(Area::Polygon(corners)), true) = (&q.area, by_polygon) {
            q.center = Some(geo::centroid(corners));
        }
        // The nearest are meant where only some are wanted.
        if q.count > 0 && q.ascending.is_none() && !q.any {
            q.ascending = Some(true);
        }
        Ok(q)
    }

    /// Reads the options; says whether a center and whether a polygon was given.
    fn options(&self, mut i: usize, q: &mut Query<'a>) -> Res<(bool, bool)> {
        let shapes = self.kind.has_shapes();
        let (mut member, mut lonlat, mut radius, mut rectangle, mut polygon) =
            (false, false, false, false, false);
        while i < self.args.len() {
            let word = self.args[i];
            let left = self.args.len() - i - 1;
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            if is("withdist") {
                q.with_dist = true;
            } else if is("withhash") {
                q.with_hash = true;
            } else if is("withcoord") {
                q.with_coord = true;
            } else if is("any") {
                q.any = true;
            } else if is("asc") {
                q.ascending = Some(true);
            } else if is("desc") {
                q.ascending = Some(false);
            } else if is("count") && left >= 1 {
                q.count = count_arg(self.args[i + 1])?;
                i += 1;
            } else if (is("store") || is("storedist")) && left >= 1 && self.kind.takes_store() {
                q.store = Some(self.args[i + 1]);
                q.store_dist = is("storedist");
                i += 1;
            } else if is("storedist") && self.kind == Search::ShapeStore {
                q.store_dist = true;
            } else if is("frommember") && left >= 1 && shapes && !lonlat && !polygon {
                q.center = self.member(self.args[i + 1])?.or(q.center);
                member = true;
                i += 1;
            } else if is("fromlonlat") && left >= 2 && shapes && !member && !polygon {
                q.center = Some(position_args(self.args[i + 1], self.args[i + 2])?);
                lonlat = true;
                i += 2;
            } else if is("byradius") && left >= 2 && shapes && !rectangle && !polygon {
                let (r, unit) = self.radius(i + 1)?;
                (q.area, q.unit, radius) = (Some(Area::Circle(r)), unit, true);
                i += 2;
            } else if is("bybox") && left >= 3 && shapes && !radius && !polygon {
                let (width, height, unit) = self.rectangle(i + 1)?;
                (q.area, q.unit, rectangle) = (Some(Area::Box(width, height)), unit, true);
                i += 3;
            } else if is("bypolygon") && left >= 2 && shapes && !radius && !rectangle && !member && !lonlat {
                let corners = self.polygon(i + 1)?;
                i += 1 + 2 * corners.len();
                (q.area, q.unit, polygon) = (Some(Area::Polygon(corners)), 1.0, true);
            } else {
                return Err(SYNTAX);
            }
            i += 1;
        }
        Ok((member || lonlat, polygon))
    }

    /// Refuses what does not go together.
    fn judge(&self, q: &Query<'_>, centered: bool, by_polygon: bool) -> Res {
        if q.store.is_some() && (q.with_dist || q.with_hash || q.with_coord) {
            let who =
                if self.kind == Search::ShapeStore { "GEOSEARCHSTORE" } else { "STORE option in GEORADIUS" };
            return Err(CmdError::owned(format!(
                "ERR {who} is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
            )));
        }
        let named = |text: &str| CmdError::owned([text.as_bytes(), until_nul(self.args[0])].concat());
        if self.kind.has_shapes() && !centered && !by_polygon {
            return Err(named("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for "));
        }
        if self.kind.has_shapes() && q.area.is_none() {
            return Err(named("ERR exactly one of BYRADIUS, BYBOX and BYPOLYGON can be specified for "));
        }
        if q.any && q.count == 0 {
            return Err(CmdError::new("ERR the ANY argument requires COUNT argument"));
        }
        Ok(())
    }
}

fn number(arg: &[u8], error: &'static str) -> Res<f64> {
    crate::util::float_arg(arg).map_err(|e| if e == NOT_FLOAT { CmdError::new(error) } else { e })
}

fn count_arg(arg: &[u8]) -> Res<usize> {
    match crate::util::int_arg(arg)? {
        n if n > 0 => Ok(n as usize),
        _ => Err(CmdError::new("ERR COUNT must be > 0")),
    }
}

/// Members looked at between two looks at the number found.
const STRIDE: usize = 64;

/// The members within the shape, in the order of the cells that cover it; with ANY no more than asked for.
fn find(ks: &Keyspace, source: &[u8], q: &Query<'_>) -> Vec<Point> {
    let mut found = Vec::new();
    let (Some(set), Some(center), Some(area)) = (ks.view_as::<ZSet>(source), q.center, &q.area) else {
        return found;
    };
    let shape = match area {
        Area::Circle(radius) => Shape::Circle(radius * q.unit),
        Area::Box(width, height) => Shape::Box(width * q.unit, height * q.unit),
        Area::Polygon(corners) => Shape::Polygon(corners),
    };
    let limit = if q.any { q.count } else { usize::MAX };
    for cell in geo::cells(center, shape).unwrap_or_default() {
        let (min, max) = cell.range52();
        let range = ScoreRange { min: min as f64, max: max as f64, min_open: false, max_open: true };
        let (mut start, end) = set.score_ranks(&range);
        while start < end && found.len() < limit {
            let step = if q.any { STRIDE.min(end - start) } else { end - start };
            set.for_ranks(start, step, false, |member, score| {
                if found.len() >= limit {
                    return;
                }
                let position = decode(score);
                if let Some(distance) = shape.distance_if_within(center, position) {
                    found.push(Point { position, distance, score, member: member.to_bytes() });
                }
            });
            start += step;
        }
    }
    found
}

/// Puts the points in order and drops those past the count.
fn order(found: &mut Vec<Point>, q: &Query<'_>) {
    let count = if q.count == 0 { found.len() } else { q.count.min(found.len()) };
    let compare = |a: &Point, b: &Point| a.distance.partial_cmp(&b.distance).unwrap_or(Ordering::Equal);
    match q.ascending {
        Some(true) => found.sort_by(compare),
        Some(false) => found.sort_by(|a, b| compare(b, a)),
        None => {}
    }
    found.truncate(count);
}

fn reply_points(reply: &mut Reply<'_>, found: &[Point], q: &Query<'_>) {
    let more = usize::from(q.with_dist) + usize::from(q.with_hash) + usize::from(q.with_coord);
    reply.array(found.len());
    for point in found {
        if more > 0 {
            reply.array(1 + more);
        }
        reply.bulk(&point.member);
        if q.with_dist {
            reply_distance(reply, point.distance / q.unit);
        }
        if q.with_hash {
            reply.int(truncate(point.score));
        }
        if q.with_coord {
            reply_position(reply, point.position);
        }
    }
}

fn store(cx: &mut Cx<'_>, key: &[u8], found: &[Point], q: &Query<'_>, kind: Search) {
    if found.is_empty() {
        cx.ks.delete(key);
        cx.reply.int(0);
        return;
    }
    let mut members: Vec<(&[u8], f64)> = found
        .iter()
        .map(|point| {
            let score = if q.store_dist { point.distance / q.unit } else { point.score };
            (point.member.as_slice(), score)
        })
        .collect();
    members.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(b.0)));
    let set = ZSet::from_sorted(members.iter().copied(), &ZSetCfg::of(cx.ks));
    let mut guard = cx.ks.write(key);
    guard.overwrite(set.into_value());
    let event = if kind.has_shapes() { "geosearchstore" } else { "georadiusstore" };
    guard.changed(Event::zset(event), found.len() as u64);
    drop(guard);
    cx.reply.len(found.len());
}
