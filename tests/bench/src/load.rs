//! The client: connections that send the same request again and again.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{Failure, upstream};

/// Longest wait for one answer; a request that takes longer is not going to be answered.
const PATIENCE: Duration = Duration::from_secs(20);

/// Connections, each with one request answered.
pub struct Connections {
    all: Vec<Connection>,
}

struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connections {
    /// Opens `number` connections and sends one request on each, so that what is set up once is.
    pub async fn open(address: SocketAddr, request: &[u8], number: usize) -> Result<Self, Failure> {
        let mut all = Vec::new();
        for _ in 0..number {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let (request, answer) = (request.to_vec(), Vec::with_capacity(16 * 1024));
            let mut connection = Connection {
                stream,
                request,
                answer,
            };
            tokio::time::timeout(PATIENCE, connection.ask()).await??;
            all.push(connection);
        }
        Ok(Self { all })
    }

    /// Keeps all connections busy for a while; how many requests were answered.
    pub async fn burst(&mut self, length: Duration) -> Result<u64, Failure> {
        let until = Instant::now() + length;
        let mut running = Vec::new();
        for mut connection in self.all.drain(..) {
            running.push(tokio::spawn(async move {
                let mut answered = 0;
                while Instant::now() < until {
                    connection.ask().await?;
                    answered += 1;
                }
                Ok::<_, Failure>((connection, answered))
            }));
        }
        let mut answered = 0;
        for running in running {
            let (connection, requests) =
                tokio::time::timeout(length + PATIENCE, running).await???;
            self.all.push(connection);
            answered += requests;
        }
        Ok(answered)
    }
}

impl Connection {
    async fn ask(&mut self) -> Result<(), Failure> {
        self.stream.write_all(&self.request).await?;
        self.answer.clear();
        loop {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err("Envoy closed the connection".into());
            }
            let Some((head, body_at)) = upstream::head(&self.answer) else {
                continue;
            };
            if !head.starts_with("HTTP/1.1 200 ") {
                let text = String::from_utf8_lossy(&self.answer);
                return Err(format!("not the answer of the upstream:\n{text}").into());
            }
            let length = upstream::value(head, "content-length");
            let length: usize = length.ok_or("an answer without a length")?.parse()?;
            if self.answer.len() >= body_at + length {
                return Ok(());
            }
        }
    }
}

/// A chat with a prompt of about `prompt_bytes`, as an OpenAI client sends it.
pub fn chat(prompt_bytes: usize, key: &str, more: &[(String, String)]) -> Vec<u8> {
    let words = "the quick brown fox reads \\\"a long text\\\" about nothing in particular, and then again ";
    let prompt: String = words.chars().cycle().take(prompt_bytes).collect();
    // A cut escape would not be JSON.
    let prompt = prompt.trim_end_matches('\\');
    let body = format!(
        r#"{{"model":"chat","messages":[{{"role":"system","content":"Answer in one word."}},{{"role":"user","content":"{prompt}"}}],"temperature":0.2,"max_tokens":64}}"#
    );
    let length = body.len();
    let more: String = more
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: gateway.example\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\naccept: application/json\r\n\
         accept-encoding: gzip, deflate\r\nuser-agent: OpenAI/Python 1.99.0\r\nx-stainless-lang: python\r\n\
         x-stainless-os: Linux\r\nx-stainless-async: false\r\nx-stainless-retry-count: 0\r\n{more}\r\n{body}"
    )
    .into_bytes()
}
