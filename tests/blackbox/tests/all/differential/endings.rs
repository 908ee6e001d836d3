//! How contexts end.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

#[test]
fn a_stream_that_is_not_done_is_deleted_all_the_same() {
    let script = "
        done: return 0
        delete: done
        delete: get_property request/path
        log: done";

    let seen = Case::new()
        .filter(scripted("a", script))
        .attempt(scripted("up", "done: return 0\ndelete: done"))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [200]);
    let ends: Vec<_> = seen
        .order()
        .into_iter()
        .filter(|line| {
            ["log", "done", "delete"]
                .iter()
                .any(|end| line.ends_with(end))
        })
        .collect();
    assert_eq!(
        ends,
        ["up done", "up delete", "a log", "a done", "a delete"]
    );
    assert_eq!(seen.answers("done"), ["1"; 3], "nobody waits for a stream");
}

#[test]
fn a_guest_that_says_it_is_done_when_nobody_asked_goes_on() {
    let script = "
        request_headers: done
        done: done
        done: set_effective_context $root
        done: done";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        client.get("/readyz");
        client.get("/readyz");
    });

    assert_eq!(seen.statuses(), [200, 200]);
    assert_eq!(seen.answers("done"), ["1"; 6]);
}
