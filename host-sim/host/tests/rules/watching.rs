//! What a watcher is shown of host and guests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::abi::watch::{Answered, Asked, View, Watcher, Watchers, Whose};
use host_sim_host::abi::{BufferKind, Call, HttpCall, MapKind, Trap};

use crate::stage::{PAUSE, Setup, cluster, guest, lines, passes, value};

/// All it was shown, a line each.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<String>>);

impl Seen {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    /// Since the last look, without what belongs to the beginning and end of contexts.
    fn take(&self) -> Vec<String> {
        let mut lines = std::mem::take(&mut *self.0.lock().unwrap());
        let noise = [
            "start",
            "on_context_create",
            "on_vm_start",
            "on_configure",
            "on_log",
            "on_done",
            "on_delete",
        ];
        lines.retain(|line| !noise.iter().any(|word| line.contains(word)));
        lines
    }
}

fn who(whose: &Whose) -> String {
    let stream = whose.stream.map(|stream| format!(" of {}", stream.0));
    let attempt = whose
        .attempt
        .map(|attempt| format!(" by attempt {}", attempt.0));
    format!(
        "{}{}{}",
        whose.plugin,
        stream.unwrap_or_default(),
        attempt.unwrap_or_default()
    )
}

impl Watcher for Seen {
    fn called(&self, whose: &Whose, call: &Call, view: &mut View<'_>) {
        let name = call.export().trim_start_matches("proxy_");
        let body = String::from_utf8(view.bytes(BufferKind::RequestBody)).unwrap();
        self.add(
            format!("{} {name} {body}", who(whose))
                .trim_end()
                .to_owned(),
        );
    }

    fn asks(&self, whose: &Whose, asked: &Asked<'_>) {
        self.add(format!("{} asks {}", who(whose), asked.name()));
    }

    fn answered(&self, whose: &Whose, asked: &Asked<'_>, answered: &Answered<'_>) {
        self.add(format!("{} got {} {answered:?}", who(whose), asked.name()));
    }

    fn returned(
        &self,
        whose: &Whose,
        call: &Call,
        answer: Result<u32, &Trap>,
        _: u64,
        view: &mut View<'_>,
    ) {
        let name = call.export().trim_start_matches("proxy_");
        let body = String::from_utf8(view.bytes(BufferKind::RequestBody)).unwrap();
        self.add(
            format!("{} {name} {answer:?} {body}", who(whose))
                .trim_end()
                .to_owned(),
        );
    }
}

#[test]
fn a_host_call_is_shown_before_and_after_inside_its_callback() {
    let seen = Arc::new(Seen::default());
    let asks = guest(|host, call| {
        if matches!(call, Call::RequestHeaders { .. }) {
            host.set_property(b"route", b"a").unwrap();
        }
        None
    });
    let mut stage = Setup::new(&[("asks", asks)]).watcher(seen.clone()).start();
    seen.take();

    stage.get(7);

    assert_eq!(
        seen.take(),
        [
            "asks of 7 on_request_headers",
            "asks of 7 asks set_property",
            "asks of 7 got set_property Nothing",
            "asks of 7 on_request_headers Ok(0)",
        ]
    );
}

#[test]
fn a_refusal_is_shown_with_its_status_and_a_trap_with_its_reason() {
    let seen = Arc::new(Seen::default());
    let traps = Arc::new(
        |host: &mut dyn host_sim_host::abi::HostCalls, call: &Call| {
            if matches!(call, Call::RequestHeaders { .. }) {
                let _ = host.get_property(b"absent");
                return Err(Trap("unreachable".to_owned()));
            }
            Ok(None)
        },
    );
    let mut stage = Setup::new(&[("traps", traps)])
        .watcher(seen.clone())
        .start();
    seen.take();

    stage.get(1);

    let seen = seen.take();
    assert!(
        seen.contains(&"traps of 1 got get_property Refused(Tell(NotFound))".to_owned()),
        "{seen:#?}"
    );
    assert!(
        seen.contains(&"traps of 1 on_request_headers Err(Trap(\"unreachable\"))".to_owned()),
        "{seen:#?}"
    );
}

#[test]
fn the_view_shows_what_the_guest_could_read_and_what_it_left() {
    let seen = Arc::new(Seen::default());
    let changes = guest(|host, call| match call {
        Call::RequestHeaders { .. } => Some(PAUSE),
        Call::RequestBody { .. } => {
            host.set_buffer_bytes(BufferKind::RequestBody, 0, 100, b"other")
                .unwrap();
            None
        }
        _ => None,
    });
    let mut stage = Setup::new(&[("changes", changes)])
        .watcher(seen.clone())
        .start();
    seen.take();

    stage.post(1, "body");

    let seen = seen.take();
    assert!(
        seen.contains(&"changes of 1 on_request_body body".to_owned()),
        "{seen:#?}"
    );
    assert!(
        seen.contains(&"changes of 1 on_request_body Ok(0) other".to_owned()),
        "{seen:#?}"
    );
}

#[test]
fn an_attempts_filter_is_shown_with_its_attempt_and_a_callouts_without_a_stream() {
    let seen = Arc::new(Seen::default());
    let calls_out = guest(|host, call| {
        if matches!(call, Call::RequestHeaders { .. }) {
            let headers = lines(&[(":method", "GET"), (":path", "/"), (":authority", "side")]);
            let call = HttpCall {
                cluster: b"side".to_vec(),
                headers,
                body: Vec::new(),
                timeout: Duration::ZERO,
            };
            assert!(host.http_call(call).is_ok());
        }
        None
    });
    let mut stage = Setup::new(&[("out", calls_out)])
        .cluster(cluster("side", &[9]))
        .attempt("side", "beside", passes())
        .attempt("workers", "inner", passes())
        .watcher(seen.clone())
        .start();
    seen.take();

    stage.get(1);

    let callbacks: Vec<_> = seen
        .take()
        .into_iter()
        .filter(|line| line.ends_with("on_request_headers"))
        .collect();
    assert_eq!(
        callbacks,
        [
            "out of 1 on_request_headers",
            "beside by attempt 1 on_request_headers",
            "inner of 1 by attempt 2 on_request_headers",
        ]
    );
}

#[test]
fn what_a_guest_asks_for_is_carried_out_as_if_nobody_watched() {
    let seen = Arc::new(Seen::default());
    let sets = guest(|host, call| {
        if matches!(call, Call::RequestHeaders { .. }) {
            let mut pairs = host.get_header_map_pairs(MapKind::RequestHeaders).unwrap();
            pairs.push((b"x-own".to_vec(), b"1".to_vec()));
            host.set_header_map_pairs(MapKind::RequestHeaders, pairs)
                .unwrap();
        }
        None
    });
    let both = Watchers(vec![seen.clone(), seen.clone()]);
    let mut stage = Setup::new(&[("sets", sets)])
        .watcher(Arc::new(both))
        .start();
    seen.take();

    stage.get(1);
    stage.connect();

    let (head, ..) = stage.sent_upstream();
    assert_eq!(value(&head.unwrap(), "x-own"), Some("1"));
    let asked = seen
        .take()
        .into_iter()
        .filter(|line| line.ends_with("asks set_header_map_pairs"));
    assert_eq!(
        asked.count(),
        2,
        "each of the two watchers is shown it once"
    );
}
