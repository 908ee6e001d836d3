//! What somebody may have meant who wrote a name that is none.

/// Longest name that is compared: the comparison takes the product of two lengths.
const MAX_NAME_BYTES: usize = 128;
/// Most letters that may differ.
const MAX_DISTANCE: usize = 2;

/// `; did you mean ...?` if one of the names is close, else nothing.
pub fn hint<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    if wrong.len() > MAX_NAME_BYTES {
        return String::new();
    }
    let near = names
        .filter(|name| {
            name.len() <= MAX_NAME_BYTES && name.len().abs_diff(wrong.len()) <= MAX_DISTANCE
        })
        .map(|name| (distance(wrong.as_bytes(), name.as_bytes()), name))
        .filter(|(distance, _)| *distance <= MAX_DISTANCE)
        .min();
    near.map_or_else(String::new, |(_, name)| format!("; did you mean {name}?"))
}

/// Letters to change, add or take away.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, a) in one.iter().enumerate() {
        let mut corner = at;
        let mut left = at + 1;
        let mut next = vec![left];
        for (above, b) in row.iter().skip(1).zip(other) {
            let change = corner + usize::from(a != b);
            left = change.min(left + 1).min(above + 1);
            corner = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, hint};

    #[test]
    fn the_nearest_name_is_meant() {
        let names = ["filters", "filter_chains", "metadata"];
        assert_eq!(
            hint("filter_chain", names.into_iter()),
            "; did you mean filter_chains?"
        );
        assert_eq!(hint("nothing", names.into_iter()), "");
    }

    #[test]
    fn a_distance_counts_letters() {
        for (one, other, expected) in [
            ("", "ab", 2),
            ("abc", "abc", 0),
            ("abc", "axc", 1),
            ("abc", "bc", 1),
        ] {
            assert_eq!(
                distance(one.as_bytes(), other.as_bytes()),
                expected,
                "{one} {other}"
            );
        }
    }
}
