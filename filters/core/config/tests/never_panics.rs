//! Whatever the document, the answer is a checked gateway or one fault.

use dragoman_config::parse;
use proptest::prelude::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const SHIPPED: &str = include_str!("../../../../envoy/gateway.json");
/// Every section and every field.
const FULL: &str = r#"{"version":1,"max_body_bytes":4194304,"listeners":{"internal":"127.0.0.1:10001"},
"auth":{"mode":"on","max_uploads":64,"issuers":[{"id":"i","issuer":"x","audiences":["a"],"jwks":{"keys":[{"kty":"EC"}]},
  "secrets":[{"env":"S","kid":"k","encoding":"text"}],"tenants":["t"],"scopes":["chat"],"class":"background","limits":["l"],
  "leeway_s":60,"max_lifetime_s":60,"claims":{"tenant":"t","app":"a","scopes":"s","models":"m"}}],
  "keys":[{"id":"k1","tenant":"t","app":"a","models":["chat-*"],"not_before":"2026-01-01T00:00:00Z","expires_at":"2027-01-01T00:00:00Z",
  "generation":1,"scopes":["chat","GET /v1/models"],"class":"background","limits":["l"],
  "sha256":"59a64b1b0d1d2f5e0dbf9ac0c2a0c6b0cf9c8a2ed5a9b2b6f7e4a3d2c1b0a998"}],
  "key_store":{"address":"127.0.0.1:9201","path":"/keys","poll_seconds":10,"timeout_ms":500,"credential":{"env":"C"}}},
"tenants":[{"id":"t","status":"active","models":["*"],"hosts":["t.example","*.t.example"],"residency":["eu"]}],
"limits":[{"name":"l","by":["tenant","app","key"],"rate":{"per_second":0.5,"burst":20}}],
"idempotency":{"ttl_s":86400,"max_response_bytes":1048576,"lease_s":900,"on_unknown":"hold"},
"health":{"health_check_seconds":10,"timeout_ms":2000,"ready_path":"/readyz","models_path":"/v1/models"},
"circuit":{"threshold":5,"cooldown_seconds":30},
"endpoints":[{"name":"m","slug":"m/n","version":"v3","tenant":"t","visibility":"private","mode":"weighted","split":"caller","timeout_ms":30000,"max_attempts":2,
  "targets":[{"worker":"w","served_model_name":"s","weight":80,"enabled":true,"context_tokens":8192,"tools":false}]},
  {"name":"k","mode":"least-request-top-k","top_k":{"k":5,"epsilon":4},"targets":[]}],
"workers":[{"id":"w","cluster":"c","address":"127.0.0.1:9101","credential":{"env":"K","header":"api-key"},"max_in_flight":64,
  "classes":["background"],"canary":true,"tenants":["t"],"region":"eu"}],
"routing":{"backend_header":"x-backend","strategy":"sticky","canary_percent":5,"background_percent":50}}"#;

/// Pieces that matter to the grammar or to the checks.
const PIECES: &[&str] = &[
    "",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "-1",
    "1e999",
    "\\u0000",
    "\\ud800",
    "true",
    "\"w1\"",
    "\"weight\"",
    "\"slug\"",
    "18446744073709551616",
    "\u{85}",
    "ü",
];

proptest! {
    #[test]
    fn on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn on_a_good_document_with_pieces_replaced(
        good in prop::sample::select(&[SHIPPED, FULL][..]),
        edits in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0..12usize, prop::sample::select(PIECES)), 1..6)
    ) {
        let mut bytes = good.as_bytes().to_vec();
        for (place, length, piece) in edits {
            let start = place.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, piece.bytes());
        }
        if let Err(fault) = parse(&bytes) {
            let line = fault.to_string();
            prop_assert!(line.len() < 600 && !line.contains('\n'), "{}", line);
        }
    }
}

#[test]
fn the_full_document_is_taken_as_it_stands() {
    assert_eq!(parse(FULL.as_bytes()).map(|_| ()), Ok(()));
}
