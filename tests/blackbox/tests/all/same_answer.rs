//! Both engines give the same answer to odd requests, and hand the same bytes to the worker.

use std::fmt::Write as _;
use std::time::Duration;

use blackbox::{Engine, Seen, World};

use crate::support::{CHAT, chat_request, one_worker};

/// Longest wait for an answer; what takes longer has none (an upload that never ends).
const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn odd_requests_get_the_same_answer_from_both_engines() {
    if !Engine::Envoy.is_here() {
        return;
    }
    let worlds = [Engine::Envoy, Engine::HostSim].map(one_worker);
    let mut surprises = String::new();
    for request in requests() {
        let [envoy, host_sim] = [&worlds[0], &worlds[1]].map(|world| outcome(world, &request));
        if envoy != host_sim {
            let shown = request.escape_ascii();
            let _ = writeln!(
                surprises,
                "{shown}\n--- envoy\n{envoy}--- host-sim\n{host_sim}"
            );
        }
    }
    let [envoy, host_sim] = [&worlds[0], &worlds[1]].map(log_lines);
    for (envoy, host_sim) in envoy.iter().zip(&host_sim) {
        if envoy != host_sim {
            let _ = writeln!(
                surprises,
                "--- envoy's log\n{envoy}\n--- host-sim's log\n{host_sim}"
            );
        }
    }
    assert!(surprises.is_empty(), "{surprises}");
    assert_eq!(envoy.len(), host_sim.len());
}

/// The lines of all requests so far, without what differs from run to run.
fn log_lines(world: &World) -> Vec<String> {
    let _ = world.get(LAST_PATH);
    let _ = world.log().wait(|line| line["path"] == LAST_PATH);
    let mut lines = world.log().lines();
    let mut texts = Vec::new();
    for line in &mut lines {
        let fields = line.as_object_mut().expect("a line is an object");
        for field in ["ts", "request_id", "ms", "ttfb_ms", "host"] {
            let _ = fields.remove(field);
        }
        texts.push(line.to_string());
    }
    texts
}

/// No other request has it.
const LAST_PATH: &str = "/the-last-one";

/// Everything that can be seen from outside and does not differ from run to run.
fn outcome(world: &World, bytes: &[u8]) -> String {
    let worker = world.worker("w1");
    let before = worker.recorded().len();
    let mut client = world.connect();
    let mut text = String::new();
    client.send(bytes);
    if !client.answers_within(PATIENCE) {
        return "no answer\n".to_owned();
    }
    match client.try_head() {
        None => text.push_str("closed without an answer\n"),
        Some(head) => {
            let head_only = bytes.starts_with(b"HEAD ");
            let _ = writeln!(text, "status {}", head.status);
            let mut headers = head.headers.clone();
            headers.sort();
            for (name, value) in &headers {
                if !matches!(name.as_str(), "date" | "x-request-id") {
                    let _ = writeln!(text, "{name}: {}", value.escape_ascii());
                }
            }
            if !head_only {
                let (body, end) = client.to_end(&mut head.rest());
                let body = String::from_utf8_lossy(&body);
                let id = head.header("x-request-id").unwrap_or_default();
                let body = if id.is_empty() {
                    body
                } else {
                    body.replace(&id, "<id>").into()
                };
                let _ = writeln!(text, "{body}\n{end:?}");
            }
        }
    }
    let address = worker.address().to_string();
    for recorded in &worker.recorded()[before..] {
        let (kind, request) = match &recorded.seen {
            Seen::Request(request) => ("worker", request),
            Seen::Cut(request) => ("worker, cut", request),
            Seen::Unparsable(bytes) => {
                let _ = writeln!(text, "worker, unparsable: {}", bytes.escape_ascii());
                continue;
            }
        };
        let _ = writeln!(text, "{kind}: {} {}", request.method, request.target);
        let mut headers = request.headers.clone();
        headers.sort();
        for (name, value) in &headers {
            if name != b"x-request-id" {
                let mut value = value
                    .escape_ascii()
                    .to_string()
                    .replace(&address, "<address>");
                if name == b"x-forwarded-for" {
                    // Envoy writes an address of the machine's own in the place of a loopback one.
                    let before = value.rfind(',').map_or(0, |comma| comma + 1);
                    value.replace_range(before.., "<client>");
                }
                let _ = writeln!(text, "  {}: {value}", name.escape_ascii());
            }
        }
        let _ = writeln!(text, "  {}", request.body.escape_ascii());
    }
    text
}

