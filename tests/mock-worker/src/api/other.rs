//! Embeddings, images and speech.

use serde_json::json;

use super::{Body, Call, Reply};

pub(super) fn embeddings(call: &Call<'_>) -> Reply {
    let data: Vec<_> = (0..call.inputs)
        .map(|index| json!({"object": "embedding", "index": index, "embedding": [0.25, -0.5, 0.125]}))
        .collect();
    let usage = json!({"prompt_tokens": call.prompt_tokens, "total_tokens": call.prompt_tokens});
    Reply::json(
        200,
        &json!({"object": "list", "data": data, "model": call.model, "usage": usage}),
    )
}

pub(super) fn images(_: &Call<'_>) -> Reply {
    Reply::json(
        200,
        &json!({"created": 0, "data": [{"b64_json": "bW9jaw=="}]}),
    )
}

/// Bytes that are neither text nor JSON.
pub(super) fn speech(call: &Call<'_>) -> Reply {
    let mut audio = b"\xff\xfb\x90\x00".to_vec();
    audio.extend(call.text().into_bytes());
    Reply::new(200, "audio/mpeg", Body::Whole(audio))
}
