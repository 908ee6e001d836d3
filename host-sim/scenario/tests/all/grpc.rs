//! Calls of a guest over gRPC, to a worker on the virtual clock.

use std::time::Duration;

use host_sim_scenario::{Change, Request, Setup, World};
use mock_worker::Faults;

/// A guest that calls when a request comes and answers it with what it hears.
const SCRIPT: &str = r"request_headers @/unary: grpc_call echo mock.Echo Unary - hello 5000
request_headers @/fail: grpc_call echo mock.Echo Fail - 9%20not%20so 5000
request_headers: return 1
grpc_receive: answer = get_buffer_bytes 5 0 100
grpc_receive: set_effective_context $caller
grpc_receive: send_local_response 200 $answer - - -
grpc_close: get_status
grpc_close: set_effective_context $caller
grpc_close: send_local_response 503 - - - -";

fn world() -> World {
    let setup = Setup::default();
    let module = setup.modules.join("guests/scripted.wasm");
    let script = SCRIPT.replace('\n', "\\n");
    let yaml = format!(
        r#"
static_resources:
  listeners:
  - name: public
    address: {{socket_address: {{address: 127.0.0.1, port_value: 10000}}}}
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: public
          use_remote_address: true
          route_config: {{virtual_hosts: [{{name: all, domains: ["*"], routes: [{{match: {{prefix: /}}, direct_response: {{status: 404}}}}]}}]}}
          http_filters:
          - name: scripted
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
              config:
                name: scripted
                root_id: scripted
                configuration: {{"@type": type.googleapis.com/google.protobuf.StringValue, value: "{script}"}}
                vm_config: {{vm_id: test, runtime: envoy.wasm.runtime.v8, code: {{local: {{filename: "{module}"}}}}}}
          - name: router
            typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
  clusters:
  - name: echo
    load_assignment: {{cluster_name: echo, endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: 9101}}}}}}}}]}}]}}
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {{http2_protocol_options: {{}}}}
"#,
        module = module.display()
    );
    World::from_envoy(&yaml, &setup).unwrap_or_else(|problem| panic!("{problem}"))
}

fn said(world: &World, text: &str) -> bool {
    world.log().iter().any(|line| line.text.contains(text))
}

#[test]
fn a_message_comes_back() {
    let mut world = world();
    let answer = world.answer(Request::get("/unary"));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body(), b"hello");
}

#[test]
fn an_error_comes_back() {
    let mut world = world();
    let answer = world.answer(Request::get("/fail"));
    assert_eq!(answer.status, 503);
    assert!(said(
        &world,
        "get_status = 0 \"not so{via_upstream}\" code 9"
    ));
}

#[test]
fn a_worker_that_is_slow_runs_into_the_calls_time() {
    let mut world = world();
    let worker = world.worker_names().next().map(str::to_owned);
    let slow = Faults {
        delay_before_headers_ms: 60_000,
        ..Faults::default()
    };
    world.change_now(&worker.expect("a worker"), Change::Faults(slow));
    let answer = world.answer(Request::get("/unary"));
    assert_eq!(answer.status, 503);
    assert!(said(&world, "upstream request timeout{response_timeout}"));
    assert!(world.now() >= Duration::from_secs(5));
}
