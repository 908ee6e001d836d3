//! In proportion to the weights.

use super::Member;
use crate::draw::{Draw, Random, mix, scale};

/// Which point of the weights, laid end to end, a request gets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Point {
    /// The next of a sequence that meets every point once before it meets one again.
    Turn(u32),
    /// Always the same.
    Fixed(u64),
}

/// Evenly spread over the requests: after as many as the weights add up to, each target had exactly
/// its weight of them, and in any stretch before that nearly its share.
pub(super) fn by_turn(draw: &Draw) -> Point {
    Point::Turn(draw.turn)
}

/// The same for the same caller, as long as the targets are the same.
pub(super) fn by_caller(draw: &Draw) -> Point {
    Point::Fixed(mix(draw.caller))
}

/// The target whose weight holds the point; then targets drawn without putting them back, each in
/// proportion to the weights of those that are left. So when the first fails, its share is split
/// among the others by their weights. A target of weight 0 is never used.
pub(super) fn order<'a>(mut group: Vec<Member<'a>>, first: Point, most: usize) -> Vec<Member<'a>> {
    group.retain(|member| member.candidate.weight > 0);
    let mut random = Random::new(first.seed());
    let mut out = Vec::with_capacity(group.len().min(most));
    while !group.is_empty() && out.len() < most {
        let point = if out.is_empty() {
            first.within(&group)
        } else {
            scale(random.next(), total(&group))
        };
        let place = holder(&group, point);
        out.push(group.remove(place));
    }
    out
}

impl Point {
    fn seed(self) -> u64 {
        match self {
            Self::Turn(turn) => u64::from(turn),
            Self::Fixed(point) => point,
        }
    }

    fn within(self, group: &[Member<'_>]) -> u64 {
        let total = total(group);
        match self {
            Self::Turn(turn) => spread(turn, total, common_divisor(group)),
            Self::Fixed(point) => scale(point, total),
        }
    }
}

/// The point of a turn: `turn` steps of about the golden section of the total, around and around.
/// Such points are as far from each other as so many can be (Weyl's sequence), and since step and
/// number of places have no common divisor, each place is met once in a round.
fn spread(turn: u32, total: u64, unit: u64) -> u64 {
    let places = total.checked_div(unit).unwrap_or(0).max(1);
    let step = coprime_near(places * 618 / 1000, places);
    let place = u128::from(turn) * u128::from(step) % u128::from(places);
    u64::try_from(place).unwrap_or(0) * unit
}

/// The next number from `start` on that has no common divisor with `places`; 1 at the latest, since
/// `places + 1` has none. Numbers with many divisors in a row are short: a few steps.
fn coprime_near(start: u64, places: u64) -> u64 {
    let from = start.max(1);
    let found = (from..=places).find(|step| divisor(*step, places) == 1);
    found.unwrap_or(1)
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn total(group: &[Member<'_>]) -> u64 {
    group
        .iter()
        .map(|member| u64::from(member.candidate.weight))
        .sum()
}

/// Weights of 80 and 20 are those of 4 and 1, and repeat as soon.
fn common_divisor(group: &[Member<'_>]) -> u64 {
    let weights = group
        .iter()
        .map(|member| u64::from(member.candidate.weight));
    weights.fold(0, divisor).max(1)
}

/// The place whose weight holds this point of all weights laid end to end.
fn holder(group: &[Member<'_>], point: u64) -> usize {
    let mut end = 0;
    let holds = |member: &Member<'_>| {
        end += u64::from(member.candidate.weight);
        point < end
    };
    // A point below the total is always held by one; the last place stands for it otherwise.
    group
        .iter()
        .position(holds)
        .unwrap_or(group.len().saturating_sub(1))
}
