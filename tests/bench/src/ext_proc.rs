//! The hop that the filters are compared with: a gRPC server that reads the model from the body and
//! changes nothing.

use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};

use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_server::{
    ExternalProcessor, ExternalProcessorServer,
};
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Asked;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Answer;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyResponse, HeadersResponse, ProcessingRequest, ProcessingResponse,
};
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use crate::Failure;

/// The argument with which this program is the server.
pub const ARGUMENT: &str = "ext-proc";

/// Serves on a free port, which is the first line of the output.
pub async fn serve() -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?.port());
    let connections = TcpListenerStream::new(listener).map(|connection| {
        connection.and_then(|connection| {
            connection.set_nodelay(true)?;
            Ok(connection)
        })
    });
    tonic::transport::Server::builder()
        .add_service(ExternalProcessorServer::new(Reader))
        .serve_with_incoming(connections)
        .await?;
    Ok(())
}

/// Starts this program once more as the server: a process of its own, so that its time can be told apart.
pub fn start() -> Result<(Child, u16), Failure> {
    let mut server = Command::new(std::env::current_exe()?)
        .arg(ARGUMENT)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut port = String::new();
    let output = server
        .stdout
        .take()
        .ok_or("the ext_proc server has no output")?;
    BufReader::new(output).read_line(&mut port)?;
    Ok((server, port.trim().parse()?))
}

struct Reader;

type Answers = Pin<Box<dyn Stream<Item = Result<ProcessingResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ExternalProcessor for Reader {
    type ProcessStream = Answers;

    async fn process(
        &self,
        request: Request<Streaming<ProcessingRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let asked = request.into_inner();
        Ok(Response::new(Box::pin(asked.map(|asked| answer(asked?)))))
    }
}

fn answer(asked: ProcessingRequest) -> Result<ProcessingResponse, Status> {
    let response = match asked.request {
        Some(Asked::RequestHeaders(_)) => Answer::RequestHeaders(HeadersResponse::default()),
        Some(Asked::RequestBody(body)) => {
            std::hint::black_box(model(&body.body)?);
            Answer::RequestBody(BodyResponse::default())
        }
        Some(Asked::ResponseHeaders(_)) => Answer::ResponseHeaders(HeadersResponse::default()),
        other => return Err(Status::unimplemented(format!("not asked for: {other:?}"))),
    };
    Ok(ProcessingResponse {
        response: Some(response),
        ..ProcessingResponse::default()
    })
}

fn model(body: &[u8]) -> Result<String, Status> {
    #[derive(serde::Deserialize)]
    struct Chat {
        model: String,
    }
    let chat: Chat = serde_json::from_slice(body)
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    Ok(chat.model)
}
