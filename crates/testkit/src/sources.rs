//! The workspace's own source files, for tests about them.

use std::path::{Path, PathBuf};

/// The workspace's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// All files below `dir` (relative to the root) with this extension, sorted.
pub fn files(dir: &str, extension: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    walk(&root().join(dir), extension, &mut out);
    out.sort();
    out
}

fn walk(dir: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            walk(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

/// The text of a file.
///
/// # Panics
/// When it cannot be read.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The path as it is written from the root.
pub fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
