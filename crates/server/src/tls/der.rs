//! The few fields of a certificate that the TLS library does not give: subject's common name, serial number, last day.

use rustls::pki_types::CertificateDer;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const OID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const VERSION: u8 = 0xa0;
/// 2.5.4.3
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// Number and end of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validity {
    /// Serial number in hexadecimal digits.
    pub serial: String,
    /// Seconds since the Unix epoch at which it ends.
    pub ends: i64,
}

/// Takes one element from the front: its tag and its content.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&tag, after) = rest.split_first()?;
    let (&first, mut after) = after.split_first()?;
    let mut len = usize::from(first);
    if first >= 0x80 {
        let digits = usize::from(first & 0x7f);
        if digits == 0 || digits > 4 {
            return None;
        }
        let (bytes, tail) = after.split_at_checked(digits)?;
        len = bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
        after = tail;
    }
    let (content, tail) = after.split_at_checked(len)?;
    *rest = tail;
    Some((tag, content))
}

fn expect<'a>(rest: &mut &'a [u8], wanted: u8) -> Option<&'a [u8]> {
    next(rest).filter(|(tag, _)| *tag == wanted).map(|(_, content)| content)
}

/// Serial number, validity and subject, as they stand in the certificate.
fn fields<'a>(cert: &'a CertificateDer<'_>) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
    let mut outer: &[u8] = cert;
    let mut certificate = expect(&mut outer, SEQUENCE)?;
    let mut tbs = expect(&mut certificate, SEQUENCE)?;
    if tbs.first() == Some(&VERSION) {
        next(&mut tbs)?;
    }
    let serial = expect(&mut tbs, INTEGER)?;
    expect(&mut tbs, SEQUENCE)?;
    expect(&mut tbs, SEQUENCE)?;
    let validity = expect(&mut tbs, SEQUENCE)?;
    let subject = expect(&mut tbs, SEQUENCE)?;
    Some((serial, validity, subject))
}

/// The first common name of the subject. One with a NUL byte in it is none: others might read only what is before.
pub fn common_name(cert: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let (_, _, mut subject) = fields(cert)?;
    while !subject.is_empty() {
        let mut set = expect(&mut subject, SET)?;
        while !set.is_empty() {
            let mut pair = expect(&mut set, SEQUENCE)?;
            let name = expect(&mut pair, OID)?;
            let (_, value) = next(&mut pair)?;
            if name == COMMON_NAME {
                return (!value.is_empty() && !value.contains(&0)).then(|| value.to_vec());
            }
        }
    }
    None
}

/// Serial number and last second.
pub fn validity(cert: &CertificateDer<'_>) -> Option<Validity> {
    let (serial, mut validity, _) = fields(cert)?;
    next(&mut validity)?;
    let (tag, text) = next(&mut validity)?;
    let ends = match tag {
        UTC_TIME => {
            let year = digits(text, 0, 2)?;
            seconds(year + if year < 50 { 2000 } else { 1900 }, text.get(2..)?)?
        }
        GENERALIZED_TIME => seconds(digits(text, 0, 4)?, text.get(4..)?)?,
        _ => return None,
    };
    let start = serial.iter().position(|byte| *byte != 0).unwrap_or(serial.len());
    let serial = serial[start..].iter().map(|byte| format!("{byte:02X}")).collect();
    Some(Validity { serial, ends })
}

fn digits(text: &[u8], from: usize, count: usize) -> Option<i64> {
    let part = text.get(from..from + count)?;
    part.iter()
        .all(u8::is_ascii_digit)
        .then(|| part.iter().fold(0, |n, digit| n * 10 + i64::from(digit - b'0')))
}

/// `MMDDhhmmssZ` of a year, in seconds since the Unix epoch.
fn seconds(year: i64, text: &[u8]) -> Option<i64> {
    let at = |i: usize| digits(text, 2 * i, 2);
    let (month, day) = (at(0)?, at(1)?);
    if !(1..=12).contains(&month) {
        return None;
    }
    // Days since 1 March of the year 0, of which 719,468 are before the epoch.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + at(2)? * 3600 + at(3)? * 60 + at(4)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SerialNumber, date_time_ymd};

    fn cert(name: &str, year: i32) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "somebody");
        params.distinguished_name.push(DnType::CommonName, name);
        params.serial_number = Some(SerialNumber::from(vec![0x0a, 0xbc]));
        params.not_after = date_time_ymd(year, 2, 28);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    #[test]
    fn fields_of_a_certificate() {
        let made = cert("alice", 2049);
        assert_eq!(common_name(&made), Some(b"alice".to_vec()));
        assert_eq!(validity(&made), Some(Validity { serial: "0ABC".to_owned(), ends: 2_498_083_200 }));
        // From 2050 on the time has another form.
        assert_eq!(validity(&cert("bob", 2050)).unwrap().ends, 2_529_619_200);
        assert_eq!(common_name(&cert("a\0b", 2049)), None);
    }

    #[test]
    fn no_piece_of_a_certificate_does_harm() {
        let made = cert("alice", 2049);
        for end in 0..made.len() {
            let piece = CertificateDer::from(made[..end].to_vec());
            assert_eq!((common_name(&piece), validity(&piece)), (None, None));
        }
        for at in 0..made.len() {
            for byte in [0, 0x30, 0x7f, 0x80, 0x84, 0xff] {
                let mut changed = made.to_vec();
                changed[at] = byte;
                let changed = CertificateDer::from(changed);
                let _ = (common_name(&changed), validity(&changed));
            }
        }
    }
}
