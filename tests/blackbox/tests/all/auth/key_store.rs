//! Keys that a control plane hands out while the gateway runs.

use std::time::{Duration, Instant};

use blackbox::{Engine, World, WorldBuilder, both_engines};
use control_plane::{Asked, ControlPlane, Fault};
use serde_json::{Value, json};

use super::{KEY_A, KEY_B, KEY_NARROW, bearer, chat_with};
use crate::support::refused;

both_engines![
    a_key_is_made_rotated_and_taken_back_on_every_thread_without_a_failed_request,
    before_the_first_table_nobody_is_told_that_his_key_is_wrong,
    an_outage_keeps_the_last_good_copy_and_is_seen,
    a_table_that_cannot_be_used_is_refused_whole,
    a_table_of_several_pages_is_read_whole,
    a_table_that_has_not_changed_is_not_sent_again,
    a_key_of_a_tenant_that_nobody_configured_is_not_served,
    the_control_plane_sees_the_gateways_credential_and_no_clients,
    a_poll_that_traps_goes_on_with_the_same_keys,
];

/// Longest wait for something that the gateway does by itself within some seconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
pub(super) const THREADS: u32 = 3;
/// Connections are spread over the threads by the kernel; so many find each of them.
const CONNECTIONS: usize = 24;

/// Polled each second; `k-b` of team-b stands in the document itself.
fn builder(engine: Engine, control: &ControlPlane) -> WorldBuilder {
    let store =
        json!({"address": control.address().to_string(), "poll_seconds": 1, "timeout_ms": 500});
    with_store(engine, store)
}

fn with_store(engine: Engine, store: Value) -> WorldBuilder {
    World::on(engine)
        .with("auth", json!({"key_store": store}))
        .concurrency(THREADS)
        .worker("w1")
        .document(|document| {
            document
                .tenant("team-a", json!({}))
                .tenant("team-b", json!({}))
                .key("k-b", KEY_B, "team-b", json!({}))
        })
        .endpoint("chat", &[("w1", "large")])
}

pub(super) fn start(engine: Engine, control: &ControlPlane) -> World {
    let world = builder(engine, control).start();
    wait_for(&world, "/readyz", 200);
    world
}

