use std::time::Duration;

use host_sim_scenario::{Ended, Setup};

use crate::deployment::{BODY, body, chat, gateway, world};

#[test]
fn a_body_cut_at_every_byte_reaches_the_worker_as_the_same_bytes() {
    let mut world = world(&gateway("failover", 1), &Setup::default());
    world.request(chat());
    for at in 0..=BODY.len() {
        world.request(chat().cut(&[at]));
    }
    let every: Vec<usize> = (1..BODY.len()).collect();
    world.request(chat().cut(&every).pause(Duration::from_millis(1)));
    world.request(chat().chunked().cut(&every));
    assert_eq!(world.run(), Ended::Idle);
    let received = world.received("w1");
    assert_eq!(received.len(), BODY.len() + 4);
    let whole = BODY.replace("\"chat\"", "\"served-1\"");
    for recorded in received {
        assert_eq!(String::from_utf8_lossy(body(recorded)), whole);
    }
}

#[test]
fn the_rest_of_a_large_body_is_untouched() {
    let mut world = world(&gateway("failover", 1), &Setup::default());
    let filler: String = (0..200_000)
        .map(|n| char::from(b'a' + u8::try_from(n % 26).expect("small")))
        .collect();
    let prompt = BODY.replace("hello there", &filler);
    let request = host_sim_scenario::Request::post("/v1/chat/completions", prompt.clone());
    let response = world.answer(request.cut(&[16_384, 32_768, 65_536, 131_072]));
    assert_eq!(response.status, 200, "{}", response.text());
    let received = world.received("w1");
    assert_eq!(
        body(received[0]),
        prompt.replace("\"chat\"", "\"served-1\"").as_bytes()
    );
}

#[test]
fn a_body_over_the_limit_is_refused_before_it_is_read_to_its_end() {
    let mut document = gateway("failover", 1);
    document["max_body_bytes"] = 1024.into();
    let mut world = world(&document, &Setup::default());
    let prompt = BODY.replace("hello there", &"x".repeat(2000));
    let request = host_sim_scenario::Request::post("/v1/chat/completions", prompt);
    for request in [request.clone(), request.chunked().cut(&[500, 1500])] {
        let response = world.answer(request);
        assert_eq!(response.status, 413, "{}", response.text());
    }
    assert!(world.received("w1").is_empty());
}
