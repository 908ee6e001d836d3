//! A server over HTTP/2 that answers as the name of the method says, well or badly.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A server that is up; it ends with this value.
pub struct Rude {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
}

impl Rude {
    /// Starts a server on a free port.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn start() -> Self {
        let (tell, told) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
                let listener = listener.expect("a free port");
                tell.send(listener.local_addr().expect("it has an address"))
                    .expect("whoever starts it waits");
                tokio::select! {
                    () = serve(listener) => {}
                    _ = ended => {}
                }
            });
        });
        Self {
            address: told.recv().expect("it starts"),
            end: Some(end),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Rude {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
    }
}

async fn serve(listener: TcpListener) {
    while let Ok((socket, _)) = listener.accept().await {
        tokio::spawn(connection(socket));
    }
}

/// One connection; a request for `Close` ends it.
async fn connection(socket: TcpStream) {
    let Ok(mut connection) = h2::server::handshake(socket).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        if method(&request) == "Close" {
            return;
        }
        tokio::spawn(answer(request, respond));
    }
}

fn method(request: &Request<RecvStream>) -> String {
    let path = request.uri().path();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// A message with its prefix.
fn framed(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("a short message");
    [&[0][..], &length.to_be_bytes(), message].concat().into()
}

/// The head that came, a line each.
fn shown(request: &Request<RecvStream>) -> Vec<u8> {
    let mut text = format!("{} {}\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        // The gateway's address is another one each time.
        if !matches!(name.as_str(), "x-request-id" | "x-forwarded-for") {
            text.push_str(&format!("{name}: {}\n", value.as_bytes().escape_ascii()));
        }
    }
    text.into_bytes()
}

fn head(status: u16, headers: &[(&'static str, &'static str)]) -> Response<()> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(()).expect("a valid head")
}

const MIB: usize = 1024 * 1024;
const GRPC: (&str, &str) = ("content-type", "application/grpc");

async fn answer(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let good = || head(200, &[GRPC]);
    match &*method(&request) {
        "Hang" => std::future::pending().await,
        "Reset" => respond.send_reset(Reason::INTERNAL_ERROR),
        "Refuse" => respond.send_reset(Reason::REFUSED_STREAM),
        "NotFound" => only_head(&mut respond, head(404, &[])),
        "Unavailable" => only_head(
            &mut respond,
            head(503, &[("grpc-status", "9"), ("grpc-message", "a%20b")]),
        ),
        "TrailersOnly" => only_head(
            &mut respond,
            head(
                200,
                &[GRPC, ("grpc-status", "5"), ("grpc-message", "not here")],
            ),
        ),
        "Html" => {
            let text = head(200, &[("content-type", "text/html")]);
            whole(&mut respond, text, b"<html>", None);
        }
        // As many MiB as the number behind the name.
        name if name.starts_with("Mib") => {
            let count: usize = name.trim_start_matches("Mib").parse().unwrap_or_default();
            let text = head(200, &[("content-type", "text/plain")]);
            whole(&mut respond, text, &vec![b'x'; count * MIB], None);
        }
        "Garbage" => whole(&mut respond, good(), b"\x07\0\0\0\x02hi", Some("0")),
        "Compressed" => whole(&mut respond, good(), b"\x01\0\0\0\x02hi", Some("0")),
        "Half" => whole(&mut respond, good(), b"\0\0\0\0\x08hi", Some("0")),
        "NoTrailers" => whole(&mut respond, good(), &framed(b"hi"), None),
        "NoStatus" => whole(&mut respond, good(), &framed(b"hi"), Some("")),
        "BadStatus" => whole(&mut respond, good(), &framed(b"hi"), Some("99")),
        "NoMessage" => whole(&mut respond, good(), b"", Some("0")),
        "TwoMessages" => {
            let two = [framed(b"hi"), framed(b"ho")].concat();
            whole(&mut respond, good(), &two, Some("0"));
        }
        "Head" => {
            let shown = framed(&shown(&request));
            whole(&mut respond, good(), &shown, Some("0"));
        }
        "BreakOff" => {
            let mut stream = begun(&mut respond, good());
            let _ = stream.send_data(framed(b"hi"), false);
            // What was sent goes out before the reset.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            stream.send_reset(Reason::CANCEL);
        }
        "Open" => {
            let mut stream = begun(&mut respond, good());
            let _ = stream.send_data(framed(b"hi"), false);
            std::future::pending().await
        }
        _ => whole(&mut respond, good(), &framed(b"hi"), Some("0")),
    }
}

fn only_head(respond: &mut SendResponse<Bytes>, head: Response<()>) {
    let _ = respond.send_response(head, true);
}

fn begun(respond: &mut SendResponse<Bytes>, head: Response<()>) -> SendStream<Bytes> {
    respond
        .send_response(head, false)
        .expect("the gateway listens")
}

/// Head, body, trailers with this status: none, an empty one for trailers without.
fn whole(
    respond: &mut SendResponse<Bytes>,
    head: Response<()>,
    body: &[u8],
    status: Option<&'static str>,
) {
    let mut stream = begun(respond, head);
    let _ = stream.send_data(Bytes::copy_from_slice(body), status.is_none());
    let Some(status) = status else {
        return;
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("x-trailer", "1".parse().expect("a value"));
    if !status.is_empty() {
        trailers.insert("grpc-status", status.parse().expect("a value"));
    }
    let _ = stream.send_trailers(trailers);
}
