//! Foreign functions and the filter state. The tables were taken from a running Envoy 1.40.

use host_sim_host::abi::{Answer, Call, HostCalls, Refusal, Status};

use crate::stage::{Setup, guest};

const BAD: Refusal = Refusal::Tell(Status::BadArgument);
const NOT_FOUND: Refusal = Refusal::Tell(Status::NotFound);

/// A field of a message with bytes, at most 127 of them.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

/// A field of a message with a number below 128.
fn number(field: u8, value: u8) -> [u8; 2] {
    [field << 3, value]
}

fn set_object(host: &mut dyn HostCalls, name: &str, value: &str, span: u8) -> Answer<Vec<u8>> {
    let argument = [
        field(1, name.as_bytes()),
        field(2, value.as_bytes()),
        number(3, span).to_vec(),
    ];
    host.call_foreign_function(b"set_envoy_filter_state", &argument.concat())
}

/// Runs `act` in the request callback of a guest; panics there fail the test.
pub fn in_request(act: impl Fn(&mut dyn HostCalls) + Send + Sync + 'static) {
    let script = guest(move |host, call| {
        if let Call::RequestHeaders { .. } = call {
            act(host);
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn objects_of_envoy_take_the_values_that_they_can_read() {
    for (name, value, reads_as) in [
        ("envoy.string", "abc", Some("abc")),
        ("envoy.string", "", Some("")),
        ("envoy.hashable_string", " 5", Some(" 5")),
        (
            "envoy.network.upstream_server_name",
            "example.com",
            Some("example.com"),
        ),
        (
            "envoy.network.upstream_subject_alt_names",
            "a,b",
            Some("a,b"),
        ),
        ("envoy.network.network_namespace", "abc", Some("abc")),
        ("envoy.tcp_proxy.cluster", "abc", Some("abc")),
        ("envoy.upstream.dynamic_host", "host:80", Some("host:80")),
        ("envoy.ai.model.request", "gpt", Some("gpt")),
        ("envoy.bool", "TRUE", Some("true")),
        ("envoy.bool", "0", Some("false")),
        ("envoy.tcp_proxy.disable_tunneling", "TRUE", Some("false")),
        ("envoy.tcp_proxy.disable_tunneling", "true", Some("true")),
        ("envoy.ratelimit.hits_addend", " 5", Some("5")),
        ("envoy.upstream.dynamic_port", "65536", Some("65536")),
        (
            "envoy.tcp_proxy.per_connection_idle_timeout_ms",
            "99999999999",
            Some("99999999999"),
        ),
        ("envoy.network.ip", "1.2.3.4", Some("1.2.3.4:0")),
        ("envoy.network.ip", "::1", Some("[::1]:0")),
        (
            "envoy.network.transport_socket.original_dst_address",
            "1.2.3.4:80",
            Some("\0\0\0\0"),
        ),
        (
            "envoy.filters.listener.original_dst.local_ip",
            "[::1]:80",
            Some("\0\0\0\0"),
        ),
        ("envoy.network.application_protocols", "h2", None),
        ("envoy.router.debug_config", "", None),
        (
            "envoy.network.transport_socket.http_11_proxy.info",
            "example.com,1.2.3.4:80",
            None,
        ),
    ] {
        in_request(move |host| {
            assert_eq!(
                set_object(host, name, value, 0),
                Ok(Vec::new()),
                "{name} {value}"
            );
            let read = host.get_property(format!("filter_state\0{name}").as_bytes());
            let expected = reads_as.map_or(Err(NOT_FOUND), |text| Ok(text.into()));
            assert_eq!(read, expected, "{name} {value}");
        });
    }
}

#[test]
fn objects_of_envoy_refuse_what_they_cannot_read_and_names_that_are_none() {
    for (name, value, refusal) in [
        ("envoy.bool", "abc", BAD),
        ("envoy.ai.model.request", "", BAD),
        ("envoy.ai.llm_protocol.request", "openai", BAD),
        ("envoy.ratelimit.hits_addend", "-1", BAD),
        ("envoy.ratelimit.hits_addend", "4294967296", BAD),
        ("envoy.upstream.dynamic_port", "abc", BAD),
        ("envoy.tcp_proxy.per_connection_idle_timeout_ms", "", BAD),
        ("envoy.network.ip", "1.2.3.4:80", BAD),
        (
            "envoy.network.transport_socket.original_dst_address",
            "1.2.3.4",
            BAD,
        ),
        (
            "envoy.network.transport_socket.http_11_proxy.info",
            "1.2.3.4:80",
            BAD,
        ),
        ("none.such", "abc", NOT_FOUND),
        ("", "abc", NOT_FOUND),
    ] {
        in_request(move |host| {
            assert_eq!(
                set_object(host, name, value, 0),
                Err(refusal.clone()),
                "{name} {value}"
            );
        });
    }
    in_request(|host| {
        let junk = host.call_foreign_function(b"set_envoy_filter_state", b"\xff");
        assert_eq!(junk, Err(BAD));
    });
}

#[test]
fn an_object_with_another_life_span_stays_as_it_is() {
    in_request(|host| {
        set_object(host, "envoy.string", "first", 2).unwrap();
        set_object(host, "envoy.string", "second", 2).unwrap();
        assert_eq!(set_object(host, "envoy.string", "third", 0), Ok(Vec::new()));
        let read = host.get_property(b"filter_state\0envoy.string");
        assert_eq!(read.unwrap(), b"second");
    });
}

#[test]
fn a_property_that_its_root_context_declared_readonly_is_set_once() {
    let script = guest(|host, call| {
        let declare = |host: &mut dyn HostCalls, argument: &[u8]| {
            host.call_foreign_function(b"declare_property", argument)
        };
        match call {
            Call::Configure { .. } => {
                let argument = [&field(1, b"once")[..], &number(2, 1)].concat();
                assert_eq!(declare(host, &argument), Ok(Vec::new()));
                assert_eq!(declare(host, &argument), Err(BAD), "twice");
                assert_eq!(declare(host, b"\xff\xff"), Err(BAD));
                assert_eq!(declare(host, &field(1, b"\xff")), Err(BAD), "no text");
                assert_eq!(declare(host, b""), Ok(Vec::new()), "the empty name");
                assert_eq!(
                    host.set_property(b"once", b"1"),
                    Err(NOT_FOUND),
                    "no stream"
                );
            }
            Call::RequestHeaders { .. } => {
                assert_eq!(host.set_property(b"once", b"1"), Ok(()));
                assert_eq!(host.set_property(b"once", b"2"), Err(BAD));
                assert_eq!(host.get_property(b"once").unwrap(), b"1");
                // What a stream declares is looked at by nobody.
                let argument = [&field(1, b"mine")[..], &number(2, 1)].concat();
                assert_eq!(declare(host, &argument), Ok(Vec::new()));
                assert_eq!(declare(host, &argument), Err(BAD));
                assert_eq!(host.set_property(b"mine", b"1"), Ok(()));
                assert_eq!(host.set_property(b"mine", b"2"), Ok(()));
            }
            _ => {}
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    stage.get(2);
    assert_eq!(stage.tried(), [1, 2], "each request is new");
}

#[test]
fn names_of_foreign_functions_are_known_or_not_found() {
    in_request(|host| {
        let call = |host: &mut dyn HostCalls, name: &[u8], argument: &[u8]| {
            host.call_foreign_function(name, argument)
        };
        assert_eq!(
            call(host, b"clear_route_cache", b"anything"),
            Ok(Vec::new())
        );
        let small = call(host, b"compress", b"hello").unwrap();
        assert_eq!(call(host, b"uncompress", &small).unwrap(), b"hello");
        let junk = Err(Refusal::Tell(Status::SerializationFailure));
        assert_eq!(call(host, b"uncompress", b"junk"), junk);
        let cel = Err(Refusal::Tell(Status::Unimplemented));
        assert_eq!(call(host, b"expr_create", b"request.path"), cel);
        assert!(!host.knows_foreign_function(b"nothing_such"));
        assert_eq!(call(host, b"nothing_such", b""), Err(NOT_FOUND));
    });
}

#[test]
fn paths_of_attributes_end_as_envoys_do() {
    in_request(|host| {
        let no_form = Err(Refusal::Tell(Status::SerializationFailure));
        for path in ["", "request", "request\0", "response", "filter_state"] {
            assert_eq!(host.get_property(path.as_bytes()), no_form, "{path:?}");
        }
        host.set_property(b"own", b"1").unwrap();
        host.set_property(b"", b"1").unwrap();
        for path in ["request\0path\0x", "plugin_name\0x", "\0request", "own\0x"] {
            assert_eq!(
                host.get_property(path.as_bytes()),
                Err(NOT_FOUND),
                "{path:?}"
            );
        }
        assert_eq!(host.get_property(b"request\0path\0").unwrap(), b"/");
        assert_eq!(host.get_property(b"metadata").unwrap(), b"");
        let empty = host.get_property(b"response\0headers");
        assert_eq!(empty.unwrap(), b"\0\0\0\0");
        let all = host.get_property(b"request\0headers").unwrap();
        assert!(all.ends_with(b"\0") && all.windows(7).any(|text| text == b":method"));
    });
}

#[test]
fn the_effective_context_is_the_true_one_again_once_it_is_gone() {
    let script = guest(|host, call| {
        if let Call::RequestHeaders { context, .. } = call {
            let map = host_sim_host::abi::MapKind::RequestHeaders;
            assert_eq!(host.set_effective_context(12345), Err(BAD));
            host.set_effective_context(1).unwrap();
            assert_eq!(host.get_header_map_value(map, b":path"), Err(BAD));
            assert_eq!(host.set_property(b"x", b"y"), Err(NOT_FOUND));
            host.set_effective_context(0).unwrap();
            assert!(host.get_header_map_value(map, b":path").is_ok());
            host.set_effective_context(1).unwrap();
            host.set_effective_context(*context).unwrap();
            assert!(host.get_header_map_value(map, b":path").is_ok());
            assert_eq!(host.done(), Err(NOT_FOUND));
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    assert_eq!(stage.tried(), [1]);
}
