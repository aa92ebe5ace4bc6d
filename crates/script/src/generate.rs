//! What is made from the scripts' headers and cases: the index, the typed calls, the contract pages, the lock file.

mod docs;
mod rust;

use crate::cases::{self, Case};
use crate::header::Header;
use crate::registry::{Lock, Registry};
use crate::script::Script;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A script of the catalogue with where it stands and what its cases are.
pub(crate) struct Entry {
    pub(crate) script: Script,
    /// `rl/gcra`
    pub(crate) place: String,
    pub(crate) cases: Vec<Case>,
}

impl Entry {
    pub(crate) fn header(&self) -> &Header {
        self.script.header()
    }

    /// The part of the name before the dot, and the one after it.
    pub(crate) fn parts(&self) -> (&str, &str) {
        self.script.name().split_once('.').unwrap_or(("misc", self.script.name()))
    }
}

/// Every generated file of a checkout, by its path from the root.
///
/// # Errors
/// The first script or case file that cannot be read, or a script that changed without a new version.
pub fn all(root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let scripts = root.join("scripts");
    let mut entries = Vec::new();
    let mut seeds = Vec::new();
    for dir in dirs(&scripts)? {
        for file in files(&dir, "lua")? {
            let script = Script::from_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let place =
                format!("{}/{}", file_name(&dir), file.file_stem().unwrap_or_default().to_string_lossy());
            let cases = match fs::read_to_string(file.with_extension("cases")) {
                Ok(text) => cases::parse(&script, &text).map_err(|e| format!("{place}.cases: {e}"))?,
                Err(_) => Vec::new(),
            };
            if place.starts_with("seed/") {
                seeds.push(Entry { script, place, cases });
            } else if script.name().replace('.', "/") == place {
                entries.push(Entry { script, place, cases });
            } else if !place.contains('@') {
                // `gcra@1.0.0.lua` keeps an old version; it is in the registry and the lock file only.
                return Err(format!("{place}.lua calls itself {}", script.name()));
            }
        }
    }
    entries.sort_by(|a, b| a.script.name().cmp(b.script.name()));
    let mut families: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in &entries {
        families.entry(entry.parts().0.to_string()).or_default().push(entry);
    }
    let src = PathBuf::from("crates/script/src/catalogue");
    let library = files(&scripts.join("lib"), "lua")?;
    let library: Vec<String> =
        library.iter().map(|f| f.file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect();
    let mut out = vec![
        (src.join("index.rs"), rust::index(&entries, &library, &seeds)),
        (src.join("modules.rs"), rust::modules(&families)),
        (PathBuf::from("docs/scripts/README.md"), docs::summary(&families, &seeds)),
    ];
    for (family, members) in &families {
        out.push((src.join(family).join("mod.rs"), rust::family(family, members)));
        for member in members {
            out.push((src.join(format!("{}.rs", member.place)), rust::script(member, &entries)));
        }
    }
    for entry in entries.iter().chain(&seeds) {
        out.push((PathBuf::from(format!("docs/scripts/{}.md", entry.place)), docs::page(entry)));
    }
    out.push((PathBuf::from("scripts/scripts.lock"), lock(&scripts)?));
    Ok(out)
}

fn lock(scripts: &Path) -> Result<String, String> {
    let registry = Registry::from_dir(scripts).map_err(|e| e.to_string())?;
    let old = fs::read_to_string(scripts.join("scripts.lock")).unwrap_or_default();
    let old = Lock::parse(&old).map_err(|e| format!("scripts.lock: {e}"))?;
    let new = old.updated(&registry);
    let new = new.map_err(|f| f.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    Ok(new.to_text())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn dirs(root: &Path) -> Result<Vec<PathBuf>, String> {
    entries(root).map(|all| all.into_iter().filter(|p| p.is_dir() && !p.ends_with("lib")).collect())
}

fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    entries(dir)
        .map(|all| all.into_iter().filter(|p| p.extension().is_some_and(|e| e == extension)).collect())
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", dir.display());
    let mut out: Vec<PathBuf> = fs::read_dir(dir)
        .map_err(fail)?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()
        .map_err(fail)?;
    out.sort();
    Ok(out)
}
