//! The phases of `auth`.

use std::rc::Rc;

use dragoman_config::{ApiKey, Gateway, PolledKey, Tenant};
use dragoman_contract::Code;
use dragoman_contract::names::{CLIENT_CREDENTIALS, property};
use dragoman_contract::paths::{Route, route};
use dragoman_sdk::host::{Clock, Pairs, first_value};
use dragoman_sdk::{Filter, HeadersFlow, HostResult, Reply, RequestHeaders};
use dragoman_token::has_token_form;
use sha2::{Digest as _, Sha256};

use crate::caller::Caller;
use crate::config::Auth;
use crate::credential::presented;
use crate::reason::Reason;
use crate::tokens::Verified;
use crate::uploads::{Digest, Upload};

/// Asks whether the gateway can let anybody in; the other path of health whether it is up at all.
const READY_PATH: &[u8] = b"/readyz";

/// One request's way through `auth`.
pub struct Authenticating {
    plugin: Rc<Auth>,
    /// Held while the body is still to come. The host drops this filter when the request is over,
    /// so a client that leaves is not counted for ever.
    upload: Option<Upload>,
}

impl Authenticating {
    pub(crate) fn new(plugin: Rc<Auth>) -> Self {
        Self {
            plugin,
            upload: None,
        }
    }
}

impl Filter for Authenticating {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        let headers = cx.request_headers()?;
        cx.remove_reserved_headers(&headers)?;
        remove_credentials(cx, &headers)?;
        let method = first_value(&headers, ":method").unwrap_or_default();
        let path = first_value(&headers, ":path").unwrap_or_default();
        if route(method, path) == Route::Health {
            return Ok(HeadersFlow::Reply(self.health(cx, path)?));
        }
        if !self.plugin.is_on() {
            return Ok(HeadersFlow::Continue);
        }
        match self.admit(cx, &headers)? {
            Ok(()) => Ok(HeadersFlow::Continue),
            Err(reason) => {
                cx.publish(property::REFUSAL, reason.word().as_bytes())?;
                Ok(HeadersFlow::Reply(refusal(reason.code())))
            }
        }
    }

    fn on_request_complete(&mut self) {
        self.upload = None;
    }
}

impl Authenticating {
    /// Whether the gateway is up, and whether it can let anybody in.
    fn health(&self, cx: &mut RequestHeaders<'_>, path: &[u8]) -> HostResult<Reply> {
        if path == READY_PATH && !self.plugin.polled.is_ready(cx)? {
            return Ok(refusal(Reason::NotReady.code()));
        }
        Ok(Reply::healthy())
    }

    /// Lets a known caller in and tells the later filters who it is. Who is refused by name is in
    /// the access log, but has no identity.
    fn admit(
        &mut self,
        cx: &mut RequestHeaders<'_>,
        headers: &Pairs,
    ) -> HostResult<Result<(), Reason>> {
        let shown = match presented(headers) {
            Ok(shown) => shown,
            Err(reason) => return Ok(Err(reason)),
        };
        let plugin = Rc::clone(&self.plugin);
        let digest: Digest = Sha256::digest(shown).into();
        // What is compared is the digest. How long that takes tells at most how far the digest of a
        // guess agrees with another one, which says nothing of how near the guess was.
        let found = match find(&plugin, cx, shown, &digest)? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let caller = found.caller(&plugin.gateway);
        name(cx, &caller)?;
        let internal = plugin.tells_listeners_apart && cx.is_internal_listener()?;
        let tenant = match judge(&plugin.gateway, cx, (&caller, internal), headers) {
            Ok(tenant) => tenant,
            Err(reason) => return Ok(Err(reason)),
        };
        if cx.body_follows() {
            self.upload = plugin.uploads.begin(found.counted_by(digest));
            if self.upload.is_none() {
                return Ok(Err(Reason::Uploads));
            }
        }
        let identity = caller.identity(tenant, internal);
        cx.publish(property::IDENTITY, &identity.encode())?;
        Ok(Ok(()))
    }
}

/// A credential that is known.
enum Found<'a> {
    Key(&'a ApiKey),
    Polled(Box<PolledKey>),
    Token(Rc<Verified>),
}

impl Found<'_> {
    fn caller<'a>(&'a self, gateway: &Gateway) -> Caller<'a> {
        match self {
            Self::Key(key) => Caller::of_key(gateway, key),
            Self::Polled(polled) => Caller::of_polled(gateway, polled),
            Self::Token(token) => Caller::of_token(token),
        }
    }

    /// What uploads are counted by, if the credential has this digest.
    fn counted_by(&self, digest: Digest) -> Digest {
        match self {
            Self::Key(_) | Self::Polled(_) => digest,
            Self::Token(token) => token.counted_by,
        }
    }
}

/// What is known of a credential with this digest. A key of the document may look like a token; in
/// the key table nothing is looked for that does.
fn find<'a>(
    plugin: &'a Auth,
    cx: &mut RequestHeaders<'_>,
    shown: &[u8],
    digest: &Digest,
) -> HostResult<Result<Found<'a>, Reason>> {
    if let Some(key) = plugin.gateway.key_by_digest(digest) {
        return Ok(Ok(Found::Key(key)));
    }
    if plugin.tokens.are_credentials() && has_token_form(shown) {
        let found = plugin.tokens.find(&plugin.gateway, cx, (shown, digest))?;
        return Ok(found.map(Found::Token));
    }
    let polled = plugin.polled.find(cx, digest)?;
    Ok(polled.map(|polled| Found::Polled(Box::new(polled))))
}

/// Whether a caller may ask for this, here and now, and for which tenant. What a stranger would be
/// told comes before what only a known caller may learn.
fn judge<'g>(
    gateway: &'g Gateway,
    cx: &mut RequestHeaders<'_>,
    (caller, internal): (&Caller<'_>, bool),
    headers: &Pairs,
) -> Result<&'g Tenant, Reason> {
    if let Some(reason) = caller.lapse(|| cx.wall()) {
        return Err(reason);
    }
    let of = |header| first_value(headers, header).unwrap_or_default();
    let by_host = !internal && !gateway.hosts.is_empty();
    if by_host && gateway.hosts.tenant(of(":authority")) != caller.tenant {
        return Err(Reason::WrongHost);
    }
    let tenant = caller.active(gateway)?;
    let (method, target) = (of(":method"), of(":path"));
    let scopes = &caller.grant.scopes;
    if !scopes.allow(method, target, &route(method, target)) {
        return Err(Reason::Scope);
    }
    Ok(tenant)
}

fn name(cx: &mut RequestHeaders<'_>, caller: &Caller<'_>) -> HostResult<()> {
    cx.publish(property::TENANT, caller.grant.tenant.as_bytes())?;
    cx.publish(property::APP, caller.grant.app.as_bytes())?;
    cx.publish(property::KEY, caller.id.as_bytes())?;
    match caller.generation {
        Some(generation) => cx.publish(property::KEY_VERSION, generation.to_string().as_bytes()),
        None => Ok(()),
    }
}

fn refusal(code: Code) -> Reply {
    let reply = Reply::error(code);
    if code.status() == 401 {
        return reply.header("www-authenticate", "Bearer");
    }
    reply
}

/// No later filter, callout or worker sees what the client showed.
fn remove_credentials(cx: &mut RequestHeaders<'_>, headers: &Pairs) -> HostResult<()> {
    for name in CLIENT_CREDENTIALS {
        if headers.iter().any(|(given, _)| given == name.as_bytes()) {
            cx.remove_request_header(name)?;
        }
    }
    Ok(())
}
