//! HTTP/2 with prior knowledge.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::TcpStream;

/// Longest request.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most bytes of a body that are handed over at a time.
const PIECE_BYTES: usize = 16 * 1024;

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A whole response.
    Response {
        /// Status.
        status: u16,
        /// Body.
        body: Vec<u8>,
    },
    /// The stream or the connection was broken off; what the other side gave as the reason.
    Reset(String),
}

/// Sends a `POST` with this body on a new connection. The body is sent as fast as the peer takes
/// it; a response that comes earlier is read all the same.
///
/// # Panics
/// When there is no connection, or it takes more than a minute.
#[must_use]
pub fn post(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut request = http::Request::post(format!("http://gateway.test{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(()).expect("a valid request");
    let exchange = exchange(address, request, body);
    let result = runtime.block_on(async { tokio::time::timeout(PATIENCE, exchange).await });
    match result.expect("an answer within a minute") {
        Ok((status, body)) => Outcome::Response { status, body },
        Err(problem) => Outcome::Reset(problem.to_string()),
    }
}

/// Sends a `POST` with this body on a new connection, and cancels it with `RST_STREAM` as soon as
/// `when` says so.
///
/// # Panics
/// When there is no connection, or `when` takes more than a minute.
pub fn post_and_cancel(address: SocketAddr, path: &str, body: &[u8], when: impl Fn() -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let request = http::Request::post(format!("http://gateway.test{path}"));
    let request = request.body(()).expect("a valid request");
    let exchange = async {
        let stream = TcpStream::connect(address).await.expect("a gateway");
        let (mut client, connection) = h2::client::handshake(stream).await?;
        let driver = tokio::spawn(connection);
        let (response, mut sending) = client.send_request(request, false)?;
        sending.send_data(Bytes::copy_from_slice(body), true)?;
        while !when() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        sending.send_reset(h2::Reason::CANCEL);
        drop((response, sending, client));
        // Without streams the connection ends, so now the reset was sent.
        let _ = driver.await;
        Ok::<_, h2::Error>(())
    };
    let result = runtime.block_on(async { tokio::time::timeout(PATIENCE, exchange).await });
    result
        .expect("a minute is enough")
        .expect("a gateway that speaks HTTP/2");
}

async fn exchange(
    address: SocketAddr,
    request: http::Request<()>,
    body: &[u8],
) -> Result<(u16, Vec<u8>), h2::Error> {
    let stream = TcpStream::connect(address)
        .await
        .expect("the gateway listens");
    let (client, connection) = h2::client::handshake(stream).await?;
    let driver = async {
        let _ = connection.await;
        std::future::pending::<()>().await;
    };
    let exchange = async {
        let mut client = client.ready().await?;
        let (response, sending) = client.send_request(request, body.is_empty())?;
        let upload = async {
            if !body.is_empty() {
                // A refusal may come first; then the response tells.
                let _ = upload(sending, body).await;
            }
            std::future::pending::<()>().await;
        };
        let download = async {
            let response = response.await?;
            let status = response.status().as_u16();
            let mut data = response.into_body();
            let mut whole = Vec::new();
            while let Some(piece) = data.data().await {
                let piece = piece?;
                let _ = data.flow_control().release_capacity(piece.len());
                whole.extend_from_slice(&piece);
            }
            Ok((status, whole))
        };
        tokio::select! { result = download => result, () = upload => unreachable!("never ends") }
    };
    tokio::select! { result = exchange => result, () = driver => unreachable!("never ends") }
}

async fn upload(mut sending: h2::SendStream<Bytes>, body: &[u8]) -> Result<(), h2::Error> {
    let mut left = body;
    while !left.is_empty() {
        sending.reserve_capacity(left.len().min(PIECE_BYTES));
        let Some(granted) = std::future::poll_fn(|context| sending.poll_capacity(context)).await
        else {
            return Ok(());
        };
        let (piece, rest) = left.split_at(granted?.min(left.len()));
        sending.send_data(Bytes::copy_from_slice(piece), rest.is_empty())?;
        left = rest;
    }
    Ok(())
}
