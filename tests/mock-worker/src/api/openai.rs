//! Chat, completions and responses.

use serde_json::{Value, json};

use super::{Call, Reply};

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn usage(call: &Call<'_>) -> Value {
    let completion = call.tokens().len();
    json!({
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": call.prompt_tokens + completion,
    })
}

pub(super) fn chat(call: &Call<'_>) -> Reply {
    let head = |object: &str| json!({"id": "chatcmpl-mock", "object": object, "created": 0, "model": call.model});
    if !call.stream {
        let mut answer = head("chat.completion");
        answer["choices"] = json!([{
            "index": 0,
            "message": {"role": "assistant", "content": call.text()},
            "finish_reason": "stop",
        }]);
        answer["usage"] = usage(call);
        return Reply::json(200, &answer);
    }
    stream(
        call,
        || head("chat.completion.chunk"),
        |token| match token {
            Token::First => {
                json!({"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null})
            }
            Token::Next(text) => {
                json!({"index": 0, "delta": {"content": text}, "finish_reason": null})
            }
            Token::Last => json!({"index": 0, "delta": {}, "finish_reason": "stop"}),
        },
    )
}

pub(super) fn completions(call: &Call<'_>) -> Reply {
    let head = || json!({"id": "cmpl-mock", "object": "text_completion", "created": 0, "model": call.model});
    if !call.stream {
        let mut answer = head();
        answer["choices"] = json!([{"index": 0, "text": call.text(), "finish_reason": "stop"}]);
        answer["usage"] = usage(call);
        return Reply::json(200, &answer);
    }
    stream(call, head, |token| match token {
        Token::First => json!({"index": 0, "text": "", "finish_reason": null}),
        Token::Next(text) => json!({"index": 0, "text": text, "finish_reason": null}),
        Token::Last => json!({"index": 0, "text": "", "finish_reason": "stop"}),
    })
}

enum Token {
    First,
    Next(String),
    Last,
}

fn stream(call: &Call<'_>, head: impl Fn() -> Value, choice: impl Fn(Token) -> Value) -> Reply {
    let tokens = std::iter::once(Token::First)
        .chain(call.tokens().into_iter().map(Token::Next))
        .chain(std::iter::once(Token::Last));
    let mut events: Vec<_> = tokens
        .map(|token| {
            let mut event = head();
            event["choices"] = json!([choice(token)]);
            data(&event)
        })
        .collect();
    if call.include_usage {
        let mut event = head();
        event["choices"] = json!([]);
        event["usage"] = usage(call);
        events.push(data(&event));
    }
    events.push("data: [DONE]\n\n".to_owned());
    Reply::events(events)
}

pub(super) fn responses(call: &Call<'_>) -> Reply {
    let output = call.tokens().len();
    let answer = |status: &str| {
        json!({
            "id": "resp_mock", "object": "response", "created_at": 0, "status": status, "model": call.model,
            "output": [{
                "type": "message", "id": "msg_mock", "role": "assistant", "status": status,
                "content": [{"type": "output_text", "text": call.text(), "annotations": []}],
            }],
            "usage": {"input_tokens": call.prompt_tokens, "output_tokens": output, "total_tokens": call.prompt_tokens + output},
        })
    };
    if !call.stream {
        return Reply::json(200, &answer("completed"));
    }
    let event = |name: &str, value: Value| format!("event: {name}\ndata: {value}\n\n");
    let mut created = answer("in_progress");
    created["output"] = json!([]);
    created["usage"] = Value::Null;
    let mut events = vec![event(
        "response.created",
        json!({"type": "response.created", "response": created}),
    )];
    for token in call.tokens() {
        let value = json!({"type": "response.output_text.delta", "item_id": "msg_mock", "output_index": 0, "content_index": 0, "delta": token});
        events.push(event("response.output_text.delta", value));
    }
    events.push(event(
        "response.completed",
        json!({"type": "response.completed", "response": answer("completed")}),
    ));
    Reply::events(events)
}
