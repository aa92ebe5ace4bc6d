//! ACL files: a line `user <name> <rules>` each, nothing else.

use super::rules::{RuleError, is_word, merge_selectors};
use super::user::User;
use crate::config::Config;
use crate::state::ServerState;

/// The users of a file. `path` is for messages; `all_channels` is what `acl-pubsub-default` says.
///
/// # Errors
/// All that is wrong with it, in Redis's words: then nothing of it may be used.
pub fn parse_file(path: &str, text: &[u8], all_channels: bool) -> Result<Vec<User>, String> {
    let mut users: Vec<User> = Vec::new();
    let mut errors = String::new();
    for (i, line) in text.split(|b| *b == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match parse_line(path, i + 1, line, all_channels) {
            Ok(user) if users.iter().any(|other| other.name == user.name) => {
                let name = String::from_utf8_lossy(&user.name);
                errors.push_str(&format!("WARNING: Duplicate user '{name}' found on line {}. ", i + 1));
            }
            Ok(user) => users.push(user),
            Err(text) => errors.push_str(&text),
        }
    }
    if errors.is_empty() {
        return Ok(users);
    }
    errors
        .push_str("WARNING: ACL errors detected, no change to the previously active ACL rules was performed");
    Err(errors)
}

fn parse_line(path: &str, number: usize, line: &[u8], all_channels: bool) -> Result<User, String> {
    let words: Vec<&[u8]> = line.split(|b| *b == b' ').collect();
    let [b"user", name, rules @ ..] = words.as_slice() else {
        return Err(format!("{path}:{number} should start with user keyword followed by the username. "));
    };
    if !is_word(name) {
        let name = String::from_utf8_lossy(name);
        return Err(format!("'{path}:{number}: username '{name}' contains invalid characters. "));
    }
    let rules = merge_selectors(rules)
        .map_err(|_| format!("{path}:{number}: Unmatched parenthesis in selector definition."))?;
    let mut user = User::new(name, all_channels);
    let (mut errors, mut told) = (String::new(), false);
    for rule in &rules {
        let rule = rule.trim_ascii();
        match user.apply(rule, all_channels) {
            Ok(()) => {}
            // Names of commands are no secret, other rules may hold one.
            Err(error @ RuleError::Unknown) => errors.push_str(&format!(
                "{path}:{number}: Error in applying operation '{}': {}. ",
                String::from_utf8_lossy(rule),
                error.text()
            )),
            Err(error) if !told => {
                errors.push_str(&format!("{path}:{number}: {}. ", error.text()));
                told = true;
            }
            Err(_) => {}
        }
    }
    if errors.is_empty() { Ok(user) } else { Err(errors) }
}

/// Takes a line `user <name> <rules>` of a configuration file.
///
/// # Errors
/// What is wrong with it.
pub fn declare(config: &mut Config, words: &[&[u8]]) -> Result<(), String> {
    let wrong = |word: &[u8], why: &str| {
        Err(format!("Error in user declaration '{}': {why}", String::from_utf8_lossy(word)))
    };
    let [name, rules @ ..] = words else { return Err("wrong number of arguments".to_owned()) };
    if !is_word(name) {
        return wrong(name, "Spaces not allowed in ACL usernames");
    }
    if config.users.iter().any(|user| user.first().is_some_and(|other| other == name)) {
        return wrong(name, RuleError::Duplicate.text());
    }
    let rules = match merge_selectors(rules) {
        Ok(rules) => rules,
        Err(word) => return wrong(word, "Unmatched parenthesis in selector definition"),
    };
    let mut user = User::new(name, false);
    for rule in &rules {
        if let Err(error) = user.apply(rule, false) {
            return wrong(rule, error.text());
        }
    }
    config.users.push(std::iter::once(name.to_vec()).chain(rules).collect());
    Ok(())
}

/// The users that the configuration declares.
///
/// # Errors
/// A rule contradicts `acl-pubsub-default`.
pub fn configured(config: &Config) -> Result<Vec<User>, String> {
    let all_channels = config.acl_all_channels();
    let mut users = Vec::new();
    for words in &config.users {
        let Some((name, rules)) = words.split_first() else { continue };
        let mut user = User::new(name, all_channels);
        for rule in rules {
            user.apply(rule, all_channels).map_err(|error| {
                let (rule, name) = (String::from_utf8_lossy(rule), String::from_utf8_lossy(name));
                format!("Error loading ACL rule '{rule}' for the user named '{name}': {}", error.text())
            })?;
        }
        users.push(user);
    }
    Ok(users)
}

/// The lines that CONFIG REWRITE writes: none when there is an ACL file, or for a default user who is what
/// `requirepass` makes of him.
pub fn declarations(sv: &ServerState) -> Vec<Vec<Vec<u8>>> {
    if !sv.config.aclfile.is_empty() {
        return Vec::new();
    }
    let line = |user: &User| {
        let mut line = Vec::new();
        user.line(&mut line);
        line
    };
    let mut plain = User::all_powerful();
    plain.set_password(sv.config.requirepass.as_bytes());
    let plain = line(&plain);
    let lines = sv.acl.users().map(|user| line(user)).filter(|line| *line != plain);
    lines.map(|line| line.split(|b| *b == b' ').skip(1).map(<[u8]>::to_vec).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_good_as_a_whole_or_not_at_all() {
        let users = parse_file("f", b"user a on >x ~* +@all\n\n user b (+get\t ~k) \r\n", false).unwrap();
        assert_eq!(users.len(), 2);
        let wrong = b"user a +nosuch\nusr b\nuser c x y\nuser c\nuser c\n";
        assert_eq!(
            parse_file("f", wrong, false).unwrap_err(),
            "f:1: Error in applying operation '+nosuch': Unknown command or category name in ACL. f:2 should start with user keyword followed by the username. f:3: Syntax error. WARNING: Duplicate user 'c' found on line 5. WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
        );
    }
}
