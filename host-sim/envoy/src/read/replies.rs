//! `local_reply_config` and the filters that choose among answers and log lines.

use host_sim_host::config::{Comparison, HeaderMatch, LocalReplyMapper, ReplyFilter, ValueMatch};

use super::logs;
use crate::at::{At, Fields, Read};
use crate::problem::NOT_MODELLED;

const CEL: &str = "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter";
/// The one expression that is modelled: the answer is not a wasm filter's.
const HAS_DETAILS: &str = "response.code_details != ''";
/// Short names of response flags that Envoy knows.
const FLAGS: [&str; 30] = [
    "LH", "UH", "UT", "LR", "UR", "UF", "UC", "UO", "NR", "DI", "FI", "RL", "UAEX", "RLSE", "DC",
    "URX", "SI", "IH", "DPE", "UMSDR", "RFCF", "NFCF", "DT", "UPE", "NC", "OM", "DF", "DO", "DR",
    "UDO",
];

/// The mappers of `local_reply_config`.
pub fn mappers(at: At<'_>) -> Read<Vec<LocalReplyMapper>> {
    at.map(|fields| fields.list("mappers", |at| at.map(mapper)))
}

fn mapper(fields: &mut Fields<'_>) -> Read<LocalReplyMapper> {
    Ok(LocalReplyMapper {
        filter: filter(&fields.required("filter")?)?,
        status_code: fields.maybe("status_code", |at| at.status())?,
        body: fields.maybe("body_format_override", |at| {
            at.map(|format| {
                format.maybe("content_type", |at| at.choice(&[("application/json", ())]))?;
                logs::json_format(&format.required("json_format")?)
            })
        })?,
        headers_to_add: fields.list("headers_to_add", |at| header_to_add(&at))?,
    })
}

/// A header that is set, whatever was there; its value has no command operators.
fn header_to_add(at: &At<'_>) -> Read<(String, String)> {
    at.map(|fields| {
        fields
            .required("append_action")?
            .choice(&[("OVERWRITE_IF_EXISTS_OR_ADD", ())])?;
        fields.required("header")?.map(|header| {
            let key = header.required("key")?.name()?.to_ascii_lowercase();
            let at = header.required("value")?;
            let value = at.string()?;
            if value.contains('%') {
                return Err(at.not_modelled(&value));
            }
            Ok((key, value))
        })
    })
}

/// `envoy.config.accesslog.v3.AccessLogFilter`
pub fn filter(at: &At<'_>) -> Read<ReplyFilter> {
    let several = |at: At<'_>| {
        at.map(|fields| {
            let at = fields.required("filters")?;
            let filters = at.each(|at| filter(&at))?;
            if filters.len() < 2 {
                Err(at.problem("must have at least two items"))
            } else {
                Ok(filters)
            }
        })
    };
    at.map(|fields| {
        let kinds = [
            fields.maybe("and_filter", several)?.map(ReplyFilter::And),
            fields.maybe("or_filter", several)?.map(ReplyFilter::Or),
            fields.maybe("status_code_filter", |at| status(&at))?,
            fields.maybe("response_flag_filter", |at| flags(&at))?,
            fields.maybe("extension_filter", |at| has_details(&at))?,
            fields
                .maybe("header_filter", |at| {
                    at.map(|filter| header_match(&filter.required("header")?))
                })?
                .map(ReplyFilter::Header),
        ];
        let mut kinds = kinds.into_iter().flatten();
        match (kinds.next(), kinds.next()) {
            (Some(filter), None) => Ok(filter),
            _ => Err(
                at.without_model("must be exactly one kind of filter that is modelled by host-sim")
            ),
        }
    })
}

/// The runtime key is required by Envoy and never set here.
fn status(at: &At<'_>) -> Read<ReplyFilter> {
    let operators = [
        ("EQ", Comparison::Eq),
        ("GE", Comparison::Ge),
        ("LE", Comparison::Le),
    ];
    at.map(|filter| {
        filter.required("comparison")?.map(|comparison| {
            let operator = comparison.maybe("op", |at| at.choice(&operators))?;
            let status = comparison.required("value")?.map(|value| {
                value.required("runtime_key")?.name()?;
                value.required("default_value")?.number32()
            })?;
            Ok(ReplyFilter::Status(
                operator.unwrap_or(Comparison::Eq),
                status,
            ))
        })
    })
}

fn flags(at: &At<'_>) -> Read<ReplyFilter> {
    at.map(|filter| {
        let flags = filter.list("flags", |at| {
            let flag = at.string()?;
            if FLAGS.contains(&&*flag) {
                Ok(flag)
            } else {
                Err(at.not_modelled(&flag))
            }
        })?;
        Ok(ReplyFilter::Flags(flags))
    })
}

fn has_details(at: &At<'_>) -> Read<ReplyFilter> {
    at.map(|filter| {
        filter.required("name")?.name()?;
        filter.required("typed_config")?.typed(CEL, |cel| {
            cel.required("expression")?
                .choice(&[(HAS_DETAILS, ReplyFilter::HasDetails)])
        })
    })
}

/// `envoy.config.route.v3.HeaderMatcher`
pub fn header_match(at: &At<'_>) -> Read<HeaderMatch> {
    at.map(|header| {
        let name = header.required("name")?.name()?.to_ascii_lowercase();
        let text = header.maybe("string_match", |at| {
            at.map(|text| {
                let exact = text
                    .maybe("exact", |at| at.string())?
                    .map(ValueMatch::Exact);
                let prefix = text
                    .maybe("prefix", |at| at.name())?
                    .map(ValueMatch::Prefix);
                one_of(&at, exact, prefix)
            })
        })?;
        let present = header.maybe("present_match", |at| {
            if at.boolean()? {
                Ok(ValueMatch::Present)
            } else {
                Err(at.not_modelled("false"))
            }
        })?;
        Ok(HeaderMatch {
            name,
            value: one_of(at, text, present)?,
        })
    })
}

fn one_of<T>(at: &At<'_>, one: Option<T>, other: Option<T>) -> Read<T> {
    match (one, other) {
        (Some(value), None) | (None, Some(value)) => Ok(value),
        (Some(_), Some(_)) => Err(at.problem("has two conditions")),
        (None, None) => Err(at.without_model(format!("has no condition, or one {NOT_MODELLED}"))),
    }
}
