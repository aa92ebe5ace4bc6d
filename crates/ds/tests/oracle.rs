//! Compares bytes with a real redis-server: nodes of lists, listpacks, intsets, HyperLogLogs, positions and the sums
//! of INCRBYFLOAT.
//!
//! Needs `redis-server` in the path, or `ORACLE_SERVER` with its file name. Without one the tests say so and pass,
//! except in CI (environment variable `CI`), where that is a failure.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use totality_ds::num::{F80, FloatError, add_float_str, push_f64, push_fixed};
use totality_ds::quicklist::Node;
use totality_ds::stream::{BlockLimits, Keep, Stream, StreamId};
use totality_ds::{IntSet, Listpack, Quicklist, geo, hll};

struct Oracle {
    dir: PathBuf,
    server: Child,
    stream: BufReader<UnixStream>,
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[derive(Debug, PartialEq)]
enum Reply {
    Bulk(Vec<u8>),
    Other(String),
}

impl Oracle {
    fn start() -> Option<Oracle> {
        let program = std::env::var("ORACLE_SERVER").unwrap_or_else(|_| "redis-server".into());
        // A socket of its own: another test cannot have taken it in the meantime, as it can a port.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("totality-ds-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // And a directory of its own: it would load a snapshot that somebody left in a common one.
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).expect("a directory");
        let socket = dir.join("socket");
        let server = Command::new(&program)
            .args(["--port", "0", "--save", "", "--rdbcompression", "no", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(&dir)
            .stdout(Stdio::null())
            .spawn();
        let Ok(server) = server else {
            assert!(std::env::var_os("CI").is_none(), "no {program}: the oracle is needed in CI");
            eprintln!("SKIPPED: no {program} to compare with");
            return None;
        };
        for _ in 0..100 {
            if let Ok(stream) = UnixStream::connect(&socket) {
                return Some(Oracle { server, dir, stream: BufReader::new(stream) });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{program} does not listen");
    }

    fn send(&mut self, args: &[&[u8]]) {
        let mut out = format!("*{}\r\n", args.len()).into_bytes();
        for a in args {
            out.extend(format!("${}\r\n", a.len()).bytes());
            out.extend(*a);
            out.extend(b"\r\n");
        }
        self.stream.get_mut().write_all(&out).unwrap();
    }

    fn reply(&mut self) -> Reply {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let line = line.trim_end().to_string();
        match line.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
            Some(n) => {
                let mut data = vec![0; n + 2];
                self.stream.read_exact(&mut data).unwrap();
                data.truncate(n);
                Reply::Bulk(data)
            }
            None => Reply::Other(line),
        }
    }

    fn call(&mut self, args: &[&[u8]]) -> Reply {
        self.send(args);
        self.reply()
    }

    /// Type and strings of a DUMP whose value is a list of numbers and strings.
    fn dump(&mut self, key: &[u8]) -> Option<(u8, Vec<u8>)> {
        match self.call(&[b"DUMP", key]) {
            Reply::Bulk(d) => Some((d[0], d[1..d.len() - 10].to_vec())),
            Reply::Other(_) => None,
        }
    }
}

/// Reads an RDB length.
fn length(p: &mut &[u8]) -> usize {
    let b = p[0];
    let (n, used) = match b >> 6 {
        0 => (b as usize & 0x3F, 1),
        1 => ((b as usize & 0x3F) << 8 | p[1] as usize, 2),
        _ => (u32::from_be_bytes([p[1], p[2], p[3], p[4]]) as usize, 5),
    };
    *p = &p[used..];
    n
}

fn string<'a>(p: &mut &'a [u8]) -> &'a [u8] {
    let n = length(p);
    let (s, rest) = p.split_at(n);
    *p = rest;
    s
}

/// A small generator, so that a failure is the same in the next run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn text(&mut self) -> Vec<u8> {
        match self.below(12) {
            0 => vec![b'L'; self.below(3000) as usize],
            1..=3 => vec![b'm'; self.below(300) as usize],
            4 => (self.0 as i64 >> (self.0 % 60)).to_string().into_bytes(),
            5 => (-(self.below(10_000) as i64)).to_string().into_bytes(),
            _ => format!("v{}", self.below(40)).into_bytes(),
        }
    }
}

