//! Arguments of commands, as COMMAND DOCS and HELP show them.
//!
//! The table has them as a text: arguments with blanks between, each a name, `:` and a letter for its type: `k`ey,
//! `s`tring, `i`nteger, `d`ouble, `p`attern, `u`nix-time, pure-`t`oken, `o`neof, `b`lock. What follows the letter:
//! `@0` the key spec it belongs to, `'TOKEN'` the word before it, `?` optional, `*` may be repeated, `+` its word too,
//! `^7.0.0` the version that brought it, `!7.0.0` the one that deprecated it, and in parentheses what a oneof or a block
//! consists of. `/` after the name is another name to show, in which `;` stands for a colon.
//!
//! `key:k@0 value:s condition:o?(nx:t'NX' xx:t'XX') get:t'GET'?^6.2.0`

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg<'a> {
    /// Its name.
    pub name: &'a str,
    /// The name to show, a colon in it as `;`.
    pub display: &'a str,
    /// Its type, as COMMAND DOCS names it.
    pub kind: &'static str,
    /// The key spec it belongs to.
    pub key: Option<i64>,
    /// The word before it.
    pub token: Option<&'a str>,
    /// It may be left out.
    pub optional: bool,
    /// It may be repeated.
    pub multiple: bool,
    /// Its word is repeated with it.
    pub multiple_token: bool,
    /// The version that brought it.
    pub since: Option<&'a str>,
    /// The version that deprecated it.
    pub deprecated: Option<&'a str>,
    /// What a oneof or a block consists of.
    pub args: Vec<Arg<'a>>,
}

impl Arg<'_> {
    /// Its flags, as COMMAND DOCS names them.
    pub fn flags(&self) -> Vec<&'static str> {
        [(self.optional, "optional"), (self.multiple, "multiple"), (self.multiple_token, "multiple_token")]
            .into_iter()
            .filter_map(|(on, name)| on.then_some(name))
            .collect()
    }
}

const KINDS: [(char, &str); 9] = [
    ('k', "key"),
    ('s', "string"),
    ('i', "integer"),
    ('d', "double"),
    ('p', "pattern"),
    ('u', "unix-time"),
    ('t', "pure-token"),
    ('o', "oneof"),
    ('b', "block"),
];

/// Reads a list of arguments. What is not in the notation ends it; a test sees to it that the table has none.
pub fn parse(text: &str) -> Vec<Arg<'_>> {
    list(&mut { text })
}

fn list<'a>(rest: &mut &'a str) -> Vec<Arg<'a>> {
    let mut out = Vec::new();
    loop {
        *rest = rest.trim_start_matches(' ');
        match arg(rest) {
            Some(arg) => out.push(arg),
            None => return out,
        }
    }
}

/// The text up to what `ends` says, which is left.
fn word<'a>(rest: &mut &'a str, ends: impl Fn(char) -> bool) -> &'a str {
    let (word, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
    *rest = after;
    word
}

fn arg<'a>(rest: &mut &'a str) -> Option<Arg<'a>> {
    let (head, after) =
        rest.split_once(':').filter(|(head, _)| !head.is_empty() && !head.contains([')', ' ']))?;
    let letter = after.chars().next()?;
    let kind = KINDS.iter().find(|(c, _)| *c == letter)?.1;
    *rest = &after[1..];
    let (name, display) = head.split_once('/').unwrap_or((head, head));
    let mut arg = Arg {
        name,
        display,
        kind,
        key: None,
        token: None,
        optional: false,
        multiple: false,
        multiple_token: false,
        since: None,
        deprecated: None,
        args: Vec::new(),
    };
    while let Some(mark) = rest.chars().next().filter(|c| !matches!(c, ' ' | ')')) {
        *rest = &rest[mark.len_utf8()..];
        let version = |c: char| !c.is_ascii_digit() && c != '.';
        match mark {
            '@' => arg.key = word(rest, |c| !c.is_ascii_digit()).parse().ok(),
            '\'' => {
                arg.token = Some(word(rest, |c| c == '\''));
                *rest = rest.strip_prefix('\'')?;
            }
            '?' => arg.optional = true,
            '*' => arg.multiple = true,
            '+' => arg.multiple_token = true,
            '^' => arg.since = Some(word(rest, version)),
            '!' => arg.deprecated = Some(word(rest, version)),
            '(' => {
                arg.args = list(rest);
                *rest = rest.strip_prefix(')')?;
            }
            _ => return None,
        }
    }
    Some(arg)
}

/// How the arguments are written, in the usual form: `<key> <value> [NX | XX] [GET]`.
pub fn synopsis(args: &[Arg<'_>]) -> String {
    let shown: Vec<String> = args.iter().map(one).collect();
    shown.join(" ")
}

fn one(arg: &Arg<'_>) -> String {
    let inner: Vec<String> = arg.args.iter().map(one).collect();
    let value = match arg.kind {
        "pure-token" => String::new(),
        "oneof" => inner.join(" | "),
        "block" => inner.join(" "),
        _ => format!("<{}>", arg.display.replace(';', ":")),
    };
    let mut text = match arg.token {
        Some(token) if value.is_empty() => token.to_owned(),
        Some(token) => format!("{token} {value}"),
        None => value,
    };
    if arg.multiple {
        let again = if arg.multiple_token || arg.token.is_none() {
            text.clone()
        } else {
            text.split_once(' ').map_or_else(String::new, |(_, value)| value.to_owned())
        };
        text = format!("{text} [{again} ...]");
    }
    match (arg.optional, arg.kind) {
        (true, _) => format!("[{text}]"),
        (false, "oneof") => format!("<{text}>"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation() {
        let args = parse(
            "key:k@0 value:s condition:o?(nx:t'NX' xx:t'XX'^2.0.0) field/f:s'FIELDS'*+?!7.2.4 b:b(x:i y:i)",
        );
        assert_eq!(args.len(), 5);
        assert_eq!((args[0].key, args[0].kind, args[0].display), (Some(0), "key", "key"));
        assert_eq!((args[2].args.len(), args[2].args[1].since), (2, Some("2.0.0")));
        assert_eq!(args[3].flags(), ["optional", "multiple", "multiple_token"]);
        assert_eq!(
            (args[3].token, args[3].deprecated, args[3].display),
            (Some("FIELDS"), Some("7.2.4"), "f")
        );
        assert_eq!(synopsis(&args), "<key> <value> [NX | XX] [FIELDS <f> [FIELDS <f> ...]] <x> <y>");
    }

    #[test]
    fn the_tables_arguments_are_in_the_notation() {
        for command in crate::commands::all() {
            let mut rest = command.spec.args;
            let args = list(&mut rest);
            assert_eq!(rest, "", "{}", command.full_name);
            for arg in args {
                let keys = command.spec.keys.len() as i64;
                assert!(arg.key.is_none_or(|key| key < keys), "{}", command.full_name);
            }
        }
    }
}
