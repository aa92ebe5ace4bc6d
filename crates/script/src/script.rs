//! A script that is ready to be called.

use crate::catalogue;
use crate::header::{Header, HeaderError, split};
use crate::render::{Rendering, render, sha1};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A script: its header, and its text and SHA1 for each kind of servers. Clones share them.
#[derive(Clone)]
pub struct Script(Arc<Inner>);

struct Inner {
    header: Header,
    source: String,
    rendered: [(String, String); 3],
    meters: crate::observe::Meters,
}

/// Why there is no script.
#[derive(Debug)]
#[non_exhaustive]
pub enum ScriptError {
    /// Its header cannot be read.
    Header(HeaderError),
    /// The file cannot be read.
    Io(std::io::Error),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Header(e) => e.fmt(f),
            ScriptError::Io(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// A script from its text. `@include` names the catalogue's own pieces.
    ///
    /// # Errors
    /// [`ScriptError::Header`].
    pub fn from_text(text: &str) -> Result<Script, ScriptError> {
        Script::with_includes(text, &|name| catalogue::library(name).map(String::from))
    }

    /// A script from its text, with another source of what `@include` names.
    ///
    /// # Errors
    /// [`ScriptError::Header`].
    pub fn with_includes(
        text: &str,
        include: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Script, ScriptError> {
        let header = Header::parse(text).map_err(ScriptError::Header)?;
        let mut rendered: [(String, String); 3] = Default::default();
        for (slot, target) in rendered.iter_mut().zip(Rendering::ALL) {
            let text = render(text, target, include).map_err(ScriptError::Header)?;
            *slot = (sha1(&text), text);
        }
        Ok(Script::build(header, text, rendered))
    }

    /// A script whose text goes to the server as it is, to the byte; its header stands apart.
    ///
    /// # Errors
    /// [`ScriptError::Header`].
    pub fn verbatim(header: &str, text: &str) -> Result<Script, ScriptError> {
        let header = Header::parse(header).map_err(ScriptError::Header)?;
        let rendered = [(); 3].map(|()| (sha1(text), text.to_string()));
        Ok(Script::build(header, text, rendered))
    }

    /// A script from a file. If there is a file of the same name that ends in `.header`, the header stands there and the
    /// script goes to the server as it is.
    ///
    /// # Errors
    /// [`ScriptError`].
    pub fn from_file(path: &Path) -> Result<Script, ScriptError> {
        let text = std::fs::read_to_string(path).map_err(ScriptError::Io)?;
        let apart = path.with_extension("header");
        if apart.is_file() {
            let header = std::fs::read_to_string(apart).map_err(ScriptError::Io)?;
            return Script::verbatim(&header, &text);
        }
        let include = |name: &str| {
            let file = |dir: &Path| std::fs::read_to_string(dir.join("lib").join(format!("{name}.lua"))).ok();
            let found = path.ancestors().skip(1).take(3).find_map(file);
            found.or_else(|| catalogue::library(name).map(String::from))
        };
        Script::with_includes(&text, &include)
    }

    fn build(header: Header, source: &str, rendered: [(String, String); 3]) -> Script {
        let meters = crate::observe::Meters::new(&header, &rendered[0].0);
        Script(Arc::new(Inner { header, source: source.to_string(), rendered, meters }))
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.0.header
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.header.name
    }

    /// The file's text.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The body of the file: what follows the header.
    pub fn body(&self) -> &str {
        split(&self.0.source).map_or("", |s| s.body)
    }

    /// The text that this kind of servers gets.
    pub fn text(&self, target: Rendering) -> &str {
        &self.0.rendered[target as usize].1
    }

    /// The SHA1 of that text.
    pub fn sha(&self, target: Rendering) -> &str {
        &self.0.rendered[target as usize].0
    }

    pub(crate) fn meters(&self) -> &crate::observe::Meters {
        &self.0.meters
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Script").field(&self.0.header.id()).finish()
    }
}