fn requests() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for path in PATHS {
        all.push(
            format!(
                "POST {path} HTTP/1.1\r\nhost: g\r\ncontent-length: {}\r\n\r\n{CHAT}",
                CHAT.len()
            )
            .into_bytes(),
        );
    }
    for lines in HEADERS {
        let mut bytes = b"POST /v1/chat/completions HTTP/1.1\r\n".to_vec();
        bytes.extend_from_slice(lines);
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n{CHAT}", CHAT.len()).as_bytes());
        all.push(bytes);
    }
    for head in HEADS {
        all.push(head.as_bytes().to_vec());
    }
    for body in BODIES {
        all.push(chat_request(body));
    }
    all
}

/// In the place of a path that is served.
const PATHS: &[&str] = &[
    "/v1/chat/completions",
    "/v1/chat/completions?",
    "/v1/chat/completions?a=b&c=%2F#d",
    "/v1/chat/completions#x",
    "/v1/%63hat/completions",
    "/v1/%43hat/completions",
    "/v1/chat%2Dx/../completions",
    "/v1/chat/%63ompletion%73",
    "/v1/chat/completions%20",
    "/v1/%25%36%33hat/completions",
    "/v1/chat/completions|x",
    "/v1/chat/completions\u{1}",
    "/v1/chat/completions%00",
    "/v1/chat/completions%zz",
    "/v1/chat/completions%",
    "/v1%2Fchat/completions",
    "/v1%5cchat/completions",
    "/v1\\chat\\completions",
    "//v1/chat/completions",
    "///v1///chat//completions",
    "/./v1/chat/completions",
    "/v1/./chat/completions/.",
    "/v1/../v1/chat/completions",
    "/../v1/chat/completions",
    "/%2e%2e/v1/chat/completions",
    "/v1/%2e/chat/completions",
    "/v1/chat/completions/..",
    "/v1/chat/completions/",
    "/v1/chat/completions;a=b",
    "/V1/Chat/Completions",
    "http://h/v1/chat/completions",
    "http://h//v1/chat/completions?x",
    "http://h?x",
    "http://h#x",
    "http://h",
    "HTTP://h/v1/chat/completions",
    "https://h/v1/chat/completions",
    "ftp://h/v1/chat/completions",
    "h/v1/chat/completions",
    "v1/chat/completions",
    "?x",
    "*",
    "/",
    "/v1/chat/completions\u{e9}",
    "/v1/chat/completions?\u{e9}",
];

/// In front of the `content-length` of a chat.
const HEADERS: &[&[u8]] = &[
    b"host: g\r\n",
    b"Host: G.Example:8080\r\n",
    b"",
    b"host:\r\n",
    b"host: a\r\nhost: b\r\n",
    b"host: g\r\nunder_score: 1\r\n",
    b"host: g\r\nx-note: caf\xe9\r\n",
    b"host: g\r\nx-nul: a\0b\r\n",
    b"host: g\r\nx-tab:\ta\tb\t\r\n",
    b"host: g\r\nx-empty:\r\n",
    b"host: g\r\nx-many: a\r\nx-many: b\r\n",
    b"host: g\r\nX-Upper: A\r\n",
    b"host: g\r\nx space: 1\r\n",
    b"host: g\r\nx-colon : 1\r\n",
    b"host: g\r\n x-folded: 1\r\n",
    b"host: g\r\nx-folded: 1\r\n 2\r\n",
    b"host: g\r\nx-folded: 1 \r\n\t 2 \r\n  3 \r\n",
    b"host: g\r\ncontent-type: a\r\nx-many: 1\r\ncontent-type: b\r\nx-many: 2\r\nContent-Type:\r\n",
    b"host: g\r\naccept:\r\naccept: x\r\nuser-agent: a\r\nuser-agent: b\r\nvia: a\r\nvia: b\r\norigin: a\r\norigin: b\r\n",
    b"host: g\r\naccept-language: a\r\naccept-language: b\r\nx-api-key: a\r\nx-api-key: b\r\nrange: a\r\nrange: b\r\n",
    b"host: g\r\nx-forwarded-for: 1.1.1.1\r\nx-forwarded-for: 2.2.2.2\r\nx-request-id: a\r\nx-request-id: b\r\n",
    b"host: g\r\nte: trailers, gzip\r\n",
    b"host: g\r\nte: gzip\r\n",
    b"host: g\r\nauthorization: a\r\nauthorization: b\r\n",
    b"host: g\r\n: empty\r\n",
    b"host: g\r\nno-colon\r\n",
    b"host: g\r\nconnection: close\r\n",
    b"host: g\r\nconnection: keep-alive, x-hop\r\nx-hop: 1\r\nkeep-alive: 1\r\n",
    b"host: g\r\nte: trailers\r\ntrailer: x\r\nproxy-connection: x\r\n",
    b"host: g\r\nupgrade: websocket\r\nconnection: upgrade\r\n",
    b"host: g\r\ntransfer-encoding: chunked\r\n",
    b"host: g\r\ntransfer-encoding: gzip, chunked\r\n",
    b"host: g\r\ncontent-length: 1\r\n",
    b"host: g\r\nx-forwarded-for: 1.2.3.4\r\nx-forwarded-proto: https\r\nx-forwarded-host: h\r\n",
    b"host: g\r\nx-forwarded-proto: nonsense\r\n",
    b"host: g\r\nforwarded: for=1.2.3.4\r\nx-real-ip: 1.2.3.4\r\nvia: x\r\n",
    b"host: g\r\nx-request-id: mine\r\nx-client-trace-id: t\r\ntraceparent: t\r\n",
    b"host: g\r\nx-envoy-max-retries: 3\r\nx-envoy-peer-metadata: x\r\nx-envoy-external-address: 1.2.3.4\r\n",
    b"host: g\r\naccept-encoding: gzip\r\ncontent-encoding: identity\r\n",
    b"host: g\r\ncontent-encoding: gzip\r\n",
    b"host: g\r\nauthorization: Bearer x\r\ncookie: a=b; c=d\r\ncookie: e=f\r\nuser-agent: u\r\nreferer: r\r\n",
    b"host: g\r\nexpect: something\r\n",
    b"host: g\r\n:path: /x\r\n",
    b"host: g\r\ngrpc-timeout: 1S\r\nserver: mine\r\n",
];

