//! Requests without an answer to keep: their key is free again, or held.

use crate::process::{ANSWER, Further, HOLD, Life, Process, SECTION, chat};

/// The key is free after this, whatever the rule for unknown outcomes.
fn frees(what: impl Fn(&mut Life)) {
    for section in [SECTION, HOLD] {
        let process = Process::new(section);
        let mut life = process.runs(&chat("k"));
        what(&mut life);
        assert_eq!(life.word(), "released");
        process.has_answered(&chat("k"), ANSWER);
    }
}

/// Nobody knows what came of the request after this: the key is free, or held if that is the rule.
fn is_unknown(what: impl Fn(&mut Life)) {
    let process = Process::new(SECTION);
    let mut life = process.runs(&chat("k"));
    what(&mut life);
    assert_eq!(life.word(), "released");
    process.has_answered(&chat("k"), ANSWER);

    let process = Process::new(HOLD);
    let mut life = process.runs(&chat("k"));
    what(&mut life);
    assert_eq!(life.word(), "held");
    let answer = process.answered(&chat("k"));
    assert_eq!(answer.status, 409);
    let text = answer.text();
    assert!(
        text.contains("outcome_unknown") && text.contains("as r1"),
        "{text}"
    );
    let another = process.refused(&chat("k").body(2));
    assert_eq!(another, (409, "idempotency_key_reused".to_owned()));
}

#[test]
fn a_request_that_a_later_filter_refuses_frees_its_key() {
    frees(|life| life.is_refused("429", "rate_limited"));
    frees(|life| life.is_refused("503", "no_capacity"));
    frees(|life| life.is_refused("403", "model_not_allowed"));
}

#[test]
fn a_request_that_reached_no_worker_frees_its_key() {
    frees(|life| {
        life.works("w2");
        life.tried("w1=refused,w2=refused");
        life.fails(
            "503",
            "upstream_reset_before_response_started{connection_refused}",
        );
    });
}

#[test]
fn a_refusal_by_attempt_is_no_answer_of_a_worker() {
    frees(|life| {
        let code = b"not_found".to_vec();
        let properties = &mut life.host.properties;
        properties.insert("dragoman.error".to_owned(), code);
        life.answers(&[(":status", "400")], &[b"{}"]);
        life.done();
    });
}

#[test]
fn an_answer_of_envoy_is_no_answer_of_a_worker() {
    frees(|life| life.fails("404", "route_not_found"));
    frees(|life| life.fails("200", "direct_response"));
    frees(|life| life.fails("413", "request_payload_too_large"));
}

#[test]
fn an_answer_that_says_try_again_frees_the_key() {
    for status in ["408", "429", "500", "502", "503", "504"] {
        frees(|life| {
            life.works("w1");
            life.tried(&format!("w1={status}"));
            life.answers(&[(":status", status)], &[b"later"]);
            life.done();
        });
    }
}

#[test]
fn a_worker_that_breaks_off_before_its_answer_leaves_the_outcome_unknown() {
    is_unknown(|life| {
        life.works("w1");
        life.tried("w1=reset");
        life.fails(
            "503",
            "upstream_reset_before_response_started{connection_termination}",
        );
    });
}

#[test]
fn a_worker_that_breaks_off_within_its_answer_leaves_the_outcome_unknown() {
    is_unknown(|life| {
        life.works("w1");
        life.begins(&[(":status", "200")]);
        life.response_data(&[b'x'; 70_000], false);
        life.tried("w1=200:cut");
        life.done();
    });
}

#[test]
fn a_worker_that_does_not_answer_in_time_leaves_the_outcome_unknown() {
    is_unknown(|life| {
        life.works("w1");
        life.tried("w1=timeout");
        life.fails("504", "upstream_per_try_timeout");
    });
}

#[test]
fn a_client_that_leaves_while_a_worker_works_leaves_the_outcome_unknown() {
    is_unknown(|life| {
        life.works("w1");
        life.done();
    });
    is_unknown(|life| {
        life.works("w1");
        life.tried("w1=200");
        life.begins(&[(":status", "200")]);
        life.response_data(b"data: 1\n\n", false);
        life.done();
    });
}

#[test]
fn a_client_that_leaves_before_a_worker_is_asked_frees_its_key() {
    frees(|life| life.done());
}

#[test]
fn a_held_key_is_free_after_a_day() {
    let process = Process::new(HOLD);
    let mut life = process.runs(&chat("k"));
    life.works("w1");
    life.done();
    process.wait(std::time::Duration::from_secs(86_399));
    assert_eq!(process.refused(&chat("k")).0, 409);
    process.wait(std::time::Duration::from_secs(1));
    process.runs(&chat("k"));
}

#[test]
fn what_only_the_operator_can_mend_frees_the_key() {
    for status in ["401", "403", "404", "407"] {
        frees(|life| {
            life.works("w1");
            life.tried(&format!("w1={status}"));
            life.answers(&[(":status", status)], &[b"{}"]);
            life.done();
        });
    }
}
