//! The one table of errors: code → status, type, default message; and their JSON in both dialects.
//!
//! OpenAI's error object is what the SDKs turn into exceptions; `/v1/messages` answers in
//! Anthropic's shape. No message holds a secret, a prompt or a hint of what the caller may not see.

use crate::paths::ApiKind;

macro_rules! codes {
    ($($variant:ident $code:literal $status:literal $kind:literal $message:literal;)*) => {
        /// Why a request was refused or could not be served.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $message] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as clients and the access log see it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// HTTP status.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// `error.type` in OpenAI's shape.
            #[must_use]
            pub const fn kind(self) -> &'static str {
                match self { $(Self::$variant => $kind,)* }
            }

            /// What the client reads when there is nothing more precise to say.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }
    };
}

codes! {
    InvalidJson "invalid_json" 400 "invalid_request_error" "the body is not a JSON object";
    DuplicateField "duplicate_field" 400 "invalid_request_error" "a field of the body is given twice";
    MissingModel "missing_model" 400 "invalid_request_error" "the body names no model";
    InvalidField "invalid_field" 400 "invalid_request_error" "a field of the body has the wrong type";
    ContextLengthExceeded "context_length_exceeded" 400 "invalid_request_error" "the prompt and its answer may be longer than any worker of the model can read";
    ToolsNotSupported "tools_not_supported" 400 "invalid_request_error" "no worker of the model can call tools";
    BadRequest "bad_request" 400 "invalid_request_error" "the request is not well-formed HTTP";
    InvalidIdempotencyKey "invalid_idempotency_key" 400 "invalid_request_error" "the idempotency key is empty, too long or not printable";
    MissingCredential "missing_credential" 401 "authentication_error" "no API key was sent";
    InvalidCredential "invalid_credential" 401 "authentication_error" "the API key is not valid";
    AmbiguousCredential "ambiguous_credential" 401 "authentication_error" "several different credentials were sent";
    TenantInactive "tenant_inactive" 403 "permission_error" "the tenant is not active";
    ScopeDenied "scope_denied" 403 "permission_error" "this key may not be used for this API";
    ModelNotAllowed "model_not_allowed" 403 "permission_error" "this key may not use the model";
    NotFound "not_found" 404 "invalid_request_error" "there is nothing at this path";
    ModelNotFound "model_not_found" 404 "invalid_request_error" "the model does not exist";
    RequestTimeout "request_timeout" 408 "invalid_request_error" "the request did not arrive in time";
    RequestInProgress "request_in_progress" 409 "idempotency_error" "a request with this idempotency key is being processed";
    IdempotencyKeyReused "idempotency_key_reused" 409 "idempotency_error" "this idempotency key was used for another request";
    ResponseTooLargeToReplay "response_too_large_to_replay" 409 "idempotency_error" "the request was answered, but the answer was too large to keep";
    OutcomeUnknown "outcome_unknown" 409 "idempotency_error" "the connection to the worker broke, so the request may have been carried out";
    RequestTooLarge "request_too_large" 413 "invalid_request_error" "the body is larger than the gateway accepts";
    UnsupportedEncoding "unsupported_encoding" 415 "invalid_request_error" "the body is compressed; the gateway reads plain JSON only";
    UpgradeRequired "upgrade_required" 426 "invalid_request_error" "the HTTP version is too old";
    RateLimited "rate_limited" 429 "rate_limit_error" "the rate limit is used up";
    TooManyUploads "too_many_uploads" 429 "rate_limit_error" "too many requests of this caller are being received";
    HeadersTooLarge "headers_too_large" 431 "invalid_request_error" "the request headers are larger than the gateway accepts";
    Misconfigured "misconfigured" 500 "server_error" "the gateway is not configured for this request";
    InternalError "internal_error" 500 "server_error" "the gateway could not process the request";
    NotImplemented "not_implemented" 501 "server_error" "the request uses a part of HTTP that the gateway does not serve";
    UpstreamError "upstream_error" 502 "server_error" "the worker answered with something that is not HTTP";
    NoCapacity "no_capacity" 503 "server_error" "the model has no worker at the moment";
    NoBackendAvailable "no_backend_available" 503 "server_error" "no worker for the model can be reached at the moment";
    Overloaded "overloaded" 503 "server_error" "all workers for the model are busy";
    NotReady "not_ready" 503 "server_error" "the gateway does not know its keys yet, try again";
    GatewayError "gateway_error" 503 "server_error" "the gateway could not serve the request, try again";
    UpstreamTimeout "upstream_timeout" 504 "server_error" "no worker answered in time";
}

impl Code {
    /// Seconds for `Retry-After`, where trying again soon makes sense.
    #[must_use]
    pub const fn retry_after_s(self) -> Option<u32> {
        match self {
            Self::NoCapacity => Some(10),
            Self::NoBackendAvailable => Some(5),
            Self::RequestInProgress => Some(2),
            Self::RateLimited
            | Self::TooManyUploads
            | Self::Overloaded
            | Self::NotReady
            | Self::GatewayError => Some(1),
            _ => None,
        }
    }

    /// Whether the same request may get another answer later. The SDKs try 409 again by themselves,
    /// which is right while a request is in progress and pointless for the other conflicts.
    #[must_use]
    pub const fn is_worth_a_retry(self) -> bool {
        !matches!(
            self,
            Self::IdempotencyKeyReused | Self::ResponseTooLargeToReplay | Self::OutcomeUnknown
        )
    }

    /// `error.type` in Anthropic's shape, which goes by status.
    #[must_use]
    pub const fn anthropic_kind(self) -> &'static str {
        match self.status() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            503 | 529 => "overloaded_error",
            _ => "api_error",
        }
    }
}

/// The shape of an error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `{"error": {"message", "type", "code", "param", "request_id"}}`
    OpenAi,
    /// `{"type": "error", "error": {"type", "message", "code"}, "request_id"}`
    Anthropic,
}

impl Dialect {
    /// The shape for a path, whatever the method and whether anything is served there: what asks
    /// at or below `/v1/messages` is an Anthropic client.
    #[must_use]
    pub fn of_path(path_and_query: &[u8]) -> Self {
        match path_and_query.strip_prefix(ApiKind::Messages.path().as_bytes()) {
            Some([] | [b'/' | b'?', ..]) => Self::Anthropic,
            _ => Self::OpenAi,
        }
    }
}

/// An error on its way to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorBody<'a> {
    /// Row of the table.
    pub code: Code,
    /// What to say instead of the table's message.
    pub message: Option<&'a str>,
    /// The field of the request that is at fault.
    pub param: Option<&'a str>,
    /// Envoy's id of the request.
    pub request_id: &'a str,
}

impl ErrorBody<'_> {
    /// The JSON text.
    #[must_use]
    pub fn to_json(&self, dialect: Dialect) -> String {
        let message = quoted(self.message.unwrap_or(self.code.message()));
        let code = self.code.as_str();
        let request_id = quoted(self.request_id);
        match dialect {
            Dialect::OpenAi => format!(
                r#"{{"error":{{"message":{message},"type":"{}","code":"{code}","param":{},"request_id":{request_id}}}}}"#,
                self.code.kind(),
                self.param.map_or_else(|| "null".to_owned(), quoted),
            ),
            Dialect::Anthropic => format!(
                r#"{{"type":"error","error":{{"type":"{}","message":{message},"code":"{code}"}},"request_id":{request_id}}}"#,
                self.code.anthropic_kind(),
            ),
        }
    }
}

/// `text` as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
