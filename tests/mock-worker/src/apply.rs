//! An answer and the faults become a script.

use std::time::Duration;

use crate::api::{Body, Reply, error};
use crate::faults::{At, Drip, Faults, How, Interrupt};
use crate::message::Step;

/// The script of `reply` under `faults`.
pub(crate) fn script(mut reply: Reply, faults: &Faults) -> Vec<Step> {
    let mut steps = Vec::new();
    if faults.delay_before_headers_ms > 0 {
        steps.push(Step::Wait(Duration::from_millis(
            faults.delay_before_headers_ms,
        )));
    }
    if let Some(garbage) = &faults.garbage {
        steps.extend([Step::Raw(garbage.clone().into_bytes()), Step::Close]);
        return steps;
    }
    if let Some(status) = faults.status {
        reply = error(status, "the mock worker was told to fail");
    }
    if let Some(body) = &faults.body {
        reply.body = Body::Whole(body.clone().into_bytes());
    }
    for (name, value) in &faults.headers {
        reply.headers.push((name.clone(), value.clone()));
    }
    let mut answer = plain(reply, faults);
    if let Some(interrupt) = faults.interrupt {
        answer = interrupted(answer, interrupt);
    }
    if let Some(drip) = faults.drip {
        answer = dripped(answer, drip);
    }
    steps.extend(answer);
    steps
}

fn plain(reply: Reply, faults: &Faults) -> Vec<Step> {
    let mut headers: Vec<_> = reply
        .headers
        .into_iter()
        .map(|(name, value)| (name.into_bytes(), value.into_bytes()))
        .collect();
    let (mut data, mut end) = (Vec::new(), Step::End);
    match reply.body {
        Body::Whole(bytes) => {
            headers.push((
                b"content-length".to_vec(),
                bytes.len().to_string().into_bytes(),
            ));
            if !bytes.is_empty() {
                data.push(Step::Data(bytes));
            }
        }
        Body::Events(mut events) => {
            if let Some(after) = faults.broken_event_after {
                events.insert(after.min(events.len()), b"data: {\"broken\n\n".to_vec());
            }
            for (index, event) in events.into_iter().enumerate() {
                if index > 0 && faults.event_interval_ms > 0 {
                    data.push(Step::Wait(Duration::from_millis(faults.event_interval_ms)));
                }
                data.push(Step::Data(event));
            }
        }
        Body::Messages { messages, trailers } => {
            data.extend(messages.into_iter().map(Step::Data));
            let line = |(name, value): (String, String)| (name.into_bytes(), value.into_bytes());
            end = Step::Trailers(trailers.into_iter().map(line).collect());
        }
    }
    let mut steps = vec![Step::Head {
        status: reply.status,
        headers,
    }];
    steps.extend(data);
    steps.push(end);
    steps
}

fn interrupted(steps: Vec<Step>, interrupt: Interrupt) -> Vec<Step> {
    let step = match interrupt.how {
        How::Reset => Step::Reset,
        How::Close => Step::Close,
        How::Stall => Step::Stall,
        How::Hold => Step::Hold,
    };
    let (mut before, after) = split(steps, interrupt.at);
    before.push(step);
    if interrupt.how == How::Hold {
        before.extend(after);
    }
    before
}

/// The steps up to a place in the answer, and those behind it. A place behind the end of the body
/// is the end of the body.
fn split(steps: Vec<Step>, at: At) -> (Vec<Step>, Vec<Step>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let (mut bytes, mut events) = (0, 0);
    for step in steps {
        let reached = match at {
            At::BeforeHeaders => true,
            At::Bytes(limit) => bytes >= limit && !before.is_empty(),
            At::Events(limit) => events >= limit && !before.is_empty(),
        };
        match step {
            step if reached || !after.is_empty() => after.push(step),
            Step::Data(mut data) => {
                events += 1;
                bytes += data.len();
                if let At::Bytes(limit) = at
                    && bytes > limit
                {
                    after.push(Step::Data(data.split_off(data.len() - (bytes - limit))));
                }
                before.push(Step::Data(data));
            }
            step @ (Step::End | Step::Trailers(_)) => after.push(step),
            step => before.push(step),
        }
    }
    (before, after)
}

fn dripped(steps: Vec<Step>, drip: Drip) -> Vec<Step> {
    let mut out = Vec::new();
    for step in steps {
        let Step::Data(data) = step else {
            out.push(step);
            continue;
        };
        for piece in data.chunks(drip.bytes.max(1)) {
            out.push(Step::Data(piece.to_vec()));
            out.push(Step::Wait(Duration::from_millis(drip.interval_ms)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply() -> Reply {
        Reply::new(
            200,
            "text/plain",
            Body::Events(vec![b"one".to_vec(), b"two".to_vec()]),
        )
    }

    fn data(bytes: &[u8]) -> Step {
        Step::Data(bytes.to_vec())
    }

    fn behind_head(faults: &Faults) -> Vec<Step> {
        let mut steps = script(reply(), faults);
        assert!(matches!(steps.remove(0), Step::Head { status: 200, .. }));
        steps
    }

    #[test]
    fn without_faults_the_answer_is_whole() {
        assert_eq!(
            behind_head(&Faults::default()),
            [data(b"one"), data(b"two"), Step::End]
        );
    }

    #[test]
    fn an_answer_stops_where_it_is_told() {
        for (at, how, expected) in [
            (At::Bytes(0), How::Reset, vec![Step::Reset]),
            (At::Bytes(2), How::Reset, vec![data(b"on"), Step::Reset]),
            (At::Bytes(3), How::Close, vec![data(b"one"), Step::Close]),
            (
                At::Bytes(99),
                How::Close,
                vec![data(b"one"), data(b"two"), Step::Close],
            ),
            (At::Events(0), How::Stall, vec![Step::Stall]),
            (At::Events(1), How::Stall, vec![data(b"one"), Step::Stall]),
            (
                At::Events(1),
                How::Hold,
                vec![data(b"one"), Step::Hold, data(b"two"), Step::End],
            ),
            (
                At::Bytes(1),
                How::Hold,
                vec![data(b"o"), Step::Hold, data(b"ne"), data(b"two"), Step::End],
            ),
        ] {
            assert_eq!(
                behind_head(&Faults::interrupt(at, how)),
                expected,
                "{at:?} {how:?}"
            );
        }
    }

    #[test]
    fn nothing_is_sent_before_the_head() {
        let faults = Faults {
            delay_before_headers_ms: 7,
            ..Faults::interrupt(At::BeforeHeaders, How::Reset)
        };
        assert_eq!(
            script(reply(), &faults),
            [Step::Wait(Duration::from_millis(7)), Step::Reset]
        );
    }

    #[test]
    fn a_dripped_body_has_the_same_bytes() {
        let faults = Faults {
            drip: Some(Drip {
                bytes: 2,
                interval_ms: 1,
            }),
            ..Faults::default()
        };
        let wait = Step::Wait(Duration::from_millis(1));
        let expected = [
            data(b"on"),
            wait.clone(),
            data(b"e"),
            wait.clone(),
            data(b"tw"),
            wait.clone(),
            data(b"o"),
            wait,
            Step::End,
        ];
        assert_eq!(behind_head(&faults), expected);
    }

    #[test]
    fn a_broken_event_comes_between_good_ones() {
        let faults = Faults {
            broken_event_after: Some(1),
            ..Faults::default()
        };
        assert_eq!(behind_head(&faults)[1], data(b"data: {\"broken\n\n"));
    }
}
