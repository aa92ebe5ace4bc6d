//! What `totality check` finds, and what it says is to be done.

use std::path::{Path, PathBuf};
use totality_persist::check::{Repair, Report, check};

const SET: &[u8] = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
const UNIT: &[u8] = b"*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n2\r\n*1\r\n$4\r\nEXEC\r\n";

struct Files(tempfile::TempDir);

impl Files {
    /// An append-only file of these parts.
    fn new(parts: &[&[u8]]) -> Files {
        let dir = tempfile::tempdir().unwrap();
        let mut manifest = String::new();
        for (i, bytes) in parts.iter().enumerate() {
            let name = format!("appendonly.aof.{}.incr.aof", i + 1);
            std::fs::write(dir.path().join(&name), bytes).unwrap();
            manifest += &format!("file {name} seq {} type i\n", i + 1);
        }
        std::fs::write(dir.path().join("appendonly.aof.manifest"), manifest).unwrap();
        Files(dir)
    }

    fn part(&self, number: usize) -> PathBuf {
        self.0.path().join(format!("appendonly.aof.{number}.incr.aof"))
    }

    fn check(&self, repair: Repair) -> Report {
        check(&self.0.path().join("appendonly.aof.manifest"), repair).unwrap()
    }
}

fn text(report: &Report) -> String {
    report.lines.join("\n")
}

#[test]
fn a_cut_end_is_found_and_removed_on_request() {
    for cut in 1..UNIT.len() {
        let files = Files::new(&[SET, &[SET, &UNIT[..cut]].concat()]);
        let report = files.check(Repair::Nothing);
        assert!(!report.sound && text(&report).ends_with("--fix removes the rest"), "{report:?}");
        assert!(text(&report).contains(&format!("sound up to byte {} of", SET.len())), "{report:?}");
        let report = files.check(Repair::Tail);
        assert!(report.sound, "{report:?}");
        assert_eq!(std::fs::read(files.part(2)).unwrap(), SET);
        assert!(files.check(Repair::Nothing).sound);
    }
}

#[test]
fn a_cut_in_an_earlier_file_is_not_repaired() {
    let files = Files::new(&[&SET[..10], SET]);
    for repair in [Repair::Nothing, Repair::Tail] {
        let report = files.check(repair);
        assert!(!report.sound && text(&report).contains("only the last file can be cut"), "{report:?}");
        assert_eq!(std::fs::read(files.part(1)).unwrap(), &SET[..10]);
    }
}

#[test]
fn a_damaged_middle_is_left_alone_and_the_way_out_is_told() {
    let wrong: [&[u8]; 4] =
        [b"!!!", b"*1\r\n$3\r\nSET\r\n", b"*1\r\n$3\r\nBLA\r\n", b"*2\r\n$6\r\nCONFIG\r\n$3\r\nbla\r\n"];
    for wrong in wrong {
        let bytes = [SET, wrong, SET].concat();
        let files = Files::new(&[&bytes]);
        for repair in [Repair::Nothing, Repair::Tail] {
            let report = files.check(repair);
            assert!(!report.sound, "{report:?}");
            let way = format!("truncate -s {} '{}'", SET.len(), files.part(1).display());
            assert!(text(&report).contains(&way), "{report:?}");
            assert_eq!(std::fs::read(files.part(1)).unwrap(), bytes);
        }
    }
}

#[test]
fn a_damaged_snapshot_is_refused_with_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let path: &Path = &dir.path().join("dump.rdb");
    std::fs::write(path, b"REDIS0011\xfe\x00\x00\x01k\x05val").unwrap();
    let report = check(path, Repair::Tail).unwrap();
    assert!(!report.sound, "{report:?}");
    assert!(
        text(&report).contains("at byte") && text(&report).contains("use a backup, or a replica"),
        "{report:?}"
    );
}
