//! Traces that are kept.

use host_sim_scenario::suite::Wanted;

use crate::run_as;

const MORE: &str = "workers: {w1: {status: 503}}\nrequests: [{chat: chat}]\n";

fn recorded(seed: u64) -> String {
    let wanted = Wanted {
        seed: Some(seed),
        record: true,
        golden: None,
    };
    let mut report = run_as(MORE, wanted);
    report.runs.remove(0).trace.expect("a trace")
}

#[test]
fn a_trace_tells_what_came_what_filters_decided_and_what_they_wanted() {
    let trace = recorded(1);
    for line in [
        "> request 1: head\n",
        "alias request_body, 63 bytes, end: continue\n",
        "< attempt 1: open 127.0.0.1:9101 of workers, for request 1\n",
        "> attempt 1: head\n                                :status: 503\n",
        "attempt response_headers: continue\n",
        "< response 1: head\n                                :status: 200\n",
        "< access log: {",
    ] {
        assert!(trace.contains(line), "{line}\n{trace}");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_one_is_a_difference() {
    let golden = recorded(1);
    let check = |seed| {
        let wanted = Wanted {
            seed: Some(seed),
            record: false,
            golden: Some(&golden),
        };
        run_as(MORE, wanted)
    };
    assert!(check(1).passed());
    let report = check(2);
    let failure = &report.runs[0].failures[0];
    assert_eq!(failure.what, "golden trace");
    assert!(failure.got.starts_with("line "), "{}", failure.got);
    assert!(failure.got.contains("\n+ "), "{}", failure.got);
}
