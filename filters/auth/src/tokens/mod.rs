//! Signed tokens as credentials.

mod issuer;
mod published;
mod refused;
mod remembered;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use dragoman_config::{Gateway, Grant, TokenIssuer};
use dragoman_sdk::host::{Clock, millis};
use dragoman_sdk::{Environment, HostResult, RequestHeaders};
use dragoman_token::{Caller, Refusal, Token, Window};

use crate::reason::Reason;
use crate::uploads::Digest;
use issuer::Trusted;
use refused::Refused;
use remembered::Remembered;

/// The issuers of the document, and the tokens that were looked at in this VM.
#[derive(Debug)]
pub(crate) struct Tokens(RefCell<State>);

#[derive(Debug)]
struct State {
    issuers: Vec<Trusted>,
    /// Whether keys of any issuer are read at run time.
    are_polled: bool,
    known: Remembered,
    refused: Refused,
}

/// A token that was verified.
#[derive(Debug)]
pub(crate) struct Verified {
    /// Which issuer of the document made it, from 0.
    pub issuer: usize,
    /// Issuer and subject, for logs and whatever counts by the credential.
    pub id: String,
    pub grant: Grant,
    /// Index of the tenant; `None`: the document has none of this id.
    pub tenant: Option<usize>,
    pub window: Window,
    /// What uploads count by: the tokens that one subject shows after another are one caller.
    pub counted_by: Digest,
}

impl Tokens {
    /// The issuers with their keys.
    ///
    /// # Errors
    /// A key that cannot be used, or a secret that the environment does not have; with its path.
    pub(crate) fn new(gateway: &Gateway, environment: &dyn Environment) -> Result<Self, String> {
        let trusted = |(index, issuer): (usize, &TokenIssuer)| {
            Trusted::new(issuer, environment)
                .map_err(|fault| format!("auth.issuers[{index}].{fault}"))
        };
        let issuers = gateway.auth.issuers.iter().enumerate();
        let issuers: Vec<Trusted> = issuers.map(trusted).collect::<Result<_, _>>()?;
        Ok(Self(RefCell::new(State {
            are_polled: issuers.iter().any(Trusted::is_polled),
            issuers,
            known: Remembered::default(),
            refused: Refused::default(),
        })))
    }

    /// Whether anybody's tokens are credentials.
    pub(crate) fn are_credentials(&self) -> bool {
        !self.0.borrow().issuers.is_empty()
    }

    /// Who shows this token, whose SHA-256 is `digest`. One that was verified before, or whose
    /// signature was found to be bad, costs a look-up.
    ///
    /// # Errors
    /// When the host fails; within, the reason to refuse the token.
    pub(crate) fn find(
        &self,
        gateway: &Gateway,
        cx: &mut RequestHeaders<'_>,
        shown: (&[u8], &Digest),
    ) -> HostResult<Result<Rc<Verified>, Reason>> {
        self.0.borrow_mut().find(gateway, cx, shown)
    }
}

impl State {
    fn find(
        &mut self,
        gateway: &Gateway,
        cx: &mut RequestHeaders<'_>,
        (token, digest): (&[u8], &Digest),
    ) -> HostResult<Result<Rc<Verified>, Reason>> {
        let now_ms = if self.are_polled {
            millis(cx.monotonic())
        } else {
            0
        };
        self.refresh(cx, now_ms)?;
        let now = cx.wall();
        if let Some(verified) = self.known.get(digest, now) {
            return Ok(Ok(verified));
        }
        if self.refused.contains(digest) {
            return Ok(Err(Refusal::Signature.into()));
        }
        let refusal = match self.verify(token, now) {
            Ok((index, caller)) => {
                let entitled = self.entitle(gateway, (index, caller));
                if let Ok(verified) = &entitled {
                    self.known.insert(*digest, Rc::clone(verified), now);
                }
                return Ok(entitled);
            }
            Err(refusal) => refusal,
        };
        if refusal.why == Refusal::Signature {
            self.refused.insert(*digest);
        }
        match refusal.issuer.and_then(|index| self.issuers.get_mut(index)) {
            Some(issuer) => Ok(Err(issuer.explain(cx, now_ms, refusal.why)?)),
            None => Ok(Err(refusal.why.into())),
        }
    }

    /// Takes the keys that the issuers publish now, and forgets what the former ones decided.
    fn refresh(&mut self, cx: &mut RequestHeaders<'_>, now_ms: u64) -> HostResult<()> {
        for (index, issuer) in self.issuers.iter_mut().enumerate() {
            if issuer.refresh(cx, now_ms)? {
                self.known.forget(index);
                self.refused.clear();
            }
        }
        Ok(())
    }

    /// Which issuer made this token, and what it says.
    fn verify(&self, token: &[u8], now: Duration) -> Result<(usize, Caller), NotVerified> {
        let token = Token::read(token)?;
        let name = token.issuer()?;
        let mut issuers = self.issuers.iter().enumerate();
        let (index, issuer) = issuers
            .find(|(_, issuer)| issuer.rules.name == name)
            .ok_or(Refusal::Issuer)?;
        let caller = issuer.rules.admit(&token, &issuer.keys, now);
        caller
            .map(|caller| (index, caller))
            .map_err(|why| NotVerified {
                issuer: Some(index),
                why,
            })
    }

    fn entitle(
        &self,
        gateway: &Gateway,
        (index, caller): (usize, Caller),
    ) -> Result<Rc<Verified>, Reason> {
        let issuer = self.issuers.get(index).ok_or(Refusal::Issuer)?;
        issuer.entitle(gateway, (index, caller)).map(Rc::new)
    }
}

/// A token that is not believed.
struct NotVerified {
    /// Whose it says to be, if that is one of the document's.
    issuer: Option<usize>,
    why: Refusal,
}

impl From<Refusal> for NotVerified {
    fn from(why: Refusal) -> Self {
        Self { issuer: None, why }
    }
}
