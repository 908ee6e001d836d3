//! What clients send.

use dragoman_contract::paths::ApiKind;

use super::Features;
use crate::draw::Draw;
use crate::plan::{Broken, Caller, Plan, RequestPlan};

/// Most requests of a plan: enough for races and for limits, and a run stays a fraction of a second.
const REQUESTS: usize = 40;

/// Headers that a client may not set, as it might try.
const HOSTILE: [(&str, &str); 8] = [
    ("x-dragoman-routed", "1"),
    ("x-dragoman-cluster", "cluster-1"),
    ("x-dragoman-probe", "0"),
    ("x-gateway-destination-endpoint", "127.0.0.1:9101"),
    ("x-envoy-max-retries", "9"),
    ("x-envoy-upstream-rq-timeout-ms", "1"),
    ("proxy-authorization", "Basic c2VjcmV0"),
    ("x-forwarded-for", "10.0.0.1"),
];

/// Modules that are built with a hook to trap.
const TRAPS: [&str; 3] = ["attempt", "idempotency", "poll"];

pub(super) fn draw(plan: &mut Plan, features: &Features, draw: &mut Draw) {
    let span_ms = draw.pick(5000, &[0, 30, 400, 5000, 20_000]);
    let moments: Vec<u64> = (0..draw.size(1, 6))
        .map(|_| draw.range(0, span_ms))
        .collect();
    for prompt in 0..draw.size(8, REQUESTS) {
        let mut request = request(plan, features, draw, prompt as u64);
        // Crowds come at a few moments, so that calls of several threads overlap.
        request.at_ms = match draw.of(&moments) {
            Some(moment) if features.crowds => *moment,
            _ => draw.range(0, span_ms),
        };
        plan.requests.push(request);
    }
    if features.duplicates && features.idempotency {
        duplicates(plan, span_ms, draw);
    }
    plan.requests.sort_by_key(|request| request.at_ms);
}

fn request(plan: &Plan, features: &Features, draw: &mut Draw, prompt: u64) -> RequestPlan {
    let bytes = draw.pick(10, &[0, 200, 900]);
    let mut request = RequestPlan {
        thread: draw.size(0, plan.threads - 1),
        path: path(draw),
        model: model(plan, features, draw),
        caller: caller(plan, features, draw),
        prompt,
        bytes,
        stream: draw.percent(50),
        ..RequestPlan::default()
    };
    if features.idempotency && draw.percent(50) {
        request.key = Some(format!("key-{prompt}"));
    }
    if features.bad_bodies && draw.percent(20) {
        let others = [
            Broken::NoModel,
            Broken::TwoModels,
            Broken::StreamNoFlag,
            Broken::TooLong,
            Broken::Compressed,
        ];
        request.broken = Some(draw.pick(Broken::NotJson, &others));
        if plan.topology.max_body_bytes > 100_000 && request.broken == Some(Broken::TooLong) {
            request.broken = None;
        }
    }
    if features.pieces && draw.percent(50) {
        pieces(&mut request, draw);
    }
    if features.leaving && draw.percent(30) {
        request.leaves_after_ms = Some(draw.pick(0, &[1, 2, 5, 20, 100, 1000, 3000]));
    }
    if features.hostile && draw.percent(40) {
        let header = draw.pick(HOSTILE[0], &HOSTILE);
        request.hostile = vec![(header.0.to_owned(), header.1.to_owned())];
    }
    if features.traps && draw.percent(8) {
        request.trap = Some(draw.pick(TRAPS[0], &TRAPS).to_owned());
    }
    request
}

fn path(draw: &mut Draw) -> String {
    if draw.percent(70) {
        return ApiKind::Chat.path().to_owned();
    }
    match draw.range(0, 20) {
        0 => "GET /v1/models".to_owned(),
        1 => "GET /healthz".to_owned(),
        2 => "/v1/nothing".to_owned(),
        _ => draw
            .pick(ApiKind::Messages, &ApiKind::ALL)
            .path()
            .to_owned(),
    }
}

fn model(plan: &Plan, features: &Features, draw: &mut Draw) -> String {
    if features.bad_bodies && draw.percent(5) {
        return "model-of-nobody".to_owned();
    }
    draw.of(&plan.topology.endpoints)
        .map(|endpoint| endpoint.slug.clone())
        .unwrap_or_default()
}

fn caller(plan: &Plan, features: &Features, draw: &mut Draw) -> Caller {
    let Some(key) = draw.of(&plan.topology.keys) else {
        return Caller::Nobody;
    };
    let id = key.id.clone();
    if features.bad_callers && draw.percent(25) {
        return match draw.range(0, 2) {
            0 => Caller::Nobody,
            1 => Caller::Unknown,
            _ => Caller::Two(id),
        };
    }
    if draw.percent(80) {
        Caller::Key(id)
    } else {
        Caller::XApiKey(id)
    }
}

/// The body in pieces, sometimes without its end.
fn pieces(request: &mut RequestPlan, draw: &mut Draw) {
    let length = request.bytes as u64 + 150;
    request.cuts = (0..draw.range(1, 5))
        .map(|_| draw.size(0, length as usize))
        .collect();
    request.cuts.sort_unstable();
    request.pause_ms = draw.pick(0, &[0, 1, 10, 300]);
    request.chunked = draw.percent(50);
    if draw.percent(10) {
        request.unfinished = true;
        request.leaves_after_ms = Some(draw.pick(50, &[500, 3000]));
    }
}

/// Some requests are sent again, at the same moment or later, on any thread, and sometimes with another body.
fn duplicates(plan: &mut Plan, span_ms: u64, draw: &mut Draw) {
    if plan.holds_unknown() {
        // Whose end nobody knows are held: there must be some of them.
        let keyed = plan.requests.iter_mut();
        for request in keyed.filter(|request| request.key.is_some()) {
            if draw.percent(40) {
                request.leaves_after_ms = Some(draw.pick(20, &[100, 250, 1000]));
            }
        }
    }
    let keyed: Vec<RequestPlan> = plan
        .requests
        .iter()
        .filter(|request| request.key.is_some())
        .cloned()
        .collect();
    for original in keyed.iter().take(REQUESTS / 4) {
        for _ in 0..draw.range(1, 3) {
            let mut again = original.clone();
            again.thread = draw.size(0, plan.threads - 1);
            again.leaves_after_ms = None;
            again.trap = None;
            again.unfinished = false;
            if draw.percent(60) {
                again.at_ms += draw.pick(1, &[10, 100, span_ms, 5000, 65_000]);
            }
            if draw.percent(10) {
                again.prompt += 1000;
            }
            plan.requests.push(again);
        }
    }
}
