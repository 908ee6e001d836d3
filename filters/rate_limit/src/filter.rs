//! The phases of `rate_limit`.

use std::rc::Rc;

use dragoman_contract::names::property;
use dragoman_contract::{Code, Identity};
use dragoman_limits::retry_after_s;
use dragoman_sdk::host::Clock;
use dragoman_sdk::{Filter, HeadersFlow, HostResult, Reply, RequestHeaders, ResponseHeaders};

use crate::buckets::{Refusal, Standing};
use crate::charge::charge;
use crate::config::RateLimit;
use crate::headers;

/// One request's way through `rate_limit`.
pub struct Limiting {
    plugin: Rc<RateLimit>,
    /// Of the tightest bucket, once the request was admitted.
    standing: Option<Standing>,
}

impl Limiting {
    pub(crate) fn new(plugin: Rc<RateLimit>) -> Self {
        Self {
            plugin,
            standing: None,
        }
    }
}

impl Filter for Limiting {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        let plugin = Rc::clone(&self.plugin);
        if plugin.limits.is_empty() {
            return Ok(HeadersFlow::Continue);
        }
        let identity = cx.property(property::IDENTITY)?;
        let Some(caller) = identity.as_deref().and_then(Identity::decode) else {
            let reason = "limits need auth, which did not say who calls";
            let reply = Reply::error(Code::Misconfigured).message(reason);
            return Ok(HeadersFlow::Reply(reply));
        };
        let Some(buckets) = plugin.buckets(cx)? else {
            return Ok(HeadersFlow::Reply(refusal(&Refusal::Unreadable)));
        };
        let now = cx.monotonic();
        match charge(buckets, cx, (&plugin.limits, &caller), now)? {
            Ok(standing) => {
                self.standing = standing;
                Ok(HeadersFlow::Continue)
            }
            Err(why) => Ok(HeadersFlow::Reply(refusal(&why))),
        }
    }

    /// Also of answers that the gateway gives itself. What a worker says of limits is about the
    /// gateway's account with it and would mislead, so it is replaced.
    fn on_response_headers(&mut self, cx: &mut ResponseHeaders<'_>, _: bool) -> HostResult<()> {
        let Some(standing) = &self.standing else {
            return Ok(());
        };
        for (name, value) in headers::lines(standing) {
            cx.set_response_header(name, value.as_bytes())?;
        }
        Ok(())
    }
}

/// What the client is told. Nothing is admitted unless a token was taken for it.
fn refusal(why: &Refusal<'_>) -> Reply {
    match why {
        Refusal::Empty {
            limit,
            standing,
            retry_after_ms,
        } => {
            let seconds = retry_after_s(*retry_after_ms);
            let text = format!(
                "the rate limit {} is used up, try again in {seconds} s",
                limit.name
            );
            let reply = Reply::error(Code::RateLimited)
                .message(text)
                .retry_after_s(u32::try_from(seconds).unwrap_or(u32::MAX));
            headers::lines(standing)
                .into_iter()
                .fold(reply, |reply, (name, value)| reply.header(name, value))
        }
        // Only a bucket that is asked for far more often than it fills gets here.
        Refusal::Contended => Reply::error(Code::RateLimited),
        Refusal::NoRoom => Reply::error(Code::GatewayError),
        Refusal::Unreadable => Reply::error(Code::InternalError),
    }
}
