//! The worker of the benchmark: reads the whole body, answers with a short JSON, keeps the connection.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Failure;

/// Most bytes of a request; the largest prompt with its head is a quarter of it.
const REQUEST_LIMIT_BYTES: usize = 1 << 20;

const CHAT: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"served-large","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":212,"completion_tokens":2,"total_tokens":214}}"#;
/// For `poll`.
const MODELS: &str = r#"{"object":"list","data":[{"id":"served-large","object":"model"}]}"#;

/// Serves on as many ports as there are workers, in one thread that ends with the program.
pub fn serve<const WORKERS: usize>() -> Result<[SocketAddr; WORKERS], Failure> {
    let mut addresses = Vec::new();
    let mut listeners = Vec::new();
    for _ in 0..WORKERS {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        addresses.push(listener.local_addr()?);
        listeners.push(listener);
    }
    thread::spawn(move || crate::runtime()?.block_on(accept_all(listeners)));
    addresses
        .try_into()
        .map_err(|_| "not all ports are there".into())
}

async fn accept_all(listeners: Vec<TcpListener>) -> Result<(), Failure> {
    let mut accepting = Vec::new();
    for listener in listeners {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        accepting.push(tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                // The other side closes it; what goes wrong shows as a failed request.
                tokio::spawn(async move { connection_of(connection).await.ok() });
            }
        }));
    }
    for accepting in accepting {
        accepting.await?;
    }
    Ok(())
}

async fn connection_of(mut connection: TcpStream) -> Result<(), Failure> {
    connection.set_nodelay(true)?;
    let mut bytes = Vec::with_capacity(REQUEST_LIMIT_BYTES);
    loop {
        let length = loop {
            if let Some(length) = request_length(&bytes)? {
                break length;
            }
            if bytes.len() >= REQUEST_LIMIT_BYTES {
                return Err("a request is too long".into());
            }
            if connection.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        };
        connection.write_all(answer(&bytes).as_bytes()).await?;
        bytes.drain(..length);
    }
}

/// Length of the request at the start, once all of it is there.
fn request_length(bytes: &[u8]) -> Result<Option<usize>, Failure> {
    let Some((head, body_at)) = head(bytes) else {
        return Ok(None);
    };
    if value(head, "transfer-encoding").is_some() {
        // Nothing follows a request before it is answered, so the end of the bytes is its end.
        let body = &bytes[body_at..];
        let ended = body == b"0\r\n\r\n" || body.ends_with(b"\r\n0\r\n\r\n");
        return Ok(ended.then_some(bytes.len()));
    }
    let length: usize = value(head, "content-length").map_or(Ok(0), str::parse)?;
    Ok((bytes.len() >= body_at + length).then_some(body_at + length))
}

fn answer(request: &[u8]) -> String {
    let body = match request {
        _ if request.starts_with(b"GET /v1/models ") => MODELS,
        _ if request.starts_with(b"GET ") => "{}",
        _ => CHAT,
    };
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// The lines of a head that is complete, and where the body begins.
pub fn head(bytes: &[u8]) -> Option<(&str, usize)> {
    // A head is shorter than this; a long body is not searched again with each piece.
    let start = &bytes[..bytes.len().min(16 * 1024)];
    let end = start.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some((std::str::from_utf8(&bytes[..end]).ok()?, end + 4))
}

/// Value of a header; Envoy writes names in lower case.
pub fn value<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split("\r\n")
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}
