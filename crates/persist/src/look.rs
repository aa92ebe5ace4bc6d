//! Reading somebody else's files: nothing is locked, repaired or moved.

use crate::disk::RealDisk;
use crate::load::{Tail, read_part, reader_client};
use crate::manifest::{Manifest, Part};
use crate::reason;
use std::path::{Path, PathBuf};
use totality_engine::engine::{Engine, NoTicker};

/// Loads files into an engine that is empty: a snapshot, an append-only file, a manifest, the directory of one, or a data
/// directory, whose append-only file goes before its snapshot. The files stay as they are: a command or unit that was cut
/// off at the end is left out. What the engine has for its log says so.
///
/// # Errors
/// When there is nothing to read, or a file is damaged: which, and where.
pub fn load_files(engine: &mut Engine, path: &Path) -> Result<(), String> {
    let Engine { ks, sv } = engine;
    ks.begin_unit(sv.stamp);
    let parts = parts_of(path)?;
    for (i, part) in parts.iter().enumerate() {
        let tail = if i + 1 == parts.len() { Tail::LeftOut } else { Tail::Whole };
        let client = reader_client(sv);
        let read = read_part(ks, sv, client, (&RealDisk, part, tail), &mut NoTicker);
        sv.clients.remove(client);
        read.map_err(|why| format!("{}: {why}", part.display()))?;
    }
    ks.dirty = 0;
    Ok(())
}

/// The files to be read, in their order.
fn parts_of(path: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e: std::io::Error| format!("{}: {}", path.display(), reason(&e));
    let is_manifest = |path: &Path| path.extension().is_some_and(|word| word == "manifest");
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        return if is_manifest(path) { of_manifest(path) } else { Ok(vec![path.to_owned()]) };
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        names.push(entry.map_err(failed)?.path());
    }
    names.sort();
    let manifests: Vec<&PathBuf> = names.iter().filter(|name| is_manifest(name)).collect();
    let inner = names.iter().find(|name| name.is_dir() && name.ends_with("appendonlydir"));
    match (manifests.as_slice(), inner) {
        ([manifest], _) => of_manifest(manifest),
        ([], Some(inner)) => parts_of(inner),
        ([], None) => {
            let snapshots: Vec<&PathBuf> =
                names.iter().filter(|name| name.extension().is_some_and(|word| word == "rdb")).collect();
            match snapshots.as_slice() {
                [snapshot] => Ok(vec![(*snapshot).clone()]),
                [] => Err(format!("{} holds neither a manifest nor a snapshot", path.display())),
                _ => Err(format!("{} holds several snapshots: name one", path.display())),
            }
        }
        _ => Err(format!("{} holds several manifests: name one", path.display())),
    }
}

fn of_manifest(path: &Path) -> Result<Vec<PathBuf>, String> {
    let text = std::fs::read(path).map_err(|e| format!("{}: {}", path.display(), reason(&e)))?;
    let manifest = Manifest::parse(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    let dir = path.parent().unwrap_or(Path::new("."));
    Ok(manifest.parts().map(|part: &Part| dir.join(&part.name)).collect())
}
