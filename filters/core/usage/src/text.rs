//! The ends of JSON strings, looked for piece by piece.

use memchr::memchr2;

/// Where a string ends that began earlier: the number of its bytes in this piece, which has some, the
/// closing quote included; all of them, and `false`, if it goes on. `escaped` tells whether the piece before ended
/// between a backslash and what it escapes, and is kept up to date.
pub(crate) fn skip(bytes: &[u8], escaped: &mut bool) -> (usize, bool) {
    let mut at = usize::from(std::mem::take(escaped));
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(run) = memchr2(b'"', b'\\', rest) else {
            return (bytes.len(), false);
        };
        at += run + 1;
        if rest.get(run) == Some(&b'"') {
            return (at, true);
        }
        if at == bytes.len() {
            *escaped = true;
            return (at, false);
        }
        at += 1;
    }
}
