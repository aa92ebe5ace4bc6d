//! SORT: the elements of a list, set or sorted set in order, or in the order of other keys, or other keys in place of
//! them; stored as a list if wanted.
//!
//! Numbers are compared unless ALPHA says otherwise. In a pattern of BY or GET the first `*` stands for the element, and
//! `->field` takes a field of the hash there; `GET #` is the element itself. A BY pattern without `*` leaves the order
//! as it is. With STORE, what GET does not find is stored as an empty string.
//!
//! ```transcript
//! > RPUSH l 3 10 2
//! (integer) 3
//! > SORT l
//! 1) "2"
//! 2) "3"
//! 3) "10"
//! > SORT l ALPHA DESC LIMIT 0 2
//! 1) "3"
//! 2) "2"
//! > MSET w_2 9 w_3 1 w_10 5
//! OK
//! > SORT l BY w_* GET # GET w_*
//! 1) "3"
//! 2) "1"
//! 3) "10"
//! 4) "5"
//! 5) "2"
//! 6) "9"
//! > SORT l STORE d
//! (integer) 3
//! > LRANGE d 0 -1
//! 1) "2"
//! 2) "3"
//! 3) "10"
//! > RPUSH l x
//! (integer) 4
//! > SORT l
//! (error) ERR One or more scores can't be converted into double
//! # not script: the keys of patterns cannot be declared
//! ```

use crate::commands::sort_util;
use crate::cx::Cx;
use crate::error::Res;
use crate::spec::{Begin, Cat, Find, Flags, Group, KEY_READ, KEY_STORE, KeyFlags, KeySpec, Spec};

/// Keys that only the command itself can tell.
pub(super) const UNKNOWN: KeySpec =
    KeySpec { begin: Begin::Unknown, find: Find::Unknown, flags: KEY_READ.union(KeyFlags::INCOMPLETE) };

/// The table's row.
pub const SPEC: Spec = Spec::new(
    "sort",
    -2,
    Group::Generic,
    Flags::WRITE.union(Flags::DENYOOM).union(Flags::MOVABLE_KEYS),
    run,
).args("key:k@0 by-pattern/pattern:p@1'BY'? limit:b'LIMIT'?(offset:i count:i) get-pattern/pattern:p@1'GET'?*+ order:o?(asc:t'ASC' desc:t'DESC') sorting:t'ALPHA'? destination:k@2'STORE'?")
.cats(Cat::SET.union(Cat::SORTEDSET).union(Cat::LIST).union(Cat::DANGEROUS).union(Cat::NOT_OF_GROUP))
.keys(&[
    KeySpec::one(1, KEY_READ),
    UNKNOWN,
    KeySpec { begin: Begin::Unknown, find: Find::Unknown, flags: KEY_STORE.union(KeyFlags::INCOMPLETE) },
])
.doc(
    "1.0.0",
    "O(N+M*log(M)) for N elements, M of which are answered",
    "Sorts the elements of a list, set or sorted set, and stores them if wanted.",
);

fn run(cx: &mut Cx<'_>) -> Res {
    sort_util::sort(cx, false)
}
