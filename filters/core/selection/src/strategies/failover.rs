//! The first target as long as it works, then the second, and so on.

use super::Member;

pub(super) fn order(mut group: Vec<Member<'_>>, most: usize) -> Vec<Member<'_>> {
    group.truncate(most);
    group
}