fn check_list(o: &mut Oracle, q: &Quicklist, step: &str) {
    let Some((kind, body)) = o.dump(b"l") else {
        assert!(q.is_empty(), "{step}");
        return;
    };
    assert_eq!(kind, 18, "{step}");
    let mut p = &body[..];
    assert_eq!(length(&mut p), q.nodes().len(), "number of nodes after {step}");
    for (i, n) in q.nodes().enumerate() {
        let (container, theirs) = (length(&mut p), string(&mut p));
        let (kind, ours) = match n {
            Node::Plain(b) => (1, &b[..]),
            Node::Pack(lp) => (2, lp.as_bytes()),
        };
        assert!((container, theirs) == (kind, ours), "node {i} differs after {step}");
    }
}

#[test]
fn lists() {
    let Some(mut o) = Oracle::start() else { return };
    let mut rng = Rng(42);
    for fill in [-1i32, -2, 3, 16, 128] {
        let value = fill.to_string();
        o.call(&[b"CONFIG", b"SET", b"list-max-listpack-size", value.as_bytes()]);
        o.call(&[b"DEL", b"l"]);
        let mut q = Quicklist::new(fill);
        for step in 0..1500 {
            let s = rng.text();
            let len = q.len() as u64;
            let index = if len == 0 { 0 } else { rng.below(len) as i64 };
            let i = index.to_string();
            let op = rng.below(20);
            match op {
                0..=5 => {
                    o.call(&[b"RPUSH", b"l", &s]);
                    q.push_back(&s);
                }
                6..=10 => {
                    o.call(&[b"LPUSH", b"l", &s]);
                    q.push_front(&s);
                }
                11..=13 if len > 0 => {
                    let pivot = q.get_index(index).unwrap().to_bytes();
                    let before = op == 11;
                    o.call(&[b"LINSERT", b"l", if before { b"BEFORE" } else { b"AFTER" }, &pivot, &s]);
                    let p = q.find(&pivot).unwrap();
                    if before { q.insert_before(p, &s) } else { q.insert_after(p, &s) }
                }
                14..=15 if len > 0 => {
                    o.call(&[b"LSET", b"l", i.as_bytes(), &s]);
                    q.replace(q.seek(index).unwrap(), &s);
                }
                16 => {
                    let (count, n) = if index % 2 == 0 { ("2", 2) } else { ("-2", 2) };
                    o.call(&[b"LREM", b"l", count.as_bytes(), &s]);
                    q.remove_equal(&s, n, index % 2 != 0);
                }
                17 => {
                    o.call(&[b"LPOP", b"l"]);
                    q.pop_front(|_| ());
                }
                18 => {
                    o.call(&[b"RPOP", b"l"]);
                    q.pop_back(|_| ());
                }
                _ if len > 60 => {
                    let start = rng.below(10) as i64;
                    let end = -1 - rng.below(30) as i64;
                    o.call(&[b"LTRIM", b"l", start.to_string().as_bytes(), end.to_string().as_bytes()]);
                    q.remove_range(0, start as usize);
                    q.remove_range(q.len() as i64 + end + 1, usize::MAX);
                }
                _ => {}
            }
            if step % 5 == 0 {
                check_list(&mut o, &q, &format!("step {step}, fill {fill}, op {op}"));
            }
        }
    }
}

#[test]
fn listpacks_and_intsets() {
    let Some(mut o) = Oracle::start() else { return };
    let mut rng = Rng(7);
    for round in 0..200 {
        o.call(&[b"DEL", b"h", b"s"]);
        let (mut lp, mut set) = (Listpack::new(), IntSet::new());
        for i in 0..rng.below(60) {
            let field = format!("f{i}");
            let mut value = rng.text();
            value.truncate(64);
            o.call(&[b"HSET", b"h", field.as_bytes(), &value]);
            lp.push_back(field.as_bytes());
            lp.push_back(&value);
            let n = (rng.below(u64::MAX >> 11) as i64) >> rng.below(60);
            let n = if i % 3 == 0 { -n } else { n };
            o.call(&[b"SADD", b"s", n.to_string().as_bytes()]);
            set.insert(n);
        }
        if let Some((kind, body)) = o.dump(b"h") {
            assert_eq!(kind, 16);
            assert_eq!(string(&mut &body[..]), lp.as_bytes(), "round {round}");
            assert_eq!(Listpack::from_vec(lp.as_bytes().to_vec()), Ok(lp));
        }
        if let Some((kind, body)) = o.dump(b"s") {
            assert_eq!(kind, 11);
            assert_eq!(string(&mut &body[..]), set.as_bytes(), "round {round}");
        }
    }
}

