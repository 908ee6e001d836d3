//! Issuers of tokens that publish their keys, and change them while the gateway runs.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use blackbox::issuer::{SignWith, jwks};
use blackbox::{Engine, World, WorldBuilder, both_engines};
use control_plane::{ControlPlane, Fault};
use serde_json::{Value, json};

use super::key_store::{PATIENCE, THREADS, metric, prometheus, settle, statuses};
use super::tokens::{ISSUER, claims};
use super::{KEY_B, bearer, chat_with, id, with_auth};
use crate::support::refused;

both_engines![
    an_issuer_changes_its_keys_without_one_refusal,
    a_key_that_left_the_set_ends_with_the_overlap_for_tokens_that_were_verified_too,
    a_key_id_that_nobody_knows_asks_for_one_reading,
    before_the_first_set_nobody_is_told_that_his_token_is_wrong,
    an_issuer_that_is_away_or_mistaken_leaves_the_last_good_set_and_is_seen,
];

const OLD: SignWith = SignWith::Es256(1);
const NEW: SignWith = SignWith::Es256(2);
const PARTNER: SignWith = SignWith::EdDsa(7);
/// `iss` of the second issuer.
const OTHER_ISSUER: &str = "https://partner.example";

/// Two issuers whose sets `control` hands out, each read every second unless these fields of
/// `jwks_from` say otherwise.
fn builder(engine: Engine, control: &ControlPlane, from: &Value) -> WorldBuilder {
    let issuer = |id: &str, name: &str| {
        let mut place = json!({"address": control.address().to_string(), "path": format!("/{id}/jwks"),
                               "refresh_seconds": 1, "timeout_ms": 500});
        for (field, value) in from.as_object().into_iter().flatten() {
            place[field] = value.clone();
        }
        json!({"id": id, "issuer": name, "audiences": ["dragoman"], "jwks_from": place})
    };
    let issuers = json!([issuer("corp", ISSUER), issuer("partner", OTHER_ISSUER)]);
    with_auth(engine, json!({"issuers": issuers})).concurrency(THREADS)
}

fn corp_has(control: &ControlPlane, keys: &[SignWith]) {
    control.publish("/corp/jwks", &jwks(keys));
}

fn issuers() -> ControlPlane {
    let control = ControlPlane::start_free();
    corp_has(&control, &[OLD]);
    control.publish("/partner/jwks", &jwks(&[PARTNER]));
    control
}

/// A token of a caller; another `sub`, another token.
fn token(key: SignWith, sub: &str) -> String {
    key.token(&claims(json!({"sub": sub})))
}

fn status(world: &World, token: &str) -> u16 {
    chat_with(world, &[&bearer(token)]).status
}

/// Waits until this token gets this status on new connections.
fn wait_for(world: &World, token: &str, expected: u16) {
    let started = Instant::now();
    while statuses(world, token) != [expected] {
        assert!(started.elapsed() < PATIENCE, "never {expected}");
    }
}

/// What the corporation's issuer published before this is in force on every thread when four more readings
/// have begun: the first may have begun before, the second sees it, and a thread remembers the former
/// set for a second.
fn settle_corp(control: &ControlPlane) {
    control.wait_for(4, |asked| asked.target == "/corp/jwks");
}

fn an_issuer_changes_its_keys_without_one_refusal(engine: Engine) {
    let control = issuers();
    let world = builder(engine, &control, &json!({})).start();
    let (old, new) = (token(OLD, "robot"), token(NEW, "robot"));
    wait_for(&world, &old, 200);

    let moved = AtomicBool::new(false);
    let stopping = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2)
            .map(|client| {
                let (world, moved, stopping) = (&world, &moved, &stopping);
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    while !stopping.load(Relaxed) {
                        // A token that nobody saw before, signed with the key of the day.
                        let key = if moved.load(Relaxed) { NEW } else { OLD };
                        let fresh = token(key, &format!("{client}-{}", seen.len()));
                        seen.push(status(world, &fresh));
                    }
                    seen
                })
            })
            .collect();
        // The issuer announces the next key, signs with it, and takes the old one back.
        corp_has(&control, &[OLD, NEW]);
        settle_corp(&control);
        moved.store(true, Relaxed);
        corp_has(&control, &[NEW]);
        settle_corp(&control);
        stopping.store(true, Relaxed);
        let seen = clients
            .into_iter()
            .map(|client| client.join().expect("no panic"));
        seen.collect::<Vec<_>>().concat()
    });
    assert!(
        seen.len() > 4 && seen.iter().all(|status| *status == 200),
        "{seen:?}"
    );
    // The old key is good for the overlap of ten minutes, for tokens that were seen and for others.
    assert_eq!(statuses(&world, &old), [200]);
    assert_eq!(statuses(&world, &token(OLD, "late")), [200]);
    assert_eq!(statuses(&world, &new), [200]);
    let keys = r#"dragoman_issuer_keys{issuer="corp"}"#;
    assert_eq!(metric(&world, keys), Some(2.0));
}

