//! Whether a model exists is not told by what it costs to refuse it: whatever somebody may not know of takes the same way
//! through the chain as what does not exist, call by call between host and guests.

use std::sync::{Arc, Mutex, PoisonError};

use host_sim_host::abi::watch::{Answered, Asked, View, Watcher, Whose};
use host_sim_host::abi::{Call, Trap};
use host_sim_scenario::{Request, Setup, World};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::deployment::world;

const KEY: &str = "sk-existence-a";
/// Names of one length: how long a body is, is what the client knows already.
const ABSENT: &str = "model-nobody";
/// Of another tenant; on the internal listener only; both; of the caller's tenant, but internal.
const HIDDEN: [&str; 4] = [
    "model-others",
    "model-hidden",
    "model-h-othr",
    "model-h-mine",
];
/// May differ by so many in a hundred: a name is compared with others, and then there is one or none.
const MAX_PERCENT: u64 = 1;

/// Every callback and host call of a request, in order, with what was asked.
#[derive(Debug, Default)]
struct Ways(Mutex<Way>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Way {
    calls: Vec<String>,
    instructions: u64,
}

impl Ways {
    fn take(&self) -> Way {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, whose: &Whose, call: String) {
        if whose.stream.is_some() {
            let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            way.calls.push(format!("{} {call}", whose.module));
        }
    }
}

impl Watcher for Ways {
    fn called(&self, whose: &Whose, call: &Call, _: &mut View<'_>) {
        self.note(whose, call.export().to_owned());
    }

    fn answered(&self, whose: &Whose, asked: &Asked<'_>, answered: &Answered<'_>) {
        let size = match answered {
            Answered::Bytes(bytes) | Answered::BytesAndNumber(bytes, _) => bytes.len(),
            _ => 0,
        };
        self.note(whose, format!("{} {size}", asked.name()));
    }

    fn returned(
        &self,
        whose: &Whose,
        _: &Call,
        _: Result<u32, &Trap>,
        instructions: u64,
        _: &mut View<'_>,
    ) {
        if whose.stream.is_some() {
            let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            way.instructions += instructions;
        }
    }
}

fn gateway() -> Value {
    let digest = Sha256::digest(KEY.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let endpoint = |name: &str, tenant: Option<&str>, visibility: &str| {
        let targets = json!([{"worker": "w1"}]);
        let mut endpoint = json!({"name": name, "visibility": visibility, "targets": targets});
        if let Some(tenant) = tenant {
            endpoint["tenant"] = tenant.into();
        }
        endpoint
    };
    json!({
        "version": 1,
        "auth": {"keys": [{"id": "a", "sha256": digest, "tenant": "mine", "app": "app"}]},
        "tenants": [{"id": "mine"}, {"id": "others"}],
        "limits": [{"name": "all", "by": ["tenant"], "rate": {"per_second": 1000, "burst": 1000}}],
        "idempotency": {},
        "listeners": {"internal": "127.0.0.1:10001"},
        "endpoints": [
            endpoint("chat", None, "public"),
            endpoint(HIDDEN[0], Some("others"), "public"),
            endpoint(HIDDEN[1], None, "private"),
            endpoint(HIDDEN[2], Some("others"), "private"),
            endpoint(HIDDEN[3], Some("mine"), "private"),
        ],
        "workers": [{"id": "w1", "address": "127.0.0.1:9101"}],
    })
}

/// Every form in which a request can name a model.
fn forms(model: &str) -> Vec<Request> {
    let mut forms = Vec::new();
    for (path, rest) in [
        ("/v1/chat/completions", r#""messages":[]"#),
        ("/v1/chat/completions", r#""messages":[],"stream":true"#),
        ("/v1/completions", r#""prompt":"a""#),
        ("/v1/embeddings", r#""input":"a""#),
        ("/v1/responses", r#""input":"a""#),
        ("/v1/messages", r#""max_tokens":5,"messages":[]"#),
        ("/v1/images/generations", r#""prompt":"a""#),
        ("/v1/audio/speech", r#""input":"a","voice":"b""#),
    ] {
        let body = format!(r#"{{"model":"{model}",{rest}}}"#);
        forms.push(Request::post(path, body.clone()));
        forms.push(Request::post(path, body).header("idempotency-key", &format!("{model}-{path}")));
    }
    forms.push(Request::get(&format!("/v1/models/{model}")));
    forms.push(Request::get(&format!(
        "/v1/models/{}",
        model.replace('-', "%2D")
    )));
    forms
}

/// What somebody gets, without what differs from request to request.
fn told(world: &mut World, request: Request) -> (u16, Vec<(String, String)>, String) {
    let request = request.header("authorization", &format!("Bearer {KEY}"));
    let response = world.answer(request);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = response
        .headers
        .iter()
        .map(|(name, value)| (text(name), text(value)));
    let lines: Vec<_> = lines.collect();
    let id = lines
        .iter()
        .find(|(name, _)| name == "x-request-id")
        .expect("an id")
        .1
        .clone();
    let kept = lines.into_iter().filter(|(name, _)| name != "x-request-id");
    (
        response.status,
        kept.collect(),
        response.text().replace(&id, "<id>"),
    )
}

#[test]
fn a_foreign_a_private_and_an_absent_model_cost_the_same_host_calls() {
    let ways = Arc::new(Ways::default());
    let setup = Setup {
        watchers: vec![Arc::clone(&ways) as _],
        ..Setup::default()
    };
    let mut world = world(&gateway(), &setup);
    // What is kept per VM is there after the first one.
    for request in forms("chat").into_iter().chain(forms(ABSENT)) {
        let _ = told(&mut world, request);
    }
    for (form, request) in forms(ABSENT).into_iter().enumerate() {
        let shown = format!("{request:?}");
        let _ = ways.take();
        let absent = told(&mut world, request);
        let way = ways.take();
        assert_eq!(absent.0, 404, "{shown}: {absent:?}");
        assert!(way.calls.len() > 4, "{way:?}");
        for model in HIDDEN {
            let hidden = told(&mut world, forms(model).swap_remove(form));
            let other = ways.take();
            assert_eq!(hidden, absent, "{model} instead of {ABSENT}: {shown}");
            assert_eq!(
                other.calls, way.calls,
                "{model} instead of {ABSENT}: {shown}"
            );
            let more = other.instructions.abs_diff(way.instructions) * 100;
            assert!(
                more <= way.instructions * MAX_PERCENT,
                "{model}: {} instructions, {ABSENT}: {}: {shown}",
                other.instructions,
                way.instructions
            );
        }
    }
}
