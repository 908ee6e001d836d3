//! The record of refusals: for each reason that `auth` has, who came from where with which key, and why that did not do.

use std::collections::BTreeSet;

use blackbox::shell::repository;
use blackbox::world::request;
use blackbox::{Connection, Engine, Response, World, both_engines};
use control_plane::{ControlPlane, Fault};
use serde_json::{Value, json};

use super::{bearer, id};
use crate::support::{CHAT, refused};

both_engines![
    every_refusal_is_written_down_with_its_reason_its_source_and_its_key,
    before_the_first_table_a_refusal_is_written_down_too,
];

/// The only reason that needs a world of its own: [`before_the_first_table_a_refusal_is_written_down_too`].
const BEFORE_A_TABLE: &str = "not_ready";
/// How the reasons of signed tokens begin; `tokens.rs` has those.
const OF_TOKENS: &str = "token.";

const GOOD: &str = "sk-audit-good-1f60";
const PAST: &str = "2020-01-01T00:00:00Z";
const FUTURE: &str = "2120-01-01T00:00:00Z";

/// What is shown, and what is written down of it.
struct Row {
    reason: &'static str,
    status: u16,
    code: &'static str,
    host: &'static str,
    lines: Vec<String>,
    /// The key and its tenant, where they are known.
    known: Option<(&'static str, &'static str)>,
}

fn row(reason: &'static str, (status, code): (u16, &'static str), lines: &[&str]) -> Row {
    Row {
        reason,
        status,
        code,
        host: "a.example",
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        known: None,
    }
}

impl Row {
    fn of(self, key: &'static str, tenant: &'static str) -> Self {
        Self {
            known: Some((key, tenant)),
            ..self
        }
    }

    fn at(self, host: &'static str) -> Self {
        Self { host, ..self }
    }

    /// A chat from somebody who also claims to be somewhere else.
    fn bytes(&self) -> Vec<u8> {
        let host = format!("host: {}", self.host);
        let lines = [
            &*host,
            "x-forwarded-for: 203.0.113.9",
            "x-real-ip: 203.0.113.9",
        ];
        let lines: Vec<&str> = lines
            .into_iter()
            .chain(self.lines.iter().map(String::as_str))
            .collect();
        request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes())
    }

    fn check(&self, world: &World, response: &Response) {
        assert_eq!(
            response.outcome(),
            refused(self.status, self.code),
            "{}",
            self.reason
        );
        let line = world.log().request(&id(response));
        let (key, tenant) = self.known.unzip();
        let expected = json!({
            "refusal": self.reason, "error": self.code, "code": self.status, "key": key, "tenant": tenant,
            "ip": "127.0.0.1", "method": "POST", "path": "/v1/chat/completions", "worker": null,
        });
        for (field, value) in expected.as_object().expect("an object") {
            assert_eq!(line[field], *value, "{field} of {line}");
        }
        for shown in self.lines.iter().filter_map(|line| line.rsplit_once(' ')) {
            assert!(
                shown.1.len() < 4 || !line.to_string().contains(shown.1),
                "{line}"
            );
        }
    }
}

fn rows() -> Vec<Row> {
    const UNKNOWN: (u16, &str) = (401, "invalid_credential");
    let shown = |name: &str| bearer(&format!("sk-audit-{name}-1f60"));
    let long = format!("x-api-key: {}", "k".repeat(4097));
    vec![
        row(
            "missing",
            (401, "missing_credential"),
            &["authorization: Bearer"],
        ),
        row(
            "several",
            (401, "ambiguous_credential"),
            &[&bearer(GOOD), "api-key: sk-audit-other"],
        ),
        row(
            "malformed",
            UNKNOWN,
            &["authorization: Basic c2stYXVkaXQtZ29vZA=="],
        ),
        row("too_long", UNKNOWN, &[&long]),
        row("unknown", UNKNOWN, &["x-api-key: sk-audit-nobody-1f60"]),
        row("revoked", UNKNOWN, &[&shown("revoked")]).of("k-revoked", "team-a"),
        row("not_yet_valid", UNKNOWN, &[&shown("early")]).of("k-early", "team-a"),
        row("expired", UNKNOWN, &[&shown("late")]).of("k-late", "team-a"),
        row("wrong_host", UNKNOWN, &[&bearer(GOOD)])
            .of("k-good", "team-a")
            .at("gone.example"),
        row(
            "tenant_unknown",
            (403, "tenant_inactive"),
            &[&shown("lost")],
        )
        .of("k-lost", "team-nobody")
        .at("nobody.example"),
        row(
            "tenant_suspended",
            (403, "tenant_inactive"),
            &[&shown("gone")],
        )
        .of("k-gone", "team-gone")
        .at("gone.example"),
        row("scope", (403, "scope_denied"), &[&shown("narrow")]).of("k-narrow", "team-a"),
        row("uploads", (429, "too_many_uploads"), &[&bearer(GOOD)]).of("k-good", "team-a"),
    ]
}

