//! SORT_RO: SORT without STORE, for replicas and read-only scripts.
//!
//! ```transcript
//! > RPUSH l 3 1 2
//! (integer) 3
//! > SORT_RO l DESC
//! 1) "3"
//! 2) "2"
//! 3) "1"
//! > SORT_RO l STORE d
//! (error) ERR syntax error
//! ```

use crate::commands::sort_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Cat, Flags, Group, KEY_READ, KeySpec, Spec};

/// The table's row.
pub const SPEC: Spec =
    Spec::new("sort_ro", -2, Group::Generic, Flags::READONLY.union(Flags::MOVABLE_KEYS), run).args("key:k@0 by-pattern/pattern:p@1'BY'? limit:b'LIMIT'?(offset:i count:i) get-pattern/pattern:p@1'GET'?*+ order:o?(asc:t'ASC' desc:t'DESC') sorting:t'ALPHA'?")
        .cats(Cat::SET.union(Cat::SORTEDSET).union(Cat::LIST).union(Cat::DANGEROUS).union(Cat::NOT_OF_GROUP))
        .keys(&[KeySpec::one(1, KEY_READ), super::sort::UNKNOWN])
        .doc(
            "7.0.0",
            "O(N+M*log(M)) for N elements, M of which are answered",
            "Sorts the elements of a list, set or sorted set.",
        );

fn run(cx: &mut Cx<'_>) -> Res {
    sort_util::sort(cx, true)
}
