//! The model name is rewritten per worker; nothing else of a body changes.

use blackbox::world::request;
use blackbox::{Engine, Faults, World, both_engines};

use crate::support::{bodies, chat_request, one_worker, two_workers};

both_engines![
    each_worker_gets_the_name_it_serves_and_the_rest_as_it_was,
    a_served_name_is_escaped_where_json_asks_for_it,
    numbers_and_spelling_of_untouched_fields_stay,
    order_and_white_space_stay_and_equal_requests_give_equal_bodies,
    the_content_length_is_exact_whatever_the_length_of_the_name,
    a_body_that_comes_in_pieces_arrives_whole,
    a_chunked_body_arrives_whole,
    a_large_body_arrives_whole,
    every_api_is_rewritten_and_keeps_its_query,
    answers_pass_unchanged,
];

fn each_worker_gets_the_name_it_serves_and_the_rest_as_it_was(engine: Engine) {
    let world = two_workers(engine);
    world.fail("w1", Faults::status(503));
    let body = |model: &str| {
        format!(
            "{{ \"messages\": [{{\"role\":\"user\",\"content\":\"chat \\u00e9 {{}}\"}}],\t\"model\" : {model} , \"n\":1 }}\n"
        )
    };

    let response = world.chat(&body("\"chat\""));

    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(bodies(&world, "w1"), [body("\"large\"")]);
    assert_eq!(bodies(&world, "w2"), [body("\"medium\"")]);
}

