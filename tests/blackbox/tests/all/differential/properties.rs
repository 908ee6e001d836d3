//! What a guest can ask about a stream, and what it can leave there.

use blackbox::differential::Case;
use blackbox::plugin::scripted;
use serde_json::json;

/// Asks for all of these in a callback.
fn asks(callback: &str, paths: &[&str]) -> String {
    paths
        .iter()
        .map(|path| format!("{callback}: get_property {path}\n"))
        .collect()
}

#[test]
fn a_request_has_attributes() {
    let paths = [
        "request/path",
        "request/url_path",
        "request/query",
        "request/host",
        "request/scheme",
        "request/method",
        "request/protocol",
        "request/useragent",
        "request/referer",
        "request/headers/x-one",
        "request/headers/X-One",
        "request/headers/none",
        "request/none",
        "request/size",
        "request/total_size",
        "request/duration",
        "connection/mtls",
        "connection/requested_server_name",
        "connection/tls_version",
        "source/none",
        "none",
        "request",
    ];
    let script = asks("request_headers", &paths)
        + &asks(
            "log",
            &[
                "request/path",
                "request/size",
                "request/method",
                "request/headers/x-one",
            ],
        );

    let seen = Case::new()
        .filter(scripted("a", &script))
        .shape(|raw| raw.hcm("use_remote_address", json!(false)))
        .run(|client| {
            let headers = [
                "x-one: 1",
                "user-agent: me",
                "referer: there",
                "x-request-id: 00000000-0000-4000-8000-000000000000",
            ];
            drop(client.request("POST", "/x/y?a=b&c", &headers, b"body"));
        });

    assert_eq!(seen.answers("get_property request/query"), ["0 \"a=b&c\""]);
    assert_eq!(seen.answers("get_property request/none"), ["1"]);
}

#[test]
fn a_response_has_attributes() {
    let paths = [
        "response/code",
        "response/code_details",
        "response/flags",
        "response/size",
        "response/total_size",
        "response/headers/x-none",
        "response/headers/content-type",
        "response/grpc_status",
        "response/backend_latency",
    ];
    let script = asks("request_headers", &paths)
        + &asks("response_headers", &paths[..7])
        + &asks("response_body", &paths[..4])
        + &asks("log", &paths[..7])
        + &asks("done", &paths[..4]);

    let seen = Case::new()
        .filter(scripted("a", &script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("get_property response/code")[0], "1");
}

#[test]
fn the_request_headers_of_a_response_are_absent() {
    let script = asks(
        "response_headers",
        &[
            "request/headers/x-one",
            "request/path",
            "request/method",
            "request/host",
        ],
    );

    let seen = Case::new()
        .filter(scripted("a", &script))
        .run(|client| drop(client.request("GET", "/readyz", &["x-one: 1"], b"")));

    assert_eq!(seen.answers("get_property request/path"), ["1"]);
}

#[test]
fn a_plugin_knows_its_names_and_places() {
    let paths = [
        "plugin_name",
        "plugin_root_id",
        "plugin_vm_id",
        "xds/cluster_name",
        "xds/route_name",
        "xds/virtual_host_name",
        "xds/listener_direction",
        "xds/listener_metadata/filter_metadata/dragoman/role",
        "xds/listener_metadata/filter_metadata/dragoman/none",
        "listener_direction",
        "cluster_name",
        "route_name",
    ];
    let script = asks(
        "configure",
        &[
            "plugin_name",
            "plugin_root_id",
            "plugin_vm_id",
            "request/path",
            "xds/route_name",
        ],
    ) + &asks("request_headers", &paths)
        + &asks("response_headers", &paths[3..6]);

    let seen = Case::new()
        .filter(scripted("a", &script).with_vm_id("shop"))
        .attempt(scripted("b", &asks("request_headers", &paths)))
        .shape(|raw| {
            raw.listener(
                "metadata",
                json!({"filter_metadata": {"dragoman": {"role": "public"}}}),
            )
        })
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_property plugin_vm_id"),
        ["0 \"shop\"", "0 \"shop\"", "0 \"\""]
    );
    assert_eq!(
        seen.answers("get_property listener_direction"),
        ["1", "1"],
        "gone since 1.33"
    );
}

#[test]
fn what_one_filter_publishes_all_others_and_the_log_see() {
    let script_a = "
        request_headers: get_property shop.x
        request_headers: set_property shop.x one
        request_headers: get_property shop.x
        request_headers: set_property shop.x two
        request_headers: set_property shop.empty -
        request_headers: get_property shop.empty
        request_headers: set_property shop.bytes %ff%00%fe
        log: get_property shop.up
        log: set_property shop.last here
        done: set_property shop.late here";
    let script_b = "request_headers: get_property shop.x
        response_headers: set_property shop.up 42";

    let seen = Case::new()
        .filter(scripted("a", script_a))
        .filter(scripted("b", "request_headers: get_property shop.x").with_vm_id("other"))
        .attempt(scripted("c", script_b))
        .shape(|raw| {
            ["x", "empty", "bytes", "up", "last", "late", "none"]
                .iter()
                .fold(raw, |raw, name| {
                    raw.log(name, &format!("%FILTER_STATE(wasm.shop.{name}:PLAIN)%"))
                })
        })
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_property shop.x"),
        ["1", "0 \"one\"", "0 \"two\"", "0 \"two\""]
    );
    assert_eq!(seen.answers("get_property shop.up"), ["0 \"42\""]);
    let line = seen
        .access_log()
        .iter()
        .find(|line| line.contains("\"request\""))
        .expect("a line");
    for part in [
        "\"last\":\"here\"",
        "\"late\":null",
        "\"none\":null",
        "\"up\":\"42\"",
        "\"x\":\"two\"",
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[test]
fn only_paths_of_one_part_can_be_read_back() {
    let script = "
        request_headers: set_property shop%00x one
        request_headers: get_property shop/x
        request_headers: get_property shop
        request_headers: set_property - empty
        request_headers: get_property -
        request_headers: get_property /
        request_headers: set_property request mine
        request_headers: get_property request/path
        request_headers: get_property request
        configure: set_property shop.x one
        configure: get_property shop.x";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("get_property shop/x"), ["1"]);
    assert_eq!(
        seen.answers("set_property shop.x one"),
        ["1"],
        "no stream, no property"
    );
}
