//! Paths in order: dot segments, repeated and escaped slashes. The query string is not part of them.

/// Whether the path hides a slash or a backslash.
pub(crate) fn has_escaped_slashes(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.contains("%2f") || lower.contains("%5c")
}

/// Writes escaped slashes and backslashes out.
pub(crate) fn unescape_slashes(path: &str) -> String {
    let path = path.replace("%2F", "/").replace("%2f", "/");
    path.replace("%5C", "\\").replace("%5c", "\\")
}

/// Resolves `.` and `..`, also written `%2e`; a backslash is a slash. Letters, digits and `-._~` are
/// unescaped, once; other escapes stay as they are, and what no URL may hold is escaped. `None`: the
/// path hides a zero byte.
pub(crate) fn normalize(path: &str) -> Option<String> {
    let path = without_dot_parameters(path).replace('\\', "/");
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." if last => kept.push(""),
            "." => {}
            ".." => {
                kept.pop();
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    unescape_plain(&format!("/{}", kept.join("/")))
}

/// A segment `.` or `..` with parameters (`..;a=b`) is one without, so that it does not hide from those who
/// resolve it. Only as it stands: neither behind a backslash nor with escaped dots, as in Envoy 1.40.
fn without_dot_parameters(path: &str) -> String {
    let plain = |segment: &'_ str| match segment.split_once(';') {
        Some((dots @ ("." | ".."), _)) => dots.len(),
        _ => segment.len(),
    };
    let segments = path.split('/').map(|segment| segment.get(..plain(segment)));
    segments.flatten().collect::<Vec<_>>().join("/")
}

fn unescape_plain(path: &str) -> Option<String> {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        let escape = rest.get(1..3).filter(|_| c == '%');
        let byte = escape
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let taken = match byte {
            Some(0) => return None,
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                plain.push(char::from(byte));
                3
            }
            _ if "\"<>^`{|}".contains(c) => {
                plain.push_str(&format!("%{:02X}", u32::from(c)));
                1
            }
            _ => {
                plain.push(c);
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    Some(plain)
}

/// `//` becomes `/`.
pub(crate) fn merge_slashes(path: &str) -> String {
    let mut merged = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !merged.ends_with('/') {
            merged.push(c);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_are_resolved_and_never_leave_the_root() {
        for (path, expected) in [
            ("/a/b", "/a/b"),
            ("/a/./b", "/a/b"),
            ("/a/../b", "/b"),
            ("/a/%2e%2E/b", "/b"),
            ("/../../a", "/a"),
            ("/a/b/..", "/a/"),
            ("/a/.", "/a/"),
            ("/a\\..\\b", "/b"),
            ("/", "/"),
            ("/a//b/", "/a//b/"),
        ] {
            assert_eq!(normalize(path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_dot_segment_does_not_hide_behind_parameters() {
        for (path, expected) in [
            ("/a/.;/b", "/a/b"),
            ("/a/..;/b", "/b"),
            ("/a/b/..;x=y;z/../c", "/c"),
            ("/a/..;%zz%2e", "/"),
            ("/a//..;/b", "/a/b"),
            ("/a/..;x\\..\\b/c", "/c"),
            ("/a\\..;/b", "/a/..;/b"),
            ("/a/%2e%2e;/b", "/a/..;/b"),
            ("/a/..%3b/b", "/a/..%3b/b"),
            ("/a/...;/b", "/a/...;/b"),
            ("/a/;../b;/c", "/a/;../b;/c"),
        ] {
            assert_eq!(normalize(path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn what_needs_no_escape_loses_it_and_what_needs_one_gets_it() {
        for (path, expected) in [
            ("/%63%48%2d%2E%5f%7e%30", "/cH-._~0"),
            ("/%c3%A9%20%2b%7c", "/%c3%A9%20%2b%7c"),
            ("/%25%36%33", "/%2563"),
            ("/%zz%4%", "/%zz%4%"),
            ("/a\"<>^`{|}b", "/a%22%3C%3E%5E%60%7B%7C%7Db"),
            ("/a!$&'()*+,;=:@[]", "/a!$&'()*+,;=:@[]"),
            ("/%+1", "/%+1"),
        ] {
            assert_eq!(normalize(path).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(normalize("/a%00"), None);
    }

    #[test]
    fn repeated_slashes_become_one() {
        assert_eq!(merge_slashes("//a///b/"), "/a/b/");
    }

    #[test]
    fn escaped_slashes_are_found_in_both_cases() {
        assert!(has_escaped_slashes("/a%2Fb") && has_escaped_slashes("/a%5cb"));
        assert!(!has_escaped_slashes("/a%20b"));
    }
}
