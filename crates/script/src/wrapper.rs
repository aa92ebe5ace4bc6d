//! One script on one target, for scripts without a type of their own: your files, and the seeds'.

use crate::error::Error;
use crate::header::CodeSpec;
use crate::reply::{Http, MAX_FIELDS};
use crate::runner::Runner;
use crate::script::Script;
use crate::target::Target;
use crate::value::Value;

/// A script with the target that it runs on.
#[derive(Debug)]
pub struct Wrapper<'r, T> {
    runner: &'r mut Runner<T>,
    script: Script,
}

/// What an answer means, by the header's codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The code.
    pub code: i64,
    /// Its name.
    pub name: String,
    /// True for codes above 0: it was done.
    pub done: bool,
    /// True for code 0: a rule refused it.
    pub refused: bool,
    /// What it maps to in HTTP, if the header says so.
    pub http: Option<Http>,
}

impl<'r, T: Target> Wrapper<'r, T> {
    /// A script on the target of a runner.
    pub fn new(runner: &'r mut Runner<T>, script: Script) -> Wrapper<'r, T> {
        Wrapper { runner, script }
    }

    /// Its name.
    pub fn script_name(&self) -> &str {
        self.script.name()
    }

    /// The SHA1 that it is called by.
    pub fn script_sha(&mut self) -> &str {
        let rendering = self.runner.target().rendering();
        self.script.sha(rendering)
    }

    /// Loads it on the node that serves this key (any node without one).
    ///
    /// # Errors
    /// [`Error`].
    pub fn load_script(&mut self, key: Option<&[u8]>) -> Result<(), Error> {
        self.runner.load(&self.script, key)
    }

    /// Runs it.
    ///
    /// # Errors
    /// [`Error`].
    pub fn execute<K: AsRef<[u8]>, A: AsRef<[u8]>>(
        &mut self,
        keys: &[K],
        args: &[A],
    ) -> Result<Value, Error> {
        self.runner.run(&self.script, keys, args)
    }

    /// Checks a reply against the header and gives its integers, the code first, and its string.
    ///
    /// # Errors
    /// [`Error::Contract`], [`Error::UnknownCode`]; a header without `@reply` promises nothing to check.
    pub fn parse_result(&self, value: Value) -> Result<(Vec<i64>, Option<Vec<u8>>), Error> {
        parse_result(&self.script, value)
    }

    /// What parsed integers mean.
    ///
    /// # Errors
    /// [`Error::UnknownCode`].
    pub fn map_to_domain_decision(&self, ints: &[i64]) -> Result<Decision, Error> {
        let code = ints.first().copied().unwrap_or_default();
        let header = self.script.header();
        let unknown = || Error::UnknownCode { script: header.name.clone(), code };
        let spec = header.code(code).ok_or_else(unknown)?;
        let http = spec.http.map(|status| Http::new(status, retry_ms(&self.script, spec, ints)));
        Ok(Decision { code, name: spec.name.clone(), done: code > 0, refused: code == 0, http })
    }
}

fn retry_ms(script: &Script, spec: &CodeSpec, ints: &[i64]) -> i64 {
    let fields = script.header().reply.as_deref().unwrap_or_default();
    let place = spec.retry_after.as_ref().and_then(|name| fields.iter().position(|f| f.name == *name));
    place.and_then(|i| ints.get(i)).copied().unwrap_or(-1)
}

/// Checks a reply against a header.
pub(crate) fn parse_result(script: &Script, value: Value) -> Result<(Vec<i64>, Option<Vec<u8>>), Error> {
    let contract = |why: String| Error::Contract { script: script.name().into(), why };
    let Some(fields) = &script.header().reply else {
        return Err(contract("the header has no @reply".into()));
    };
    let Value::Array(items) = value else { return Err(contract("not an array".into())) };
    if items.len() != fields.len() || items.len() > MAX_FIELDS + 1 {
        return Err(contract(format!("{} fields instead of {}", items.len(), fields.len())));
    }
    let (mut ints, mut bytes) = (Vec::with_capacity(items.len()), None);
    for (item, field) in items.into_iter().zip(fields) {
        match item {
            Value::Int(n) if !field.bytes => ints.push(n),
            Value::Bulk(b) if field.bytes => bytes = Some(b),
            _ => return Err(contract(format!("the field {} is of another type", field.name))),
        }
    }
    let code = ints.first().copied().unwrap_or_default();
    if script.header().code(code).is_none() {
        return Err(Error::UnknownCode { script: script.name().into(), code });
    }
    Ok((ints, bytes))
}
