//! Names of protocols and ciphers in the configuration, which are OpenSSL's.

use rustls::crypto::ring::ALL_CIPHER_SUITES;
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};

/// The protocols of `tls-protocols`; both when it says nothing.
///
/// # Errors
/// A name that is unknown, or a protocol that is not safe any more.
pub fn protocols(text: &str) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    if text.is_empty() {
        return Ok(rustls::ALL_VERSIONS.to_vec());
    }
    let mut out: Vec<&'static SupportedProtocolVersion> = Vec::new();
    for word in text.split_ascii_whitespace() {
        let version = match word.to_ascii_lowercase().as_str() {
            "tlsv1.2" => &rustls::version::TLS12,
            "tlsv1.3" => &rustls::version::TLS13,
            "tlsv1" | "tlsv1.1" => {
                return Err(format!(
                    "{word} is specified in tls-protocols but not supported: it is not safe. Use 'TLSv1.2' and 'TLSv1.3'."
                ));
            }
            _ => {
                return Err("Invalid tls-protocols specified. Use a combination of 'TLSv1.2' and 'TLSv1.3'."
                    .to_owned());
            }
        };
        if !out.iter().any(|known| known.version == version.version) {
            out.push(version);
        }
    }
    if out.is_empty() {
        return Err("Invalid tls-protocols configuration string".to_owned());
    }
    Ok(out)
}

/// The suites of `tls-ciphersuites` (TLS 1.3) and `tls-ciphers` (TLS 1.2), in their order; all for an empty text.
///
/// # Errors
/// Nothing of what is named is there for a protocol that is allowed.
pub fn suites(
    ciphers: &str,
    ciphersuites: &str,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<Vec<SupportedCipherSuite>, String> {
    let of =
        |new: bool| ALL_CIPHER_SUITES.iter().copied().filter(move |suite| suite.tls13().is_some() == new);
    let allowed = |new: bool| {
        let version = if new { &rustls::version::TLS13 } else { &rustls::version::TLS12 };
        versions.iter().any(|v| v.version == version.version)
    };
    let new: Vec<_> =
        if ciphersuites.is_empty() { of(true).collect() } else { newer(ciphersuites, of(true))? };
    let old: Vec<_> = if ciphers.is_empty() { of(false).collect() } else { older(ciphers, of(false)) };
    if new.is_empty() && allowed(true) {
        return Err(format!("Failed to configure ciphersuites: {ciphersuites}"));
    }
    if old.is_empty() && allowed(false) {
        return Err(format!("Failed to configure ciphers: {ciphers}"));
    }
    Ok(new.into_iter().chain(old).collect())
}

/// Suites that OpenSSL has and we have not.
const ABSENT: [&str; 2] = ["TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256"];

fn newer(
    text: &str,
    all: impl Iterator<Item = SupportedCipherSuite>,
) -> Result<Vec<SupportedCipherSuite>, String> {
    let all: Vec<_> = all.collect();
    let mut out = Vec::new();
    for name in text.split([':', ',', ' ']).filter(|name| !name.is_empty()) {
        match all.iter().find(|suite| iana(suite) == name) {
            Some(suite) if !out.contains(suite) => out.push(*suite),
            Some(_) => {}
            None if ABSENT.contains(&name) => {}
            None => return Err(format!("Failed to configure ciphersuites: {text}")),
        }
    }
    Ok(out)
}

/// A list in OpenSSL's notation. Names that are unknown are passed over, as OpenSSL does.
fn older(text: &str, all: impl Iterator<Item = SupportedCipherSuite>) -> Vec<SupportedCipherSuite> {
    let all: Vec<_> = all.collect();
    let mut out: Vec<SupportedCipherSuite> = Vec::new();
    let mut never: Vec<String> = Vec::new();
    for word in text.split([':', ',', ' ']).filter(|word| !word.is_empty() && !word.starts_with('@')) {
        let (mark, name) = match word.split_at(1) {
            (mark @ ("!" | "-" | "+"), rest) => (mark, rest),
            _ => ("", word),
        };
        match mark {
            "!" => {
                never.push(name.to_owned());
                out.retain(|suite| !is_named(suite, name));
            }
            "-" => out.retain(|suite| !is_named(suite, name)),
            // To the end of the list.
            "+" => out.sort_by_key(|suite| is_named(suite, name)),
            _ => {
                for suite in all.iter().filter(|suite| is_named(suite, name)) {
                    if !out.contains(suite) && !never.iter().any(|name| is_named(suite, name)) {
                        out.push(*suite);
                    }
                }
            }
        }
    }
    out
}

/// Is it this suite, or one of the suites that a word of OpenSSL's stands for?
fn is_named(suite: &SupportedCipherSuite, name: &str) -> bool {
    let own = openssl(suite);
    if name == own || name == iana(suite) {
        return true;
    }
    name.split('+').all(|word| match word {
        "DEFAULT" | "ALL" | "HIGH" | "COMPLEMENTOFDEFAULT" => true,
        "kECDHE" | "kEECDH" | "ECDHE" | "EECDH" | "ECDH" | "AEAD" | "TLSv1.2" => true,
        "aRSA" | "RSA" => own.contains("-RSA-"),
        "aECDSA" | "ECDSA" => own.contains("-ECDSA-"),
        "AES" | "AESGCM" => own.contains("-AES"),
        "AES128" => own.contains("-AES128-"),
        "AES256" => own.contains("-AES256-"),
        "CHACHA20" => own.contains("-CHACHA20-"),
        "SHA256" => own.ends_with("-SHA256"),
        "SHA384" => own.ends_with("-SHA384"),
        _ => false,
    })
}

/// `TLS_AES_128_GCM_SHA256`
fn iana(suite: &SupportedCipherSuite) -> String {
    format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1)
}

