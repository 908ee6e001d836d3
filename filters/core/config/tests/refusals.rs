//! Documents that are refused, with the exact words.

mod support;

use dragoman_config::parse;
use support::refusal;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn check(cases: &[(&str, &str)], wrap: impl Fn(&str) -> String) {
    for (given, expected) in cases {
        assert_eq!(refusal(&wrap(given)), *expected, "{given}");
    }
}

#[test]
fn a_document_that_is_not_one_is_refused() {
    check(
        &[
            (
                "",
                "document: is not JSON: EOF while parsing a value at line 1 column 0",
            ),
            (
                "{}x",
                "document: is not JSON: trailing characters at line 1 column 3",
            ),
            ("[]", "document: a list: must be an object"),
            ("{}", "version: is required"),
            (r#"{"version":2}"#, "version: 2: must be 1"),
            (r#"{"version":"1"}"#, r#"version: "1": must be 1"#),
            (r#"{"version":1}"#, "workers: is required"),
            (r#"{"version":1,"workers":[]}"#, "endpoints: is required"),
            (
                r#"{"version":1,"workers":{}}"#,
                "workers: an object: must be a list",
            ),
            (r#"{"version":1,"version":1}"#, "version: is given twice"),
            (
                r#"{"version":1,"v\u0065rsion":1}"#,
                "version: is given twice",
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn the_top_level_takes_known_sections_only() {
    let filters = "max_body_bytes";
    let bytes = |reason: &str| format!("{filters}: {reason}");
    let wrap = |field: &str| format!(r#"{{"version":1,"workers":[],"endpoints":[],{field}}}"#);
    check(
        &[
            (r#""tenant":[]"#, "tenant: unknown field"),
            (r#""a\nb":1"#, r#""a\u000ab": unknown field"#),
            (r#""auth":"off""#, r#"auth: "off": must be an object"#),
            (
                r#""auth":{"mode":"maybe"}"#,
                r#"auth.mode: "maybe": must be one of on, off"#,
            ),
            (
                r#""auth":{"mode":false}"#,
                "auth.mode: false: must be a string",
            ),
            (r#""auth":{"key":[]}"#, "auth.key: unknown field"),
            (
                r#""max_body_bytes":1023"#,
                &bytes("1023: must be at least 1024"),
            ),
            (
                r#""max_body_bytes":67108865"#,
                &bytes("67108865: must be at most 67108864"),
            ),
            (
                r#""max_body_bytes":1e6"#,
                &bytes("1000000: must be a whole number"),
            ),
            (
                r#""max_body_bytes":"4194304""#,
                &bytes(r#""4194304": must be a whole number"#),
            ),
            (
                r#""max_body_bytes":null"#,
                &bytes("null: must be a whole number"),
            ),
        ],
        wrap,
    );
}

#[test]
fn a_backend_header_that_would_break_http_is_refused() {
    let wrap = |name: &str| {
        format!(
            r#"{{"version":1,"workers":[],"endpoints":[],"routing":{{"backend_header":{name}}}}}"#
        )
    };
    let form = "must be a header name in lower case of at most 64 bytes";
    for name in [
        "X-Backend",
        "",
        "a b",
        "a:b",
        ":status",
        "ü",
        "a\\nb",
        &"a".repeat(65),
    ] {
        let fault = refusal(&wrap(&format!("\"{name}\"")));
        assert!(
            fault.starts_with("routing.backend_header: ") && fault.ends_with(form),
            "{fault}"
        );
    }
    for name in [
        "x-dragoman-worker",
        "x-envoy-foo",
        "x-gateway-destination-endpoint",
    ] {
        let fault = refusal(&wrap(&format!("\"{name}\"")));
        assert!(
            fault.ends_with("must not be a header that the gateway itself runs on"),
            "{fault}"
        );
    }
    for name in [
        "content-length",
        "transfer-encoding",
        "host",
        "connection",
        "te",
    ] {
        let fault = refusal(&wrap(&format!("\"{name}\"")));
        assert!(
            fault.ends_with("must not be a header that HTTP itself runs on"),
            "{fault}"
        );
    }
    assert_eq!(
        refusal(&wrap("1")),
        "routing.backend_header: 1: must be a string"
    );
}

#[test]
fn a_worker_must_be_one_that_can_be_reached() {
    let address = |text: &str, reason: &str| {
        let fault = refusal(&format!(
            r#"{{"version":1,"endpoints":[],"workers":[{{"id":"w","address":"{text}"}}]}}"#
        ));
        assert_eq!(fault, format!(r#"workers[0].address: "{text}": {reason}"#));
    };
    for text in [
        "",
        "localhost:80",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "::1:80",
        " 127.0.0.1:80",
    ] {
        address(text, "must be an IP address and a port");
    }
    for text in [
        "127.0.0.1:0",
        "0.0.0.0:80",
        "[::]:80",
        "224.0.0.1:80",
        "255.255.255.255:80",
    ] {
        address(text, "must be one host and a port above 0");
    }
    for text in ["[fe80::1%1]:80", "[::ffff:127.0.0.1]:80"] {
        address(
            text,
            "must not have a zone or be an IPv4 address in IPv6 form",
        );
    }
}

#[test]
fn a_worker_has_its_form() {
    let id_form = "must be 1 to 64 of A-Z a-z 0-9 . _ -";
    let long = format!(r#""{}""#, "w".repeat(65));
    for id in [r#""""#, r#""a b""#, r#""a/b""#, r#""ü""#, &long] {
        let text = format!(r#"{{"version":1,"endpoints":[],"workers":[{{"id":{id}}}]}}"#);
        let fault = refusal(&text);
        assert!(
            fault.starts_with("workers[0].id: ") && fault.ends_with(id_form),
            "{fault}"
        );
    }
    let w = r#""id":"w","address":"127.0.0.1:80""#;
    check(
        &[
            ("{}", "workers[0].id: is required"),
            (r#"{"id":"w"}"#, "workers[0].address: is required"),
            ("7", "workers[0]: 7: must be an object"),
            (
                &format!(r#"{{{w},"max_in_flight":0}}"#),
                "workers[0].max_in_flight: 0: must be at least 1",
            ),
            (
                &format!(r#"{{{w},"max_in_flight":100001}}"#),
                "workers[0].max_in_flight: 100001: must be at most 100000",
            ),
            (
                &format!(r#"{{{w},"load":[]}}"#),
                "workers[0].load: unknown field",
            ),
            (
                &format!(r#"{{{w},"classes":[]}}"#),
                "workers[0].classes: must name a class: without any the worker gets nothing",
            ),
            (
                &format!(r#"{{{w},"classes":["batch"]}}"#),
                r#"workers[0].classes[0]: "batch": must be one of interactive, background"#,
            ),
            (
                &format!(r#"{{{w},"tenants":["nobody"]}}"#),
                r#"workers[0].tenants[0]: "nobody": is no tenant of this document"#,
            ),
            (
                &format!(r#"{{{w},"id":"v"}}"#),
                "workers[0].id: is given twice",
            ),
            (
                &format!(r#"{{{w},"cluster":"admin"}}"#),
                r#"workers[0].cluster: "admin": is reserved for the gateway itself"#,
            ),
            (
                &format!(r#"{{{w},"cluster":"dragoman-x"}}"#),
                r#"workers[0].cluster: "dragoman-x": is reserved for the gateway itself"#,
            ),
            (
                &format!(r#"{{{w}}},{{"id":"w","address":"127.0.0.1:81"}}"#),
                r#"workers[1].id: "w": is the id of workers[0] already"#,
            ),
            (
                &format!(r#"{{{w}}},{{"id":"v","address":"127.0.0.1:80"}}"#),
                "workers[1].address: 127.0.0.1:80 is the address of w already",
            ),
        ],
        |workers| format!(r#"{{"version":1,"endpoints":[],"workers":[{workers}]}}"#),
    );
}

#[test]
fn a_secret_in_the_document_is_refused_and_not_repeated() {
    let literal = "workers[0].credential: must not hold the secret itself, which config dumps show: name the environment variable that holds it as {\"env\": \"NAME\"}";
    let env = "workers[0].credential.env: must be the name of an environment variable: 1 to 128 of A-Z 0-9 _, not starting with a digit";
    check(
        &[
            (r#""sk-1""#, literal),
            (r#"{"value":"sk-1"}"#, literal),
            (r#"{"env":"K","value":"sk-1"}"#, literal),
            (r#"{"env":"sk-1"}"#, env),
            (r#"{"env":""}"#, env),
            (r#"{"env":"1K"}"#, env),
            (
                r#"{"env":5}"#,
                "workers[0].credential.env: must be a string",
            ),
            ("{}", "workers[0].credential.env: is required"),
            ("null", "workers[0].credential: must be an object"),
            (
                r#"{"env":"K","x":1}"#,
                "workers[0].credential.x: unknown field",
            ),
            (
                r#"{"env":"K","header":"Bearer sk-1"}"#,
                "workers[0].credential.header: must be a header name in lower case of at most 64 bytes",
            ),
            (
                r#"{"env":"K","header":"x-dragoman-key"}"#,
                "workers[0].credential.header: must not be a header that the gateway itself runs on",
            ),
            (
                r#"{"env":"K","header":"host"}"#,
                "workers[0].credential.header: must not be a header that HTTP itself runs on",
            ),
        ],
        |credential| {
            format!(
                r#"{{"version":1,"endpoints":[],"workers":[{{"id":"w","address":"127.0.0.1:80","credential":{credential}}}]}}"#
            )
        },
    );
}

fn with_endpoints(endpoints: &str) -> String {
    format!(
        r#"{{"version":1,"endpoints":[{endpoints}],"workers":[
            {{"id":"w1","address":"10.0.0.1:80"}},{{"id":"w2","address":"10.0.0.2:80"}}]}}"#
    )
}

#[test]
fn an_endpoint_has_its_form() {
    let name = |text: &str| format!(r#"{{"name":"{text}","targets":[]}}"#);
    let with = |field: &str| format!(r#"{{"name":"m","targets":[],{field}}}"#);
    let text_form = "must be 1 to 64 of A-Z a-z 0-9 . _ -";
    check(
        &[
            (r#"{"targets":[]}"#, "endpoints[0].name: is required"),
            (r#"{"name":"m"}"#, "endpoints[0].targets: is required"),
            (
                &name("a b"),
                r#"endpoints[0].name: "a b": must be 1 to 128 of A-Z a-z 0-9 . _ -"#,
            ),
            (
                &with(r#""slug":"""#),
                r#"endpoints[0].slug: "": must have 1 to 256 bytes"#,
            ),
            (
                &with(r#""slug":"a\u0000""#),
                r#"endpoints[0].slug: "a\u0000": must not have control characters"#,
            ),
            (
                &with(r#""slug":"a\u0085""#),
                "endpoints[0].slug: \"a\u{85}\": must not have control characters",
            ),
            (
                &with(r#""version":3"#),
                "endpoints[0].version: 3: must be a string",
            ),
            (
                &with(r#""version":"v 3""#),
                &format!(r#"endpoints[0].version: "v 3": {text_form}"#),
            ),
            (
                &with(r#""mode":"fastest""#),
                r#"endpoints[0].mode: "fastest": must be one of weighted, failover, round-robin, least-connections, least-latency, sticky, random, power-of-two, least-request-top-k"#,
            ),
            (
                &with(r#""mode":"sticky","split":"caller""#),
                "endpoints[0].split: is for mode weighted, not for sticky",
            ),
            (
                &with(r#""mode":"weighted","top_k":{}"#),
                "endpoints[0].top_k: is for mode least-request-top-k, not for weighted",
            ),
            (
                &with(r#""mode":"least-request-top-k","split":"caller""#),
                "endpoints[0].split: is for mode weighted, not for least-request-top-k",
            ),
            (
                &with(r#""mode":"least-request-top-k","top_k":{"k":0}"#),
                "endpoints[0].top_k.k: 0: must be at least 1",
            ),
            (
                &with(r#""timeout_ms":0"#),
                "endpoints[0].timeout_ms: 0: must be at least 1",
            ),
            (
                &with(r#""timeout_ms":3600001"#),
                "endpoints[0].timeout_ms: 3600001: must be at most 3600000",
            ),
            (
                &with(r#""timeout_ms":18446744073709551615"#),
                "endpoints[0].timeout_ms: 18446744073709551615: must be at most 3600000",
            ),
            (
                &with(r#""timeout_ms":30.5"#),
                "endpoints[0].timeout_ms: 30.5: must be a whole number",
            ),
            (
                &with(r#""max_attempts":0"#),
                "endpoints[0].max_attempts: 0: must be at least 1",
            ),
            (
                &with(r#""max_attempts":17"#),
                "endpoints[0].max_attempts: 17: must be at most 16",
            ),
            (
                &with(r#""audience":"all""#),
                "endpoints[0].audience: unknown field",
            ),
            (&with(r#""foo":1"#), "endpoints[0].foo: unknown field"),
            (
                &format!("{},{}", name("m"), name("m")),
                r#"endpoints[1].name: "m": is the name of endpoints[0] already"#,
            ),
            (
                &format!(r#"{},{{"name":"n","slug":"m","targets":[]}}"#, name("m")),
                r#"endpoints[1].slug: "m": is the slug of endpoints[0] already"#,
            ),
        ],
        with_endpoints,
    );
}

#[test]
fn a_target_has_its_form() {
    let zero =
        "endpoints[0].targets: must have a weight above 0 on an enabled target, or mode failover";
    check(
        &[
            ("{}", "endpoints[0].targets[0].worker: is required"),
            (
                r#"{"worker":"w9"}"#,
                r#"endpoints[0].targets[0].worker: "w9": is no worker of this document"#,
            ),
            (
                r#"{"worker":1}"#,
                "endpoints[0].targets[0].worker: 1: must be a string",
            ),
            (
                r#"{"worker":"w1"},{"worker":"w1"}"#,
                "endpoints[0].targets[1].worker: has another target in this endpoint already",
            ),
            (
                r#"{"worker":"w1","weight":-1}"#,
                "endpoints[0].targets[0].weight: -1: must be at least 0",
            ),
            (
                r#"{"worker":"w1","weight":1000001}"#,
                "endpoints[0].targets[0].weight: 1000001: must be at most 1000000",
            ),
            (
                r#"{"worker":"w1","enabled":"yes"}"#,
                r#"endpoints[0].targets[0].enabled: "yes": must be true or false"#,
            ),
            (
                r#"{"worker":"w1","served_model_name":""}"#,
                r#"endpoints[0].targets[0].served_model_name: "": must have 1 to 256 bytes"#,
            ),
            (
                r#"{"worker":"w1","output_modality":"text"}"#,
                "endpoints[0].targets[0].output_modality: unknown field",
            ),
            (r#"{"worker":"w1","weight":0}"#, zero),
            (
                r#"{"worker":"w1","weight":0},{"worker":"w2","weight":9,"enabled":false}"#,
                zero,
            ),
        ],
        |targets| with_endpoints(&format!(r#"{{"name":"m","targets":[{targets}]}}"#)),
    );
}

#[test]
fn tables_beyond_their_bounds_are_refused() {
    let many = |count: usize, item: &str| vec![item; count].join(",");
    let endpoints = |items: &str| format!(r#"{{"version":1,"workers":[],"endpoints":[{items}]}}"#);
    let workers = |items: &str| format!(r#"{{"version":1,"endpoints":[],"workers":[{items}]}}"#);
    assert_eq!(
        refusal(&endpoints(&many(4097, "0"))),
        "endpoints: has 4097 items: must have at most 4096"
    );
    assert_eq!(
        refusal(&workers(&many(1025, "0"))),
        "workers: has 1025 items: must have at most 1024"
    );
    let targets = format!(r#"{{"name":"m","targets":[{}]}}"#, many(1025, "0"));
    assert_eq!(
        refusal(&endpoints(&targets)),
        "endpoints[0].targets: has 1025 items: must have at most 1024"
    );
}

#[test]
fn a_document_of_more_than_four_mebibytes_is_refused() {
    let good = r#"{"version":1,"workers":[],"endpoints":[]}"#;
    let padded = |length: usize| good.to_owned() + &" ".repeat(length - good.len());
    assert!(parse(padded(4 * 1024 * 1024).as_bytes()).is_ok());
    assert_eq!(
        refusal(&padded(4 * 1024 * 1024 + 1)),
        "document: has 4194305 bytes: must have at most 4194304"
    );
}

#[test]
fn a_long_value_is_cut_in_the_error() {
    let fault = refusal(&with_endpoints(&format!(
        r#"{{"name":"{}"}}"#,
        "ü".repeat(500)
    )));
    assert!(fault.chars().count() < 150, "{fault}");
}
