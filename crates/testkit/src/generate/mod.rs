//! The generated parts of documents. They stand between `<!-- generated: NAME -->` and `<!-- end -->`.

pub mod pages;

use crate::oracle::differences::Differences;
use std::collections::BTreeMap;
use totality_engine::commands::TABLE;
use totality_engine::config::{Why, params};

/// A document with its generated parts renewed.
///
/// # Errors
/// A part without its end, or of an unknown name.
pub fn renew(document: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = document;
    while let Some((before, after)) = rest.split_once("<!-- generated: ") {
        let (name, after) = after.split_once(" -->").ok_or("a mark without its end")?;
        let (_, tail) = after.split_once("<!-- end -->").ok_or_else(|| format!("{name} has no end"))?;
        let part = match name {
            "commands" => commands(),
            "differences" => differences(),
            "parameters" => parameters(),
            other => return Err(format!("nothing is generated under the name {other}")),
        };
        out.push_str(&format!("{before}<!-- generated: {name} -->\n{part}<!-- end -->"));
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

/// The commands by group, containers with their subcommands.
fn commands() -> String {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for spec in TABLE {
        let mut subs: Vec<&str> = spec.subs.iter().map(|s| s.name).collect();
        subs.sort_unstable();
        let name = spec.name.to_ascii_uppercase();
        let shown = if subs.is_empty() { name } else { format!("{name} ({})", subs.join(", ")) };
        groups.entry(spec.group.name()).or_default().push(shown);
    }
    let mut out = format!("{} commands:\n\n", TABLE.len());
    for (group, mut names) in groups {
        names.sort_unstable();
        out.push_str(&format!("- **{group}**: {}\n", names.join(" · ")));
    }
    out
}

/// The parameters that are kept and have no effect, by the reason.
fn parameters() -> String {
    let mut out = String::new();
    for why in Why::ALL {
        let names = params().filter(|p| p.idle() == Some(*why)).map(|p| format!("`{}`", p.name));
        let names: Vec<String> = names.collect();
        if !names.is_empty() {
            out.push_str(&format!("- {}\n  {}\n", why.text(), names.join(", ")));
        }
    }
    out
}

/// The intended differences from the oracle.
fn differences() -> String {
    let mut out = String::new();
    for difference in Differences::load().iter() {
        out.push_str(&format!("- {}.\n", difference.why.trim_end_matches('.')));
    }
    out
}
