//! When a guest may touch which map, and what it can read of a stream.

use host_sim_host::abi::{Call, HostCalls, MapKind, Refusal, Status};

use crate::stage::{PAUSE, Setup, guest, passes, value};

const BAD: Refusal = Refusal::Tell(Status::BadArgument);
const NOT_FOUND: Refusal = Refusal::Tell(Status::NotFound);

fn path(host: &mut dyn HostCalls) -> Result<Vec<u8>, Refusal> {
    host.get_header_map_value(MapKind::RequestHeaders, b":path")
}

#[test]
fn request_headers_are_gone_after_continue_and_pairs_are_empty_without_an_error() {
    let script = guest(|host, call| {
        match call {
            Call::RequestHeaders { .. } => assert_eq!(path(host).unwrap(), b"/"),
            Call::RequestBody { .. } | Call::ResponseHeaders { .. } => {
                assert_eq!(path(host).unwrap_err(), BAD);
                assert_eq!(
                    host.remove_header_map_value(MapKind::RequestHeaders, b"x")
                        .unwrap_err(),
                    BAD
                );
                assert_eq!(
                    host.get_header_map_pairs(MapKind::RequestHeaders),
                    Ok(Vec::new())
                );
            }
            Call::Log { .. } => {
                assert_eq!(path(host).unwrap(), b"/");
                assert_eq!(
                    host.get_header_map_value(MapKind::RequestTrailers, b"x")
                        .unwrap_err(),
                    NOT_FOUND
                );
                assert_eq!(
                    host.add_header_map_value(MapKind::RequestHeaders, b"x", b"y")
                        .unwrap_err(),
                    BAD
                );
            }
            Call::Done { .. } => assert_eq!(path(host).unwrap_err(), BAD),
            _ => {}
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.post(1, "body");
    stage.answer(200, &[], true);
    assert_eq!(stage.response(1).status, 200);
}

#[test]
fn a_paused_head_can_be_changed_at_the_end_of_the_body_and_routes_anew() {
    let script = guest(|host, call| match call {
        Call::RequestHeaders { .. } => Some(PAUSE),
        Call::RequestBody { .. } => {
            host.replace_header_map_value(MapKind::RequestHeaders, b"x-routed", b"1")
                .unwrap();
            None
        }
        _ => None,
    });
    let mut setup = Setup::new(&[("a", script)]);
    let condition = host_sim_host::config::HeaderMatch {
        name: "x-routed".to_owned(),
        value: host_sim_host::config::ValueMatch::Exact("1".to_owned()),
    };
    setup.http().virtual_hosts[0].routes[0]
        .headers
        .push(condition);
    let mut stage = setup.start();
    stage.post(1, "body");
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_header_that_is_absent_is_not_found() {
    let script = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            let absent = host.get_header_map_value(MapKind::RequestHeaders, b"x-absent");
            assert_eq!(absent.unwrap_err(), NOT_FOUND);
            assert_eq!(
                host.get_header_map_value(MapKind::RequestHeaders, b"X-Twice")
                    .unwrap(),
                b"1"
            );
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.request(1, &[("x-twice", "1"), ("x-twice", "2")], true);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_property_of_one_filter_is_read_by_later_ones_and_by_attempts() {
    let sets = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            host.set_property(b"dragoman.x", b"value").unwrap();
        }
        None
    });
    let reads = || {
        guest(|host, call| {
            if let Call::RequestHeaders { .. } = call {
                assert_eq!(host.get_property(b"dragoman.x").unwrap(), b"value");
                assert_eq!(host.get_property(b"dragoman.y").unwrap_err(), NOT_FOUND);
            }
            None
        })
    };
    let mut stage = Setup::new(&[("a", sets), ("b", reads())])
        .attempt("workers", "attempt", reads())
        .start();
    stage.get(1);
    stage.answer(200, &[], true);
    assert_eq!(stage.response(1).status, 200);
}

#[test]
fn attributes_say_where_a_stream_is() {
    let number = |bytes: Vec<u8>| i64::from_le_bytes(bytes.try_into().unwrap());
    let attempt = guest(move |host, call| {
        if let Call::RequestHeaders { .. } = call {
            assert_eq!(
                host.get_property(b"upstream\0address").unwrap(),
                b"127.0.0.1:1"
            );
            assert_eq!(host.get_property(b"xds\0cluster_name").unwrap(), b"workers");
            assert_eq!(
                number(
                    host.get_property(b"upstream\0request_attempt_count")
                        .unwrap()
                ),
                1
            );
            assert!(host.get_property(b"connection\0id").is_ok());
        }
        None
    });
    let script = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            let role =
                host.get_property(b"xds\0listener_metadata\0filter_metadata\0dragoman\0role");
            assert_eq!(role.unwrap(), b"public");
            assert_eq!(host.get_property(b"xds\0route_name").unwrap(), b"all");
            assert_eq!(
                host.get_property(b"source\0address").unwrap(),
                b"127.0.0.1:50000"
            );
            assert_eq!(host.get_property(b"plugin_name").unwrap(), b"a");
            assert_eq!(host.get_property(b"request\0path").unwrap(), b"/");
            // The router will use it; it is known with the route.
            assert_eq!(host.get_property(b"xds\0cluster_name").unwrap(), b"workers");
            assert_eq!(
                host.get_property(b"upstream\0address").unwrap_err(),
                NOT_FOUND
            );
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)])
        .attempt("workers", "attempt", attempt)
        .start();
    stage.get(1);
    stage.answer(200, &[], true);
    assert_eq!(stage.response(1).status, 200);
}

#[test]
fn the_request_head_is_one_map_for_all_attempts() {
    let attempt = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            host.add_header_map_value(MapKind::RequestHeaders, b"x-tried", b"1")
                .unwrap();
        }
        None
    });
    let mut stage = Setup::new(&[("a", passes())])
        .attempt("workers", "attempt", attempt)
        .retry("5xx", 1)
        .start();
    stage.get(1);
    stage.answer(503, &[], true);
    stage.wait(25);
    stage.connect();
    let head = stage.sent_upstream().0.unwrap();
    assert_eq!(
        head.iter().filter(|(name, _)| name == b"x-tried").count(),
        2
    );
    assert_eq!(value(&head, "x-forwarded-for"), Some("127.0.0.1"));
}