fn wait_for(world: &World, path: &str, status: u16) {
    let started = Instant::now();
    while world.get(path).status != status {
        assert!(
            started.elapsed() < PATIENCE,
            "{path} never answered {status}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn status(world: &World, key: &str) -> u16 {
    chat_with(world, &[&bearer(key)]).status
}

/// The statuses of a key over many new connections, each once.
pub(super) fn statuses(world: &World, key: &str) -> Vec<u16> {
    let mut seen: Vec<u16> = (0..CONNECTIONS).map(|_| status(world, key)).collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}

/// What was made before this is in force when two more polls have begun and each thread has looked
/// again, within a tenth of a second.
pub(super) fn settle(control: &ControlPlane) {
    control.wait_for_polls();
    control.wait_for_polls();
}

pub(super) fn metric(world: &World, name: &str) -> Option<f64> {
    let text = prometheus(world);
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// All statistics, a line each.
pub(super) fn prometheus(world: &World) -> String {
    blackbox::Connection::open(world.admin())
        .send(blackbox::world::request(
            "GET",
            "/stats/prometheus",
            &[],
            b"",
        ))
        .response()
        .text()
}

/// Waits until a metric is this: a gauge is set with the next tick.
fn wait_for_metric(world: &World, name: &str, value: f64) {
    let started = Instant::now();
    while metric(world, name) != Some(value) {
        assert!(started.elapsed() < PATIENCE, "{name} never was {value}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn a_key_is_made_rotated_and_taken_back_on_every_thread_without_a_failed_request(engine: Engine) {
    let control = ControlPlane::start_free();
    let world = start(engine, &control);
    assert_eq!(statuses(&world, KEY_A), [401]);

    // While the table changes, the key of the document and each good key are served without a gap.
    control.put("a-1", KEY_A, "team-a", json!({"generation": 1}));
    settle(&control);
    assert_eq!(statuses(&world, KEY_A), [200]);

    control.put("a-2", KEY_NARROW, "team-a", json!({"generation": 2}));
    let stopping = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let old = scope.spawn(|| {
            let mut seen = Vec::new();
            while !stopping.load(std::sync::atomic::Ordering::Relaxed) {
                seen.push((status(&world, KEY_A), status(&world, KEY_B)));
            }
            seen
        });
        settle(&control);
        assert_eq!(statuses(&world, KEY_NARROW), [200]);
        stopping.store(true, std::sync::atomic::Ordering::Relaxed);
        let seen = old.join().expect("no panic");
        assert!(seen.iter().all(|pair| *pair == (200, 200)), "{seen:?}");
    });

    control.edit(|table| table.remove("a-1"));
    settle(&control);
    assert_eq!(statuses(&world, KEY_A), [401]);
    assert_eq!(statuses(&world, KEY_NARROW), [200]);
    control.edit(|table| table.revoke("a-2"));
    settle(&control);
    assert_eq!(statuses(&world, KEY_NARROW), [401]);
    assert_eq!(statuses(&world, KEY_B), [200]);

    let output = world.output();
    for line in [
        "key revoked: a-1 of team-a/app: not in the key table any more",
        "key revoked: a-2 of team-a/app: marked in the key table",
    ] {
        assert_eq!(output.matches(line).count(), 1, "{line}");
    }
    for key in [KEY_A, KEY_NARROW, &control_plane::digest(KEY_A)] {
        assert!(!output.contains(key), "no key is in the log");
    }
    wait_for_metric(&world, "dragoman_keys_revoked", 2.0);
}

fn before_the_first_table_nobody_is_told_that_his_key_is_wrong(engine: Engine) {
    let control = ControlPlane::start_free();
    control.fail(Some(Fault::Dead));
    let world = builder(engine, &control).start();

    let response = chat_with(&world, &[&bearer(KEY_A)]);
    assert_eq!(response.outcome(), refused(503, "not_ready"));
    assert_eq!(response.header("retry-after").as_deref(), Some("1"));
    assert_eq!(world.get("/readyz").outcome(), refused(503, "not_ready"));
    assert_eq!(world.get("/healthz").status, 200);
    assert_eq!(
        status(&world, KEY_B),
        200,
        "a key of the document needs no table"
    );
    assert_eq!(chat_with(&world, &["accept: */*"]).status, 401);

    control.put("a-1", KEY_A, "team-a", json!({}));
    control.fail(None);
    wait_for(&world, "/readyz", 200);
    assert_eq!(statuses(&world, KEY_A), [200]);
    assert_eq!(statuses(&world, "sk-nobody"), [401]);
}

fn an_outage_keeps_the_last_good_copy_and_is_seen(engine: Engine) {
    let control = ControlPlane::start_free();
    control.put("a-1", KEY_A, "team-a", json!({}));
    let soon = json!({"expires_at": "2020-01-01T00:00:00Z"});
    control.put("a-2", KEY_NARROW, "team-a", soon);
    let world = start(engine, &control);

    for fault in [
        Fault::Dead,
        Fault::Status(500),
        Fault::Slow(Duration::from_millis(900)),
    ] {
        control.fail(Some(fault.clone()));
        control.wait_for(2, |_| true);
        assert_eq!(statuses(&world, KEY_A), [200], "{fault:?}");
        assert_eq!(
            statuses(&world, KEY_NARROW),
            [401],
            "it has expired, {fault:?}"
        );
        assert_eq!(world.get("/readyz").status, 200);
    }
    // Five polls of a second went by without an answer.
    assert!(metric(&world, "dragoman_key_table_age_seconds{") >= Some(3.0));
    let failed = r#"dragoman_key_table_polls{outcome="failed"}"#;
    assert!(
        metric(&world, failed) >= Some(5.0),
        "{:?}",
        metric(&world, failed)
    );
    assert_eq!(world.output().matches("key table not read: ").count(), 1);

    control.put("a-3", "sk-a-after", "team-a", json!({}));
    control.fail(None);
    settle(&control);
    assert_eq!(statuses(&world, "sk-a-after"), [200]);
    wait_for_metric(&world, "dragoman_key_table_age_seconds{", 0.0);
}

fn a_table_that_cannot_be_used_is_refused_whole(engine: Engine) {
    let control = ControlPlane::start_free();
    control.put("a-1", KEY_A, "team-a", json!({}));
    let world = start(engine, &control);

    let junk = format!(r#"{{"version": 1, "keys": ["{KEY_NARROW}"], "next": null}}"#);
    control.fail(Some(Fault::Junk(junk)));
    control.wait_for(2, |_| true);
    assert_eq!(statuses(&world, KEY_A), [200]);
    let refusal = "key table refused: /v1/keys/resolved: keys[0]: must not hold the key itself";
    assert_eq!(world.output().matches(refusal).count(), 1);
    assert!(!world.output().contains(KEY_NARROW));

    // One record of two is wrong: the other one does not come into force either.
    control.fail(None);
    control.put("a-2", KEY_NARROW, "team-a", json!({}));
    control.put("a-3", "sk-x", "team-a", json!({"budget": 1}));
    settle(&control);
    assert_eq!(statuses(&world, KEY_A), [200]);
    assert_eq!(statuses(&world, KEY_NARROW), [401]);
    let refused = r#"dragoman_key_table_polls{outcome="refused"}"#;
    assert!(metric(&world, refused) >= Some(3.0));

    control.edit(|table| table.remove("a-3"));
    settle(&control);
    assert_eq!(statuses(&world, KEY_NARROW), [200]);
}

fn a_table_of_several_pages_is_read_whole(engine: Engine) {
    let control = ControlPlane::start_free();
    control.edit(|table| table.set_page_rows(7));
    for key in 0..40 {
        control.put(
            &format!("a-{key}"),
            &format!("sk-page-{key}"),
            "team-a",
            json!({}),
        );
    }
    let world = start(engine, &control);
    let served = |world: &World| {
        (0..40)
            .filter(|key| status(world, &format!("sk-page-{key}")) == 200)
            .count()
    };
    assert_eq!(served(&world), 40);
    wait_for_metric(&world, "dragoman_keys{", 40.0);

    // Each page has another tag: what was read does not belong together.
    control.fail(Some(Fault::MixedTags));
    control.edit(|table| table.remove("a-0"));
    control.wait_for(9, |_| true);
    assert_eq!(served(&world), 40);
    control.fail(None);
    settle(&control);
    assert_eq!(served(&world), 39);
    wait_for_metric(&world, "dragoman_keys{", 39.0);
}

fn a_table_that_has_not_changed_is_not_sent_again(engine: Engine) {
    let control = ControlPlane::start_free();
    control.put("a-1", KEY_A, "team-a", json!({}));
    let world = start(engine, &control);
    control.wait_for(3, |asked| asked.status == 304);
    let sent = |asked: &&Asked| asked.status == 200;
    assert_eq!(
        control.asked().iter().filter(sent).count(),
        1,
        "by one thread, once"
    );
    assert_eq!(statuses(&world, KEY_A), [200]);
}

fn a_key_of_a_tenant_that_nobody_configured_is_not_served(engine: Engine) {
    let control = ControlPlane::start_free();
    control.put("x-1", KEY_A, "team-x", json!({}));
    control.put("a-1", KEY_NARROW, "team-a", json!({"models": ["other"]}));
    let world = start(engine, &control);
    let foreign = chat_with(&world, &[&bearer(KEY_A)]);
    assert_eq!(foreign.outcome(), refused(403, "tenant_inactive"));
    let narrow = chat_with(&world, &[&bearer(KEY_NARROW)]);
    assert_eq!(narrow.outcome(), refused(403, "model_not_allowed"));
    let line = world.log().request(&super::id(&narrow));
    for (field, value) in [("tenant", "team-a"), ("app", "app"), ("key", "a-1")] {
        assert_eq!(line[field], value, "{field} of {line}");
    }
    assert_eq!(world.hits(), [0]);
}

fn the_control_plane_sees_the_gateways_credential_and_no_clients(engine: Engine) {
    let control = ControlPlane::start_free();
    control.want_token("control-secret");
    control.put("a-1", KEY_A, "team-a", json!({}));
    let store = json!({
        "address": control.address().to_string(), "poll_seconds": 1,
        "credential": {"env": "CONTROL_KEY"},
    });
    let world = with_store(engine, store)
        .environment("CONTROL_KEY", "control-secret")
        .start();
    wait_for(&world, "/readyz", 200);
    assert_eq!(statuses(&world, KEY_A), [200]);
    control.wait_for_polls();
    let expected = Some("Bearer control-secret".to_owned());
    assert!(
        control
            .asked()
            .iter()
            .all(|asked| asked.authorization == expected)
    );
    assert!(!world.output().contains("control-secret"));
}

fn a_poll_that_traps_goes_on_with_the_same_keys(engine: Engine) {
    let control = ControlPlane::start_free();
    control.put("a-1", KEY_A, "team-a", json!({}));
    let world = builder(engine, &control).trappable().start();
    wait_for(&world, "/readyz", 200);
    let trap = ["x-test-trap: poll", &bearer(KEY_A)];
    assert_eq!(chat_with(&world, &trap).status, 200);
    let started = Instant::now();
    while !world.output().contains("unreachable") {
        assert!(started.elapsed() < PATIENCE, "poll never trapped");
        // Requests revive what trapped.
        assert_eq!(status(&world, KEY_A), 200);
        std::thread::sleep(Duration::from_millis(50));
    }
    control.put("a-2", KEY_NARROW, "team-a", json!({}));
    let started = Instant::now();
    while status(&world, KEY_NARROW) != 200 {
        assert!(started.elapsed() < PATIENCE, "nobody polls any more");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(statuses(&world, KEY_A), [200]);
}
