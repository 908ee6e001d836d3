//! What a request shows as its credential. Bytes throughout: header values need not be text.

use dragoman_sdk::host::Pairs;

use crate::reason::Reason;

/// Longest key that is looked up, in bytes. Real ones have some dozens; hashing more would be work
/// that anybody can order.
pub(crate) const MAX_KEY_BYTES: usize = 4096;

const SCHEME: &[u8] = b"bearer";

/// What one header line says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim<'a> {
    Key(&'a [u8]),
    /// Another scheme than `Bearer`, or none.
    Other(&'a [u8]),
}

/// The one key of the request.
///
/// An empty value claims nothing. The same key in several places is one key; two different claims
/// are refused, because somebody else may have looked at the other one.
///
/// # Errors
/// [`Reason::Missing`], [`Reason::Several`], or [`Reason::Malformed`] and [`Reason::TooLong`] for
/// what cannot be a key.
pub(crate) fn presented(headers: &Pairs) -> Result<&[u8], Reason> {
    let mut claims = headers.iter().flat_map(|(name, value)| claims(name, value));
    let first = claims.next().ok_or(Reason::Missing)?;
    if claims.any(|claim| claim != first) {
        return Err(Reason::Several);
    }
    match first {
        Claim::Key(key) if key.len() <= MAX_KEY_BYTES => Ok(key),
        Claim::Key(_) => Err(Reason::TooLong),
        Claim::Other(_) => Err(Reason::Malformed),
    }
}

fn claims<'a>(name: &[u8], value: &'a [u8]) -> Vec<Claim<'a>> {
    match name {
        b"authorization" => authorization(value),
        b"x-api-key" | b"api-key" if !value.is_empty() => vec![Claim::Key(value)],
        _ => Vec::new(),
    }
}

/// Envoy joins several `authorization` lines with commas. So where every part has the scheme, the
/// parts are lines; a comma elsewhere belongs to the key.
fn authorization(value: &[u8]) -> Vec<Claim<'_>> {
    let parts = || value.split(|byte| *byte == b',').map(trim_spaces);
    if parts().all(|part| split_scheme(part).is_some()) {
        parts().filter_map(bearer).collect()
    } else {
        bearer(value).into_iter().collect()
    }
}

fn bearer(line: &[u8]) -> Option<Claim<'_>> {
    match split_scheme(line) {
        Some([]) => None,
        Some(key) => Some(Claim::Key(key)),
        None if line.is_empty() => None,
        None => Some(Claim::Other(line)),
    }
}

/// What follows `Bearer`, in any case, and one or more spaces; a tab is no space.
fn split_scheme(line: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = line.split_at_checked(SCHEME.len())?;
    let follows = rest.is_empty() || rest.starts_with(b" ");
    (scheme.eq_ignore_ascii_case(SCHEME) && follows).then(|| trim_spaces(rest))
}

