//! Names with versions, and the lock file that holds what each version is.

use crate::header::HeaderError;
use crate::render::{Rendering, contract_hash, normal, sha256};
use crate::script::{Script, ScriptError};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Scripts by name and version. Two versions of one script live side by side.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    scripts: BTreeMap<String, Vec<Script>>,
}

impl Registry {
    /// The catalogue that is built in.
    pub fn catalogue() -> Registry {
        let mut out = Registry::default();
        for script in crate::catalogue::all() {
            out.scripts.entry(script.name().into()).or_default().push(script.clone());
        }
        out
    }

    /// Every `*.lua` below a directory that has a header. `lib` directories hold includes, no scripts.
    ///
    /// # Errors
    /// [`ScriptError`] of the first file that cannot be read, or when two files give the same name and version.
    pub fn from_dir(dir: &Path) -> Result<Registry, ScriptError> {
        let mut out = Registry::default();
        out.walk(dir, 0)?;
        Ok(out)
    }

    fn walk(&mut self, dir: &Path, depth: usize) -> Result<(), ScriptError> {
        let entries = std::fs::read_dir(dir).map_err(ScriptError::Io)?;
        let mut paths =
            entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(ScriptError::Io)?;
        paths.sort();
        for path in paths {
            if path.is_dir() {
                if depth < 8 && !path.ends_with("lib") {
                    self.walk(&path, depth + 1)?;
                }
            } else if path.extension().is_some_and(|e| e == "lua") {
                let script = Script::from_file(&path).map_err(|e| match e {
                    ScriptError::Header(h) => ScriptError::Header(HeaderError {
                        why: format!("{}: {}", path.display(), h.why),
                        ..h
                    }),
                    io => io,
                })?;
                self.add(script).map_err(ScriptError::Header)?;
            }
        }
        Ok(())
    }

    /// Adds a script.
    ///
    /// # Errors
    /// [`HeaderError`] when this version is there with another text.
    pub fn add(&mut self, script: Script) -> Result<(), HeaderError> {
        let versions = self.scripts.entry(script.name().into()).or_default();
        let version = &script.header().version;
        if let Some(same) = versions.iter().find(|s| s.header().version == *version) {
            if same.sha(Rendering::Redis) == script.sha(Rendering::Redis) {
                return Ok(());
            }
            let why = format!("{} is there twice with different texts", script.header().id());
            return Err(HeaderError { line: 0, why });
        }
        versions.push(script);
        versions.sort_by(|a, b| compare(&a.header().version, &b.header().version));
        Ok(())
    }

    /// A version of a script.
    pub fn get(&self, name: &str, version: &str) -> Option<&Script> {
        self.scripts.get(name)?.iter().find(|s| s.header().version == version)
    }

    /// The newest version of a script.
    pub fn latest(&self, name: &str) -> Option<&Script> {
        self.scripts.get(name)?.last()
    }

    /// All scripts, by name, then version.
    pub fn iter(&self) -> impl Iterator<Item = &Script> {
        self.scripts.values().flatten()
    }

    /// Which script a SHA1 belongs to: for slow logs and MONITOR, which show nothing else.
    pub fn explain(&self, sha: &str) -> Option<(&Script, Rendering)> {
        let of = |s: &&Script| Rendering::ALL.into_iter().find(|r| s.sha(*r).eq_ignore_ascii_case(sha));
        self.iter().find_map(|s| of(&s).map(|r| (s, r)))
    }
}

/// Compares versions part by part, numbers as numbers.
fn compare(a: &str, b: &str) -> Ordering {
    let parts = |v: &str| -> Vec<(u64, String)> {
        v.split(['.', '-', '+']).map(|p| (p.parse().unwrap_or(u64::MAX), p.to_string())).collect()
    };
    parts(a).cmp(&parts(b))
}

/// What `scripts.lock` says of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The script's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Hash of the contract, see [`contract_hash`].
    pub contract: String,
    /// SHA-256 of the source and of what it includes, as rendered without a first line.
    pub source: String,
    /// SHA1 for each [`Rendering`].
    pub shas: [String; 3],
    /// The least servers, such as `redis>=7.0`.
    pub servers: Vec<String>,
    /// What it includes.
    pub includes: Vec<String>,
}

impl Locked {
    /// What a script is now.
    pub fn of(script: &Script) -> Locked {
        let header = script.header();
        Locked {
            name: header.name.clone(),
            version: header.version.clone(),
            contract: contract_hash(header),
            source: sha256(&normal(script.text(Rendering::Plain))),
            shas: Rendering::ALL.map(|r| script.sha(r).to_string()),
            servers: header.servers.clone(),
            includes: header.includes.clone(),
        }
    }
}

/// The lock file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    entries: Vec<Locked>,
}

/// What is wrong between a registry and its lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The text changed, the version did not.
    Changed {
        /// Name and version.
        id: String,
    },
    /// The contract changed, the first number of the version did not.
    NeedsMajor {
        /// Name and version.
        id: String,
        /// The version that it changed against.
        before: String,
    },
    /// Not in the lock file yet.
    New {
        /// Name and version.
        id: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Changed { id } => write!(f, "{id}: the text changed, so it needs a new version"),
            Fault::NeedsMajor { id, before } => {
                write!(
                    f,
                    "{id}: keys, arguments, reply or codes changed since {before}: a new major version is needed"
                )
            }
            Fault::New { id } => write!(f, "{id}: not in scripts.lock yet"),
        }
    }
}

const HEAD: &str =
    "# name version contract source-sha256 redis-sha1 dragonfly-sha1 plain-sha1 servers includes\n";

impl Lock {
    /// The lock file of a registry, without regard to an older one.
    pub fn of(registry: &Registry) -> Lock {
        Lock { entries: registry.iter().map(Locked::of).collect() }
    }