/// `ECDHE-RSA-AES128-GCM-SHA256`
fn openssl(suite: &SupportedCipherSuite) -> String {
    let name = iana(suite).replace("_WITH", "").replace("AES_", "AES").replace('_', "-");
    let name = name.strip_prefix("TLS-").unwrap_or(&name);
    match name.strip_suffix("-POLY1305-SHA256") {
        Some(chacha) => format!("{chacha}-POLY1305"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ciphers: &str, ciphersuites: &str) -> Result<Vec<String>, String> {
        let all = suites(ciphers, ciphersuites, rustls::ALL_VERSIONS)?;
        Ok(all.iter().map(|s| if s.tls13().is_some() { iana(s) } else { openssl(s) }).collect())
    }

    #[test]
    fn ciphers_have_openssls_names() {
        let list = "ECDHE-RSA-AES128-GCM-SHA256:AES256-SHA:ECDHE-ECDSA-CHACHA20-POLY1305";
        assert_eq!(
            shown(list, "TLS_CHACHA20_POLY1305_SHA256").unwrap(),
            ["TLS_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"]
        );
        let some = shown("DEFAULT:!MEDIUM:!AES128:-CHACHA20", "TLS_AES_128_GCM_SHA256").unwrap();
        assert_eq!(some[1..], ["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384"]);
        assert_eq!(shown("", "").unwrap().len(), 9);
        assert_eq!(shown("AES256-SHA", ""), Err("Failed to configure ciphers: AES256-SHA".to_owned()));
        assert_eq!(shown("", "NOSUCH"), Err("Failed to configure ciphersuites: NOSUCH".to_owned()));
        assert_eq!(
            shown("", "TLS_AES_128_CCM_SHA256"),
            Err("Failed to configure ciphersuites: TLS_AES_128_CCM_SHA256".to_owned())
        );
    }

    #[test]
    fn protocols_that_are_not_safe_are_refused() {
        assert_eq!(protocols("").unwrap().len(), 2);
        assert_eq!(protocols("TLSv1.3 tlsv1.3").unwrap().len(), 1);
        assert!(protocols("TLSv1 TLSv1.2").unwrap_err().starts_with("TLSv1 is specified"));
        assert!(protocols("SSLv3").unwrap_err().starts_with("Invalid tls-protocols specified."));
        assert!(protocols("  ").is_err());
        // What is not allowed needs no cipher.
        assert!(suites("AES256-SHA", "", &protocols("TLSv1.3").unwrap()).is_ok());
    }
}