fn trim_spaces(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(b" ") {
        bytes = rest;
    }
    while let Some(rest) = bytes.strip_suffix(b" ") {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    proptest! {
        /// Whatever is shown: no trap, and a key is what stands in a header, whole or after a scheme.
        #[test]
        fn any_bytes_are_a_key_or_a_refusal(
            shown in vec((select(&["authorization", "x-api-key", "api-key", "x"]), line()), 0..4),
        ) {
            let lines: Vec<(&str, &[u8])> =
                shown.iter().map(|(name, value)| (*name, value.as_slice())).collect();
            if let Ok(key) = outcome(&lines) {
                prop_assert!(!key.is_empty() && key.len() <= MAX_KEY_BYTES);
                let holds = |(name, value): &(&str, &[u8])| {
                    *name != "x" && value.windows(key.len()).any(|part| part == key)
                };
                prop_assert!(lines.iter().any(holds), "{lines:?}");
            }
        }
    }

    /// Bytes, many of them such as mean something.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let words: &[&[u8]] = &[b"Bearer", b"bearer ", b" ", b",", b"\t", b"K", b"\xff"];
        vec(
            prop_oneof![
                select(words).prop_map(<[u8]>::to_vec),
                vec(any::<u8>(), 0..3)
            ],
            0..6,
        )
        .prop_map(|parts| parts.concat())
    }

    fn outcome(lines: &[(&str, &[u8])]) -> Result<Vec<u8>, Reason> {
        let pairs = lines
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec()))
            .collect();
        presented(&pairs).map(<[u8]>::to_vec)
    }

    /// C24
    #[test]
    fn the_scheme_is_read_in_any_case_and_the_key_as_it_is() {
        for value in ["bearer K", "Bearer K", "BEARER K", "Bearer   K", "bEaReR K"] {
            assert_eq!(
                outcome(&[("authorization", value.as_bytes())]),
                Ok(b"K".to_vec())
            );
        }
        let mixed = outcome(&[("authorization", b"Bearer aB,=/+~.-_ c")]);
        assert_eq!(mixed, Ok(b"aB,=/+~.-_ c".to_vec()));
    }

    /// C24
    #[test]
    fn what_is_no_bearer_key_is_not_taken_for_one() {
        let values: [&[u8]; 8] = [
            b",",
            b"Bearer\tK",
            b"Basic K",
            b"BearerK",
            b"K",
            b"\xff\xfe",
            b"Bear",
            b"Basic K,Bearer K",
        ];
        for value in values {
            let refused = outcome(&[("authorization", value)]);
            assert_eq!(refused, Err(Reason::Malformed), "{value:?}");
        }
    }

    #[test]
    fn an_empty_value_is_no_credential() {
        for value in ["", "Bearer", "bearer ", "Bearer ,Bearer"] {
            let lines = [("authorization", value.as_bytes()), ("x-api-key", b"")];
            assert_eq!(outcome(&lines), Err(Reason::Missing), "{value:?}");
        }
        assert_eq!(outcome(&[]), Err(Reason::Missing));
        let other = [
            ("cookie", b"K".as_slice()),
            ("proxy-authorization", b"Bearer K"),
        ];
        assert_eq!(outcome(&other), Err(Reason::Missing));
        let with_key = [("authorization", b"Bearer ".as_slice()), ("api-key", b"K")];
        assert_eq!(outcome(&with_key), Ok(b"K".to_vec()));
    }

    #[test]
    fn one_key_may_be_given_in_several_places() {
        let lines: [(&str, &[u8]); 6] = [
            ("authorization", b"Bearer K"),
            ("authorization", b"bearer  K"),
            ("authorization", b"Bearer K,Bearer K"),
            ("x-api-key", b"K"),
            ("x-api-key", b"K"),
            ("api-key", b"K"),
        ];
        assert_eq!(outcome(&lines), Ok(b"K".to_vec()));
    }

    #[test]
    fn two_different_credentials_are_refused_wherever_they_stand() {
        let table: [[(&str, &[u8]); 2]; 7] = [
            [("authorization", b"Bearer K"), ("x-api-key", b"L")],
            [
                ("authorization", b"Bearer K"),
                ("authorization", b"Bearer L"),
            ],
            [("authorization", b"Bearer K,Bearer L"), ("x-note", b"")],
            [("authorization", b"Basic K"), ("x-api-key", b"K")],
            [("x-api-key", b"K"), ("api-key", b"k")],
            [("x-api-key", b"K"), ("x-api-key", b"L")],
            [("api-key", b"K"), ("api-key", b"K ")],
        ];
        for lines in table {
            assert_eq!(outcome(&lines), Err(Reason::Several), "{lines:?}");
        }
    }

    #[test]
    fn a_key_longer_than_any_is_refused_unread() {
        let longest = vec![b'k'; MAX_KEY_BYTES];
        assert_eq!(outcome(&[("api-key", &longest)]), Ok(longest.clone()));
        let longer = vec![b'k'; MAX_KEY_BYTES + 1];
        assert_eq!(outcome(&[("api-key", &longer)]), Err(Reason::TooLong));
    }
}
