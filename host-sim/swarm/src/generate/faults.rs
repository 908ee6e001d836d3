//! What goes wrong.

use mock_worker::{At, Drip, Faults, How, Interrupt};

use super::Features;
use crate::draw::Draw;
use crate::plan::{FaultPlan, Jump, Plan, What};

/// Most faults of workers.
const FAULTS: u64 = 10;

/// 2026-01-01T00:00:00Z, when every run begins.
const START_S: u64 = 1_767_225_600;

pub(super) fn draw(plan: &mut Plan, features: &Features, draw: &mut Draw) {
    let last_ms = plan
        .requests
        .iter()
        .map(|request| request.at_ms)
        .max()
        .unwrap_or_default();
    let workers: Vec<String> = plan
        .topology
        .workers
        .iter()
        .map(|worker| worker.id.clone())
        .collect();
    if features.worker_faults || features.deaths {
        for _ in 0..draw.range(1, FAULTS) {
            let Some(worker) = draw.of(&workers).cloned() else {
                break;
            };
            let dies = features.deaths && (!features.worker_faults || draw.percent(40));
            let what = if dies {
                death(draw)
            } else {
                What::Faults(answers(draw))
            };
            let at_ms = if draw.percent(40) {
                0
            } else {
                draw.range(0, last_ms)
            };
            plan.faults.push(FaultPlan {
                at_ms,
                worker,
                what,
            });
        }
    }
    if plan.holds_unknown() && draw.percent(60) {
        // Clients leave while workers are at it.
        for worker in &workers {
            plan.faults.push(FaultPlan {
                at_ms: 0,
                worker: worker.clone(),
                what: What::Faults(Faults::delay_ms(300)),
            });
        }
    }
    if features.health && draw.percent(30) {
        let worker = draw.of(&workers).cloned();
        plan.faults.extend(worker.map(|worker| FaultPlan {
            at_ms: draw.range(0, last_ms),
            worker,
            what: What::Faults(lost_check(draw)),
        }));
    }
    plan.faults.sort_by_key(|fault| fault.at_ms);
    if features.jumps {
        for _ in 0..draw.range(1, 3) {
            let to_s = draw.pick(
                START_S - 40_000_000,
                &[START_S - 1, START_S + 30, START_S + 90_000_000],
            );
            plan.jumps.push(Jump {
                at_ms: draw.range(0, last_ms),
                to_s,
            });
        }
    }
    if features.updates {
        plan.updates_ms = (0..draw.range(1, 2))
            .map(|_| draw.range(0, last_ms))
            .collect();
        plan.updates_ms.sort_unstable();
    }
    plan.heal_after_ms = draw.pick(1000, &[0, 1000, 8000, 40_000]);
}

fn death(draw: &mut Draw) -> What {
    match draw.range(0, 6) {
        0 => What::Dead(false),
        1 => What::Vanished(true),
        2 => What::Vanished(false),
        3 => What::ConnectDelayMs(draw.pick(5, &[100, 900, 2000])),
        4 => What::Draining(draw.percent(70)),
        _ => What::Dead(true),
    }
}

/// Checks of health whose answers never come, break off, or come when nobody waits for them any more.
fn lost_check(draw: &mut Draw) -> Faults {
    let mut faults = match draw.range(0, 3) {
        0 => Faults::interrupt(At::BeforeHeaders, How::Stall),
        1 => Faults::interrupt(At::Bytes(draw.size(0, 30)), How::Stall),
        2 => Faults::interrupt(At::BeforeHeaders, How::Reset),
        // Around the time-out of a check, 500 ms.
        _ => Faults::delay_ms(draw.pick(499, &[500, 501, 700, 2500])),
    };
    faults.path = Some(draw.pick("/readyz", &["/v1/models"]).to_owned());
    faults
}

/// Answers as a bad worker gives them; one time in six good ones again.
fn answers(draw: &mut Draw) -> Faults {
    let place = match draw.range(0, 2) {
        0 => At::BeforeHeaders,
        1 => At::Bytes(draw.size(0, 600)),
        _ => At::Events(draw.size(0, 5)),
    };
    let how = draw.pick(How::Reset, &[How::Close, How::Stall, How::Reset]);
    let mut faults = match draw.range(0, 8) {
        0 => Faults::default(),
        1 | 2 => Faults::status(draw.pick(503, &[400, 401, 404, 429, 500, 502, 504])),
        3 => Faults::interrupt(place, how),
        4 => Faults::delay_ms(draw.pick(50, &[1, 300, 1500, 6000])),
        5 => Faults {
            event_interval_ms: draw.pick(3, &[1, 50, 700]),
            ..Faults::default()
        },
        6 => Faults {
            drip: Some(Drip {
                bytes: draw.size(1, 90),
                interval_ms: draw.pick(1, &[5, 20]),
            }),
            ..Faults::default()
        },
        7 => Faults {
            garbage: Some("\u{0}no HTTP\r\n\r\n".to_owned()),
            ..Faults::default()
        },
        _ => Faults {
            headers: [
                ("x-dragoman-routed".to_owned(), "1".to_owned()),
                ("x-envoy-ratelimited".to_owned(), "true".to_owned()),
                ("idempotency-replayed".to_owned(), "true".to_owned()),
            ]
            .into(),
            event_interval_ms: draw.pick(0, &[2]),
            interrupt: draw.percent(30).then_some(Interrupt { at: place, how }),
            ..Faults::default()
        },
    };
    if draw.percent(30) {
        faults.times = Some(u32::try_from(draw.range(1, 6)).unwrap_or(1));
    }
    if draw.percent(8) {
        faults.path = Some(draw.pick("/readyz", &["/v1/models"]).to_owned());
    }
    faults
}
