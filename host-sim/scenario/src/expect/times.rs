//! When a response and its pieces came.

use std::time::Duration;

use super::{failure, list};
use crate::client::{End, Response};
use crate::file::{Expected, show_time};
use crate::play::Failure;

/// All times that are wrong, counted from when the head of the request was sent.
pub fn judge(expected: &Expected, response: &Response, sent: Option<Duration>) -> Vec<Failure> {
    let sent = sent.unwrap_or_default();
    let mut failures = Vec::new();
    let end = match response.end {
        End::Pending => None,
        End::Complete(at) | End::Broken(at) | End::Left(at) => Some(at),
    };
    for (what, range, at) in [
        ("first_byte", expected.first_byte, response.started),
        ("took", expected.took, end),
    ] {
        let Some(range) = range else { continue };
        let time = at.map(|at| at.saturating_sub(sent));
        if !time.is_some_and(|time| range.holds(time)) {
            let got = time.map_or("never".to_owned(), show_time);
            failures.push(failure(range.line, what, range.shown(), got));
        }
    }
    if let Some(count) = &expected.pieces
        && !count.holds(response.pieces.len())
    {
        let got = response.pieces.len();
        failures.push(failure(count.line, "pieces", count.shown(), got));
    }
    if let Some((line, times)) = &expected.pieces_at {
        let got = response.pieces.iter();
        let got: Vec<Duration> = got.map(|(at, _)| at.saturating_sub(sent)).collect();
        if got != *times {
            let show =
                |times: &[Duration]| list(&times.iter().map(|t| show_time(*t)).collect::<Vec<_>>());
            failures.push(failure(*line, "pieces_at", show(times), show(&got)));
        }
    }
    failures
}
