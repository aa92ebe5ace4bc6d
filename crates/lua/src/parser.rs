pub(crate) fn parse(
    _s: &[u8],
    _short: &str,
    _l: crate::chunk::CompileLimits,
    _depth: u32,
    _step: crate::lexer::Step<'_>,
) -> Result<crate::chunk::Proto, crate::lexer::Fail> {
    Err(crate::lexer::Fail::Syntax(Vec::new()))
}
