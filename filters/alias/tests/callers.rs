//! What a caller may know of and use, through `alias` on the fake host.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;
use std::rc::Rc;

use dragoman_alias::Alias;
use dragoman_contract::Identity;
use dragoman_sdk::fake::{Exchange, FakeHost, Replied};
use dragoman_sdk::{Action, Filter, Plugin};

const CONFIG: &str = r#"{
  "version": 1, "auth": {"mode": "on"},
  "tenants": [{"id": "team-a"}, {"id": "team-b"}],
  "endpoints": [
    {"name": "shared", "targets": [{"worker": "w1"}]},
    {"name": "chat-a", "tenant": "team-a", "targets": [{"worker": "w1"}]},
    {"name": "code-a", "tenant": "team-a", "targets": [{"worker": "w1"}]},
    {"name": "chat-b", "slug": "chat b", "tenant": "team-b", "targets": [{"worker": "w1"}]}],
  "workers": [{"id": "w1", "address": "127.0.0.1:9101"}]
}"#;

fn caller<'a>(tenant: &'a str, key_models: Option<&[&'a str]>) -> Identity<'a> {
    Identity {
        key: "k",
        tenant,
        app: "app",
        key_models: key_models.map(<[_]>::to_vec),
        tenant_models: None,
        ..Identity::default()
    }
}

/// A request after `auth`, which published these bytes.
fn after_auth(
    config: &str,
    head: [(&str, &str); 2],
    identity: Option<Vec<u8>>,
) -> Exchange<impl Filter + use<>> {
    let alias = Rc::new(Alias::configure(config.as_bytes(), &BTreeMap::new()).unwrap());
    let mut host = FakeHost::new(&head);
    if let Some(identity) = identity {
        host.properties
            .insert("dragoman.identity".to_owned(), identity);
    }
    Exchange::new(&alias, host)
}

fn get(path: &str, caller: &Identity<'_>) -> Replied {
    let head = [(":method", "GET"), (":path", path)];
    let mut it = after_auth(CONFIG, head, Some(caller.encode()));
    assert_eq!(it.headers(true), Action::Pause);
    it.host.replied.unwrap()
}

/// The answer to a chat with this model; `None` where it goes on.
fn chat(model: &str, caller: &Identity<'_>) -> Option<Replied> {
    let head = [(":method", "POST"), (":path", "/v1/chat/completions")];
    let mut it = after_auth(CONFIG, head, Some(caller.encode()));
    it.request(format!("{{\"model\":\"{model}\"}}").as_bytes());
    let goes_on = it.host.properties.contains_key("dragoman.request");
    assert_eq!(goes_on, it.host.replied.is_none(), "{model}");
    it.host.replied
}

/// C1, and the table of the security review: who asks, for what, and what is answered.
#[test]
fn a_foreign_model_does_not_exist_and_an_excluded_one_is_forbidden() {
    let all_of_a = caller("team-a", None);
    let few_of_a = caller("team-a", Some(&["chat-*"]));
    let none_of_a = caller("team-a", Some(&[]));
    let greedy_of_a = caller("team-a", Some(&["*", "chat b"]));
    let of_b = caller("team-b", None);
    let table = [
        (&all_of_a, "shared", 200),
        (&all_of_a, "chat-a", 200),
        (&all_of_a, "chat b", 404),
        (&all_of_a, "nobody", 404),
        (&few_of_a, "chat-a", 200),
        (&few_of_a, "code-a", 403),
        (&few_of_a, "shared", 403),
        (&few_of_a, "chat b", 404),
        (&none_of_a, "chat-a", 403),
        (&none_of_a, "chat b", 404),
        (&greedy_of_a, "chat b", 404),
        (&of_b, "chat b", 200),
        (&of_b, "chat-a", 404),
        (&of_b, "code-a", 404),
    ];
    for (caller, model, status) in table {
        let code = match status {
            403 => "model_not_allowed",
            _ => "model_not_found",
        };
        let replied = chat(model, caller);
        let found = replied.as_ref().map_or(200, |replied| replied.status);
        assert_eq!(found, status, "{model} of {caller:?}");
        let path = format!("/v1/models/{}", model.replace(' ', "%20"));
        let described = get(&path, caller);
        assert_eq!(described.status, status, "{path} of {caller:?}");
        if let Some(replied) = replied {
            assert!(replied.text().contains(code), "{}", replied.text());
            assert_eq!(replied, described, "{model} of {caller:?}");
        }
    }
}

#[test]
fn a_foreign_model_is_answered_byte_for_byte_like_one_that_does_not_exist() {
    let caller = caller("team-a", Some(&["chat-a"]));
    assert_eq!(chat("chat b", &caller), chat("nobody", &caller));
    assert_eq!(
        get("/v1/models/chat%20b", &caller),
        get("/v1/models/nobody", &caller)
    );
}

#[test]
fn the_model_list_has_what_the_caller_can_use_and_nothing_else() {
    let table = [
        (caller("team-a", None), vec!["shared", "chat-a", "code-a"]),
        (
            caller("team-a", Some(&["chat*", "shared"])),
            vec!["shared", "chat-a"],
        ),
        (caller("team-a", Some(&[])), vec![]),
        (caller("team-b", None), vec!["shared", "chat b"]),
        (caller("team-c", None), vec!["shared"]),
    ];
    for (caller, models) in table {
        let data: Vec<String> = models
            .iter()
            .map(|id| {
                format!(r#"{{"id":"{id}","object":"model","created":0,"owned_by":"gateway"}}"#)
            })
            .collect();
        let expected = format!(r#"{{"object":"list","data":[{}]}}"#, data.join(","));
        assert_eq!(get("/v1/models", &caller).text(), expected, "{caller:?}");
    }
}

#[test]
fn with_auth_off_everybody_has_what_belongs_to_nobody() {
    let config = CONFIG.replace("\"on\"", "\"off\"");
    let ask = |path: &str| {
        let head = [(":method", "GET"), (":path", path)];
        let mut it = after_auth(&config, head, None);
        it.headers(true);
        it.host.replied.unwrap()
    };
    let list = ask("/v1/models").text();
    assert_eq!(list.matches("\"id\"").count(), 1, "{list}");
    assert!(list.contains("\"shared\""), "{list}");
    assert_eq!(ask("/v1/models/chat-a").status, 404);
    assert_eq!(ask("/healthz").status, 200);
}

#[test]
fn nothing_passes_where_callers_must_be_known_and_nobody_asked_them() {
    let mut cut = caller("team-a", None).encode();
    cut.pop();
    for identity in [
        None,
        Some(Vec::new()),
        Some(cut),
        Some(b"\xffteam-a".to_vec()),
    ] {
        for (method, path) in [
            ("POST", "/v1/chat/completions"),
            ("POST", "/v1/messages"),
            ("GET", "/v1/models"),
            ("GET", "/v1/models/shared"),
            ("GET", "/healthz"),
            ("GET", "/nowhere"),
        ] {
            let head = [(":method", method), (":path", path)];
            let mut it = after_auth(CONFIG, head, identity.clone());
            assert_eq!(it.headers(false), Action::Pause);
            let replied = it.host.replied.unwrap();
            assert_eq!(replied.status, 500, "{path} {identity:?}");
            assert!(
                replied.text().contains("misconfigured"),
                "{}",
                replied.text()
            );
        }
    }
}

#[test]
fn a_full_table_is_listed_whole() {
    let endpoint = |index: usize| {
        format!(
            r#"{{"name":"chat-{index}","tenant":"team-{}","targets":[]}}"#,
            ["a", "b"][index % 2]
        )
    };
    let endpoints: Vec<String> = (0..4096_usize).map(endpoint).collect();
    let config = format!(
        r#"{{"version":1,"auth":{{"mode":"on"}},"tenants":[{{"id":"team-a"}},{{"id":"team-b"}}],"workers":[],"endpoints":[{}]}}"#,
        endpoints.join(",")
    );
    let caller = caller("team-a", Some(&["chat-*"]));
    let head = [(":method", "GET"), (":path", "/v1/models")];
    let mut it = after_auth(&config, head, Some(caller.encode()));
    it.headers(true);
    let text = it.host.replied.unwrap().text();
    assert_eq!(text.matches("\"id\"").count(), 2048);
    assert!(text.contains("\"chat-4094\"") && !text.contains("\"chat-4095\""));
}
