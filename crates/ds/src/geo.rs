//! Geohashes as Redis computes them: positions as 52-bit integers, distances, and the cells that cover a shape.

use std::f64::consts::PI;

/// Limits of a longitude in degrees (± this).
pub const LONGITUDE_MAX: f64 = 180.0;
/// Limits of a latitude in degrees (± this): those of the web Mercator projection.
pub const LATITUDE_MAX: f64 = 85.05112878;
/// Steps (bits of each coordinate) of stored positions.
pub const STEPS: u32 = 26;
const EARTH_RADIUS: f64 = 6372797.560856;
const MERCATOR_MAX: f64 = 20037726.37;

/// A cell of the grid: interleaved bits, longitude in the odd ones, and the number of bits of each coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The interleaved bits.
    pub bits: u64,
    /// Bits of each coordinate: 1 to 32.
    pub steps: u32,
}

/// The rectangle of a cell in degrees.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Least and greatest longitude.
    pub longitude: (f64, f64),
    /// Least and greatest latitude.
    pub latitude: (f64, f64),
}

/// Spreads 32 bits to the even ones of 64.
fn spread(v: u32) -> u64 {
    let mut x = v as u64;
    x = (x | x << 16) & 0x0000_FFFF_0000_FFFF;
    x = (x | x << 8) & 0x00FF_00FF_00FF_00FF;
    x = (x | x << 4) & 0x0F0F_0F0F_0F0F_0F0F;
    x = (x | x << 2) & 0x3333_3333_3333_3333;
    (x | x << 1) & 0x5555_5555_5555_5555
}

/// Collects the even bits of 64.
fn collect(v: u64) -> u32 {
    let mut x = v & 0x5555_5555_5555_5555;
    x = (x | x >> 1) & 0x3333_3333_3333_3333;
    x = (x | x >> 2) & 0x0F0F_0F0F_0F0F_0F0F;
    x = (x | x >> 4) & 0x00FF_00FF_00FF_00FF;
    x = (x | x >> 8) & 0x0000_FFFF_0000_FFFF;
    (x | x >> 16) as u32
}

fn encode_within(longitude: f64, latitude: f64, latitude_max: f64, steps: u32) -> Cell {
    let scale = (1u64 << steps) as f64;
    let x = (longitude + LONGITUDE_MAX) / (LONGITUDE_MAX * 2.0) * scale;
    let y = (latitude + latitude_max) / (latitude_max * 2.0) * scale;
    // The conversion of C, which drops high bits at the upper limit instead of saturating.
    Cell { bits: spread(y as u64 as u32) | spread(x as u64 as u32) << 1, steps }
}

/// The cell of a position; None out of the limits or if `steps` is not 1 to 32.
pub fn encode(longitude: f64, latitude: f64, steps: u32) -> Option<Cell> {
    let fits =
        longitude.abs() <= LONGITUDE_MAX && latitude.abs() <= LATITUDE_MAX && (1..=32).contains(&steps);
    if fits { Some(encode_within(longitude, latitude, LATITUDE_MAX, steps)) } else { None }
}

/// The 52-bit integer of a position; None out of the limits.
pub fn encode52(longitude: f64, latitude: f64) -> Option<u64> {
    Some(encode(longitude, latitude, STEPS)?.bits)
}

/// Longitude and latitude of a 52-bit integer.
pub fn decode52(bits: u64) -> (f64, f64) {
    let a = Cell { bits, steps: STEPS }.area();
    let mid = |(min, max): (f64, f64), limit: f64| ((min + max) / 2.0).clamp(-limit, limit);
    (mid(a.longitude, LONGITUDE_MAX), mid(a.latitude, LATITUDE_MAX))
}

