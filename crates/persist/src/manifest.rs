//! The manifest of the append-only file: which files it consists of, as Redis 7 writes it.

use std::fmt::Write;

/// Longest line, in bytes.
const MAX_LINE: usize = 1024;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// The data set at some moment.
    Base,
    /// Commands since.
    Incr,
    /// No longer needed, and to be deleted.
    History,
}

/// A file of the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name in the directory.
    pub name: String,
    /// Its number.
    pub seq: u64,
    /// What it is for.
    pub kind: FileKind,
}

/// The files, in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The base.
    pub base: Option<Part>,
    /// The commands since.
    pub incr: Vec<Part>,
    /// What is to be deleted.
    pub history: Vec<Part>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// What is wrong, in Redis's words, and in which line.
    pub fn parse(text: &[u8]) -> Result<Manifest, String> {
        let mut m = Manifest::default();
        let text = std::str::from_utf8(text).map_err(|_| "Invalid AOF manifest file format".to_owned())?;
        if text.is_empty() {
            return Err("Found an empty AOF manifest".to_owned());
        }
        for (i, line) in text.split_inclusive('\n').enumerate() {
            let at = |what: &str| format!("{what} (line {})", i + 1);
            if line.starts_with('#') {
                continue;
            }
            if line.len() > MAX_LINE || !line.ends_with('\n') {
                return Err(at("The AOF manifest file contains too long line"));
            }
            let part = part(line.trim_end_matches(['\n', '\r'])).map_err(at)?;
            match part.kind {
                FileKind::Base if m.base.is_some() => {
                    return Err(at("Found duplicate base file information"));
                }
                FileKind::Base => m.base = Some(part),
                FileKind::Incr if m.incr.last().is_some_and(|last| last.seq >= part.seq) => {
                    return Err(at("Found a non-monotonic sequence number"));
                }
                FileKind::Incr => m.incr.push(part),
                FileKind::History => m.history.push(part),
            }
        }
        Ok(m)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for part in self.base.iter().chain(&self.history).chain(&self.incr) {
            let letter = match part.kind {
                FileKind::Base => 'b',
                FileKind::Incr => 'i',
                FileKind::History => 'h',
            };
            let _ = writeln!(out, "file {} seq {} type {letter}", quoted(&part.name), part.seq);
        }
        out
    }

    /// The files that hold data, in the order in which they are read.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.base.iter().chain(&self.incr)
    }

    /// The number of the next file of commands.
    pub fn next_incr(&self) -> u64 {
        self.next_after(self.incr.last(), ".incr.aof")
    }

    /// The number of the next base.
    pub fn next_base(&self) -> u64 {
        self.next_after(self.base.as_ref(), ".base.")
    }

    /// A number that no file of the kind has, those included that are to be deleted: a new file of such a name would
    /// be deleted in the old one's place.
    fn next_after(&self, last: Option<&Part>, kind: &str) -> u64 {
        let gone = self.history.iter().filter(|part| part.name.contains(kind));
        gone.chain(last).map(|part| part.seq).max().unwrap_or(0) + 1
    }
}

fn quoted(name: &str) -> String {
    if name.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\' && b != b'\'') {
        return name.to_owned();
    }
    let mut out = String::from("\"");
    for c in name.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn part(line: &str) -> Result<Part, &'static str> {
    const BAD: &str = "Invalid AOF manifest file format";
    let words = words(line).ok_or(BAD)?;
    if words.len() < 6 || !words.len().is_multiple_of(2) {
        return Err(BAD);
    }
    let (mut name, mut seq, mut kind) = (None, None, None);
    for pair in words.chunks(2) {
        match pair[0].to_ascii_lowercase().as_str() {
            "file" => name = Some(pair[1].clone()).filter(|name| !name.is_empty() && !name.contains('/')),
            "seq" => seq = pair[1].parse().ok().filter(|n| *n > 0),
            "type" => {
                kind = Some(match pair[1].as_str() {
                    "b" => FileKind::Base,
                    "i" => FileKind::Incr,
                    "h" => FileKind::History,
                    _ => return Err("Unknown AOF file type"),
                });
            }
            _ => {}
        }
    }
    Ok(Part { name: name.ok_or(BAD)?, seq: seq.ok_or(BAD)?, kind: kind.ok_or(BAD)? })
}

/// Words, some of them in quotes.
fn words(line: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => {}
            '"' => {
                let mut word = String::new();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => word.push(match chars.next()? {
                            'n' => '\n',
                            'r' => '\r',
                            't' => '\t',
                            c => c,
                        }),
                        c => word.push(c),
                    }
                }
                out.push(word);
            }
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| *c != ' ' && *c != '\t') {
                    word.push(c);
                }
                out.push(word);
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_new_file_has_the_name_of_one_that_is_to_be_deleted() {
        let text = "file a.aof.4.base.rdb seq 4 type b\nfile a.aof.3.base.rdb seq 3 type h\n\
                    file a.aof.7.incr.aof seq 7 type h\n";
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!((manifest.next_base(), manifest.next_incr()), (5, 8));
    }

    #[test]
    fn a_manifest_of_redis_is_read_and_written_back() {
        let text = "file appendonly.aof.2.base.rdb seq 2 type b\nfile appendonly.aof.1.incr.aof seq 1 type h\n\
                    file \"my file.aof.4.incr.aof\" seq 4 type i\nfile appendonly.aof.5.incr.aof seq 5 type i\n";
        let m = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!(m.base.as_ref().unwrap().seq, 2);
        assert_eq!(m.parts().map(|p| p.seq).collect::<Vec<_>>(), [2, 4, 5]);
        assert_eq!((m.next_base(), m.next_incr()), (3, 6));
        assert_eq!(m.text(), text);
    }

    #[test]
    fn a_name_with_blanks_and_breaks_is_quoted() {
        let part = Part { name: " a \n\"\\.aof".to_owned(), seq: 1, kind: FileKind::Incr };
        let m = Manifest { incr: vec![part], ..Manifest::default() };
        assert_eq!(m.text(), "file \" a \\n\\\"\\\\.aof\" seq 1 type i\n");
        assert_eq!(Manifest::parse(m.text().as_bytes()), Ok(m));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let bad = |text: &str| Manifest::parse(text.as_bytes()).unwrap_err();
        assert_eq!(bad(""), "Found an empty AOF manifest");
        assert!(bad("file a seq 1\n").starts_with("Invalid AOF manifest file format"));
        assert!(bad("file a/b seq 1 type i\n").starts_with("Invalid AOF manifest file format"));
        assert!(bad("file a seq 2 type i\nfile b seq 1 type i\n").contains("non-monotonic"));
        assert!(bad("file a seq 1 type b\nfile b seq 2 type b\n").contains("duplicate base"));
    }
}
