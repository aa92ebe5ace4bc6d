//! DEBUG DIGEST and DIGEST-VALUE: 160 bits that are equal for equal data, however it is encoded. Elements without an
//! order are combined by XOR, those with one by hashing what came before.

use crate::cx::Cx;
use crate::error::Res;
use crate::keyspace::{Entry, Keyspace, NO_EXPIRY};
use crate::value::Value;
use sha1::{Digest, Sha1};
use totality_ds::StreamId;

type Hash160 = [u8; 20];

fn hash(parts: &[&[u8]]) -> Hash160 {
    let mut sha = Sha1::new();
    for part in parts {
        // Lengths keep "a","bc" apart from "ab","c".
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part);
    }
    sha.finalize().into()
}

/// Combines without an order.
fn xor(digest: &mut Hash160, parts: &[&[u8]]) {
    digest.iter_mut().zip(hash(parts)).for_each(|(a, b)| *a ^= b);
}

/// Combines in order.
fn chain(digest: &mut Hash160, part: &[u8]) {
    *digest = hash(&[&*digest, part]);
}

fn value_digest(ks: &Keyspace, entry: &Entry) -> Hash160 {
    let mut digest = Hash160::default();
    match &entry.value {
        Value::List(list) => list.iter().for_each(|item| item.with_bytes(|bytes| chain(&mut digest, bytes))),
        Value::Set(set) => set.iter().for_each(|item| item.with_bytes(|bytes| xor(&mut digest, &[bytes]))),
        Value::Hash(map) => {
            for (name, value) in map.iter(ks.now) {
                name.with_bytes(|name| value.with_bytes(|value| xor(&mut digest, &[name, value])));
            }
        }
        Value::ZSet(zset) => {
            for (member, score) in zset.iter() {
                let mut text = Vec::new();
                totality_ds::num::push_f64(&mut text, score);
                member.with_bytes(|member| xor(&mut digest, &[member, &text]));
            }
        }
        Value::Stream(stream) => {
            for entry in stream.log().entries().range(StreamId::MIN, StreamId::MAX) {
                chain(&mut digest, &entry.id.to_be_bytes());
                for (field, value) in entry.fields() {
                    field.with_bytes(|bytes| chain(&mut digest, bytes));
                    value.with_bytes(|bytes| chain(&mut digest, bytes));
                }
            }
        }
        value => {
            if let Ok(text) = value.as_str() {
                chain(&mut digest, &text);
            }
        }
    }
    chain(&mut digest, entry.value.kind().name().as_bytes());
    if entry.expire != NO_EXPIRY {
        chain(&mut digest, b"deadline");
    }
    digest
}

fn hex(digest: &Hash160) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// DEBUG DIGEST-VALUE: one digest for each key; zeros for absent ones.
pub(super) fn values(cx: &mut Cx<'_>) -> Res {
    cx.reply.array(cx.argc() - 2);
    for key in &cx.args[2..] {
        let digest = cx.ks.view(key).map(|entry| value_digest(cx.ks, entry)).unwrap_or_default();
        cx.reply.simple(&hex(&digest));
    }
    Ok(())
}

/// DEBUG DIGEST: one digest of everything; zeros for an empty data set.
pub(super) fn all(cx: &mut Cx<'_>) -> Res {
    let mut digest = Hash160::default();
    for (number, db) in cx.ks.dbs().iter().enumerate() {
        for entry in db.dict().iter() {
            let value = value_digest(cx.ks, entry);
            xor(&mut digest, &[&number.to_le_bytes(), &entry.key, &value]);
        }
    }
    cx.reply.simple(&hex(&digest));
    Ok(())
}
