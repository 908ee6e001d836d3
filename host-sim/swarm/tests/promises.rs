//! Each check finds what breaks its promise: clean runs are altered, as if the gateway had done so, and must not pass.

use std::path::Path;
use std::time::Duration;

use host_sim_scenario::{End, Response};
use host_sim_swarm::stage::{Observed, Seen, run};
use host_sim_swarm::{checks, generate};

/// Seeds in which something is looked for that can be altered.
const SEEDS: u64 = 60;

/// Alters a run; whether there was anything to alter.
type Alter = fn(&mut Observed<'_>) -> bool;

const ALTERATIONS: [(&str, Alter); 21] = [
    ("every client gets one ending", |run| {
        first(run, |_| true, |seen| seen.response.end = End::Pending)
    }),
    ("a whole answer has the length it promised", |run| {
        let has_length = |seen: &Seen| seen.response.header("content-length").is_some();
        first(
            run,
            |seen| is_served(seen) && has_length(seen),
            |seen| seen.response.pieces.clear(),
        )
    }),
    (
        "a worker gets its own credential and nobody else's",
        |run| at_worker(run, "authorization", "Bearer sk-client-of-somebody"),
    ),
    ("no internal header reaches a worker", |run| {
        at_worker(run, "x-dragoman-probe", "1")
    }),
    ("no internal header or secret reaches a client", |run| {
        let header = (b"x-envoy-upstream-service-time".to_vec(), b"1".to_vec());
        first(run, is_served, |seen| {
            seen.response.headers.push(header.clone())
        })
    }),
    ("nobody gets another's answer", |run| {
        let other = b" <tag tenant-9 model-1 7>".to_vec();
        first(run, is_served, |seen| {
            seen.response.pieces.push((Duration::ZERO, other.clone()))
        })
    }),
    ("what is refused is refused as documented", |run| {
        first(
            run,
            |seen| is_served(seen) && !seen.plan.unfinished,
            |seen| error(&mut seen.response, "model_not_found"),
        )
    }),
    ("what is refused reaches no worker", |run| {
        first(run, is_served, |seen| {
            error(&mut seen.response, "rate_limited")
        })
    }),
    ("limits are never exceeded", |run| {
        let limited = |seen: &Seen| seen.response.text().contains("rate_limited");
        first(run, limited, |seen| seen.attempts.push("w1".to_owned()))
    }),
    ("a key is carried out once", |run| {
        first(run, is_replay, |seen| seen.attempts.push("w1".to_owned()))
    }),
    ("a replay is the answer byte for byte", |run| {
        first(
            run,
            |seen| is_replay(seen) && is_complete(seen),
            |seen| seen.response.pieces.push((Duration::ZERO, b"x".to_vec())),
        )
    }),
    (
        "attempts go to targets, each once, no more than allowed",
        |run| first(run, is_served, |seen| seen.attempts.push("w99".to_owned())),
    ),
    (
        "a worker gets the client's body with its own model name",
        |run| {
            first(run, is_served, |seen| {
                seen.visits
                    .iter_mut()
                    .for_each(|visit| visit.request.body.push(b' '))
            })
        },
    ),
    (
        "an error has its documented shape and a known code",
        |run| {
            first(
                run,
                |seen| seen.response.text().contains("\"error\""),
                |seen| {
                    seen.response.pieces.clear();
                    seen.response
                        .headers
                        .retain(|(name, _)| name != b"x-aisuite-backend");
                },
            )
        },
    ),
    ("the gateway has no fault of its own", |run| {
        first(
            run,
            |seen| is_complete(seen) && !is_served(seen),
            |seen| error(&mut seen.response, "internal_error"),
        )
    }),
    ("the access log has one line for each request", |run| {
        first(run, |seen| seen.sent.is_some(), |seen| seen.lines.clear())
    }),
    ("after all faults everything works again", |run| {
        run.recovered
            .first_mut()
            .map(|one| one.response.status = 503)
            .is_some()
    }),
    ("a cap is kept at every moment", |run| {
        let beside = run.plan.threads + 4;
        for flight in &mut run.flights {
            flight.beside = beside;
        }
        let mut workers = run.plan.topology.workers.iter();
        workers.any(|worker| worker.max_in_flight.is_some())
    }),
    ("a circuit has one trial at a time", |run| {
        // As if every circuit had opened at the beginning, and every attempt gone on for ever.
        for flight in &mut run.flights {
            flight.ended = None;
        }
        run.log
            .retain(|(_, _, text)| !text.contains(": circuit closed"));
        for worker in &run.plan.topology.workers {
            let text = format!("worker {}: circuit open (503)", worker.id);
            run.log.push((Duration::ZERO, "warn".to_owned(), text));
        }
        run.plan.topology.circuit.is_some()
    }),
    (
        "a key with an unknown end is held where that is promised",
        |run| {
            let rules = run.plan.topology.idempotency.as_ref();
            let Some(second) = run.seen.iter().position(is_replay) else {
                return false;
            };
            let (key, at) = (run.seen[second].plan.key.clone(), run.seen[second].sent);
            run.seen[second].attempts.push("w1".to_owned());
            let original = |seen: &Seen| seen.plan.key == key && is_served(seen) && seen.sent < at;
            let leaves = |seen: &mut Seen| {
                let at = seen.sent.unwrap_or_default();
                seen.response.end = End::Left(at);
                for flight in &mut seen.flights {
                    (flight.ended, flight.given_up) = (Some(at), true);
                }
            };
            rules.is_some_and(|rules| rules.hold) && first(run, original, leaves)
        },
    ),
    ("an open circuit keeps requests away", |run| {
        let Some(at) = run
            .seen
            .iter()
            .filter(|seen| !seen.attempts.is_empty())
            .find_map(|seen| seen.sent)
        else {
            return false;
        };
        let Some(before) = at.checked_sub(Duration::from_millis(200)) else {
            return false;
        };
        let workers: Vec<String> = run
            .plan
            .topology
            .workers
            .iter()
            .map(|worker| worker.id.clone())
            .collect();
        for worker in workers {
            run.log.push((
                before,
                "warn".to_owned(),
                format!("worker {worker}: circuit open (503)"),
            ));
        }
        run.plan.topology.circuit.is_some()
    }),
];

fn first(
    run: &mut Observed<'_>,
    is_wanted: impl Fn(&Seen) -> bool,
    alter: impl Fn(&mut Seen),
) -> bool {
    run.seen
        .iter_mut()
        .find(|seen| is_wanted(seen))
        .map(alter)
        .is_some()
}

fn at_worker(run: &mut Observed<'_>, name: &str, value: &str) -> bool {
    let header = (name.as_bytes().to_vec(), value.as_bytes().to_vec());
    run.visits
        .first_mut()
        .map(|visit| visit.request.headers.push(header))
        .is_some()
}

fn is_complete(seen: &Seen) -> bool {
    matches!(seen.response.end, End::Complete(_))
}

fn is_served(seen: &Seen) -> bool {
    let of_worker = seen.response.header("x-aisuite-backend").is_some();
    is_complete(seen) && of_worker && seen.response.status == 200 && !seen.visits.is_empty()
}

fn is_replay(seen: &Seen) -> bool {
    seen.response.header("idempotency-replayed").is_some()
}

fn error(response: &mut Response, code: &str) {
    let body = format!(r#"{{"error": {{"code": "{code}"}}}}"#);
    response.pieces = vec![(Duration::ZERO, body.into_bytes())];
    response
        .headers
        .retain(|(name, _)| name != b"x-aisuite-backend");
}

#[test]
fn a_run_that_breaks_a_promise_is_found() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../envoy/modules");
    let mut missing: Vec<(&str, Alter)> = ALTERATIONS.to_vec();
    for seed in 0..SEEDS {
        if missing.is_empty() {
            break;
        }
        let plan = generate::plan(seed);
        missing.retain(|(promise, alter)| {
            let mut observed =
                run(&plan, &modules).unwrap_or_else(|problem| panic!("seed {seed}: {problem}"));
            let altered = alter(&mut observed);
            let found = checks::check(&observed);
            !(altered
                && found
                    .iter()
                    .any(|violation| violation.invariant == *promise))
        });
    }
    let missing: Vec<&str> = missing.iter().map(|(promise, _)| *promise).collect();
    assert_eq!(missing, Vec::<&str>::new(), "altered runs passed");
}