fn number(rng: &mut Rng) -> String {
    let sign = if rng.below(2) == 0 { "" } else { "-" };
    let mut digits =
        |n: u64| (0..=rng.below(n)).map(|_| (b'0' + rng.below(10) as u8) as char).collect::<String>();
    let (a, b, c) = (digits(3), digits(18), digits(40));
    match rng.below(9) {
        0 => format!("{sign}{b}"),
        1 => format!("{sign}{a}.{b}"),
        2 => format!("{sign}{c}.{c}"),
        3 => format!("{sign}{b}e{}", rng.below(60) as i64 - 30),
        4 => format!("{sign}{a}.{b}e{}", rng.below(9900) as i64 - 4950),
        5 => format!("{sign}0x{b}p-{a}"),
        6 => format!("{sign}.{a}"),
        7 => format!("{sign}{a}."),
        _ => ["", "inf", "nan", "1e", "0x", " 1", "1 ", "-infinity", "1e9999", "1e-9999"]
            [rng.below(10) as usize]
            .into(),
    }
}

#[test]
fn float_sums() {
    let Some(mut o) = Oracle::start() else { return };
    let mut rng = Rng(99);
    for _ in 0..100 {
        let pairs: Vec<_> = (0..100).map(|_| (number(&mut rng), number(&mut rng))).collect();
        for (a, b) in &pairs {
            o.send(&[b"SET", b"x", a.as_bytes()]);
            o.send(&[b"INCRBYFLOAT", b"x", b.as_bytes()]);
        }
        for (a, b) in &pairs {
            o.reply();
            let theirs = o.reply();
            let ours = match add_float_str(a.as_bytes(), b.as_bytes()) {
                Ok(v) => Reply::Bulk(v),
                Err(FloatError::Invalid) => Reply::Other("-ERR value is not a valid float".into()),
                Err(FloatError::NotFinite) => {
                    Reply::Other("-ERR increment would produce NaN or Infinity".into())
                }
            };
            assert_eq!(ours, theirs, "{a} + {b}");
        }
    }
}

#[test]
fn hyperloglogs() {
    let Some(mut o) = Oracle::start() else { return };
    let mut rng = Rng(5);
    let mut sets = Vec::new();
    for (key, n) in [(&b"a"[..], 300u64), (b"b", 1500), (b"c", 6000)] {
        let mut s = hll::new();
        for i in 0..n {
            let e = rng.text();
            let e = if i % 2 == 0 { i.to_string().into_bytes() } else { e };
            let theirs = o.call(&[b"PFADD", key, &e]);
            let changed = hll::add(&mut s, &e, 3000).unwrap();
            assert_eq!(theirs, Reply::Other(format!(":{}", (changed || i == 0) as u8)));
            if i % 100 == 0 || i + 1 == n {
                assert!(o.call(&[b"GET", key]) == Reply::Bulk(s.clone()), "element {i} of {n}");
                let count = hll::cached_count(&s).unwrap_or_else(|| hll::count(&s).unwrap());
                hll::set_cached_count(&mut s, count);
                assert_eq!(o.call(&[b"PFCOUNT", key]), Reply::Other(format!(":{count}")));
            }
        }
        sets.push(s);
    }
    for (key, other, from) in [(&b"m"[..], &b"a"[..], 0), (b"n", b"c", 2)] {
        let mut registers = [0; hll::REGISTERS];
        hll::merge_into(&mut registers, &sets[from]).unwrap();
        hll::merge_into(&mut registers, &sets[1]).unwrap();
        let dense = hll::is_dense(&sets[from]) || hll::is_dense(&sets[1]);
        let mut s = hll::new();
        hll::raise(&mut s, &registers, dense, 3000).unwrap();
        o.call(&[b"PFMERGE", key, other, b"b"]);
        assert!(o.call(&[b"GET", key]) == Reply::Bulk(s));
        let both = hll::count_registers(&registers);
        assert_eq!(o.call(&[b"PFCOUNT", other, b"b"]), Reply::Other(format!(":{both}")));
    }
}

