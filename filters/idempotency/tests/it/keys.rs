//! Keys: their form, whose they are, and what they stand for.

use dragoman_contract::ApiKind;

use crate::process::{ANSWER, Process, SECTION, chat};

fn reused() -> (u16, String) {
    (409, "idempotency_key_reused".to_owned())
}

#[test]
fn a_key_of_the_wrong_form_is_refused() {
    let process = Process::new(SECTION);
    let long = "k".repeat(256);
    for key in ["", "two words", &long, "\u{e9}"] {
        let refused = process.refused(&chat(key));
        assert_eq!(
            refused,
            (400, "invalid_idempotency_key".to_owned()),
            "{key:?}"
        );
    }
    process.runs(&chat(&long[1..]));
}

#[test]
fn two_keys_are_refused_and_one_key_twice_is_one() {
    let process = Process::new(SECTION);
    let mut asking = chat("k");
    asking.keys = vec!["k", "l"];
    assert_eq!(process.refused(&asking).0, 400);
    asking.keys = vec!["k", "k"];
    process.has_answered(&asking, ANSWER);
    assert_eq!(process.answered(&chat("k")).body, ANSWER);
}

#[test]
fn a_reused_key_with_another_body_is_refused() {
    let process = Process::new(SECTION);
    let running = process.runs(&chat("k"));
    assert_eq!(process.refused(&chat("k").body(2)), reused(), "under way");
    drop(running);
    let process = Process::new(SECTION);
    process.has_answered(&chat("k"), ANSWER);
    assert_eq!(process.refused(&chat("k").body(2)), reused(), "answered");
}

#[test]
fn a_reused_key_at_another_path_is_refused() {
    let process = Process::new(SECTION);
    process.has_answered(&chat("k"), ANSWER);
    let mut elsewhere = chat("k");
    elsewhere.api = ApiKind::Completions;
    assert_eq!(process.refused(&elsewhere), reused());
}

#[test]
fn the_same_request_under_way_is_told_to_wait() {
    let process = Process::new(SECTION);
    let _running = process.runs(&chat("k"));
    let answer = process.answered(&chat("k"));
    assert_eq!(answer.status, 409);
    assert!(answer.text().contains("request_in_progress"));
    assert_eq!(answer.header("retry-after").unwrap(), "2");
}

#[test]
fn an_anthropic_client_is_refused_in_its_own_shape() {
    let process = Process::new(SECTION);
    let mut asking = chat("two words");
    asking.path = "/v1/messages?beta=true";
    assert!(
        process
            .answered(&asking)
            .text()
            .starts_with(r#"{"type":"error""#)
    );
}

#[test]
fn tenants_and_applications_have_keys_of_their_own() {
    let process = Process::with_auth("on", SECTION);
    process.has_answered(&chat("1").caller("a", "app"), b"of a");
    process.has_answered(&chat("1").caller("b", "app"), b"of b");
    process.has_answered(&chat("1").caller("a", "other"), b"of other");
    process.has_answered(&chat("2").caller("a:1", "app"), b"of a:1");
    process.has_answered(&chat("1:2").caller("a", "app"), b"of 1:2");

    let own = |asking| process.answered(&asking).text();
    assert_eq!(own(chat("1").caller("a", "app")), "of a");
    assert_eq!(own(chat("1").caller("b", "app")), "of b");
    assert_eq!(own(chat("1").caller("a", "other")), "of other");
    assert_eq!(own(chat("2").caller("a:1", "app")), "of a:1");
    assert_eq!(
        process.refused(&chat("1").caller("b", "app").body(2)),
        reused()
    );
}
