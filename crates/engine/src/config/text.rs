//! Values of parameters as text.

/// Reads bytes with a unit: `1k` = 1000, `1kb` = 1024, … Without digits it is 0, as in Redis. Percentages and negative
/// numbers are not read here.
pub fn parse_memory(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let unit: u64 = match text[digits..].to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1000,
        b"kb" => 1 << 10,
        b"m" => 1_000_000,
        b"mb" => 1 << 20,
        b"g" => 1_000_000_000,
        b"gb" => 1 << 30,
        _ => return None,
    };
    if digits == 0 {
        return Some(0);
    }
    std::str::from_utf8(&text[..digits]).ok()?.parse::<u64>().ok()?.checked_mul(unit)
}

/// `yes` or `no`.
pub fn parse_bool(text: &[u8]) -> Option<bool> {
    if text.eq_ignore_ascii_case(b"yes") {
        Some(true)
    } else if text.eq_ignore_ascii_case(b"no") {
        Some(false)
    } else {
        None
    }
}

/// A number with up to six decimals and no trailing zeros.
pub fn trimmed(n: f64) -> String {
    let text = format!("{n:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(parse_memory(b"1kb"), Some(1024));
        assert_eq!(parse_memory(b"1K"), Some(1000));
        assert_eq!(parse_memory(b"100"), Some(100));
        assert_eq!(parse_memory(b"1tb"), None);
        assert_eq!((parse_memory(b"kb"), parse_memory(b"")), (Some(0), Some(0)));
        assert_eq!(parse_memory(b"-1"), None);
        assert_eq!(parse_memory(b"99999999999gb"), None);
    }
}
