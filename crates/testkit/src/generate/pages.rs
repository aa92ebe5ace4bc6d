//! The page of each command under `docs/commands`, from the table's row and the documentation of the command's file, whose
//! examples are executed by the tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use totality_engine::args;
use totality_engine::commands::TABLE;
use totality_engine::commands::server::command::category_names;
use totality_engine::spec::{Flags, Spec};

use crate::sources;

/// Where the pages are, from the root.
pub const DIR: &str = "docs/commands";

/// Where the commands are, from the root.
const COMMANDS: &str = "crates/engine/src/commands";

/// File names below [`DIR`] with their texts.
///
/// # Errors
/// A command without a file of its name, and a file without documentation.
pub fn pages() -> Result<BTreeMap<String, String>, String> {
    let mut out = BTreeMap::new();
    let mut groups: BTreeMap<&str, Vec<&Spec>> = BTreeMap::new();
    for spec in TABLE {
        out.insert(format!("{}.md", spec.name), page(spec)?);
        groups.entry(spec.group.name()).or_default().push(spec);
    }
    let mut index = String::from(
        "# Commands\n\nOne page for each, made by `cargo xtask gen` from the command's own file. The examples are run by the tests.\n",
    );
    for (group, mut specs) in groups {
        specs.sort_unstable_by_key(|spec| spec.name);
        index.push_str(&format!("\n## {group}\n\n"));
        for spec in specs {
            let name = spec.name.to_ascii_uppercase();
            index.push_str(&format!("- [{name}]({}.md): {}\n", spec.name, spec.summary));
        }
    }
    out.insert("README.md".to_owned(), index);
    Ok(out)
}

