//! What is told of a request, with guests of the test's own before the others.

use std::num::NonZeroU32;
use std::time::Duration;

use host_sim_envoy::RenderOptions;
use host_sim_scenario::Setup;
use host_sim_scenario::explain::{
    Callback, Gateway, Question, Sent, Story, What, explain, json, text,
};

use crate::deployment::{gateway, with_plugin};

/// Every callback and import that these guests need; `$body` is their `proxy_on_request_headers`.
const GUEST: &str = r#"(module
  (import "env" "proxy_http_call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_set_effective_context" (func $of (param i32) (result i32)))
  (import "env" "proxy_continue_stream" (func $continue (param i32) (result i32)))
  (memory (export "memory") 2)
  (global $context (mut i32) (i32.const 0))
  (data (i32.const 0) "side")
  (data (i32.const 16) "\03\00\00\00\07\00\00\00\03\00\00\00\05\00\00\00\01\00\00\00\0a\00\00\00\01\00\00\00:method\00GET\00:path\00/\00:authority\00a\00")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) i32.const 65536)
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) i32.const 1)
  (func (export "proxy_on_configure") (param i32 i32) (result i32) i32.const 1)
  (func (export "proxy_on_request_headers") (param $id i32) (param i32 i32) (result i32) $body)
  (func (export "proxy_on_http_call_response") (param i32 i32 i32 i32 i32)
    (drop (call $of (global.get $context)))
    (drop (call $continue (i32.const 0)))))"#;

const CLUSTERS: &str = "\n  clusters:\n";

/// One more cluster, without filters of its own, for callouts.
const SIDE: &str = r#"
  clusters:
  - name: side
    type: STATIC
    connect_timeout: 1s
    load_assignment:
      cluster_name: side
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 9101}}}
"#;

/// The story of a chat through a guest with this `proxy_on_request_headers`.
fn story(body: &str) -> Story {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("obey.wasm");
    std::fs::write(&file, wat::parse_str(GUEST.replace("$body", body)).unwrap()).unwrap();
    let Setup { modules, cache, .. } = Setup::default();
    let options = RenderOptions {
        modules: modules.to_string_lossy().into_owned(),
        ..RenderOptions::default()
    };
    let document = gateway("failover", 1).to_string();
    let yaml = host_sim_envoy::render(&document, &options).unwrap();
    let question = Question {
        gateway: Gateway::Envoy(with_plugin(&yaml, &file).replacen(CLUSTERS, SIDE, 1)),
        modules,
        cache,
        sent: Sent::default(),
        times: NonZeroU32::MIN,
        answers: Vec::new(),
        worker_delay: Duration::from_millis(20),
        seed: 1,
    };
    explain(&question).unwrap_or_else(|problem| panic!("{problem}"))
}

fn obeys(story: &Story) -> Vec<&Callback> {
    let own = story
        .callbacks()
        .filter(|callback| callback.filter == "obey");
    own.filter(|callback| callback.name != "context_create")
        .collect()
}

#[test]
fn a_callout_is_told_with_its_answer_and_what_follows() {
    let story = story(
        r#"(global.set $context (local.get $id))
           (drop (call $call (i32.const 0) (i32.const 4) (i32.const 16) (i32.const 61)
             (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000) (i32.const 128)))
           (i32.const 1)"#,
    );

    let [asks, hears] = obeys(&story)[..] else {
        panic!("{}", text(&story, false))
    };
    assert_eq!(asks.decision, "Pause");
    assert_eq!(asks.calls[0].name, "http_call");
    assert_eq!(asks.calls[0].arguments, "side, 3 lines, 0 bytes, 1s");
    assert_eq!(hears.name, "http_call_response");
    assert_eq!(hears.decision, "resumes the request");
    assert_eq!(story.status, 200);
    // The callout's own way to its worker is not the request's.
    assert_eq!(story.attempts.len(), 1);
}

#[test]
fn a_trap_is_told_with_its_reason() {
    let story = story("unreachable");
    let [trapped] = obeys(&story)[..] else {
        panic!("{}", text(&story, false))
    };
    assert!(
        trapped.decision.starts_with("trap: "),
        "{}",
        trapped.decision
    );
    assert_eq!(story.status, 503);
    let critical = story.steps.iter().filter(|step| {
        matches!(&step.what, What::World { who: "gateway", text } if text.starts_with("critical: "))
    });
    assert_eq!(critical.count(), 1);
}

#[test]
fn colours_change_nothing_but_the_colours() {
    let story = story("(i32.const 0)");
    let mut plain = String::new();
    for (index, piece) in text(&story, true).split('\x1b').enumerate() {
        // The end of a colour's code is its first `m`.
        let piece = if index == 0 {
            piece
        } else {
            piece.split_once('m').unwrap().1
        };
        plain.push_str(piece);
    }
    assert_eq!(plain, text(&story, false));
}

#[test]
fn the_same_story_is_told_as_json() {
    let story = story("(i32.const 0)");
    let json = json(&story);
    assert_eq!(json["outcome"], story.outcome());
    assert_eq!(json["steps"].as_array().unwrap().len(), story.steps.len());
    assert_eq!(json["response"]["status"], 200);
    assert_eq!(json["attempts"][0]["worker"], "127.0.0.1:9101");
}
