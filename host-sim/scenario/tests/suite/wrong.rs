//! Every expectation can fail, and says what came instead.

use crate::{FIRST, run};

/// What fails: line behind the gateway, what, expected, got.
fn failures(more: &str) -> Vec<(usize, String, String, String)> {
    let report = run(more);
    assert_eq!(report.problems, [""; 0], "{more}");
    let failures = report.runs.into_iter().flat_map(|run| run.failures);
    failures
        .map(|failure| {
            let line = (failure.line + 1).saturating_sub(FIRST);
            (line, failure.what, failure.expected, failure.got)
        })
        .collect()
}

#[test]
fn a_right_expectation_holds() {
    let report = run("requests:\n- chat: chat\n  expect: {status: 200, attempts: w1}\n");
    assert!(report.passed(), "{report:?}");
}

#[test]
fn a_wrong_expectation_says_what_came() {
    for (expect, what, expected, got) in [
        ("status: 503", "status", "503", "200"),
        (
            "status: {one_of: [429, 503]}",
            "status",
            "one of 429, 503",
            "200",
        ),
        (
            "headers: {x-aisuite-backend: w2}",
            "headers.x-aisuite-backend",
            "w2",
            "w1",
        ),
        (
            "headers: {x-none: {present: true}}",
            "headers.x-none",
            "present",
            "absent",
        ),
        (
            "headers: {x-request-id: {present: false}}",
            "headers.x-request-id",
            "absent",
            "",
        ),
        (
            "json: {choices.0.finish_reason: length}",
            "json.choices.0.finish_reason",
            "length",
            "\"stop\"",
        ),
        (
            "json: {usage.completion_tokens: '3'}",
            "json.usage.completion_tokens",
            "3",
            "3",
        ),
        (
            "text: {contains: [hello, bye]}",
            "text",
            "contains \"bye\"",
            "",
        ),
        (
            "text: {lacks: hello}",
            "text",
            "does not contain \"hello\"",
            "",
        ),
        ("body_bytes: 1", "body_bytes", "1", ""),
        (
            "first_byte: {at_least: 1s}",
            "first_byte",
            "at least 1s",
            "0s",
        ),
        (
            "took: {at_least: 1ms, at_most: 2ms}",
            "took",
            "1ms to 2ms",
            "0s",
        ),
        ("pieces: 2", "pieces", "2", "1"),
        ("pieces_at: [200ms]", "pieces_at", "[200ms]", "[0s]"),
        ("ended: broken", "ended", "broken", "complete at 0s"),
        ("attempts: [w1, w2]", "attempts", "[w1, w2]", "[w1]"),
        (
            "upstream: {json: {model: chat}}",
            "upstream.json.model (at w1)",
            "chat",
            "\"large\"",
        ),
        (
            "upstream: {path: /v1}",
            "upstream.path (at w1)",
            "/v1",
            "/v1/chat/completions",
        ),
        ("log: {flags: UF}", "log.flags", "UF", "\"-\""),
        ("statuses: {200: 2}", "statuses.200", "2", "1 of 1: 200 x1"),
        ("served_by: {w2: 1}", "served_by.w2", "1", "0 of 1: w1 x1"),
    ] {
        let found = failures(&format!(
            "requests:\n- name: first\n  chat: chat\n  expect: {{{expect}}}\n"
        ));
        assert_eq!(found.len(), 1, "{expect}: {found:?}");
        let (line, told, wanted, came) = &found[0];
        assert_eq!(
            (*line, told.as_str()),
            (4, &*format!("first: {what}")),
            "{expect}"
        );
        assert_eq!(wanted, expected, "{expect}");
        assert!(came.contains(got), "{expect}: {came}");
    }
}

#[test]
fn a_wrong_expectation_of_the_whole_says_what_came() {
    for (expect, what, expected, got) in [
        (
            "workers: {w1: {requests: 2}}",
            "workers.w1.requests",
            "2",
            "1",
        ),
        (
            "workers: {w1: {probes: {at_least: 1}}}",
            "workers.w1.probes",
            "at least 1",
            "0",
        ),
        ("workers: {w1: {broken: 1}}", "workers.w1.broken", "1", "0"),
        (
            "workers: {w1: {paths: {/readyz: 1}}}",
            "workers.w1.paths./readyz",
            "1",
            "0",
        ),
        (
            "workers: {w1: {models: {chat: 1}}}",
            "workers.w1.models.chat",
            "1",
            "0",
        ),
        (
            "workers: {w1: {headers: {x-a: b}}}",
            "workers.w1.headers.x-a",
            "b",
            "absent",
        ),
        ("order: [w2]", "order", "w2", "w1"),
        (
            "access_log: [{where: {log: request, code: 503}}]",
            "access_log",
            "at least 1 such lines",
            "0",
        ),
        (
            "log: [{contains: nothing like it}]",
            "log",
            "at least 1 such lines with \"nothing like it\"",
            "0",
        ),
        ("metrics: {none: 1}", "metrics.none", "1", "absent"),
    ] {
        let found = failures(&format!(
            "requests: [{{chat: chat}}]\nexpect:\n  {expect}\n"
        ));
        let all: Vec<_> = found
            .iter()
            .map(|(line, what, expected, _)| (*line, &**what, &**expected))
            .collect();
        assert_eq!(all, [(3, what, expected)], "{expect}");
        assert!(found[0].3.contains(got), "{expect}: {}", found[0].3);
    }
}

#[test]
fn an_answer_that_does_not_come_is_a_failure_without_a_word_of_the_scenario() {
    let broken = failures("workers: {w1: {reset: {bytes: 10}}}\nrequests: [{chat: chat}]\n");
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert_eq!(
        (&*broken[0].1, &*broken[0].2),
        ("request 1: ended", "complete")
    );
    assert!(broken[0].3.starts_with("broken off"), "{broken:?}");
}

#[test]
fn an_update_must_be_taken_or_be_refused_as_foreseen() {
    let refused = "{at: 1s, gateway: {version: 2}, refused: {contains: version}}";
    assert_eq!(failures(&format!("updates: [{refused}]\nuntil: 2s\n")), []);
    let other = refused.replace("contains: version", "contains: workers");
    let found = failures(&format!("updates: [{other}]\nuntil: 2s\n"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(&*found[0].1, "updates.refused");
    let never = failures(&format!(
        "updates: [{refused}]\nrequests: [{{chat: chat}}]\n"
    ));
    assert!(never[0].3.contains("the run ended before it"), "{never:?}");
}

#[test]
fn what_the_deployment_does_not_have_stops_the_scenario() {
    for (more, line, text) in [
        (
            "workers: {w3: {}}\n",
            1,
            "worker w3: the gateway has no worker of that name",
        ),
        ("requests:\n- expect: {attempts: [w9]}\n", 2, "worker w9"),
        (
            "edit: [{replace: no such text, with: x}]\n",
            1,
            "edit: the text to replace stands nowhere",
        ),
        ("modules: nowhere\n", 0, "nowhere/alias.wasm is missing"),
        (
            "requests:\n- {chat: chat, at: 5s}\n- {chat: chat}\n- {chat: chat, at: 1s}\n",
            4,
            "request 3: at: the requests before it were over only at 5s",
        ),
    ] {
        let report = run(more);
        let place = if line == 0 { 1 } else { FIRST + line - 1 };
        assert_eq!(report.problems.len(), 1, "{more}");
        let problem = &report.problems[0];
        assert!(
            problem.starts_with(&format!("s.yaml:{place}: ")),
            "{more}: {problem}"
        );
        assert!(problem.contains(text), "{more}: {problem}");
    }
}
