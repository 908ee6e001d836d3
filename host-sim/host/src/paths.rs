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

/// Resolves `.` and `..`, also written `%2e`; a backslash is a slash.
pub(crate) fn normalize(path: &str) -> String {
    let path = path.replace('\\', "/");
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
    format!("/{}", kept.join("/"))
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
            assert_eq!(normalize(path), expected, "{path}");
        }
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
