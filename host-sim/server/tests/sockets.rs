//! The connections on real sockets, with a small proxy in place of the simulated Envoy.

#[path = "sockets/names.rs"]
mod names;
#[path = "sockets/proxy.rs"]
mod proxy;

use std::future::Future;
use std::time::Duration;

use host_sim_host::io::{Event, ResetReason};
use proxy::Gateway;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Nothing here takes long; a test that hangs fails.
fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("runtime");
    let limited = async {
        tokio::time::timeout(Duration::from_secs(20), test)
            .await
            .expect("the test hangs")
    };
    tokio::task::LocalSet::new().block_on(&runtime, limited);
}

async fn worker() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("bind")
}

async fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut seen = Vec::new();
    while !seen.ends_with(end.as_bytes()) {
        let mut buffer = [0; 1];
        let count = socket.read(&mut buffer).await.expect("read");
        assert_ne!(count, 0, "ended after {}", seen.escape_ascii());
        seen.extend_from_slice(&buffer);
    }
    String::from_utf8(seen).expect("text")
}

async fn read_all(socket: &mut TcpStream) -> String {
    let mut seen = Vec::new();
    socket.read_to_end(&mut seen).await.expect("read");
    String::from_utf8(seen).expect("text")
}

async fn send(socket: &mut TcpStream, text: &str) {
    socket.write_all(text.as_bytes()).await.expect("write");
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

#[test]
fn requests_and_responses_pass_on_kept_connections() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(
            &mut client,
            "POST /a HTTP/1.1\r\nhost: h\r\nx: \u{e9}\r\ncontent-length: 5\r\n\r\nhello",
        )
        .await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        let request = read_until(&mut upstream, "hello").await;
        assert_eq!(
            request,
            "POST /a HTTP/1.1\r\nhost: h\r\nx: \u{e9}\r\ncontent-length: 5\r\n\r\nhello"
        );
        send(&mut upstream, OK).await;
        assert_eq!(read_until(&mut client, "ok").await, OK);

        send(
            &mut client,
            "POST /b HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        )
        .await;
        assert!(
            read_until(&mut upstream, "3\r\nabc\r\n")
                .await
                .contains("transfer-encoding: chunked\r\n")
        );
        send(&mut client, "0\r\n\r\n").await;
        read_until(&mut upstream, "0\r\n\r\n").await;
        send(&mut upstream, OK).await;
        assert_eq!(read_until(&mut client, "ok").await, OK);
    });
}

#[test]
fn each_piece_of_a_stream_arrives_at_once() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        read_until(&mut upstream, "\r\n\r\n").await;
        send(
            &mut upstream,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        .await;
        assert!(
            read_until(&mut client, "\r\n\r\n")
                .await
                .contains("transfer-encoding: chunked")
        );
        for piece in ["7\r\ndata: 1\r\n", "7\r\ndata: 2\r\n", "0\r\n\r\n"] {
            send(&mut upstream, piece).await;
            assert_eq!(read_until(&mut client, piece).await, piece);
        }
    });
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(&mut client, "GET /1 HTTP/1.1\r\nhost: h\r\n\r\nGET /2 HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n").await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        for path in ["/1", "/2"] {
            assert!(
                read_until(&mut upstream, "\r\n\r\n")
                    .await
                    .starts_with(&format!("GET {path} "))
            );
            send(&mut upstream, OK).await;
        }
        let answers = read_all(&mut client).await;
        assert_eq!(
            answers,
            format!(
                "{OK}{}",
                OK.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n")
            )
        );
    });
}

#[test]
fn a_client_that_waits_is_told_to_go_on() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(
            &mut client,
            "POST / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n",
        )
        .await;
        assert_eq!(
            read_until(&mut client, "\r\n\r\n").await,
            "HTTP/1.1 100 Continue\r\n\r\n"
        );
        send(&mut client, "ab").await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        assert!(!read_until(&mut upstream, "ab").await.contains("expect"));
    });
}

#[test]
fn a_refused_request_is_answered_and_the_connection_ends() {
    run(async {
        let gateway = Gateway::start(&worker().await).await;
        for (request, status) in [
            ("nonsense\r\n\r\n", "400"),
            ("GET / HTTP/1.0\r\n\r\n", "426"),
        ] {
            let mut client = gateway.connect().await;
            send(&mut client, request).await;
            let answer = read_all(&mut client).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{answer}"
            );
            assert!(answer.contains("connection: close\r\n"), "{answer}");
        }
    });
}

