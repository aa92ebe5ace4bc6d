//! The typical calls of `calls.txt`, as commands.

use std::collections::HashMap;
use totality_script::catalogue::get;
use totality_script::{Rendering, Script};
use totality_testkit::client::encode;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How many different `~` there are.
pub const SPREAD: usize = 1000;

/// A command whose words may hold `@` and `~`.
pub struct Template {
    pub words: Vec<String>,
}

impl Template {
    pub fn parse(line: &str) -> Result<Template> {
        let filled = |word: &str| match word.strip_prefix('%') {
            Some(n) => n.parse().map(|n: usize| "x".repeat(n)).map_err(Into::into),
            None => Ok(word.to_string()),
        };
        if let Some(command) = line.strip_prefix("* ") {
            return Ok(Template { words: command.split(' ').map(filled).collect::<Result<_>>()? });
        }
        let (name, rest) = line.split_once(' ').ok_or("a call needs a tag")?;
        let (tag, rest) = rest.split_once('}').ok_or("a call needs a tag")?;
        let (names, args) = match rest.split_once(" :") {
            Some((names, args)) => (names.split_whitespace().collect(), args),
            None => (Vec::new(), rest),
        };
        let script = get(name).ok_or_else(|| format!("there is no script {name}"))?;
        let keys = keys(script, &tag[1..], &names)?;
        let mut words =
            vec!["EVALSHA".into(), script.sha(Rendering::Redis).to_string(), keys.len().to_string()];
        words.extend(keys);
        words.extend(args.split_whitespace().map(filled).collect::<Result<Vec<_>>>()?);
        Ok(Template { words })
    }

    #[allow(dead_code)]
    pub fn holds(&self, mark: char) -> bool {
        self.words.iter().any(|w| w.contains(mark))
    }

    /// The words of the call with this number.
    pub fn filled(&self, i: usize) -> Vec<String> {
        let (at, mark) = (i.to_string(), (i % SPREAD).to_string());
        self.words.iter().map(|w| w.replace('@', &at).replace('~', &mark)).collect()
    }

    /// The same as bytes for a server.
    pub fn encode(&self, i: usize, out: &mut Vec<u8>) {
        encode(&self.filled(i), out);
    }
}

/// The names of a script's keys: `{…}` is the tag, each `<…>` the next of the names, and a list has a key for each name.
fn keys(script: &Script, tag: &str, names: &[&str]) -> Result<Vec<String>> {
    let between = |text: &str, open: char, close: char| {
        text.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map(|(inner, _)| inner.to_string())
    };
    let (mut parts, mut keys) = (HashMap::new(), Vec::new());
    for spec in &script.header().keys {
        let hole = between(&spec.template, '{', '}').ok_or("a template without a tag")?;
        let name = spec.template.replace(&format!("{{{hole}}}"), &format!("{{{tag}}}"));
        match between(&name, '<', '>') {
            Some(part) if spec.variadic => {
                keys.extend(names.iter().map(|n| name.replace(&format!("<{part}>"), n)))
            }
            Some(part) => {
                let next = parts.len();
                let at = *parts.entry(part.clone()).or_insert(next);
                let value = names.get(at).ok_or_else(|| format!("{name} needs a name"))?;
                keys.push(name.replace(&format!("<{part}>"), value));
            }
            None => keys.push(name),
        }
    }
    Ok(keys)
}

pub struct Row {
    pub name: String,
    pub call: Template,
    pub before: Vec<Template>,
}

/// What `calls.txt` says.
pub fn rows() -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for line in include_str!("calls.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let template = Template::parse(line.trim_start()).map_err(|e| format!("{line}: {e}"))?;
        match rows.last_mut() {
            Some(row) if line.starts_with(' ') => row.before.push(template),
            _ => rows.push(Row {
                name: line.split(' ').next().unwrap_or_default().into(),
                call: template,
                before: Vec::new(),
            }),
        }
    }
    Ok(rows)
}
