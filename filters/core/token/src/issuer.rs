//! Verifies a token by the rules and keys of its issuer.

use std::time::Duration;

use crate::caller::{Caller, ClaimNames};
use crate::claims::Claims;
use crate::compact::Token;
use crate::date::Window;
use crate::key_set::KeySet;
use crate::refusal::{Claim, Refusal};

/// Largest leeway: clocks that differ by more than this need mending, not patience.
pub const MAX_LEEWAY: Duration = Duration::from_mins(5);
/// Longest lifetime that an issuer may be allowed: a token cannot be taken back before it ends.
pub const MAX_LIFETIME: Duration = Duration::from_hours(31 * 24);

/// Whose tokens are believed, and how far. Build it with `..Issuer::default()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer {
    /// What its tokens have as `iss`, byte for byte.
    pub name: String,
    /// What this gateway is called in `aud`; a token must name one of them. None: no token does.
    pub audiences: Vec<String>,
    /// By how much its clock and ours may differ; at most [`MAX_LEEWAY`].
    pub leeway: Duration,
    /// Longest time from `iat` to `exp`; at most [`MAX_LIFETIME`].
    pub max_lifetime: Duration,
    /// Which claims say who calls.
    pub claims: ClaimNames,
}

impl Default for Issuer {
    /// A minute of leeway, an hour of life; no name and no audience, so it has no tokens.
    fn default() -> Self {
        Self {
            name: String::new(),
            audiences: Vec::new(),
            leeway: Duration::from_mins(1),
            max_lifetime: Duration::from_hours(1),
            claims: ClaimNames::default(),
        }
    }
}

impl Issuer {
    /// Who calls, if the token is this issuer's, signed with one of `keys`, meant for us and valid
    /// at `now` (since 1970).
    ///
    /// # Errors
    /// The first reason to refuse it. What costs nothing is looked at first, so that a stranger has to
    /// name us, a time that is now and a key that there is before his signature is worth the work.
    /// The reasons before [`Refusal::Signature`] are about what somebody claims, the others about
    /// tokens that the issuer made.
    pub fn admit(
        &self,
        token: &Token<'_>,
        keys: &KeySet,
        now: Duration,
    ) -> Result<Caller, Refusal> {
        if token.issuer()? != self.name {
            return Err(Refusal::Issuer);
        }
        let named = token.claims.audiences()?;
        if !self
            .audiences
            .iter()
            .any(|own| named.contains(&own.as_str()))
        {
            return Err(Refusal::Audience);
        }
        let mut window = self.window(&token.claims, now)?;
        let key = keys.find(token.header.algorithm, token.key_id(), now)?;
        if !key.made(token.signed, &token.signature) {
            return Err(Refusal::Signature);
        }
        if let Some(until) = key.until {
            window.until = window.until.min(until);
        }
        Caller::of(&token.claims, &self.claims, window)
    }

    fn window(&self, claims: &Claims, now: Duration) -> Result<Window, Refusal> {
        let required = |name, claim| claims.date(name, claim)?.ok_or(Refusal::Missing(claim));
        let expires = required("exp", Claim::Expiry)?;
        let issued = required("iat", Claim::IssuedAt)?;
        let starts = claims.date("nbf", Claim::NotBefore)?.unwrap_or_default();
        let leeway = self.leeway.min(MAX_LEEWAY);
        let latest_start = now.saturating_add(leeway);
        if expires <= issued || expires - issued > self.max_lifetime.min(MAX_LIFETIME) {
            return Err(Refusal::Lifetime);
        }
        if issued > latest_start {
            return Err(Refusal::IssuedInFuture);
        }
        if starts > latest_start {
            return Err(Refusal::NotYetValid);
        }
        let window = Window {
            from: starts.max(issued).saturating_sub(leeway),
            until: expires.saturating_add(leeway),
        };
        if !window.holds(now) {
            return Err(Refusal::Expired);
        }
        Ok(window)
    }
}
