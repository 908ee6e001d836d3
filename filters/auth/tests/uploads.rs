//! How many bodies a caller may be sending at a time.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use std::rc::Rc;

use dragoman_auth::Auth;
use dragoman_sdk::fake::{Exchange, FakeHost};
use dragoman_sdk::{Action, Filter};
use support::{KEY_A, KEY_B, auth, exchange, post};

/// A request whose head has come.
fn begin(auth: &Rc<Auth>, key: &str, end_of_stream: bool) -> Exchange<impl Filter + use<>> {
    let head = post("/v1/chat/completions", &[("x-api-key", key)]);
    let mut it = exchange(auth, FakeHost::new(&head));
    it.headers(end_of_stream);
    it
}

fn is_refused(it: &Exchange<impl Filter>) -> bool {
    let Some(replied) = &it.host.replied else {
        return false;
    };
    assert!(
        replied.text().contains("too_many_uploads"),
        "{}",
        replied.text()
    );
    assert_eq!(replied.status, 429);
    assert_eq!(replied.header("retry-after").as_deref(), Some("1"));
    assert_eq!(it.host.properties.get("dragoman.identity"), None);
    true
}

#[test]
fn a_caller_with_too_many_bodies_under_way_is_refused_and_others_are_not() {
    let auth = auth();
    let _first = begin(&auth, KEY_A, false);
    let _second = begin(&auth, KEY_A, false);
    assert!(is_refused(&begin(&auth, KEY_A, false)));
    assert!(
        is_refused(&begin(&auth, KEY_A, false)),
        "a refusal frees nothing"
    );
    assert!(!is_refused(&begin(&auth, KEY_A, true)), "it has no body");
    assert!(!is_refused(&begin(&auth, KEY_B, false)));
}

#[test]
fn a_body_counts_until_its_last_piece_came() {
    let auth = auth();
    let _first = begin(&auth, KEY_A, false);
    let mut second = begin(&auth, KEY_A, false);
    assert_eq!(second.data(b"{", false), Action::Continue);
    assert!(is_refused(&begin(&auth, KEY_A, false)));

    assert_eq!(second.data(b"}", true), Action::Continue);
    let mut third = begin(&auth, KEY_A, false);
    assert!(!is_refused(&third));
    assert!(is_refused(&begin(&auth, KEY_A, false)));

    assert_eq!(third.trailers(), Action::Continue);
    assert!(!is_refused(&begin(&auth, KEY_A, false)));
}

#[test]
fn a_client_that_leaves_is_not_counted_any_more() {
    let auth = auth();
    for _ in 0..10 {
        let mut open = [begin(&auth, KEY_A, false), begin(&auth, KEY_A, false)];
        assert!(!open.iter().any(is_refused));
        for it in &mut open {
            it.data(b"{", false);
            it.done();
        }
    }
}

#[test]
fn who_is_refused_for_another_reason_is_not_counted() {
    let auth = auth();
    let refused: Vec<_> = ["nobody", support::KEY_SLEEPING, "nobody"]
        .map(|key| begin(&auth, key, false))
        .into();
    assert!(refused.iter().all(|it| it.host.replied.is_some()));
    let open = [begin(&auth, KEY_A, false), begin(&auth, KEY_A, false)];
    assert!(!open.iter().any(is_refused));
}
