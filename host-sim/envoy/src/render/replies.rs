//! Mappers that give Envoy's own answers the codes and texts of the gateway.

use dragoman_contract::{ApiKind, Code, Dialect, names};

use super::scalar::quoted;

/// Which of Envoy's own answers are meant.
enum Answer {
    /// This status.
    Status(u16),
    /// A 503 because no worker could be reached.
    NoWorkerReached,
    /// Any status from here on.
    From(u16),
}

/// First match wins. What no row names keeps its status and gets the last code of its class.
const ROWS: [(Answer, Code); 14] = [
    (Answer::Status(400), Code::BadRequest),
    (Answer::Status(404), Code::NotFound),
    (Answer::Status(408), Code::RequestTimeout),
    (Answer::Status(413), Code::RequestTooLarge),
    (Answer::Status(426), Code::UpgradeRequired),
    (Answer::Status(431), Code::HeadersTooLarge),
    (Answer::Status(500), Code::InternalError),
    (Answer::Status(501), Code::NotImplemented),
    (Answer::Status(502), Code::UpstreamError),
    (Answer::NoWorkerReached, Code::NoBackendAvailable),
    (Answer::Status(503), Code::GatewayError),
    (Answer::Status(504), Code::UpstreamTimeout),
    (Answer::From(500), Code::GatewayError),
    (Answer::From(400), Code::BadRequest),
];

/// The answer is Envoy's own: a filter's has no details.
const NOT_A_FILTERS: &str = "
    extension_filter:
      name: envoy.access_loggers.extension_filters.cel
      typed_config:
        \"@type\": type.googleapis.com/envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter
        expression: \"response.code_details != ''\"";

/// The list of mappers, those in Anthropic's shape first.
pub fn mappers() -> String {
    let mut out = String::new();
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        out.push_str(match dialect {
            Dialect::Anthropic => "# In Anthropic's shape:\n",
            Dialect::OpenAi => "# In OpenAI's shape:\n",
        });
        for (index, (answer, code)) in ROWS.iter().enumerate() {
            let first = index == 0 && dialect == Dialect::Anthropic;
            out.push_str(&mapper(dialect, answer, *code, first));
        }
    }
    out
}

/// One mapper; the first of all defines what the others repeat.
fn mapper(dialect: Dialect, answer: &Answer, code: Code, first: bool) -> String {
    let mut conditions = conditions(dialect, answer, first);
    let mut out = if first {
        conditions.insert(0, format!("&not_a_filters{NOT_A_FILTERS}"));
        let list = conditions.join("\n  - ").replace('\n', "\n    ");
        format!("- filter:\n    and_filter:\n      filters:\n      - {list}\n")
    } else {
        conditions.insert(0, "*not_a_filters".to_owned());
        format!(
            "- filter: {{and_filter: {{filters: [{}]}}}}\n",
            conditions.join(", ")
        )
    };
    if let Some(seconds) = code.retry_after_s() {
        out.push_str(&format!(
            "  headers_to_add: [{{header: {{key: retry-after, value: \"{seconds}\"}}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}}]\n"
        ));
    }
    out + &format!(
        "  body_format_override: {{json_format: {}}}\n",
        body(dialect, code)
    )
}

fn conditions(dialect: Dialect, answer: &Answer, first: bool) -> Vec<String> {
    let mut list = Vec::new();
    if dialect == Dialect::Anthropic {
        let value = format!("string_match: {{prefix: {}}}", ApiKind::Messages.path());
        list.push(if first {
            format!("&messages {}", header(":path", &value))
        } else {
            "*messages".to_owned()
        });
    }
    match answer {
        Answer::Status(status) => list.push(compare("EQ", *status)),
        Answer::From(status) => list.push(compare("GE", *status)),
        Answer::NoWorkerReached => {
            list.push(compare("EQ", 503));
            // No healthy host, no cluster, refused, reset, retries used up.
            list.push("{response_flag_filter: {flags: [UH, NC, UF, UC, URX]}}".to_owned());
            list.push(header(names::CLUSTER, "present_match: true"));
        }
    }
    list
}

fn header(name: &str, value: &str) -> String {
    format!("{{header_filter: {{header: {{name: \"{name}\", {value}}}}}}}")
}

/// The status; the runtime key is required and never set.
fn compare(operator: &str, status: u16) -> String {
    format!(
        "{{status_code_filter: {{comparison: {{op: {operator}, value: {{default_value: {status}, runtime_key: dragoman.unset}}}}}}}}"
    )
}

/// The same members as [`dragoman_contract::ErrorBody`]; Envoy sorts them by name.
fn body(dialect: Dialect, code: Code) -> String {
    let message = quoted(&code.message().replace('%', "%%"));
    let name = code.as_str();
    let id = "request_id: \"%STREAM_ID%\"";
    match dialect {
        Dialect::Anthropic => {
            let kind = code.anthropic_kind();
            format!(
                "{{type: error, error: {{type: {kind}, message: {message}, code: {name}}}, {id}}}"
            )
        }
        Dialect::OpenAi => {
            let kind = code.kind();
            format!(
                "{{error: {{message: {message}, type: {kind}, code: {name}, param: null, {id}}}}}"
            )
        }
    }
}
