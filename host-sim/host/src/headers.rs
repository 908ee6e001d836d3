//! Header lines with Envoy's rules for pseudo headers and repeated names.

use crate::io::Headers;

/// First value of a name.
pub(crate) fn get<'a>(headers: &'a Headers, name: &[u8]) -> Option<&'a [u8]> {
    headers
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_slice())
}

/// First value of a name as text.
pub(crate) fn text<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    get(headers, name.as_bytes()).and_then(|value| std::str::from_utf8(value).ok())
}

/// Appends a line; pseudo headers stay in front of the others.
pub(crate) fn add(headers: &mut Headers, name: &[u8], value: &[u8]) {
    let line = (name.to_ascii_lowercase(), value.to_vec());
    if name.starts_with(b":") {
        let at = headers
            .iter()
            .take_while(|(key, _)| key.starts_with(b":"))
            .count();
        headers.insert(at, line);
    } else {
        headers.push(line);
    }
}

/// Replaces the first line of a name, or adds one.
pub(crate) fn set(headers: &mut Headers, name: &[u8], value: &[u8]) {
    let name = name.to_ascii_lowercase();
    match headers.iter_mut().find(|(key, _)| *key == name) {
        Some((_, current)) => *current = value.to_vec(),
        None => add(headers, &name, value),
    }
}

/// Removes all lines of a name and appends one: what a guest's replacing does.
pub(crate) fn replace(headers: &mut Headers, name: &[u8], value: &[u8]) {
    remove(headers, name);
    add(headers, name, value);
}

/// Removes all lines of a name.
pub(crate) fn remove(headers: &mut Headers, name: &[u8]) {
    let name = name.to_ascii_lowercase();
    headers.retain(|(key, _)| *key != name);
}

/// Takes a header out: its first value, and all its lines are gone.
pub(crate) fn take(headers: &mut Headers, name: &str) -> Option<String> {
    let value = text(headers, name).map(str::to_owned);
    remove(headers, name.as_bytes());
    value
}

/// Bytes of names and values.
pub(crate) fn byte_size(headers: &Headers) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum()
}

/// `:status` as a number; 0 when it is not one.
pub(crate) fn status(headers: &Headers) -> u16 {
    text(headers, ":status")
        .and_then(|status| status.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_pseudo_header_goes_before_the_others() {
        let mut headers = vec![
            (b":path".to_vec(), b"/".to_vec()),
            (b"a".to_vec(), b"1".to_vec()),
        ];
        add(&mut headers, b":authority", b"h");
        assert_eq!(headers[1].0, b":authority");
        add(&mut headers, b"B", b"2");
        assert_eq!(headers[3], (b"b".to_vec(), b"2".to_vec()));
    }

    #[test]
    fn a_replaced_name_has_one_line_and_goes_to_the_end_of_its_kind() {
        let line = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let mut headers = vec![
            line(":path", "/"),
            line(":method", "GET"),
            line("a", "1"),
            line("b", "2"),
            line("a", "3"),
        ];
        replace(&mut headers, b"A", b"4");
        replace(&mut headers, b":path", b"/x");
        assert_eq!(
            headers,
            [
                line(":method", "GET"),
                line(":path", "/x"),
                line("b", "2"),
                line("a", "4")
            ]
        );
    }

    #[test]
    fn setting_a_repeated_name_changes_its_first_line_only() {
        let mut headers = vec![
            (b"a".to_vec(), b"1".to_vec()),
            (b"a".to_vec(), b"2".to_vec()),
        ];
        set(&mut headers, b"A", b"3");
        assert_eq!(
            headers,
            vec![
                (b"a".to_vec(), b"3".to_vec()),
                (b"a".to_vec(), b"2".to_vec())
            ]
        );
        remove(&mut headers, b"a");
        assert!(headers.is_empty());
    }
}