/// The eleven letters of GEOHASH for a position.
pub fn letters(longitude: f64, latitude: f64) -> [u8; 11] {
    const ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
    // Standard geohashes have latitudes up to the poles. 52 bits are ten letters; the eleventh is always 0.
    let bits = encode_within(longitude, latitude, 90.0, STEPS).bits;
    std::array::from_fn(|i| {
        let letter = if i == 10 { 0 } else { bits >> (52 - (i + 1) * 5) & 31 };
        ALPHABET[letter as usize]
    })
}

impl Cell {
    /// The cell's rectangle.
    pub fn area(self) -> Area {
        let (y, x) = (collect(self.bits), collect(self.bits >> 1));
        let scale = (1u64 << self.steps) as f64;
        let edge = |i: u64, max: f64| -max + (i as f64 / scale) * (max * 2.0);
        // A foreign score may have all bits set: the sum is one of 32 bits, as in Redis.
        let edges = |i: u32, max: f64| (edge(i as u64, max), edge(i.wrapping_add(1).into(), max));
        Area { longitude: edges(x, LONGITUDE_MAX), latitude: edges(y, LATITUDE_MAX) }
    }

    /// The cell `dx` to the east and `dy` to the north (each -1, 0 or 1), around the world.
    fn neighbor(self, dx: i32, dy: i32) -> Cell {
        let mask = u32::MAX >> (32 - self.steps);
        let (y, x) = (collect(self.bits), collect(self.bits >> 1));
        let x = x.wrapping_add_signed(dx) & mask;
        let y = y.wrapping_add_signed(dy) & mask;
        Cell { bits: spread(y) | spread(x) << 1, steps: self.steps }
    }

    /// The 52-bit integers of the cell: from the first on, below the second.
    pub fn range52(self) -> (u64, u64) {
        let shift = 52 - self.steps * 2;
        (self.bits << shift, (self.bits + 1) << shift)
    }
}

fn radians(degrees: f64) -> f64 {
    degrees * (PI / 180.0)
}

fn degrees(radians: f64) -> f64 {
    radians / (PI / 180.0)
}

fn latitude_distance(a: f64, b: f64) -> f64 {
    EARTH_RADIUS * (radians(b) - radians(a)).abs()
}

/// Distance of two positions (longitude, latitude) in metres, by the haversine formula.
pub fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    let v = ((radians(b.0) - radians(a.0)) / 2.0).sin();
    // Practically the same longitude: about 6 nm.
    if v.abs() <= 1e-15 {
        return latitude_distance(a.1, b.1);
    }
    let (lat1, lat2) = (radians(a.1), radians(b.1));
    let u = ((lat2 - lat1) / 2.0).sin();
    let h = u * u + lat1.cos() * lat2.cos() * v * v;
    2.0 * EARTH_RADIUS * h.sqrt().asin()
}

/// What to search in, in metres.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// Within this radius.
    Circle(f64),
    /// Within a rectangle of this width and height.
    Box(f64, f64),
    /// Within the polygon of these corners, at least three (longitude, latitude).
    Polygon(&'a [(f64, f64)]),
}

/// The middle of the corners of a polygon, on the globe.
pub fn centroid(corners: &[(f64, f64)]) -> (f64, f64) {
    let (mut x, mut y, mut z) = (0.0, 0.0, 0.0);
    for (lon, lat) in corners {
        let (lon, lat) = (radians(*lon), radians(*lat));
        x += lat.cos() * lon.cos();
        y += lat.cos() * lon.sin();
        z += lat.sin();
    }
    (degrees(f64::atan2(y, x)), degrees(f64::atan2(z, (x * x + y * y).sqrt())))
}

/// True within the polygon: a ray to the east crosses its sides an odd number of times.
fn is_inside(corners: &[(f64, f64)], point: (f64, f64)) -> bool {
    let mut inside = false;
    let Some(mut b) = corners.last() else { return false };
    for a in corners {
        if (a.1 > point.1) != (b.1 > point.1) && point.0 < (b.0 - a.0) * (point.1 - a.1) / (b.1 - a.1) + a.0 {
            inside = !inside;
        }
        b = a;
    }
    inside
}