fn world(engine: Engine, control: &ControlPlane) -> World {
    let store = json!({"address": control.address().to_string(), "poll_seconds": 1});
    World::on(engine)
        .with("auth", json!({"key_store": store, "max_uploads": 1}))
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .document(|document| {
            document
                .tenant("team-a", json!({"hosts": ["a.example"]}))
                .tenant(
                    "team-gone",
                    json!({"hosts": ["gone.example"], "status": "suspended"}),
                )
                .key("k-good", GOOD, "team-a", json!({}))
                .key(
                    "k-early",
                    "sk-audit-early-1f60",
                    "team-a",
                    json!({"not_before": FUTURE}),
                )
                .key(
                    "k-late",
                    "sk-audit-late-1f60",
                    "team-a",
                    json!({"expires_at": PAST}),
                )
                .key("k-gone", "sk-audit-gone-1f60", "team-gone", json!({}))
                .key(
                    "k-narrow",
                    "sk-audit-narrow-1f60",
                    "team-a",
                    json!({"scopes": ["models"]}),
                )
        })
        .start()
}

fn every_refusal_is_written_down_with_its_reason_its_source_and_its_key(engine: Engine) {
    let control = ControlPlane::start_free();
    control.put(
        "k-revoked",
        "sk-audit-revoked-1f60",
        "team-a",
        json!({"revoked": true}),
    );
    control.put("k-lost", "sk-audit-lost-1f60", "team-nobody", json!({}));
    let world = world(engine, &control);
    control.wait_for_polls();
    // Somebody sends a body and does not come to its end.
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: a.example\r\ncontent-length: 99\r\n";
    let mut upload = world.connect();
    upload.send(format!("{head}{}\r\n\r\n{{", bearer(GOOD)));
    // Until its head was read, its key sends nothing yet.
    let uploads = || rows().pop().map(|row| send(&world, &row).status);
    assert!(
        (0..1000).any(|_| uploads() == Some(429)),
        "the upload never counted"
    );

    let mut told: Vec<(u16, &str, Value)> = Vec::new();
    for row in rows() {
        let response = send(&world, &row);
        row.check(&world, &response);
        let mut body = response.json();
        body["error"]["request_id"] = Value::Null;
        told.push((row.status, row.code, body));
    }

    // Who is refused for another reason of the same code is told the same.
    for (status, code, body) in &told {
        let same = told.iter().filter(|other| other.1 == *code);
        assert!(
            same.into_iter()
                .all(|other| (other.0, &other.2) == (*status, body)),
            "{code}"
        );
    }
    drop(upload);
}

fn send(world: &World, row: &Row) -> Response {
    Connection::open(world.address())
        .send(row.bytes())
        .response()
}

fn before_the_first_table_a_refusal_is_written_down_too(engine: Engine) {
    let control = ControlPlane::start_free();
    control.fail(Some(Fault::Dead));
    let world = world(engine, &control);
    let row = row(
        BEFORE_A_TABLE,
        (503, "not_ready"),
        &["x-api-key: sk-audit-nobody-1f60"],
    );

    let response = send(&world, &row);

    row.check(&world, &response);
    assert_eq!(world.hits(), [0]);
}

/// The tables above and in the README have every reason that there is.
#[test]
fn no_reason_is_without_a_row() {
    let read = |path: &str| {
        std::fs::read_to_string(repository().join(path)).expect("a file of the repository")
    };
    let source = read("filters/auth/src/reason.rs");
    let (_, list) = source
        .split_once("reasons! {\n")
        .expect("the list of reasons");
    let (list, _) = list.split_once("\n}").expect("its end");
    let words = list.lines().filter_map(|line| line.split('"').nth(1));
    let words: BTreeSet<&str> = words.filter(|word| !word.starts_with(OF_TOKENS)).collect();
    let rows: BTreeSet<&str> = rows()
        .iter()
        .map(|row| row.reason)
        .chain([BEFORE_A_TABLE])
        .collect();
    assert_eq!(rows, words, "a row for each reason");
    let readme = read("filters/auth/README.md");
    for word in words {
        assert!(
            readme.contains(&format!("`{word}`")),
            "filters/auth/README.md has no {word}"
        );
    }
}
