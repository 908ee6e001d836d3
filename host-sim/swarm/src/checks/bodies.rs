//! `filters/attempt/README.md`, 3: the client's body with the served model name and its exact length.

use super::named;
use crate::body::body;
use crate::stage::Observed;

pub(super) fn unchanged(observed: &Observed<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (place, seen) in observed.seen.iter().enumerate() {
        for visit in &seen.visits {
            let expected = body(observed.plan, &seen.plan, Some(&visit.worker));
            let request = named(place, &seen.plan);
            if visit.request.body != expected {
                found.push(format!(
                    "{request}: {} got {:?}, should have got {:?}",
                    visit.worker,
                    String::from_utf8_lossy(&visit.request.body),
                    String::from_utf8_lossy(&expected)
                ));
            }
            let length = visit.request.header("content-length");
            let length = length.and_then(|bytes| std::str::from_utf8(bytes).ok()?.parse().ok());
            if length != Some(expected.len()) {
                let bytes = expected.len();
                found.push(format!(
                    "{request}: content-length {length:?} for {bytes} bytes"
                ));
            }
            if visit.request.path() != seen.plan.path {
                found.push(format!("{request}: asked for {}", visit.request.target));
            }
        }
    }
    for (worker, bytes) in &observed.surplus {
        let shown = String::from_utf8_lossy(bytes);
        found.push(format!("{worker} got bytes behind a request: {shown:?}"));
    }
    found
}