impl Shape<'_> {
    /// The distance of `point` from `center` if it is within the shape.
    pub fn distance_if_within(self, center: (f64, f64), point: (f64, f64)) -> Option<f64> {
        match self {
            Shape::Circle(radius) => Some(distance(center, point)).filter(|&d| d <= radius),
            Shape::Box(width, height) => {
                let in_height = latitude_distance(point.1, center.1) <= height / 2.0;
                let fits = in_height && distance(point, (center.0, point.1)) <= width / 2.0;
                if fits { Some(distance(center, point)) } else { None }
            }
            Shape::Polygon(corners) => is_inside(corners, point).then(|| distance(center, point)),
        }
    }

    /// Least and greatest longitude and latitude around `center`.
    fn bounds(self, center: (f64, f64)) -> Area {
        let (width, height) = match self {
            Shape::Circle(r) => (r, r),
            Shape::Box(w, h) => (w / 2.0, h / 2.0),
            Shape::Polygon(corners) => {
                let start = Area {
                    longitude: (LONGITUDE_MAX, -LONGITUDE_MAX),
                    latitude: (LATITUDE_MAX, -LATITUDE_MAX),
                };
                let widen = |(min, max): (f64, f64), v: f64| (min.min(v), max.max(v));
                return corners.iter().fold(start, |area, (lon, lat)| Area {
                    longitude: widen(area.longitude, *lon),
                    latitude: widen(area.latitude, *lat),
                });
            }
        };
        let (lon, lat) = center;
        let dy = degrees(height / EARTH_RADIUS);
        // The side that is nearer to the pole, where a degree of longitude is shorter.
        let side = if lat < 0.0 { lat - dy } else { lat + dy };
        let dx = degrees(width / EARTH_RADIUS / radians(side).cos());
        Area { longitude: (lon - dx, lon + dx), latitude: (lat - dy, lat + dy) }
    }

    fn reach(self, center: (f64, f64)) -> f64 {
        match self {
            Shape::Circle(r) => r,
            Shape::Box(w, h) => ((w / 2.0) * (w / 2.0) + (h / 2.0) * (h / 2.0)).sqrt(),
            Shape::Polygon(_) => {
                let Area { longitude: (west, east), latitude: (south, north) } = self.bounds(center);
                let corners = [(west, north), (east, north), (west, south), (east, south)];
                corners.iter().fold(0.0, |reach, corner| distance(center, *corner).max(reach))
            }
        }
    }
}

/// Steps at which a cell and its neighbours cover a radius.
fn steps_for(radius: f64, latitude: f64) -> u32 {
    if radius == 0.0 {
        return STEPS;
    }
    let (mut r, mut steps) = (radius, 1i32);
    while r < MERCATOR_MAX && steps < 100 {
        r *= 2.0;
        steps += 1;
    }
    steps -= 2;
    if latitude.abs() > 66.0 {
        steps -= 1 + (latitude.abs() > 80.0) as i32;
    }
    steps.clamp(1, STEPS as i32) as u32
}