/// Rewrites the pages, or only compares them. Answers the names of those that were not current.
///
/// # Errors
/// See [`pages`]; files that cannot be written.
pub fn renew(check: bool) -> Result<Vec<String>, String> {
    let dir = sources::root().join(DIR);
    let pages = pages()?;
    let mut stale = Vec::new();
    for path in sources::files(DIR, "md") {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !pages.contains_key(&name) {
            if !check {
                std::fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            }
            stale.push(name);
        }
    }
    for (name, text) in pages {
        let path = dir.join(&name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if !check {
            let written = std::fs::create_dir_all(&dir).and_then(|()| std::fs::write(&path, text));
            written.map_err(|e| format!("{}: {e}", path.display()))?;
        }
        stale.push(name);
    }
    Ok(stale)
}

/// The file that a command is written in. Some stand beside their like, and not under their group.
fn file_of(spec: &Spec) -> Result<PathBuf, String> {
    let name = spec.name.replace('-', "_");
    // Words of the language get an underscore.
    let names = [format!("{name}.rs"), format!("{name}_.rs"), format!("{name}/mod.rs")];
    let group = spec.group.name().replace('-', "_");
    let mut files = sources::files(COMMANDS, "rs");
    files.sort_by_key(|path| !path.starts_with(sources::root().join(COMMANDS).join(&group)));
    let found = files.into_iter().find(|path| {
        let below = path.strip_prefix(sources::root().join(COMMANDS)).unwrap_or(path);
        let inside: PathBuf = below.components().skip(1).collect();
        names.iter().any(|name| inside == Path::new(name))
    });
    found.ok_or_else(|| format!("{}: no file of its name below {COMMANDS}", spec.name))
}

fn page(spec: &Spec) -> Result<String, String> {
    let path = file_of(spec)?;
    let (prose, examples) = documentation(&path);
    if prose.is_empty() {
        return Err(format!("{} has no documentation", sources::short(&path)));
    }
    let name = spec.name.to_ascii_uppercase();
    let mut out = format!("# {name}\n\n");
    if spec.subs.is_empty() {
        out.push_str(&head(&name, spec));
    }
    out.push_str(&format!("{}\n", body(&name, &prose)));
    if !spec.subs.is_empty() {
        let mut subs: Vec<&Spec> = spec.subs.iter().collect();
        subs.sort_unstable_by_key(|sub| sub.name);
        for sub in subs {
            let full = format!("{name} {}", sub.name.to_ascii_uppercase());
            out.push_str(&format!("\n## {full}\n\n{}\n\n{}", sub.summary, head(&full, sub)));
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
    if !examples.is_empty() {
        out.push_str("\n## Examples\n\n```\n");
        out.push_str(&examples.join("\n\n"));
        out.push_str("\n```\n");
    }
    Ok(out)
}

/// How a command is written, and what the table says of it.
fn head(name: &str, spec: &Spec) -> String {
    let arguments = args::synopsis(&args::parse(spec.args));
    let written = format!("{name} {arguments}");
    let mut out = format!("```\n{}\n```\n\n", written.trim_end());
    let mut row = |what: &str, text: &str| out.push_str(&format!("- **{what}**: {text}\n"));
    row("Since", spec.since);
    if let Some((since, instead)) = spec.deprecated {
        row("Deprecated", &format!("since {since}: use {instead}"));
    }
    row("Complexity", spec.complexity);
    let categories: Vec<String> = category_names(spec).iter().map(|name| format!("@{name}")).collect();
    row("ACL categories", &categories.join(" "));
    let notes: Vec<&str> =
        NOTES.iter().filter(|(flag, _)| spec.flags.contains(*flag)).map(|(_, n)| *n).collect();
    if !notes.is_empty() {
        row("Note", &notes.join("; "));
    }
    out.push('\n');
    out
}

/// What a caller should know of a property.
const NOTES: [(Flags, &str); 7] = [
    (Flags::DENYOOM, "refused when `maxmemory` is reached and nothing can be evicted"),
    (Flags::NOSCRIPT, "not in scripts"),
    (Flags::NO_MULTI, "not in MULTI"),
    (Flags::BLOCKING, "may block; in scripts and in MULTI it answers at once"),
    (Flags::NO_ROLLBACK, "refused in an all-or-nothing script or transaction: it reaches outside the data"),
    (Flags::ALLOW_BUSY, "served while a script runs past `busy-reply-threshold`"),
    (Flags::SYSTEM, "for servers and tools, not for users"),
];

/// The prose of a file's documentation, and its transcripts as they are shown.
fn documentation(path: &Path) -> (Vec<String>, Vec<String>) {
    let (mut prose, mut examples): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    let mut in_example = false;
    for line in sources::read(path).lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        match (in_example, line) {
            (false, "```transcript") => {
                in_example = true;
                examples.push(Vec::new());
            }
            (true, "```") => in_example = false,
            (true, line) => {
                if let Some(example) = examples.last_mut() {
                    example.extend(shown(line));
                }
            }
            (false, line) if line.starts_with("No transcript: ") => {}
            (false, line) => prose.push(line.to_owned()),
        }
    }
    // Where an example stood between two paragraphs, one empty line is enough.
    prose.dedup_by(|line, before| line.is_empty() && before.is_empty());
    while prose.last().is_some_and(String::is_empty) {
        prose.pop();
    }
    let examples = examples.into_iter().map(|example| example.join("\n")).filter(|text| !text.is_empty());
    (prose, examples.collect())
}

/// A line of a transcript as readers want it: marks for the tests are left out, a pattern shows what it matches.
fn shown(line: &str) -> Option<String> {
    if line.starts_with("# not ") || line.is_empty() {
        return None;
    }
    match line {
        "# resp3" => Some("# over RESP3:".to_owned()),
        _ => Some(line.strip_prefix('~').map_or_else(|| line.to_owned(), example_of)),
    }
}

/// A text that a pattern of a transcript matches: of alternatives the last, for digits a number.
fn example_of(pattern: &str) -> String {
    let mut text = pattern.replace("\\(", "\u{1}").replace("\\)", "\u{2}");
    while let Some((before, rest)) = text.split_once('(') {
        let Some((inside, after)) = rest.split_once(')') else { break };
        let last = inside.rsplit('|').next().unwrap_or(inside);
        text = format!("{before}{last}{after}");
    }
    text.replace("\\d+", "123")
        .replace("\\d", "1")
        .replace('\u{1}', "(")
        .replace('\u{2}', ")")
        .replace('\\', "")
}

/// The prose without the name that it begins with, and without the marks of links to code.
fn body(name: &str, prose: &[String]) -> String {
    let text = prose.join("\n").replace("[`", "`").replace("`]", "`");
    let Some(rest) = text.strip_prefix(&format!("{name}: ")) else { return text };
    let mut letters = rest.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_shown_as_what_they_match() {
        assert_eq!(example_of(r"\(integer\) \d+"), "(integer) 123");
        assert_eq!(example_of(r"\(integer\) (99|100)"), "(integer) 100");
        assert_eq!(shown("# resp3").as_deref(), Some("# over RESP3:"));
        assert_eq!(shown("# not multi: it ends it"), None);
    }

    #[test]
    fn all_pages_are_current() {
        assert_eq!(renew(true), Ok(Vec::new()), "run cargo xtask gen");
    }
}
