//! Every attribute of Envoy's documentation, asked for in every callback, but for `upstream.local_address`.

use blackbox::differential::Case;
use blackbox::plugin::scripted;
use serde_json::json;

/// All there are, but for the time of the request and others that no two runs have in common; those stand there
/// as `<number>`.
const ALL: &[&str] = &[
    "request",
    "request/path",
    "request/url_path",
    "request/host",
    "request/scheme",
    "request/method",
    "request/headers",
    "request/headers/x-one",
    "request/headers/x-one/more",
    "request/headers/X-Two",
    "request/headers_bytes",
    "request/referer",
    "request/useragent",
    "request/time",
    "request/id",
    "request/protocol",
    "request/query",
    "request/duration",
    "request/size",
    "request/total_size",
    "request/trailers",
    "request/beginning_metadata",
    "response",
    "response/code",
    "response/code_details",
    "response/flags",
    "response/grpc_status",
    "response/headers",
    "response/headers/content-type",
    "response/headers_bytes",
    "response/trailers",
    "response/trailers/x-t",
    "response/size",
    "response/total_size",
    "response/backend_latency",
    "connection",
    "connection/id",
    "connection/mtls",
    "connection/requested_server_name",
    "connection/tls_version",
    "connection/subject_local_certificate",
    "connection/subject_peer_certificate",
    "connection/dns_san_local_certificate",
    "connection/dns_san_peer_certificate",
    "connection/uri_san_local_certificate",
    "connection/uri_san_peer_certificate",
    "connection/sha256_peer_certificate_digest",
    "connection/peer_certificate",
    "connection/transport_failure_reason",
    "connection/termination_details",
    "upstream",
    "upstream/address",
    "upstream/port",
    "upstream/locality",
    "upstream/locality/region",
    "upstream/transport_failure_reason",
    "upstream/cx_pool_ready_duration",
    "upstream/request_attempt_count",
    "upstream/num_endpoints",
    "upstream/tls_version",
    "upstream/subject_peer_certificate",
    "upstream/sha256_peer_certificate_digest",
    "metadata",
    "metadata/filter_metadata",
    "metadata/filter_metadata/none",
    "metadata/typed_filter_metadata",
    "metadata/none",
    "filter_state",
    "filter_state/none",
    "filter_state/wasm.none",
    "upstream_filter_state",
    "upstream_filter_state/none",
    "xds",
    "xds/none",
    "xds/node/id",
    "xds/node/cluster",
    "xds/node/none",
    "xds/node/metadata",
    "xds/node/locality",
    "xds/node/locality/zone",
    "xds/node/user_agent_name",
    "xds/node/client_features",
    "xds/cluster_name",
    "xds/cluster_name/more",
    "xds/cluster_metadata",
    "xds/cluster_metadata/filter_metadata",
    "xds/cluster_metadata/filter_metadata/none",
    "xds/route_name",
    "xds/route_metadata",
    "xds/route_metadata/filter_metadata",
    "xds/virtual_host_name",
    "xds/virtual_host_metadata",
    "xds/virtual_host_metadata/filter_metadata",
    "xds/upstream_host_metadata",
    "xds/upstream_host_metadata/filter_metadata",
    "xds/upstream_host_locality_metadata",
    "xds/filter_chain_name",
    "xds/listener_metadata",
    "xds/listener_metadata/none",
    "xds/listener_metadata/filter_metadata",
    "xds/listener_metadata/filter_metadata/dragoman",
    "xds/listener_metadata/filter_metadata/dragoman/role",
    "xds/listener_metadata/typed_filter_metadata",
    "xds/listener_direction",
    "plugin_name",
    "plugin_root_id",
    "plugin_vm_id",
    "plugin_none",
    "plugin_name/more",
    "connection_id",
    "node",
    "node/id",
    "listener_metadata",
    "cluster_metadata",
    "route_metadata",
    "upstream_host_metadata",
];

/// Of a client's connection: asked for in a callout's stream they end Envoy.
const OF_CLIENTS: &[&str] = &[
    "source",
    "source/address",
    "source/port",
    "source/none",
    "destination",
    "destination/address",
    "destination/port",
];

fn asks(callback: &str) -> String {
    ALL.iter()
        .map(|path| format!("{callback}: get_property {path}\n"))
        .collect()
}

fn asks_all(callback: &str) -> String {
    let of_clients: String = OF_CLIENTS
        .iter()
        .map(|path| format!("{callback}: get_property {path}\n"))
        .collect();
    asks(callback) + &of_clients
}

fn case(script: &str) -> Case {
    Case::new().filter(scripted("a", script)).shape(|raw| {
        raw.hcm("use_remote_address", json!(false)).listener(
            "metadata",
            json!({"filter_metadata": {"dragoman": {"role": "public"}}}),
        )
    })
}

fn post(client: &mut blackbox::differential::Client<'_>) {
    let headers = [
        "x-one: 1",
        "x-two: a",
        "x-two: b",
        "user-agent: me",
        "referer: there",
        "x-request-id: 00000000-0000-4000-8000-000000000000",
    ];
    drop(client.request("POST", "/x/y?a=b", &headers, b"body"));
}

#[test]
fn all_attributes_while_a_request_comes_in() {
    let script = asks_all("request_headers") + &asks("request_body end");

    let seen = case(&script).run(post);

    assert_eq!(
        seen.answers("get_property request/method"),
        ["0 \"POST\"", "1"]
    );
}

