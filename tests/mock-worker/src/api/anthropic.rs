//! `/v1/messages`.

use serde_json::{Value, json};

use super::{Call, Reply};

pub(super) fn messages(call: &Call<'_>) -> Reply {
    let output = call.tokens().len();
    let message = |content: Value, stop: Value, output: usize| {
        json!({
            "id": "msg_mock", "type": "message", "role": "assistant", "model": call.model, "content": content,
            "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": call.prompt_tokens, "output_tokens": output},
        })
    };
    if !call.stream {
        return Reply::json(
            200,
            &message(
                json!([{"type": "text", "text": call.text()}]),
                "end_turn".into(),
                output,
            ),
        );
    }
    let mut events = vec![
        json!({"type": "message_start", "message": message(json!([]), Value::Null, 0)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    for token in call.tokens() {
        events.push(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": token}}));
    }
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"output_tokens": output},
        }),
        json!({"type": "message_stop"}),
    ]);
    Reply::events(
        events
            .into_iter()
            .map(|event| {
                format!(
                    "event: {}\ndata: {event}\n\n",
                    event["type"].as_str().unwrap_or_default()
                )
            })
            .collect(),
    )
}
