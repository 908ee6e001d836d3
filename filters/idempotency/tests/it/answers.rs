//! What is kept of an answer, and given again.

use dragoman_sdk::Action;
use dragoman_sdk::fake::FakeHost;

use crate::process::{ANSWER, Further, Process, SECTION, chat};

#[test]
fn an_answer_is_given_again_byte_for_byte() {
    let process = Process::new(SECTION);
    let mut first = process.runs(&chat("k"));
    first.works("w1");
    first.answers(
        &[
            (":status", "201"),
            ("content-type", "application/json"),
            ("x-aisuite-backend", "w1"),
            ("content-length", "10"),
            ("date", "today"),
        ],
        &[&ANSWER[..4], &ANSWER[4..]],
    );
    assert_eq!(first.word(), "claimed");
    first.done();
    assert_eq!(first.word(), "claimed");

    let again = process.answered(&chat("k"));

    assert_eq!((again.status, again.body.as_slice()), (201, ANSWER));
    let lines: Vec<&str> = again
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        lines,
        ["content-type", "x-aisuite-backend", "idempotency-replayed"]
    );
    assert_eq!(again.header("idempotency-replayed").unwrap(), "true");
}

#[test]
fn answers_of_every_size_come_back_whole() {
    let process = Process::new(SECTION);
    for size in [0, 1, 4096, 4097, 65_535, 65_536, 65_537, 131_072, 200_000] {
        let body: Vec<u8> = (0..size).map(|n: u32| (n % 253) as u8).collect();
        let key = format!("k{size}");
        process.has_answered(&chat(&key), &body);
        assert!(process.answered(&chat(&key)).body == body, "{size} bytes");
    }
}

#[test]
fn an_answer_over_the_cap_is_not_kept_and_says_so() {
    let process = Process::new(SECTION);
    let over = vec![b'x'; 200_001];
    let mut first = process.runs(&chat("k"));
    first.answers(&[(":status", "200")], &[&over[..150_000], &over[150_000..]]);
    first.done();
    assert_eq!(first.word(), "too_large");
    let expected = (409, "response_too_large_to_replay".to_owned());
    assert_eq!(process.refused(&chat("k")), expected);

    let mut announced = process.runs(&chat("l"));
    announced.begins(&[(":status", "200"), ("content-length", "200001")]);
    announced.response_data(b"", true);
    assert_eq!(process.refused(&chat("l")), expected);

    let cookies = "c".repeat(5000);
    let mut head = process.runs(&chat("m"));
    head.answers(&[(":status", "200"), ("x-large", &cookies)], &[b"hi"]);
    assert_eq!(process.refused(&chat("m")), expected);
}

#[test]
fn an_answer_without_a_body_is_kept() {
    let process = Process::new(SECTION);
    let mut first = process.runs(&chat("k"));
    let details = b"via_upstream".to_vec();
    let properties = &mut first.host.properties;
    properties.insert("response.code_details".to_owned(), details);
    first.response(&[(":status", "204")], true);
    let again = process.answered(&chat("k"));
    assert_eq!((again.status, again.body), (204, Vec::new()));
}

#[test]
fn a_refusal_of_the_worker_is_final_and_kept() {
    let process = Process::new(SECTION);
    for status in ["400", "409", "422"] {
        let mut first = process.runs(&chat(status));
        first.works("w1");
        first.tried(&format!("w1={status}"));
        first.answers(&[(":status", status)], &[b"no"]);
        first.done();
        let again = process.answered(&chat(status));
        assert_eq!(
            (again.status.to_string().as_str(), again.text().as_str()),
            (status, "no")
        );
    }
}

#[test]
fn an_answer_is_found_from_every_thread() {
    let process = Process::new(SECTION);
    process.has_answered(&chat("k"), ANSWER);
    let other = process.another_thread(SECTION);
    assert_eq!(other.answered(&chat("k")).body, ANSWER);
}

#[test]
fn without_its_header_a_request_passes_unseen() {
    let process = Process::new(SECTION);
    let mut asking = chat("");
    asking.keys.clear();
    asking.body_sha256 = None;
    for _ in 0..2 {
        let mut life = process.runs(&asking);
        life.works("w1");
        life.answers(&[(":status", "200")], &[ANSWER]);
        life.done();
        assert_eq!(life.word(), "");
    }
    assert!(process.shared.borrow().is_empty());
}

#[test]
fn without_its_section_a_key_means_nothing() {
    let document = r#"{"version": 1, "auth": {"mode": "off"}, "workers": [], "endpoints": []}"#;
    let process = Process::of(document);
    process.runs(&chat("k"));
    process.runs(&chat("k"));
    process.runs(&chat("two words"));
    process.tick();
}

#[test]
fn a_filter_that_saw_no_request_minds_no_response() {
    let process = Process::new(SECTION);
    let mut life = process.life(&chat("k"));
    life.host = FakeHost::default();
    life.fails("400", "http1.codec_error");
    assert_eq!(life.word(), "");
}

#[test]
fn what_it_needs_must_be_there() {
    let process = Process::new(SECTION);
    let misconfigured = (500, "misconfigured".to_owned());
    let mut no_digest = chat("k");
    no_digest.body_sha256 = None;
    assert_eq!(process.refused(&no_digest), misconfigured);

    let mut no_alias = process.life(&chat("k"));
    no_alias.host.properties.remove("dragoman.request");
    assert_eq!(no_alias.headers(false), Action::Pause);
    assert_eq!(no_alias.host.replied.unwrap().status, 500);

    let authenticated = Process::with_auth("on", SECTION);
    assert_eq!(authenticated.refused(&chat("k")), misconfigured);
}