#[test]
fn positions() {
    let Some(mut o) = Oracle::start() else { return };
    let mut rng = Rng(11);
    let mut last = (0.0, 0.0);
    for i in 0..2000 {
        let lon = (rng.below(3_600_001) as f64 - 1_800_000.0) / 10_000.0;
        let lat = (rng.below(1_700_001) as f64 - 850_000.0) / 10_000.0;
        o.call(&[b"GEOADD", b"g", lon.to_string().as_bytes(), lat.to_string().as_bytes(), b"p"]);
        let bits = geo::encode52(lon, lat).unwrap();
        assert_eq!(o.call(&[b"ZSCORE", b"g", b"p"]), Reply::Bulk(bits.to_string().into_bytes()));
        let p = geo::decode52(bits);
        o.send(&[b"GEOPOS", b"g", b"p"]);
        assert_eq!((o.reply(), o.reply()), (Reply::Other("*1".into()), Reply::Other("*2".into())));
        for v in [p.0, p.1] {
            // Redis 8 prints the shortest digits here, older ones seventeen after the point.
            let (mut long, mut short) = (Vec::new(), Vec::new());
            F80::from(v).push(&mut long);
            push_f64(&mut short, v);
            let theirs = o.reply();
            assert!(theirs == Reply::Bulk(long) || theirs == Reply::Bulk(short), "{v}");
        }
        o.send(&[b"GEOHASH", b"g", b"p"]);
        assert_eq!(o.reply(), Reply::Other("*1".into()));
        assert_eq!(o.reply(), Reply::Bulk(geo::letters(p.0, p.1).to_vec()));
        if i > 0 {
            let mut text = Vec::new();
            push_fixed(&mut text, geo::distance(last, p), 4);
            assert_eq!(o.call(&[b"GEODIST", b"g", b"last", b"p"]), Reply::Bulk(text));
        }
        o.call(&[b"ZADD", b"g", bits.to_string().as_bytes(), b"last"]);
        last = p;
    }
}

#[test]
fn streams() {
    let Some(mut o) = Oracle::start() else { return };
    let mut rng = Rng(23);
    let (mut s, mut id) = (Stream::new(), StreamId { ms: 1_700_000_000_000, seq: 0 });
    let mut all: Vec<StreamId> = Vec::new();
    let limits = BlockLimits { bytes: 4096, entries: 100 };
    for step in 0..4000u64 {
        match rng.below(20) {
            0 if !all.is_empty() => {
                let gone = all[rng.below(all.len() as u64) as usize];
                let theirs = o.call(&[b"XDEL", b"x", gone.to_string().as_bytes()]);
                assert_eq!(theirs, Reply::Other(format!(":{}", s.remove(gone) as u8)));
            }
            1 if step % 9 == 0 => {
                let n = s.len().saturating_sub(rng.below(150));
                let theirs = o.call(&[b"XTRIM", b"x", b"MAXLEN", n.to_string().as_bytes()]);
                assert_eq!(theirs, Reply::Other(format!(":{}", s.trim(Keep::Len(n), false, 0))));
            }
            2 if step % 9 == 0 && !all.is_empty() => {
                let from = all[rng.below(all.len() as u64) as usize];
                let theirs = o.call(&[b"XTRIM", b"x", b"MINID", b"~", from.to_string().as_bytes()]);
                assert_eq!(theirs, Reply::Other(format!(":{}", s.trim(Keep::From(from), true, 10_000))));
            }
            _ => {
                let seq = if rng.below(2) == 0 { id.seq + 1 } else { rng.below(300) };
                id = StreamId { ms: id.ms + (seq <= id.seq) as u64 * (1 + rng.below(5000)), seq };
                let fields: [&[u8]; 3] =
                    if rng.below(4) == 0 { [b"other", b"2", b"x"] } else { [b"a", b"b", b"7"] };
                let n = 1 + (rng.below(5) > 0) as usize * 2;
                let values: Vec<Vec<u8>> =
                    (0..n).map(|_| rng.text()[..].iter().take(200).copied().collect()).collect();
                let text = id.to_string();
                let mut args: Vec<&[u8]> = vec![b"XADD", b"x", text.as_bytes()];
                for (f, v) in fields.iter().zip(&values) {
                    args.extend([f, &v[..]]);
                }
                assert_eq!(o.call(&args), Reply::Bulk(text.clone().into_bytes()));
                s.append(id, fields.iter().copied().zip(values.iter().map(|v| &v[..])), limits).unwrap();
                all.push(id);
            }
        }
        if step % 50 == 0
            && let Some((_, body)) = o.dump(b"x")
        {
            let mut p = &body[..];
            assert_eq!(length(&mut p), s.blocks().len());
            for (id, lp) in s.blocks() {
                assert_eq!(string(&mut p), id.to_be_bytes());
                assert!(string(&mut p) == lp.as_bytes(), "block {id} differs at step {step}");
            }
        }
    }
}
