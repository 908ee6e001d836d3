//! The worker over real sockets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mock_worker::{At, Faults, How, MockWorker, Request, Seen, Settings};

/// Long enough on any machine; a test that has to wait this long has failed.
const PATIENCE: Duration = Duration::from_secs(10);

fn worker() -> MockWorker {
    MockWorker::start_free(Settings {
        id: "w1".to_owned(),
        ..Settings::default()
    })
}

fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: w\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

fn chat(body: &str) -> Vec<u8> {
    post("/v1/chat/completions", body)
}

/// Sends, says that nothing follows, and reads everything; `Err` on a reset.
fn exchange(worker: &MockWorker, bytes: &[u8]) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(worker.address())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(bytes)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn a_chat_says_who_answers_and_under_which_name() {
    let answer = exchange(&worker(), &chat(r#"{"model":"m","x":1E400}"#)).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains(r#""content":"hello from w1""#), "{answer}");
    assert!(answer.contains(r#""model":"m""#), "{answer}");
}

#[test]
fn streams_of_every_api_end_as_their_clients_expect() {
    for (path, last) in [
        ("/v1/chat/completions", "data: [DONE]"),
        ("/v1/completions", "data: [DONE]"),
        ("/v1/responses", "event: response.completed"),
        ("/v1/messages", "event: message_stop"),
    ] {
        let answer = exchange(&worker(), &post(path, r#"{"model":"m","stream":true}"#)).unwrap();
        let behind = answer.rsplit(last).next().unwrap();
        assert!(
            answer.contains(last) && behind.matches("\n\n").count() == 1,
            "{path}: {answer}"
        );
        assert!(answer.ends_with("0\r\n\r\n"), "{path}: {answer}");
    }
}

#[test]
fn what_is_no_request_for_a_model_is_refused_as_vllm_does() {
    let settings = Settings {
        id: "w1".to_owned(),
        models: vec!["m".to_owned()],
        key: Some("secret".to_owned()),
    };
    let worker = MockWorker::start_free(settings);
    let with_key = |body: &str| {
        let text = String::from_utf8(chat(body)).unwrap();
        text.replace("host: w", "host: w\r\nauthorization: Bearer secret")
            .into_bytes()
    };
    for (bytes, status) in [
        (with_key(r#"{"model":"m"}"#), "200"),
        (chat(r#"{"model":"m"}"#), "401"),
        (with_key("{"), "400"),
        (with_key(r#"{"model":1}"#), "400"),
        (with_key(r#"{"model":"other"}"#), "404"),
        (post("/v2", "{}"), "404"),
        (b"GET /readyz HTTP/1.1\r\n\r\n".to_vec(), "200"),
        (b"BAD\r\n\r\n".to_vec(), "400"),
    ] {
        let answer = exchange(&worker, &bytes).unwrap();
        assert_eq!(
            answer.get(9..12),
            Some(status),
            "{} {answer}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn requests_are_recorded_as_they_came_even_what_is_left_behind_one() {
    let worker = worker();
    let mut bytes =
        b"POST /x?q=1 HTTP/1.1\r\nNote: caf\xe9\r\ncontent-length: 2\r\n\r\n{}".to_vec();
    bytes.extend(b"surplus}");

    exchange(&worker, &bytes).unwrap();

    let request = Request {
        method: "POST".to_owned(),
        target: "/x?q=1".to_owned(),
        headers: vec![
            (b"Note".to_vec(), b"caf\xe9".to_vec()),
            (b"content-length".to_vec(), b"2".to_vec()),
        ],
        body: b"{}".to_vec(),
        trailers: Vec::new(),
    };
    let seen: Vec<_> = worker
        .recorded()
        .into_iter()
        .map(|recorded| recorded.seen)
        .collect();
    assert_eq!(
        seen,
        [
            Seen::Request(request),
            Seen::Unparsable(b"surplus}".to_vec())
        ]
    );
}

#[test]
fn a_body_that_breaks_off_is_recorded_as_cut() {
    let worker = worker();
    exchange(&worker, b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nhalf").unwrap();
    assert!(matches!(&worker.recorded()[0].seen, Seen::Cut(request) if request.body == b"half"));
}

#[test]
fn chunks_become_one_body() {
    let worker = worker();
    let head = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
    exchange(
        &worker,
        format!("{head}2\r\nab\r\n3;x=y\r\ncde\r\n0\r\n\r\n").as_bytes(),
    )
    .unwrap();
    assert_eq!(worker.requests()[0].body, b"abcde");
}

#[test]
fn an_answer_can_be_reset_and_the_next_one_is_whole() {
    let worker = worker();
    worker.set_faults(Faults::interrupt(At::BeforeHeaders, How::Reset).times(1));
    assert!(exchange(&worker, &chat("{}")).is_err());
    assert!(
        exchange(&worker, &chat("{}"))
            .unwrap()
            .contains("hello from w1")
    );
}

#[test]
fn a_refusing_worker_refuses_connections_until_it_accepts_again() {
    let worker = worker();
    worker.refuse();
    let refused = TcpStream::connect(worker.address()).map_err(|problem| problem.kind());
    assert_eq!(refused.err(), Some(std::io::ErrorKind::ConnectionRefused));
    worker.accept_again();
    assert!(
        exchange(&worker, &chat("{}"))
            .unwrap()
            .contains("hello from w1")
    );
}

#[test]
fn a_held_answer_goes_on_when_it_is_released() {
    let worker = worker();
    worker.set_faults(Faults::interrupt(At::Bytes(5), How::Hold));
    let mut stream = TcpStream::connect(worker.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&chat("{}")).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n{\"cho") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    worker.release();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stream.read_to_end(&mut answer).unwrap();
    assert!(String::from_utf8_lossy(&answer).contains("hello from w1"));
}

#[test]
fn faults_and_records_work_over_http_too() {
    let worker = worker();
    let faults = r#"{"status": 429, "headers": {"retry-after": "7"}, "times": 1}"#;
    let put = format!(
        "PUT /_mock/faults HTTP/1.1\r\ncontent-length: {}\r\n\r\n{faults}",
        faults.len()
    );
    assert!(
        exchange(&worker, put.as_bytes())
            .unwrap()
            .starts_with("HTTP/1.1 200 ")
    );
    let refused = exchange(&worker, &chat(r#"{"model":"m"}"#)).unwrap();
    assert!(
        refused.starts_with("HTTP/1.1 429 ") && refused.contains("retry-after: 7\r\n"),
        "{refused}"
    );
    assert!(
        exchange(&worker, &chat("{}"))
            .unwrap()
            .starts_with("HTTP/1.1 200 ")
    );

    let requests = exchange(&worker, b"GET /_mock/requests HTTP/1.1\r\n\r\n").unwrap();
    assert!(
        requests.contains(r#""body":"eyJtb2RlbCI6Im0ifQ==""#),
        "{requests}"
    );

    let refuse = r#"{"refuse_for_ms": 1}"#;
    let put = format!(
        "PUT /_mock/state HTTP/1.1\r\ncontent-length: {}\r\n\r\n{refuse}",
        refuse.len()
    );
    let _ = exchange(&worker, put.as_bytes());
    while exchange(&worker, &chat("{}")).is_err() {}
}

#[test]
fn a_draining_worker_says_so_and_still_answers() {
    let worker = worker();
    worker.with(|worker| worker.set_draining(true));
    assert!(
        exchange(&worker, b"GET /readyz HTTP/1.1\r\n\r\n")
            .unwrap()
            .starts_with("HTTP/1.1 503 ")
    );
    let answer = exchange(&worker, &chat("{}")).unwrap();
    assert!(
        answer.contains("connection: close\r\n") && answer.contains("hello from w1"),
        "{answer}"
    );
}

#[test]
fn metrics_have_vllms_names() {
    let answer = exchange(&worker(), b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    assert!(
        answer.contains("vllm:num_requests_running{engine=\"0\",model_name=\"w1\"} 0\n"),
        "{answer}"
    );
    assert!(answer.contains("vllm:kv_cache_usage_perc"), "{answer}");
}
