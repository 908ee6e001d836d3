//! The phases of `alias`.

use std::rc::Rc;

use dragoman_config::Endpoint;
use dragoman_contract::names::{IDEMPOTENCY_KEY, WORK_CLASS, property};
use dragoman_contract::paths::{Route, route};
use dragoman_contract::{ApiKind, Class, Code, Identity, RequestRecord};
use dragoman_json::{Model, Request};
use dragoman_sdk::host::{Pairs, first_value};
use dragoman_sdk::{Filter, Flow, HeadersFlow, HostResult, Reply, RequestBody, RequestHeaders};
use sha2::{Digest, Sha256};

use crate::access::Viewer;
use crate::charset;
use crate::config::Alias;
use crate::models;
use crate::refusal;

/// One request's way through `alias`.
pub struct Resolving {
    plugin: Rc<Alias>,
    /// Known once the path was looked at.
    api: ApiKind,
    /// The record of the caller as `auth` published it; empty where nobody has to be known.
    identity: Vec<u8>,
    /// Whether the request came in by an internal listener.
    internal: bool,
    /// Whether the request has an idempotency key.
    digest_body: bool,
    /// The work class that the client asks for.
    asked: Option<Class>,
}

impl Resolving {
    pub(crate) fn new(plugin: Rc<Alias>) -> Self {
        Self {
            plugin,
            api: ApiKind::Chat,
            identity: Vec::new(),
            internal: false,
            digest_body: false,
            asked: None,
        }
    }
}

impl Filter for Resolving {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        let headers = cx.request_headers()?;
        cx.remove_reserved_headers(&headers)?;
        let method = first_value(&headers, ":method").unwrap_or_default();
        let path = first_value(&headers, ":path").unwrap_or_default();
        let answer = |reply: Reply| Ok(HeadersFlow::Reply(reply));
        if self.plugin.needs_identity() {
            self.identity = cx.property(property::IDENTITY)?.unwrap_or_default();
            let Some(caller) = Identity::decode(&self.identity) else {
                let reason = "auth.mode is on, but no auth filter runs before alias";
                return answer(Reply::error(Code::Misconfigured).message(reason));
            };
            self.internal = caller.internal;
        } else if self.plugin.tells_listeners_apart {
            self.internal = cx.is_internal_listener()?;
        }
        self.api = match route(method, path) {
            Route::Health => return answer(Reply::healthy()),
            Route::Unknown => return answer(Reply::error(Code::NotFound)),
            Route::ModelList => {
                let list = self.plugin.model_list(&self.viewer());
                return answer(Reply::json(200, list));
            }
            Route::Model(id) => return answer(self.model(id)),
            Route::Api(api) => api,
        };
        if let Some(refused) = self.refuse_by_headers(&headers) {
            return answer(refused);
        }
        self.asked = first_value(&headers, WORK_CLASS).and_then(Class::of_word);
        self.digest_body =
            self.plugin.digests_bodies() && first_value(&headers, IDEMPOTENCY_KEY).is_some();
        Ok(HeadersFlow::MoreBody {
            limit_bytes: self.plugin.gateway.max_body_bytes,
        })
    }

    fn on_request_body(&mut self, cx: &mut RequestBody<'_>, length: usize) -> HostResult<Flow> {
        let body = cx.body(0, length)?;
        let refused = |reply: Reply| Ok(Flow::Reply(reply));
        let request = match dragoman_json::scan_request(&body) {
            Ok(request) => request,
            Err(error) => return refused(refusal::of(&error)),
        };
        let Some(model) = &request.model else {
            return refused(Reply::error(Code::MissingModel).param("model"));
        };
        let endpoint = match self.plugin.endpoint(&model.name, &self.viewer()) {
            Ok(endpoint) => endpoint,
            Err(reply) => return refused(reply),
        };
        let mut record = self.record(&request, model, endpoint, body.len());
        record.body_sha256 = self.digest_body.then(|| Sha256::digest(&body).into());
        cx.publish(property::REQUEST, &record.encode())?;
        cx.publish(property::ENDPOINT, endpoint.name.as_bytes())?;
        cx.publish(property::VERSION, endpoint.version.as_bytes())?;
        Ok(Flow::Continue)
    }
}

impl Resolving {
    /// What can be refused before the body came: a length over the limit, a body that is
    /// compressed or not in UTF-8.
    fn refuse_by_headers(&self, headers: &Pairs) -> Option<Reply> {
        let limit_bytes = self.plugin.gateway.max_body_bytes;
        let length = first_value(headers, "content-length")
            .and_then(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > u64::from(limit_bytes)) {
            return Some(Reply::too_large(limit_bytes));
        }
        let encoding = first_value(headers, "content-encoding").unwrap_or(b"identity");
        if !encoding.eq_ignore_ascii_case(b"identity") {
            return Some(Reply::error(Code::UnsupportedEncoding));
        }
        let content_type = first_value(headers, "content-type").unwrap_or_default();
        if !charset::is_utf8(content_type) {
            let reason = "the body must be JSON in UTF-8";
            return Some(Reply::error(Code::UnsupportedEncoding).message(reason));
        }
        None
    }

    fn viewer(&self) -> Viewer<'_> {
        Viewer {
            caller: Identity::decode(&self.identity),
            internal: self.internal,
        }
    }

    fn model(&self, id: &[u8]) -> Reply {
        let Some(slug) = models::decode(id) else {
            return refusal::unknown_model();
        };
        match self.plugin.endpoint(&slug, &self.viewer()) {
            Ok(endpoint) => Reply::json(200, models::model(&endpoint.slug).into_bytes()),
            Err(reply) => reply,
        }
    }

    fn record<'a>(
        &'a self,
        request: &Request<'_>,
        model: &Model<'_>,
        endpoint: &'a Endpoint,
        length: usize,
    ) -> RequestRecord<'a> {
        // No offset is over `max_body_bytes`, which is a `u32`.
        let offset = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let caller = self.viewer().caller.unwrap_or_default();
        RequestRecord {
            api: self.api,
            stream: request.stream,
            body_len: offset(length),
            model_start: offset(model.span.start),
            model_end: offset(model.span.end),
            max_tokens: request.token_limit().unwrap_or(0),
            endpoint: &endpoint.name,
            version: &endpoint.version,
            tenant: caller.tenant,
            app: caller.app,
            class: caller.class.and(self.asked),
            tools: request.tools,
            body_sha256: None,
        }
    }
}
