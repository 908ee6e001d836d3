//! The phases of `auth`.

use std::rc::Rc;

use dragoman_contract::Code;
use dragoman_contract::names::{CLIENT_CREDENTIALS, property};
use dragoman_contract::paths::{Route, route};
use dragoman_sdk::host::{Clock, Pairs, first_value};
use dragoman_sdk::{Filter, HeadersFlow, HostResult, Reply, RequestHeaders};

use crate::config::Auth;
use crate::credential::presented;
use crate::keys::{self, Caller};
use crate::uploads::Upload;

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
            return Ok(HeadersFlow::Reply(Reply::healthy()));
        }
        if !self.plugin.is_on() {
            return Ok(HeadersFlow::Continue);
        }
        Ok(match self.admit(cx, &headers)? {
            Ok(()) => HeadersFlow::Continue,
            Err(code) => HeadersFlow::Reply(refusal(code)),
        })
    }

    fn on_request_complete(&mut self) {
        self.upload = None;
    }
}

impl Authenticating {
    /// Lets a known caller in and tells the later filters who it is. Who is refused by name is in
    /// the access log, but has no identity.
    fn admit(
        &mut self,
        cx: &mut RequestHeaders<'_>,
        headers: &Pairs,
    ) -> HostResult<Result<(), Code>> {
        let presented = match presented(headers) {
            Ok(presented) => presented,
            Err(code) => return Ok(Err(code)),
        };
        let plugin = Rc::clone(&self.plugin);
        let Some(caller) = keys::find(&plugin.gateway, presented) else {
            return Ok(Err(Code::InvalidCredential));
        };
        name(cx, &caller)?;
        if let Some(code) = caller.refusal(|| cx.wall()) {
            return Ok(Err(code));
        }
        if cx.body_follows() {
            self.upload = plugin.uploads.begin(caller.key.sha256);
            if self.upload.is_none() {
                return Ok(Err(Code::TooManyUploads));
            }
        }
        cx.publish(property::IDENTITY, &caller.identity().encode())?;
        Ok(Ok(()))
    }
}

fn name(cx: &mut RequestHeaders<'_>, caller: &Caller<'_>) -> HostResult<()> {
    cx.publish(property::TENANT, caller.tenant.id.as_bytes())?;
    cx.publish(property::APP, caller.key.app.as_bytes())?;
    cx.publish(property::KEY, caller.key.id.as_bytes())
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
