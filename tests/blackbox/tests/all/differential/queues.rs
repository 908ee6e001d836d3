//! Shared queues.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

#[test]
fn values_are_announced_to_the_last_that_registered_after_the_call() {
    let script = "
        configure: register_shared_queue jobs
        queue_ready: dequeue_shared_queue 1
        request_headers: enqueue_shared_queue 1 first
        request_headers: enqueue_shared_queue 1 second
        request_headers: enqueue_shared_queue 77 nobody";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        client.get("/");
        client.wait_for("dequeue_shared_queue 1 = ", 2);
    });

    assert_eq!(
        seen.answers("dequeue_shared_queue 1"),
        ["0 \"first\"", "0 \"second\""]
    );
    assert_eq!(seen.answers("enqueue_shared_queue 77 nobody"), ["1"]);
}

#[test]
fn an_empty_queue_an_unknown_one_and_names_of_other_vms_have_their_statuses() {
    let script = "
        configure: register_shared_queue jobs
        request_headers: dequeue_shared_queue 1
        request_headers: dequeue_shared_queue 77
        request_headers: resolve_shared_queue - jobs
        request_headers: resolve_shared_queue - none
        request_headers: resolve_shared_queue elsewhere jobs";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.answers("dequeue_shared_queue 1"), ["7"]);
    assert_eq!(seen.answers("dequeue_shared_queue 77"), ["1"]);
    assert_eq!(seen.answers("resolve_shared_queue - jobs"), ["0 1"]);
    assert_eq!(seen.answers("resolve_shared_queue - none"), ["1"]);
    assert_eq!(seen.answers("resolve_shared_queue elsewhere jobs"), ["1"]);
}