    /// Reads a lock file.
    ///
    /// # Errors
    /// [`HeaderError`] with the line.
    pub fn parse(text: &str) -> Result<Lock, HeaderError> {
        let mut entries = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let w: Vec<&str> = text.split(' ').collect();
            let [name, version, contract, source, a, b, c, servers, includes] = w[..] else {
                return Err(HeaderError { line, why: "nine words make an entry".into() });
            };
            let list = |w: &str| w.split(',').filter(|w| *w != "-").map(String::from).collect();
            entries.push(Locked {
                name: name.into(),
                version: version.into(),
                contract: contract.into(),
                source: source.into(),
                shas: [a.into(), b.into(), c.into()],
                servers: list(servers),
                includes: list(includes),
            });
        }
        Ok(Lock { entries })
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let list = |v: &[String]| if v.is_empty() { "-".to_string() } else { v.join(",") };
        let line = |e: &Locked| {
            let (servers, includes) = (list(&e.servers), list(&e.includes));
            let [a, b, c] = &e.shas;
            format!("{} {} {} {} {a} {b} {c} {servers} {includes}\n", e.name, e.version, e.contract, e.source)
        };
        HEAD.to_string() + &self.entries.iter().map(line).collect::<String>()
    }

    /// The entries.
    pub fn entries(&self) -> &[Locked] {
        &self.entries
    }

    /// What is wrong with the scripts as they are now.
    pub fn check(&self, registry: &Registry) -> Vec<Fault> {
        registry.iter().filter_map(|script| self.fault(&Locked::of(script))).collect()
    }

    fn fault(&self, now: &Locked) -> Option<Fault> {
        let id = format!("{}@{}", now.name, now.version);
        let same_name = || self.entries.iter().filter(|e| e.name == now.name);
        if let Some(locked) = same_name().find(|e| e.version == now.version) {
            return (locked.source != now.source || locked.shas != now.shas).then_some(Fault::Changed { id });
        }
        let before = same_name().filter(|e| compare(&e.version, &now.version) == Ordering::Less);
        if let Some(last) = before.max_by(|a, b| compare(&a.version, &b.version)) {
            let major = |v: &str| v.split(['.', '-']).next().unwrap_or_default().to_string();
            if last.contract != now.contract && major(&last.version) == major(&now.version) {
                return Some(Fault::NeedsMajor { id, before: last.version.clone() });
            }
        }
        Some(Fault::New { id })
    }

    /// The lock file with new versions added; old ones stay.
    ///
    /// # Errors
    /// The faults that only a new version can mend.
    pub fn updated(&self, registry: &Registry) -> Result<Lock, Vec<Fault>> {
        let faults = self.check(registry);
        if faults.iter().any(|f| !matches!(f, Fault::New { .. })) {
            return Err(faults.into_iter().filter(|f| !matches!(f, Fault::New { .. })).collect());
        }
        let mut entries = self.entries.clone();
        entries.extend(
            registry
                .iter()
                .map(Locked::of)
                .filter(|n| !self.entries.iter().any(|e| e.name == n.name && e.version == n.version)),
        );
        entries.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| compare(&a.version, &b.version)));
        Ok(Lock { entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(version: &str, hi: u32, body: &str) -> Script {
        Script::from_text(&format!(
            "--- @script a.b\n--- @version {version}\n--- @arg x int 0..{hi}\n{body}\n"
        ))
        .unwrap()
    }

    fn registry(scripts: &[Script]) -> Registry {
        let mut out = Registry::default();
        scripts.iter().for_each(|s| out.add(s.clone()).unwrap());
        out
    }

    #[test]
    fn a_changed_text_needs_a_new_version() {
        let lock = Lock::of(&registry(&[script("1.0.0", 5, "return {1}")]));
        assert_eq!(lock.check(&registry(&[script("1.0.0", 5, "return {1}")])), []);
        let id = "a.b@1.0.0".to_string();
        assert_eq!(lock.check(&registry(&[script("1.0.0", 5, "return {2}")])), [Fault::Changed { id }]);
        let id = "a.b@1.0.1".to_string();
        assert_eq!(lock.check(&registry(&[script("1.0.1", 5, "return {2}")])), [Fault::New { id }]);
    }

    #[test]
    fn a_changed_contract_needs_a_major_version() {
        let lock = Lock::of(&registry(&[script("1.0.0", 5, "return {1}")]));
        let faults = lock.check(&registry(&[script("1.9.0", 6, "return {1}")]));
        assert_eq!(faults, [Fault::NeedsMajor { id: "a.b@1.9.0".into(), before: "1.0.0".into() }]);
        assert!(lock.updated(&registry(&[script("1.9.0", 6, "return {1}")])).is_err());
        let both = registry(&[script("1.0.0", 5, "return {1}"), script("2.0.0", 6, "return {1}")]);
        let lock = lock.updated(&both).unwrap();
        assert_eq!(lock.entries().len(), 2);
        assert_eq!(Lock::parse(&lock.to_text()).unwrap(), lock);
    }

    #[test]
    fn two_versions_live_side_by_side_and_a_sha_is_explained() {
        let r = registry(&[script("1.10.0", 5, "return {2}"), script("1.9.0", 5, "return {1}")]);
        assert_eq!(r.latest("a.b").unwrap().header().version, "1.10.0");
        let old = r.get("a.b", "1.9.0").unwrap();
        let (found, rendering) = r.explain(old.sha(Rendering::Redis)).unwrap();
        assert_eq!((found.header().version.as_str(), rendering), ("1.9.0", Rendering::Redis));
        assert!(Registry::default().explain("x").is_none());
        let mut r = r;
        assert!(r.add(script("1.9.0", 5, "return {7}")).is_err());
    }
}
