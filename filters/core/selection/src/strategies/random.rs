//! Each target with the same chance.

use super::Member;
use crate::draw::Random;

/// Drawn without putting back.
pub(super) fn order(mut group: Vec<Member<'_>>, random: u64, most: usize) -> Vec<Member<'_>> {
    let mut random = Random::new(random);
    let most = most.min(group.len());
    for place in 0..most {
        let drawn = place + random.below(group.len() - place);
        group.swap(place, drawn);
    }
    group.truncate(most);
    group
}