fn a_served_name_is_escaped_where_json_asks_for_it(engine: Engine) {
    let name = "org/mod\u{e8}le \"x\" \\ y";
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", name)])
        .start();

    let response = world.chat(r#"{"model":"ch\u0061t","messages":[]}"#);

    assert_eq!(
        response.json()["model"],
        name,
        "the mock worker repeats what it read"
    );
}

/// C66
fn numbers_and_spelling_of_untouched_fields_stay(engine: Engine) {
    let world = one_worker(engine);
    let tail = r#"","seed":9007199254740995,"logit_bias":{"50256":-100},"temperature":0.10,"x":1E400,"messages":[]}"#;

    let response = world.chat(&format!(r#"{{"model":"chat{tail}"#));

    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(bodies(&world, "w1"), [format!(r#"{{"model":"large{tail}"#)]);
}

/// C67
fn order_and_white_space_stay_and_equal_requests_give_equal_bodies(engine: Engine) {
    let world = one_worker(engine);
    let body = |model: &str| {
        format!(
            r#"{{"zeta":1, "model":"{model}","response_format":{{"type":"json_schema","json_schema":{{"schema":{{"properties":{{"z":{{}},"a":{{}},"m":{{}}}}}}}}}}}}"#
        )
    };
    let mut client = world.connect();

    for _ in 0..100 {
        assert_eq!(
            client.send(chat_request(&body("chat"))).response().status,
            200
        );
    }

    assert_eq!(bodies(&world, "w1"), vec![body("large"); 100]);
}

/// C16
fn the_content_length_is_exact_whatever_the_length_of_the_name(engine: Engine) {
    let names = ["m", "same", "provider/very-long-model-name-2026"];
    let mut builder = World::on(engine).worker("w1");
    for (index, name) in names.iter().enumerate() {
        builder = builder.endpoint(&format!("al-{index}"), &[("w1", name)]);
    }
    let world = builder.start();

    let mut client = world.connect();
    for index in 0..names.len() {
        let response = client
            .send(chat_request(&format!(r#"{{"model":"al-{index}"}}"#)))
            .response();
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(
            response.header("content-length"),
            Some(response.body.len().to_string())
        );
    }

    assert_eq!(
        world.hits(),
        [names.len()],
        "nothing was left behind a request"
    );
    for (request, name) in world.worker("w1").requests().iter().zip(names) {
        let expected = format!(r#"{{"model":"{name}"}}"#);
        assert_eq!(String::from_utf8_lossy(&request.body), expected);
        assert_eq!(
            request.header("content-length"),
            Some(expected.len().to_string().as_bytes())
        );
        assert_eq!(request.header("transfer-encoding"), None);
    }
}

/// C02
fn a_body_that_comes_in_pieces_arrives_whole(engine: Engine) {
    let world = one_worker(engine);
    let body = |model: &str| format!(r#"{{"messages":[],"model":"{model}","user":"u"}}"#);
    let bytes = chat_request(&body("chat"));
    let head = bytes.len() - body("chat").len();
    let cuts: [Vec<usize>; 5] = [
        vec![head],
        vec![head + 5, head + 10, head + 15],
        vec![head + 24, head + 27],
        vec![bytes.len() - 1],
        (head..bytes.len()).collect(),
    ];

    for cut in &cuts {
        let response = world.connect().send_cut_at(&bytes, cut).response();
        assert_eq!(response.status, 200, "cut at {cut:?}: {response:?}");
    }

    assert_eq!(bodies(&world, "w1"), vec![body("large"); cuts.len()]);
}

fn a_chunked_body_arrives_whole(engine: Engine) {
    let world = one_worker(engine);
    let body = r#"{"model":"chat","messages":[],"pad":"0123456789"}"#;

    for size in [1, 7, body.len()] {
        let mut bytes =
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n"
                .to_vec();
        for chunk in body.as_bytes().chunks(size) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
            bytes.extend(chunk);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
        let response = world.connect().send(bytes).response();
        assert_eq!(response.status, 200, "chunks of {size}: {response:?}");
    }

    assert_eq!(bodies(&world, "w1"), vec![body.replace("chat", "large"); 3]);
}

fn a_large_body_arrives_whole(engine: Engine) {
    let world = two_workers(engine);
    world.fail("w1", Faults::status(503));
    let prompt: String = (0..200_000).map(|number| format!("{number:06} ")).collect();
    let body = |model: &str| {
        format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"{prompt}"}}]}}"#)
    };

    let response = world.chat(&body("chat"));

    assert_eq!(response.status, 200, "{response:?}");
    assert!(bodies(&world, "w1") == [body("large")], "the first attempt");
    assert!(
        bodies(&world, "w2") == [body("medium")],
        "the second attempt"
    );
}

fn every_api_is_rewritten_and_keeps_its_query(engine: Engine) {
    let world = one_worker(engine);
    let paths = [
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/responses",
        "/v1/messages",
        "/v1/images/generations",
        "/v1/audio/speech",
    ];

    for path in paths {
        let target = format!("{path}?api-version=2025-01-01");
        let response = world.post(&target, r#"{"input":"hi","model":"chat"}"#);
        assert_eq!(response.status, 200, "{path}: {response:?}");
        let last = world
            .worker("w1")
            .requests()
            .pop()
            .expect("a request at the worker");
        assert_eq!(
            (last.target.as_str(), last.body.as_slice()),
            (target.as_str(), &br#"{"input":"hi","model":"large"}"#[..])
        );
    }
}

fn answers_pass_unchanged(engine: Engine) {
    let world = one_worker(engine);

    let speech = world.post("/v1/audio/speech", r#"{"model":"chat","input":"hi"}"#);
    world.fail(
        "w1",
        Faults {
            body: Some("odd \u{7f} body\r\n".to_owned()),
            ..Faults::status(418)
        },
    );
    let odd = world
        .connect()
        .send(request(
            "POST",
            "/v1/embeddings",
            &[],
            br#"{"model":"chat"}"#,
        ))
        .response();

    assert_eq!(speech.body, b"\xff\xfb\x90\x00hello from w1");
    assert_eq!(speech.header("content-type").as_deref(), Some("audio/mpeg"));
    assert_eq!(
        (odd.status, odd.text().as_str()),
        (418, "odd \u{7f} body\r\n")
    );
}
