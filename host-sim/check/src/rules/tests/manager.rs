use super::{Row, check_rows};

/// A line of the connection manager that is taken out, and what is said of it.
fn without<'t>(old: &'t str, found: &'t [&'t str], says: &'t str) -> Row<'t> {
    Row {
        behind: "",
        old,
        new: "",
        line: "typed_config:",
        found,
        says,
    }
}

#[test]
fn clients_decide_neither_who_they_are_nor_how_envoy_treats_them() {
    check_rows(&[
        without(
            "use_remote_address: true",
            &["error edge"],
            "the address that a client claims",
        ),
        Row {
            behind: "",
            old: "use_remote_address: true",
            new: "use_remote_address: true\n          internal_address_config: {cidr_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}]}",
            line: "internal_address_config",
            found: &["error edge", "warning not-modelled"],
            says: "x-envoy-* headers are obeyed",
        },
    ]);
}

#[test]
fn every_check_sees_one_spelling() {
    check_rows(&[
        without(
            "normalize_path: true",
            &["warning one-spelling"],
            "several spellings",
        ),
        without(
            "merge_slashes: true",
            &["warning one-spelling"],
            "several spellings",
        ),
        without(
            "path_with_escaped_slashes_action: REJECT_REQUEST",
            &["warning one-spelling"],
            "%2F",
        ),
        without(
            "common_http_protocol_options: {headers_with_underscores_action: REJECT_REQUEST}",
            &["warning one-spelling"],
            "x_dragoman_routed",
        ),
    ]);
}

#[test]
fn a_client_can_name_its_request() {
    check_rows(&[without(
        "always_set_request_id_in_response: true",
        &["warning request-id"],
        "no x-request-id",
    )]);
}

#[test]
fn the_router_is_last_and_silent() {
    check_rows(&[
        Row {
            behind: "- name: envoy.filters.http.router",
            old: "suppress_envoy_headers: true",
            new: "",
            line: "typed_config:",
            found: &["warning router"],
            says: "x-envoy-upstream-service-time",
        },
        Row {
            behind: "",
            old: "envoy.extensions.filters.http.router.v3.Router",
            new: "envoy.extensions.filters.http.buffer.v3.Buffer",
            line: "http_filters:",
            found: &[
                "error router",
                "error form",
                "error form",
                "error form",
                "warning not-modelled",
            ],
            says: "does not end with the router",
        },
    ]);
}

#[test]
fn envoys_own_answers_have_the_shape_of_the_api() {
    let mappers = &super::SHIPPED[super::SHIPPED.find("            mappers:\n").unwrap()
        ..super::SHIPPED.find("\n          route_config:").unwrap()];
    check_rows(&[Row {
        behind: "",
        old: mappers,
        new: "            mappers: []\n",
        line: "local_reply_config",
        found: &["warning own-errors"],
        says: "plain text",
    }]);
}
