//! Whatever way the bytes arrive, the same commands and replies come out, and nothing panics.

use proptest::prelude::*;
use totality_resp::{Limits, Parsed, Parser, ProtocolError, Reply, ReplyParser, write};

type Commands = (Vec<Vec<Vec<u8>>>, Option<ProtocolError>);

/// Feeds `bytes` in pieces that end at `cuts`, compacting the buffer as a server does.
fn feed(bytes: &[u8], cuts: &[usize], limits: &Limits) -> Commands {
    let (mut parser, mut buf, mut start, mut out) = (Parser::new(), Vec::new(), 0, Vec::new());
    let mut from = 0;
    for to in cuts.iter().copied().chain([bytes.len()]) {
        let to = to.clamp(from, bytes.len());
        buf.extend_from_slice(&bytes[from..to]);
        from = to;
        loop {
            match parser.parse(&buf[start..], limits) {
                Err(e) => return (out, Some(e)),
                Ok(Parsed::More(n)) => {
                    assert!(n > 0);
                    break;
                }
                Ok(Parsed::Empty(n)) => start += n,
                Ok(Parsed::Command(n)) => {
                    assert_eq!(parser.args(&buf[start..]).len(), parser.argc());
                    out.push(parser.args(&buf[start..]).map(<[u8]>::to_vec).collect());
                    start += n;
                }
            }
        }
        buf.drain(..start);
        start = 0;
    }
    (out, None)
}

fn token() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"*".to_vec()),
        Just(b"$".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"-1".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"\\x4".to_vec()),
        (0u32..30).prop_map(|n| n.to_string().into_bytes()),
        (0u32..6).prop_map(|n| format!("*{n}\r\n").into_bytes()),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(|b| {
            let mut out = Vec::new();
            write::bulk(&mut out, &b);
            out
        }),
        prop::collection::vec(any::<u8>(), 0..8),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_split_gives_the_same_commands(
        commands in prop::collection::vec(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..6), 1..6),
        cuts in prop::collection::vec(0usize..3000, 0..8),
    ) {
        let mut bytes = Vec::new();
        for (i, c) in commands.iter().enumerate() {
            if i % 2 == 1 {
                bytes.extend_from_slice(b"\r\n");
            }
            write::command(&mut bytes, c);
        }
        let mut cuts = cuts;
        cuts.sort_unstable();
        prop_assert_eq!(feed(&bytes, &cuts, &Limits::default()), (commands, None));
    }

    #[test]
    fn garbage_is_read_the_same_whole_or_in_bytes(tokens in prop::collection::vec(token(), 0..30)) {
        let bytes = tokens.concat();
        let every: Vec<usize> = (1..bytes.len()).collect();
        for authenticated in [true, false] {
            let limits = Limits { authenticated, max_bulk: 100 };
            prop_assert_eq!(feed(&bytes, &[], &limits), feed(&bytes, &every, &limits));
        }
    }

    #[test]
    fn replies_too(tokens in prop::collection::vec(reply_token(), 0..30)) {
        let bytes = tokens.concat();
        let every: Vec<usize> = (1..bytes.len()).collect();
        prop_assert_eq!(replies(&bytes, &[]), replies(&bytes, &every));
    }
}

fn reply_token() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        5 => token(),
        3 => Just(b":5\r\n".to_vec()),
        1 => Just(b"%1\r\n".to_vec()),
        1 => Just(b"|1\r\n".to_vec()),
        1 => Just(b"~2\r\n".to_vec()),
        1 => Just(b"_\r\n".to_vec()),
        1 => Just(b"=5\r\ntxt:a\r\n".to_vec()),
    ]
}

fn replies(bytes: &[u8], cuts: &[usize]) -> (Vec<Reply>, Option<totality_resp::ReplyError>) {
    let (mut parser, mut start, mut out) = (ReplyParser::new(), 0, Vec::new());
    for to in cuts.iter().copied().chain([bytes.len()]) {
        loop {
            match parser.parse(&bytes[start.min(to)..to]) {
                Err(e) => return (out, Some(e)),
                Ok(None) => break,
                Ok(Some((reply, n))) => {
                    out.push(reply);
                    start += n;
                }
            }
        }
    }
    (out, None)
}
