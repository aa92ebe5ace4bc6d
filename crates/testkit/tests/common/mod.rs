//! The cases of `tests/clients/seeds.json`: what every seed script promises.

use serde_json::Value as Json;
use std::collections::HashMap;
use totality_testkit::sources;
use totality_testkit::value::Value;

/// One case: steps from an empty data set.
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// A command or a script with what it answers.
pub struct Step {
    /// What is called.
    pub call: Call,
    /// What it must answer.
    pub want: Json,
}

/// What a step calls.
pub enum Call {
    /// A command's words.
    Command(Vec<String>),
    /// A seed script by its name, with keys and arguments.
    Script(String, Vec<String>, Vec<String>),
}

fn strings(json: &Json) -> Vec<String> {
    json.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(String::from)).collect()
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let text = sources::read(&sources::root().join("tests/clients/seeds.json"));
    let json: Json = serde_json::from_str(&text).expect("seeds.json");
    let case = |c: &Json| Case {
        name: c["name"].as_str().unwrap_or_default().to_string(),
        steps: c["steps"].as_array().into_iter().flatten().map(step).collect(),
    };
    json.as_array().into_iter().flatten().map(case).collect()
}

fn step(json: &Json) -> Step {
    let call = match json["script"].as_str() {
        Some(name) => Call::Script(name.into(), strings(&json["keys"]), strings(&json["args"])),
        None => Call::Command(strings(&json["cmd"])),
    };
    Step { call, want: json["want"].clone() }
}

/// The texts of the seed scripts by name.
pub fn scripts() -> HashMap<String, String> {
    let name = |p: &std::path::Path| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    sources::files("scripts/seed", "lua").iter().map(|p| (name(p), sources::read(p))).collect()
}

/// Is this the reply that the case promises?
pub fn matches(want: &Json, got: &Value) -> bool {
    match (want, got) {
        (Json::Null, Value::Nil) => true,
        (Json::Number(n), Value::Int(i)) => n.as_i64() == Some(*i),
        (Json::String(s), Value::Bulk(b) | Value::Status(b)) => s.as_bytes() == b,
        (Json::Array(w), Value::Array(g)) => {
            w.len() == g.len() && w.iter().zip(g).all(|(w, g)| matches(w, g))
        }
        // ZSCORE over RESP3.
        (Json::String(s), Value::Double(b)) => s.as_bytes() == b,
        (Json::Object(o), got) => match (got, o.get("between"), o.get("error"), o.get("error_has")) {
            (Value::Int(n), Some(range), _, _) => (range[0].as_i64()..=range[1].as_i64()).contains(&Some(*n)),
            (Value::Error(e), _, Some(text), _) => text.as_str().is_some_and(|t| e.starts_with(t.as_bytes())),
            (Value::Error(_), _, _, Some(text)) => text.as_str().is_some_and(|t| got.text().contains(t)),
            _ => false,
        },
        _ => false,
    }
}
