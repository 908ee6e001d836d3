//! What belongs to the connection of a client.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

#[test]
fn a_value_lasts_as_long_as_was_declared() {
    // Field 1 is the name, field 2 says readonly, field 5 is the span: 0 the filter chain, 1 the request, 2 the connection.
    let script = "
        configure: call_foreign_function declare_property %0a%05v_one%28%00
        configure: call_foreign_function declare_property %0a%05v_two%28%01
        configure: call_foreign_function declare_property %0a%07v_three%28%02
        configure: call_foreign_function declare_property %0a%06v_once%10%01%28%02
        request_headers: get_property v_one
        request_headers: get_property v_two
        request_headers: get_property v_three
        request_headers: get_property v_once
        request_headers @/1: set_property v_one 1
        request_headers @/1: set_property v_two 1
        request_headers @/1: set_property v_three 1
        request_headers @/1: set_property v_once 1
        request_headers @/2: set_property v_three 2
        request_headers @/2: set_property v_once 2
        response_headers: get_property v_three
        log @/2: set_property v_three log";
    let reads = "request_headers: get_property v_three";

    let seen = Case::new()
        .filter(scripted("a", script))
        .filter(scripted("b", reads))
        .attempt(scripted("up", reads))
        .shape(|raw| raw.log("three", "%FILTER_STATE(wasm.v_three:PLAIN)%"))
        .run(|client| {
            let mut talk = client.open("one connection");
            for path in ["/1", "/2", "/3"] {
                talk.request("GET", path, &[], b"");
                client.response(&mut talk);
            }
            drop(talk);
            client.get("/4");
        });

    assert_eq!(seen.answers("get_property v_one"), ["1"; 4]);
    assert_eq!(seen.answers("get_property v_two"), ["1"; 4]);
    assert_eq!(
        seen.answers("get_property v_once"),
        ["1", "0 \"1\"", "0 \"1\"", "1"],
        "another connection knows nothing of it"
    );
    assert_eq!(seen.answers("set_property v_once 2"), ["2"]);
}