/// Whole requests.
const HEADS: &[&str] = &[
    "GET /v1/models HTTP/1.1\r\nhost: g\r\n\r\n",
    "GET /v1/models/chat HTTP/1.1\r\nhost: g\r\n\r\n",
    "GET /v1/models/ch%61t HTTP/1.1\r\nhost: g\r\n\r\n",
    "GET /v1/models HTTP/1.0\r\nhost: g\r\n\r\n",
    "GET /v1/models HTTP/1.2\r\nhost: g\r\n\r\n",
    "GET /v1/models HTTP/2.0\r\nhost: g\r\n\r\n",
    "GET /v1/models\r\n\r\n",
    "GET  /v1/models HTTP/1.1\r\nhost: g\r\n\r\n",
    "get /v1/models HTTP/1.1\r\nhost: g\r\n\r\n",
    "HEAD /v1/models HTTP/1.1\r\nhost: g\r\n\r\n",
    "BREW /v1/models HTTP/1.1\r\nhost: g\r\n\r\n",
    "PATCH /v1/models HTTP/1.1\r\nhost: g\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nhost: g\r\n\r\n",
    "CONNECT h:1 HTTP/1.1\r\nhost: h:1\r\n\r\n",
    "CONNECT [::1]:443 HTTP/1.1\r\n\r\n",
    "CONNECT h HTTP/1.1\r\nhost: h\r\n\r\n",
    "CONNECT h:1 HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nab",
    "GET /v1/models HTTP/1.1 \r\nhost: g\r\n\r\n",
    "GET\t/v1/models\tHTTP/1.1\r\nhost: g\r\n\r\n",
    "GET /v1/models HTTP/1.1\r\n x: 1\r\nhost: g\r\n\r\n",
    "GET /v1/models HTTP/1.1\r\nhost: g\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nmore",
    "GET /v1/models HTTP/1.1\r\nhost: g\r\nupgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: x\r\n\r\n",
    "TRACE / HTTP/1.1\r\nhost: g\r\n\r\n",
    "\r\n\r\nGET /v1/models HTTP/1.1\r\nhost: g\r\n\r\n",
    "GET /v1/models HTTP/1.1\nhost: g\n\n",
    "GET /v1/models HTTP/1.1\r\nhost: g\r\ncontent-length: 2\r\n\r\nab",
    "GET /v1/models HTTP/1.1\r\nhost: g\r\ncontent-length: 2\r\n\r\nabGARBAGE\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: -1\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: +2\r\n\r\n{}",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 2x\r\n\r\n{}",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 2, 2\r\n\r\n{}",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-length: 99999999999999999999\r\n\r\n{}",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: Chunked\r\n\r\n10\r\n{\"model\":\"chat\"}\r\n0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n10;x=y\r\n{\"model\":\"chat\"}\r\n0\r\nx-trailer: 1\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n10\r\n{\"model\":\"chat\"}0\r\n\r\n",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: identity\r\n\r\n{}",
    "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nexpect: 100-continue\r\ncontent-length: 16\r\n\r\n{\"model\":\"chat\"}",
    "BROKEN\r\n\r\n",
    "\0\r\n\r\n",
];

/// Bodies of a chat.
const BODIES: &[&str] = &[
    CHAT,
    r#"{"model":"chat","stream":true}"#,
    r#"{"model":"chat","stream":true,"stream_options":{"include_usage":true}}"#,
    r#"{"model":"none"}"#,
    r#"{"model":"chat","model":"chat"}"#,
    r#"{"model":"ch\u0061t"}"#,
    r#"{"model":"chat""#,
    "{}",
    "[]",
    "",
];
