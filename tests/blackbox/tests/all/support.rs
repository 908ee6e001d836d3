//! What several topics need.

use blackbox::world::request;
use blackbox::{Engine, World};

/// A chat that any endpoint named `chat` takes.
pub(crate) const CHAT: &str = r#"{"model":"chat","messages":[{"role":"user","content":"hi"}]}"#;
/// The same, streamed.
pub(crate) const STREAMED_CHAT: &str = r#"{"model":"chat","messages":[],"stream":true}"#;

/// Worker `w1` behind the endpoint `chat`.
pub(crate) fn one_worker(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .start()
}

/// `chat` is served by `w1` and, if it fails, by `w2`, in the same cluster.
pub(crate) fn two_workers(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .start()
}

/// The bytes of a chat request.
pub(crate) fn chat_request(body: &str) -> Vec<u8> {
    request(
        "POST",
        "/v1/chat/completions",
        &["content-type: application/json"],
        body.as_bytes(),
    )
}

/// Status and code as a test writes them.
pub(crate) fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// The bodies that a worker got.
pub(crate) fn bodies(world: &World, worker: &str) -> Vec<String> {
    let requests = world.worker(worker).requests();
    requests
        .iter()
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .collect()
}