/// The cells that cover `shape` around `center` (which must be within the limits), in the order in which Redis
/// searches them: the cell of the center, then north, south, east, west and the corners. None out of the limits.
pub fn cells(center: (f64, f64), shape: Shape<'_>) -> Option<Vec<Cell>> {
    const AROUND: [(i32, i32); 8] = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];
    let bounds = shape.bounds(center);
    // The middle of a polygon around a pole is off the map.
    let center = match shape {
        Shape::Polygon(_) => (center.0, center.1.clamp(-LATITUDE_MAX, LATITUDE_MAX)),
        _ => center,
    };
    let (lon, lat) = center;
    let mut steps = steps_for(shape.reach(center), lat);
    let mut cell = encode(lon, lat, steps)?;
    let too_small = cell.neighbor(0, 1).area().latitude.1 < bounds.latitude.1
        || cell.neighbor(0, -1).area().latitude.0 > bounds.latitude.0
        || cell.neighbor(1, 0).area().longitude.1 < bounds.longitude.1
        || cell.neighbor(-1, 0).area().longitude.0 > bounds.longitude.0;
    if too_small && steps > 1 {
        steps -= 1;
        cell = encode(lon, lat, steps)?;
    }
    let area = cell.area();
    let useless = |(dx, dy): (i32, i32)| {
        steps >= 2
            && ((dy < 0 && area.latitude.0 < bounds.latitude.0)
                || (dy > 0 && area.latitude.1 > bounds.latitude.1)
                || (dx < 0 && area.longitude.0 < bounds.longitude.0)
                || (dx > 0 && area.longitude.1 > bounds.longitude.1))
    };
    let mut found = vec![cell];
    for d in AROUND {
        // On a coarse grid neighbours are the same cell.
        let next = cell.neighbor(d.0, d.1);
        if !useless(d) && found.last() != Some(&next) {
            found.push(next);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_redis() {
        // The example of GEOADD's documentation.
        let (palermo, catania) = ((13.361389, 38.115556), (15.087269, 37.502669));
        let p = encode52(palermo.0, palermo.1).unwrap();
        assert_eq!(p, 3479099956230698);
        assert_eq!(encode52(catania.0, catania.1), Some(3479447370796909));
        assert_eq!(decode52(p), (13.361389338970184, 38.1155563954963));
        assert_eq!(&letters(decode52(p).0, decode52(p).1), b"sqc8b49rny0");
        let d = distance(decode52(p), decode52(3479447370796909));
        assert!((d - 166274.1516).abs() < 0.0001, "{d}");
        assert_eq!(encode52(200.0, 0.0), None);
        // A score that is no position.
        assert_eq!(decode52(-4i64 as u64), (180.0, 85.05112878));
        assert_eq!(decode52(u64::MAX), (180.0, 85.05112878));
    }

    #[test]
    fn polygons() {
        let square = [(10.0, 10.0), (20.0, 10.0), (20.0, 20.0), (10.0, 20.0)];
        let shape = Shape::Polygon(&square);
        let middle = centroid(&square);
        assert!((middle.0 - 15.0).abs() < 1e-9 && (middle.1 - 15.0).abs() < 0.2, "{middle:?}");
        assert!(shape.distance_if_within(middle, (12.0, 19.0)).is_some());
        assert!(shape.distance_if_within(middle, (9.9, 15.0)).is_none());
        assert!(shape.distance_if_within(middle, (15.0, 20.1)).is_none());
        let found = cells(middle, shape).unwrap();
        for corner in square {
            let bits = encode52(corner.0, corner.1).unwrap();
            assert!(found.iter().any(|c| (c.range52().0..c.range52().1).contains(&bits)));
        }
    }

    proptest! {
        #[test]
        fn decodes_near(lon in -180.0f64..180.0, lat in -85.05f64..85.05) {
            let (x, y) = decode52(encode52(lon, lat).unwrap());
            prop_assert!((x - lon).abs() < 1e-5 && (y - lat).abs() < 1e-5);
        }

        #[test]
        fn cells_cover(lon in -170.0f64..170.0, lat in -70.0f64..70.0, r in 1.0f64..500_000.0, angle in 0.0f64..3.0, part in 0.0f64..0.99) {
            let dlat = (r * part * angle.sin() / EARTH_RADIUS).to_degrees();
            let dlon = (r * part * angle.cos() / EARTH_RADIUS / lat.to_radians().cos()).to_degrees();
            let p = (lon + dlon, lat + dlat);
            if let Some(bits) = encode52(p.0, p.1)
                && Shape::Circle(r).distance_if_within((lon, lat), p).is_some() {
                let found = cells((lon, lat), Shape::Circle(r)).unwrap();
                let hit = found.iter().any(|c| { let (a, b) = c.range52(); (a..b).contains(&bits) });
                prop_assert!(hit);
            }
        }
    }
}
