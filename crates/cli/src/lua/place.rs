//! Shows where in a source an error is.

/// The line that a message names, and a mark below what it is near, when that is clear.
pub fn show(message: &str, source: &[u8], name: &str) -> Option<String> {
    let name = name.trim_start_matches(['@', '=']);
    let at = message.find(name)? + name.len();
    let rest = message[at..].strip_prefix(':')?;
    let (number, rest) = rest.split_once(':')?;
    let line: usize = number.parse().ok()?;
    let text = source.split(|b| *b == b'\n').nth(line.checked_sub(1)?)?;
    let text = String::from_utf8_lossy(text).replace('\t', " ").trim_end().to_owned();
    if text.trim().is_empty() || text.chars().count() > 200 {
        return None;
    }
    let margin = format!("{line:>5} | ");
    let mut out = format!("{margin}{text}\n");
    if let Some(column) = column(rest, &text) {
        out.push_str(&format!("{}^\n", " ".repeat(margin.len() + column)));
    }
    Some(out)
}

/// Column, in characters from 0, of what a syntax error is near; `None` when it stands there more than once.
fn column(rest: &str, text: &str) -> Option<usize> {
    let near = rest.rsplit_once(" near '")?.1.strip_suffix('\'')?;
    let mut found = text.match_indices(near);
    let (at, _) = found.next()?;
    if near.is_empty() || found.next().is_some() {
        return None;
    }
    Some(text[..at].chars().count())
}

#[cfg(test)]
mod tests {
    use super::show;

    #[test]
    fn marks_what_is_near() {
        let source = b"local x = 1\nlocal y y = = 2\nreturn x";
        let shown = show("a.lua:2: unexpected symbol near '= 2'", source, "@a.lua");
        assert_eq!(shown.as_deref(), Some("    2 | local y y = = 2\n                    ^\n"));
    }

    #[test]
    fn what_stands_twice_is_not_marked() {
        let shown = show("stdin:1: unexpected symbol near '='", b"x = = 1", "=stdin");
        assert_eq!(shown.as_deref(), Some("    1 | x = = 1\n"));
    }

    #[test]
    fn what_is_elsewhere_is_not_shown() {
        assert_eq!(show("b.lua:1: boom", b"x", "@a.lua"), None);
        assert_eq!(show("a.lua:9: boom", b"x", "@a.lua"), None);
        assert_eq!(show("a.lua: boom", b"x", "@a.lua"), None);
    }
}