#[test]
fn all_attributes_while_a_response_goes_out() {
    let script = asks_all("response_headers") + &asks("response_body end");

    let seen = case(&script).run(|client| {
        post(client);
        drop(client.get("/readyz"));
    });

    let statuses = seen.answers("get_property response/grpc_status");
    assert_eq!(statuses[..2], ["0 number 12"; 2], "of a 404");
    assert_eq!(statuses[2..], ["0 number 2"; 2], "of a 200");
}

#[test]
fn all_attributes_at_the_end_of_a_request() {
    let script = asks_all("log") + &asks("done") + &asks("delete");

    let seen = case(&script).run(post);

    assert_eq!(
        seen.answers("get_property request/method"),
        ["0 \"POST\"", "1", "1"]
    );
}

#[test]
fn all_attributes_of_an_attempt() {
    let script = asks("request_headers") + &asks("response_headers") + &asks("done");

    let seen = Case::new()
        .attempt(scripted("a", &script))
        .shape(|raw| raw.hcm("use_remote_address", json!(false)))
        .run(post);

    assert_eq!(
        seen.answers("get_property xds/cluster_name")[0],
        "0 \"workers\""
    );
}

#[test]
fn all_attributes_of_a_root_context() {
    let script = asks("context_create #1")
        + &asks("vm_start")
        + &asks("configure")
        + "configure: set_tick_period 20\ntick #1: set_tick_period 0\n"
        + &asks("tick");

    let seen = case(&script).run(|client| {
        client.wait_for("tick(", 2);
        post(client);
    });

    assert_eq!(
        seen.answers("get_property plugin_root_id").last(),
        Some(&"0 \"a\"")
    );
}

#[test]
fn all_attributes_when_a_callout_is_answered() {
    let script =
        "request_headers: http_call called :method=GET;:path=/readyz;:authority=c - - 1000\n\
        request_headers: return 1\n"
            .to_owned()
            + &asks("http_call_response")
            + "http_call_response: set_effective_context $caller\n"
            + &asks("http_call_response")
            + "http_call_response: continue_stream 0\n";

    let seen = Case::new()
        .filter(scripted("a", &script))
        .shape(|raw| raw.hcm("use_remote_address", json!(false)))
        .cluster("called", &["c1"])
        .run(post);

    assert_eq!(
        seen.answers("get_property request/method"),
        ["1", "0 \"POST\""]
    );
}

#[test]
fn all_attributes_when_a_worker_cannot_be_reached() {
    let script = asks("response_headers") + &asks("log");

    let seen = case(&script)
        .route(json!({"cluster": "workers", "timeout": "1s"}))
        .answers("w1", "nonsense\r\n\r\n")
        .run(post);

    assert_eq!(seen.statuses(), [502]);
}

#[test]
fn metadata_of_a_listener_have_the_kinds_of_json() {
    let values = [
        "text", "number", "yes", "null", "list", "map", "fraction", "digits",
    ];
    let parts = [
        "list/0", "list/1", "list/9", "list/x", "map/a", "map/a/b", "text/a",
    ];
    let script: String = values
        .iter()
        .chain(&parts)
        .map(|path| {
            format!(
                "request_headers: get_property xds/listener_metadata/filter_metadata/n/{path}\n"
            )
        })
        .collect();

    let seen = Case::new()
        .filter(scripted("a", &script))
        .shape(|raw| {
            let metadata = json!({"filter_metadata": {"n": {
                "text": "t", "number": -7, "yes": true, "null": null, "list": ["one", 2], "map": {"a": {"b": "c"}},
                "fraction": 1.5, "digits": "7",
            }}});
            raw.listener("metadata", metadata)
        })
        .run(|client| drop(client.get("/readyz")));

    let answers = |path: &str| {
        let step = format!("get_property xds/listener_metadata/filter_metadata/n/{path}");
        seen.answers(&step).concat()
    };
    assert_eq!(answers("digits"), "0 \"7\"");
    assert_eq!(answers("null"), "3", "there is no form for it");
    assert_eq!(answers("map/a/b"), "0 \"c\"");
    assert_eq!(answers("list/9"), "1");
}

#[test]
fn a_node_is_what_the_configuration_says() {
    let paths = [
        "id",
        "cluster",
        "metadata",
        "metadata/a",
        "metadata/a/b",
        "metadata/none",
        "locality",
        "locality/region",
        "locality/zone",
        "locality/sub_zone",
        "locality/none",
        "user_agent_version",
        "dynamic_parameters",
        "listening_addresses",
    ];
    let script: String = ["configure", "request_headers"]
        .iter()
        .flat_map(|callback| {
            paths.map(|path| format!("{callback}: get_property xds/node/{path}\n"))
        })
        .collect();

    let seen = Case::new()
        .filter(scripted("a", &script))
        .shape(|raw| {
            raw.node(
                json!({"id": "here", "cluster": "shop", "metadata": {"a": {"b": [1, "x"]}},
                "locality": {"region": "r", "zone": "z"}}),
            )
        })
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("get_property xds/node/id"), ["0 \"here\""; 2]);
    assert_eq!(
        seen.answers("get_property xds/node/locality/zone"),
        ["0 \"z\""; 2]
    );
}