#[test]
fn other_protocols_are_not_answered() {
    run(async {
        let gateway = Gateway::start(&worker().await).await;
        for hello in ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02"] {
            let mut client = gateway.connect().await;
            send(&mut client, hello).await;
            assert_eq!(client.read(&mut [0; 8]).await.unwrap_or(0), 0);
        }
    });
}

#[test]
fn a_body_that_becomes_unreadable_ends_both_connections() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(
            &mut client,
            "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n",
        )
        .await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        read_until(&mut upstream, "1\r\na\r\n").await;
        send(&mut client, "zz\r\n").await;
        assert!(
            read_all(&mut client)
                .await
                .starts_with("HTTP/1.1 400 Bad Request\r\n")
        );
        assert_eq!(read_all(&mut upstream).await, "");
        assert!(gateway.saw(|event| matches!(event, Event::RequestBroken { .. })));
    });
}

#[test]
fn a_client_that_leaves_ends_the_attempt() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        read_until(&mut upstream, "\r\n\r\n").await;
        drop(client);
        assert_eq!(read_all(&mut upstream).await, "");
        assert!(gateway.saw(|event| matches!(event, Event::RequestReset { .. })));
    });
}

#[test]
fn the_ways_to_break_have_their_reasons() {
    for (answer, expected) in [
        ("", ResetReason::ConnectionTermination),
        ("garbage\r\n", ResetReason::ProtocolError),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab",
            ResetReason::ProtocolError,
        ),
    ] {
        run(async {
            let worker = worker().await;
            let gateway = Gateway::start(&worker).await;
            let mut client = gateway.connect().await;
            send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
            let (mut upstream, _) = worker.accept().await.expect("accept");
            read_until(&mut upstream, "\r\n\r\n").await;
            send(&mut upstream, answer).await;
            drop(upstream);
            read_all(&mut client).await;
            assert!(gateway.saw(
                |event| matches!(event, Event::UpstreamReset { reason, .. } if *reason == expected)
            ));
        });
    }
}

#[test]
fn a_refused_connection_has_envoys_text() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        drop(worker);
        let mut client = gateway.connect().await;
        send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
        read_all(&mut client).await;
        let reason =
            ResetReason::ConnectFailure("delayed connect error: Connection refused".to_owned());
        assert!(gateway.saw(
            |event| matches!(event, Event::UpstreamReset { reason: seen, .. } if *seen == reason)
        ));
    });
}

#[test]
fn a_broken_response_is_seen_as_not_complete() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        read_until(&mut upstream, "\r\n\r\n").await;
        send(
            &mut upstream,
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        )
        .await;
        read_until(&mut client, "3\r\nabc\r\n").await;
        drop(upstream);
        assert_eq!(read_all(&mut client).await, "", "no last chunk");
    });
}

#[test]
fn an_early_answer_ends_both_connections() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(
            &mut client,
            "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nabc",
        )
        .await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        read_until(&mut upstream, "abc").await;
        send(&mut upstream, OK).await;
        let answer = read_all(&mut client).await;
        assert!(
            answer.contains("connection: close\r\n") && answer.ends_with("ok"),
            "{answer}"
        );
        assert_eq!(read_all(&mut upstream).await, "");
    });
}

#[test]
fn a_kept_connection_that_the_worker_closed_is_not_used_again() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        for _ in 0..2 {
            send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
            let (mut upstream, _) = worker.accept().await.expect("a new connection");
            read_until(&mut upstream, "\r\n\r\n").await;
            send(&mut upstream, OK).await;
            read_until(&mut client, "ok").await;
            upstream.shutdown().await.expect("shutdown");
            assert_eq!(
                read_all(&mut upstream).await,
                "",
                "closed by the gateway too"
            );
        }
    });
}

#[test]
fn a_response_until_the_end_of_the_connection_is_complete() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        read_until(&mut upstream, "\r\n\r\n").await;
        send(&mut upstream, "HTTP/1.1 200 OK\r\n\r\nall").await;
        drop(upstream);
        read_until(&mut client, "3\r\nall\r\n0\r\n\r\n").await;
    });
}