fn a_key_that_left_the_set_ends_with_the_overlap_for_tokens_that_were_verified_too(engine: Engine) {
    let control = issuers();
    let world = builder(engine, &control, &json!({"overlap_seconds": 2})).start();
    let (old, new) = (token(OLD, "robot"), token(NEW, "robot"));
    wait_for(&world, &old, 200);

    corp_has(&control, &[NEW]);
    wait_for(&world, &new, 200);
    wait_for(&world, &old, 401);
    settle_corp(&control);
    for sub in ["robot", "late"] {
        let response = chat_with(&world, &[&bearer(&token(OLD, sub))]);
        assert_eq!(response.outcome(), refused(401, "invalid_credential"));
        let line = world.log().request(&id(&response));
        assert_eq!(line["refusal"], "token.unknown_key", "{sub}");
    }
    assert_eq!(statuses(&world, &new), [200]);
}

fn a_key_id_that_nobody_knows_asks_for_one_reading(engine: Engine) {
    let control = issuers();
    let world = builder(engine, &control, &json!({"refresh_seconds": 3600})).start();
    wait_for(&world, &token(OLD, "robot"), 200);
    let asked = || {
        let asked = control.asked();
        asked
            .iter()
            .filter(|asked| asked.target == "/corp/jwks")
            .count()
    };
    assert_eq!(asked(), 1);

    let started = Instant::now();
    corp_has(&control, &[OLD, NEW]);
    wait_for(&world, &token(NEW, "robot"), 200);
    // Strangers make up key ids.
    for number in 10..60 {
        assert_eq!(
            status(&world, &token(SignWith::Es256(number), "robot")),
            401
        );
    }
    assert_eq!(statuses(&world, &token(NEW, "late")), [200]);
    let halves = usize::try_from(started.elapsed().as_secs() / 30).unwrap_or(usize::MAX);
    assert!(
        (2..=2 + halves).contains(&asked()),
        "asked {} times",
        asked()
    );
}

fn before_the_first_set_nobody_is_told_that_his_token_is_wrong(engine: Engine) {
    let control = issuers();
    control.fail(Some(Fault::Status(503)));
    let world = builder(engine, &control, &json!({})).start();

    let response = chat_with(&world, &[&bearer(&token(OLD, "robot"))]);
    assert_eq!(response.outcome(), refused(503, "not_ready"));
    assert_eq!(response.header("retry-after").as_deref(), Some("1"));
    let line = world.log().request(&id(&response));
    assert_eq!(line["refusal"], "not_ready");
    // What is wrong by any key is wrong now.
    let expired = OLD.token(&claims(json!({"iat": 1000, "exp": 2000})));
    assert_eq!(status(&world, &expired), 401);
    assert_eq!(status(&world, KEY_B), 200, "a key needs no issuer");
    assert_eq!(
        world.get("/readyz").status,
        200,
        "nor do its callers wait for one"
    );

    control.fail(None);
    wait_for(&world, &token(OLD, "robot"), 200);
    assert_eq!(status(&world, &token(NEW, "robot")), 401);
}

fn an_issuer_that_is_away_or_mistaken_leaves_the_last_good_set_and_is_seen(engine: Engine) {
    let control = issuers();
    let world = builder(engine, &control, &json!({})).start();
    let partner = |sub: &str| PARTNER.token(&claims(json!({"iss": OTHER_ISSUER, "sub": sub})));
    wait_for(&world, &token(OLD, "robot"), 200);
    wait_for(&world, &partner("robot"), 200);

    // One key of two cannot be used, so the good one does not come into force either.
    let broken = json!({"kty": "EC", "kid": "broken", "crv": "P-256", "x": OLD.jwk()["x"], "y": OLD.jwk()["x"]});
    control.publish("/corp/jwks", &json!({"keys": [NEW.jwk(), broken]}));
    settle(&control);
    assert_eq!(statuses(&world, &token(OLD, "mistaken")), [200]);
    assert_eq!(statuses(&world, &token(NEW, "mistaken")), [401]);
    assert_eq!(statuses(&world, &partner("mistaken")), [200]);
    let refusal = "issuer corp: key set refused: keys[1].x: x and y must be a point of the curve P-256; the last good one stays in force";
    assert_eq!(world.output().matches(refusal).count(), 1);
    assert!(!world.output().contains("issuer partner: key set refused"));

    control.fail(Some(Fault::Dead));
    control.wait_for(1, |asked| asked.target == "/partner/jwks");
    // The engines may write the two labels in any order.
    let counts = |line: &str| {
        let labels = [r#"issuer="partner""#, r#"outcome="failed""#];
        let is_it = line.starts_with("dragoman_issuer_key_polls{");
        is_it && labels.iter().all(|label| line.contains(label)) && !line.ends_with(" 0")
    };
    let started = Instant::now();
    while !prometheus(&world).lines().any(counts) {
        assert!(started.elapsed() < PATIENCE, "no failure was counted");
    }
    assert_eq!(statuses(&world, &token(OLD, "away")), [200]);
    assert_eq!(statuses(&world, &partner("away")), [200]);
    let line = "issuer partner: key set not read: ";
    assert_eq!(world.output().matches(line).count(), 1);
}
