//! How a scenario runs.

use host_sim_scenario::suite::Wanted;

use crate::{run, run_as};

fn holds(more: &str) {
    let report = run(more);
    assert!(
        report.passed(),
        "{}",
        host_sim_scenario::report::text(&report)
    );
}

#[test]
fn a_request_without_a_time_waits_for_those_before_it() {
    holds(
        "workers: {w1: {delay: 3s}}
requests:
- {chat: chat, times: 2, every: 2s, expect: {took: 3s}}
- {name: next, chat: chat, after: 1s, expect: {log: {ts: '2026-01-01T00:00:06.000Z'}}}
- {name: timed, chat: chat, at: 20s, expect: {log: {ts: '2026-01-01T00:00:20.000Z'}}}
- {name: beside, chat: chat, at: 20s, expect: {log: {ts: '2026-01-01T00:00:20.000Z'}}}
",
    );
}

#[test]
fn a_worker_changes_before_the_requests_of_that_moment() {
    for seed in 0..20 {
        let more = "workers: {w1: {then: [{at: 5s, down: true}, {at: 6s, down: false}]}}
requests:
- {name: down, chat: chat, at: 5s, expect: {attempts: [w1, w2]}}
- {name: up, chat: chat, at: 6s, expect: {attempts: [w1]}}
";
        let wanted = Wanted {
            seed: Some(seed),
            ..Wanted::default()
        };
        let report = run_as(more, wanted);
        assert!(
            report.passed(),
            "{}",
            host_sim_scenario::report::text(&report)
        );
    }
}

#[test]
fn each_seed_is_a_run_and_a_failing_one_is_named() {
    let report = run("seed: 7\nseeds: 5\nrequests: [{chat: chat, expect: {status: 503}}]\n");
    let seeds: Vec<u64> = report.runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [7, 8, 9, 10, 11]);
    let text = host_sim_scenario::report::text(&report);
    assert!(text.contains("status [seed 7]"), "{text}");
    assert!(text.ends_with("and 2 more seeds fail\n"), "{text}");
}

#[test]
fn a_client_sends_in_pieces_leaves_or_never_ends() {
    holds(
        "requests:
- {name: slow, chat: chat, pieces: 5, pause: 1s, expect: {took: 5s, upstream: {json: {model: large}}}}
- {name: cut, chat: chat, cut: [1, 2], chunked: true, headers: {x-a: [1, 2]}, expect: {status: 200, upstream: {headers: {x-a: '1, 2'}}}}
- {name: lost, chat: chat, unfinished: true, leaves: 1s, expect: {ended: left, attempts: []}}
",
    );
}

#[test]
fn a_run_goes_on_until_its_time() {
    let report = run("until: 90s\nrequests: [{chat: chat}]\n");
    assert_eq!(report.runs[0].time, std::time::Duration::from_secs(90));
}

#[test]
fn a_worker_that_comes_with_an_update_can_be_expected_but_not_told_what_to_do_before() {
    let update = "updates:
- at: 5s
  gateway:
    version: 1
    auth: {mode: off}
    workers: [{id: w9, address: 127.0.0.1:9109}]
    endpoints: [{name: chat, targets: [{worker: w9}]}]
";
    holds(&format!(
        "{update}requests: [{{at: 6s, chat: chat, expect: {{attempts: w9}}}}]\nexpect: {{workers: {{w9: {{requests: 1}}}}}}\n"
    ));
    let report = run(&format!("{update}workers: {{w9: {{status: 503}}}}\n"));
    assert!(
        report.problems[0].contains("no worker of that name"),
        "{report:?}"
    );
}
