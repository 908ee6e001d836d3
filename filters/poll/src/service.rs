//! The ticks of `poll`.

use std::time::Duration;

use dragoman_sdk::host::{Cas, Clock, Shared};
use dragoman_sdk::{CalloutResponse, HostResult, Root};

use crate::config::Poll;
use crate::issuer_keys::IssuerKeys;
use crate::lease::{self, Lease};

/// Time between two ticks: a good part of the shortest interval, one second, and cheap, since most
/// ticks only renew the lease.
pub(crate) const TICK: Duration = Duration::from_millis(250);

impl Poll {
    pub(crate) fn tick(&mut self, cx: &mut Root<'_>) -> HostResult<()> {
        let now = cx.monotonic();
        if !self.holds_lease(cx, now)? {
            if let Some(keys) = &mut self.keys {
                keys.rest();
            }
            self.issuers.iter_mut().for_each(IssuerKeys::rest);
            return Ok(());
        }
        // What one of them cannot do does not keep the others from their work.
        let mut done = match &mut self.keys {
            Some(keys) => keys.tick(cx, now),
            None => Ok(()),
        };
        for issuer in &mut self.issuers {
            done = issuer.tick(cx, now).and(done);
        }
        if let Some(workers) = &mut self.workers {
            workers.tick(cx, now)?;
        }
        done
    }

    pub(crate) fn answered(
        &mut self,
        cx: &mut Root<'_>,
        token: u32,
        response: CalloutResponse,
    ) -> HostResult<()> {
        if let Some(keys) = &mut self.keys
            && keys.waits_for(token)
        {
            return keys.answered(cx, response);
        }
        let mut issuers = self.issuers.iter_mut();
        if let Some(issuer) = issuers.find(|issuer| issuer.waits_for(token)) {
            return issuer.answered(cx, response);
        }
        match &mut self.workers {
            Some(workers) => workers.answered(cx, token, &response),
            None => Ok(()),
        }
    }

    fn holds_lease(&mut self, cx: &mut Root<'_>, now: Duration) -> HostResult<bool> {
        let me = *self.me.get_or_insert_with(|| cx.random());
        let (current, cas) = match cx.shared(lease::KEY)? {
            Some((bytes, cas)) => (Lease::decode(&bytes), cas),
            None => (None, Cas::ABSENT),
        };
        match Lease::claim(current, me, now) {
            Some(lease) => cx.swap_shared(lease::KEY, &lease.encode(), cas),
            None => Ok(false),
        }
    }
}
