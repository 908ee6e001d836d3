use super::{FormatError, Operator, Piece, TimePiece, TimePoint, TimeUnit, parse};

fn operator(text: &str) -> Operator {
    match parse(text).as_deref() {
        Ok(
            [
                Piece::Operator {
                    operator,
                    limit_bytes: None,
                },
            ],
        ) => operator.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn text_and_operators_keep_their_order() {
    let pieces = parse("a%%b %RESPONSE_CODE%/%REQ(:PATH):80%%%").unwrap();
    let expected = [
        Piece::Text("a%b ".to_owned()),
        Piece::Operator {
            operator: Operator::ResponseCode,
            limit_bytes: None,
        },
        Piece::Text("/".to_owned()),
        Piece::Operator {
            operator: Operator::RequestHeader(":path".to_owned()),
            limit_bytes: Some(80),
        },
        Piece::Text("%".to_owned()),
    ];
    assert_eq!(pieces, expected);
    assert_eq!(parse(""), Ok(Vec::new()));
}

#[test]
fn arguments_are_read() {
    assert_eq!(
        operator("%RESP(X-Cache)%"),
        Operator::ResponseHeader("x-cache".to_owned())
    );
    assert_eq!(operator("%PATH%"), Operator::Path { query: true });
    assert_eq!(operator("%PATH(NQ)%"), Operator::Path { query: false });
    let name = "dragoman.endpoint".to_owned();
    assert_eq!(
        operator("%FILTER_STATE(wasm.dragoman.endpoint:PLAIN)%"),
        Operator::Property(name)
    );
    let (from, to) = (
        TimePoint::DownstreamReceiveBegin,
        TimePoint::DownstreamSendBegin,
    );
    let duration = Operator::CommonDuration {
        from,
        to,
        unit: TimeUnit::Milliseconds,
    };
    assert_eq!(
        operator("%COMMON_DURATION(DS_RX_BEG:DS_TX_BEG:ms)%"),
        duration
    );
}

#[test]
fn a_time_format_may_hold_percent_signs() {
    let text = |text: &str| TimePiece::Text(text.to_owned());
    let pieces = vec![
        TimePiece::Year,
        text("-"),
        TimePiece::Month,
        text("T"),
        TimePiece::Second,
        text("."),
        TimePiece::Fraction(3),
        text("Z"),
    ];
    assert_eq!(
        operator("%START_TIME(%Y-%mT%S.%3fZ)%"),
        Operator::StartTime(pieces)
    );
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    for (text, expected) in [
        (
            "%UPSTREAM_HOSTS_ATTEMPTED%",
            "operator UPSTREAM_HOSTS_ATTEMPTED: not modelled by host-sim",
        ),
        (
            "%REQ(A?B)%",
            "operator REQ: argument \"A?B\": not modelled by host-sim",
        ),
        (
            "%REQ%",
            "operator REQ: argument \"\": not modelled by host-sim",
        ),
        (
            "%START_TIME(%j)%",
            "operator START_TIME: argument \"%j\": not modelled by host-sim",
        ),
        (
            "%START_TIME%",
            "operator START_TIME: argument \"\": not modelled by host-sim",
        ),
        (
            "%DURATION(a)%",
            "operator DURATION: argument \"a\": not modelled by host-sim",
        ),
        (
            "%FILTER_STATE(wasm.a)%",
            "operator FILTER_STATE: argument \"wasm.a\": not modelled by host-sim",
        ),
        (
            "%FILTER_STATE(b:PLAIN)%",
            "operator FILTER_STATE: argument \"b:PLAIN\": not modelled by host-sim",
        ),
        (
            "%RESPONSE_CODE:3%",
            "operator RESPONSE_CODE: takes no length",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_percent_sign_that_ends_no_operator_is_refused() {
    for text in [
        "100%",
        "%RESPONSE_CODE",
        "%REQ(A%",
        "%REQ(A)x%",
        "%REQ(A):x%",
        "50% off %DURATION%",
        "%é%",
    ] {
        assert_eq!(parse(text), Err(FormatError::Unclosed), "{text}");
    }
}