/// More than all buffers of the system and the gateway together.
const FLOOD_BYTES: usize = 64 * 1024 * 1024;

#[test]
fn a_worker_is_not_read_faster_than_its_client_reads() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let mut client = gateway.connect().await;
        send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
        let (mut upstream, _) = worker.accept().await.expect("accept");
        read_until(&mut upstream, "\r\n\r\n").await;
        let flood = tokio::task::spawn_local(async move {
            send(
                &mut upstream,
                &format!("HTTP/1.1 200 OK\r\ncontent-length: {FLOOD_BYTES}\r\n\r\n"),
            )
            .await;
            upstream
                .write_all(&vec![b'x'; FLOOD_BYTES])
                .await
                .expect("write");
        });
        let held = gateway.until_still(|event| match event {
            Event::ResponseData { data, .. } => data.len(),
            _ => 0,
        });
        let held = held.await;
        assert!(
            held < FLOOD_BYTES / 2,
            "{held} bytes were read though nobody took them"
        );
        assert_eq!(read_all_of(&mut client, FLOOD_BYTES).await, FLOOD_BYTES);
        flood.await.expect("all was sent");
    });
}

#[test]
fn a_client_is_not_read_faster_than_its_worker_reads() {
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let client = gateway.connect().await;
        let (mut client_in, mut client_out) = client.into_split();
        let flood = tokio::task::spawn_local(async move {
            let head =
                format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: {FLOOD_BYTES}\r\n\r\n");
            client_out.write_all(head.as_bytes()).await.expect("write");
            client_out
                .write_all(&vec![b'x'; FLOOD_BYTES])
                .await
                .expect("write");
            client_out
        });
        let (mut upstream, _) = worker.accept().await.expect("accept");
        let held = gateway.until_still(|event| match event {
            Event::RequestData { data, .. } => data.len(),
            _ => 0,
        });
        let held = held.await;
        assert!(
            held < FLOOD_BYTES / 2,
            "{held} bytes were read though nobody took them"
        );
        read_until(&mut upstream, "\r\n\r\n").await;
        assert_eq!(read_all_of(&mut upstream, FLOOD_BYTES).await, FLOOD_BYTES);
        send(&mut upstream, OK).await;
        let mut answer = vec![0; OK.len()];
        client_in.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(answer, OK.as_bytes());
        flood.await.expect("all was sent");
    });
}

const STREAMS: usize = 2000;
const FIRST: &str = "5\r\nfirst\r\n";
const LAST: &str = "4\r\nlast\r\n0\r\n\r\n";

#[test]
fn two_thousand_streams_run_at_a_time() {
    host_sim_server::gateway::raise_open_files();
    run(async {
        let worker = worker().await;
        let gateway = Gateway::start(&worker).await;
        let (go_on, wait) = tokio::sync::watch::channel(false);
        tokio::task::spawn_local(async move {
            while let Ok((mut upstream, _)) = worker.accept().await {
                let mut wait = wait.clone();
                tokio::task::spawn_local(async move {
                    read_until(&mut upstream, "\r\n\r\n").await;
                    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
                    send(&mut upstream, &format!("{head}{FIRST}")).await;
                    wait.wait_for(|go_on| *go_on)
                        .await
                        .expect("the test goes on");
                    send(&mut upstream, LAST).await;
                });
            }
        });
        let mut clients = Vec::new();
        for _ in 0..STREAMS {
            let mut client = gateway.connect().await;
            send(&mut client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
            clients.push(client);
        }
        for client in &mut clients {
            read_until(client, FIRST).await;
        }
        go_on.send(true).expect("the workers wait");
        for client in &mut clients {
            assert_eq!(read_until(client, LAST).await, LAST);
        }
    });
}

/// Reads until `wanted` body bytes (`x`) were seen.
async fn read_all_of(socket: &mut TcpStream, wanted: usize) -> usize {
    let mut buffer = vec![0; 64 * 1024];
    let mut seen = 0;
    while seen < wanted {
        let count = socket.read(&mut buffer).await.expect("read");
        assert_ne!(count, 0, "ended after {seen}");
        seen += buffer[..count].iter().filter(|byte| **byte == b'x').count();
    }
    seen
}
