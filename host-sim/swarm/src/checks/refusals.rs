//! Who is refused, and with what: `filters/auth/README.md` and `filters/alias/README.md`.

use dragoman_contract::paths::{Route, route};

use super::{code, is_complete, is_of_worker, named};
use crate::body::{body, caller_key};
use crate::plan::{Broken, Caller, Plan, RequestPlan};
use crate::stage::Observed;

/// Codes with which a request ends before any worker could hear of it, beside those of [`REFUSALS`].
const BEFORE_WORKERS: [&str; 8] = [
    "bad_request",
    "invalid_idempotency_key",
    "request_timeout",
    "request_in_progress",
    "idempotency_key_reused",
    "rate_limited",
    "too_many_uploads",
    "no_capacity",
];

/// Codes that may come instead of any other, whatever the request: a bound of the caller's, or a VM that trapped.
const AT_ANY_TIME: [&str; 3] = ["too_many_uploads", "gateway_error", "request_timeout"];

/// What [`refusal`] can say.
const REFUSALS: [&str; 13] = [
    "missing_credential",
    "invalid_credential",
    "ambiguous_credential",
    "tenant_inactive",
    "not_found",
    "unsupported_encoding",
    "request_too_large",
    "invalid_json",
    "missing_model",
    "duplicate_field",
    "invalid_field",
    "model_not_found",
    "model_not_allowed",
];

pub(super) fn no_visit(observed: &Observed<'_>) -> Vec<String> {
    let seen = observed.seen.iter().enumerate();
    let wrong = seen.filter_map(|(place, one)| {
        let code = code(&one.response).filter(|_| !is_of_worker(&one.response))?;
        let known = code.as_str();
        let is_early = BEFORE_WORKERS.contains(&known) || REFUSALS.contains(&known);
        let workers = one.attempts.join(", ");
        (is_early && !one.attempts.is_empty())
            .then(|| format!("{}: {code}, and was at {workers}", named(place, &one.plan)))
    });
    wrong.collect()
}

pub(super) fn expected(observed: &Observed<'_>) -> Vec<String> {
    let seen = observed.seen.iter().enumerate();
    let wrong = seen.filter_map(|(place, one)| {
        if one.plan.unfinished || !is_complete(&one.response) {
            return None;
        }
        let got = code(&one.response).filter(|_| !is_of_worker(&one.response));
        let got = got.as_deref();
        let refusal = refusal(observed.plan, &one.plan);
        let is_right = match (refusal, got) {
            (Some(refusal), got) => got == Some(refusal),
            (None, Some(got)) => !REFUSALS.contains(&got),
            (None, None) => true,
        };
        let is_excused = got.is_some_and(|code| AT_ANY_TIME.contains(&code));
        let (status, request) = (one.response.status, named(place, &one.plan));
        (!is_right && !is_excused)
            .then(|| format!("{request}: {status} {got:?}, should be {refusal:?}"))
    });
    wrong.collect()
}

/// The code with which this request must be refused, told from the plan alone.
fn refusal(plan: &Plan, request: &RequestPlan) -> Option<&'static str> {
    let (method, path) = match request.path.strip_prefix("GET ") {
        Some(path) => ("GET", path),
        None => ("POST", request.path.as_str()),
    };
    let route = route(method.as_bytes(), path.as_bytes());
    if route == Route::Health {
        return None;
    }
    if !plan.topology.tenants.is_empty()
        && let Some(code) = caller(plan, request)
    {
        return Some(code);
    }
    match route {
        Route::Unknown => Some("not_found"),
        Route::Api(_) => content(plan, request).or_else(|| model(plan, request)),
        Route::Health | Route::ModelList | Route::Model(_) => None,
    }
}

fn caller(plan: &Plan, request: &RequestPlan) -> Option<&'static str> {
    match &request.caller {
        Caller::Nobody => Some("missing_credential"),
        Caller::Unknown => Some("invalid_credential"),
        Caller::Two(_) => Some("ambiguous_credential"),
        Caller::Key(_) | Caller::XApiKey(_) => {
            let Some(key) = caller_key(plan, &request.caller) else {
                return Some("invalid_credential");
            };
            let mut tenants = plan.topology.tenants.iter();
            let tenant = tenants.find(|tenant| tenant.id == key.tenant);
            tenant
                .is_some_and(|tenant| tenant.suspended)
                .then_some("tenant_inactive")
        }
    }
}

fn content(plan: &Plan, request: &RequestPlan) -> Option<&'static str> {
    let too_long = body(plan, request, None).len() > plan.topology.max_body_bytes;
    if too_long && !request.chunked {
        return Some("request_too_large");
    }
    match request.broken {
        Some(Broken::Compressed) => Some("unsupported_encoding"),
        _ if too_long => Some("request_too_large"),
        Some(Broken::NotJson) => Some("invalid_json"),
        Some(Broken::NoModel) => Some("missing_model"),
        Some(Broken::TwoModels) => Some("duplicate_field"),
        Some(Broken::StreamNoFlag) => Some("invalid_field"),
        Some(Broken::TooLong) | None => None,
    }
}

fn model(plan: &Plan, request: &RequestPlan) -> Option<&'static str> {
    let mut endpoints = plan.topology.endpoints.iter();
    let Some(endpoint) = endpoints.find(|endpoint| endpoint.slug == request.model) else {
        return Some("model_not_found");
    };
    let key = caller_key(plan, &request.caller).filter(|_| !plan.topology.tenants.is_empty());
    if let Some(tenant) = &endpoint.tenant
        && key.is_none_or(|key| key.tenant != *tenant)
    {
        return Some("model_not_found");
    }
    let models = key.and_then(|key| key.models.as_ref());
    models
        .is_some_and(|models| !models.contains(&request.model))
        .then_some("model_not_allowed")
}
