//! Signed tokens as credentials.

mod issuer;
mod remembered;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use dragoman_config::{Gateway, Grant, TokenIssuer};
use dragoman_sdk::Environment;
use dragoman_token::{Refusal, Token, Window};

use crate::reason::Reason;
use crate::uploads::Digest;
use issuer::Trusted;
use remembered::Remembered;

/// The issuers of the document, and the tokens that were verified in this VM.
#[derive(Debug)]
pub(crate) struct Tokens {
    issuers: Vec<Trusted>,
    known: RefCell<Remembered>,
}

/// A token that was verified.
#[derive(Debug)]
pub(crate) struct Verified {
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
        Ok(Self {
            issuers: issuers.map(trusted).collect::<Result<_, _>>()?,
            known: RefCell::default(),
        })
    }

    /// Whether anybody's tokens are credentials.
    pub(crate) fn are_credentials(&self) -> bool {
        !self.issuers.is_empty()
    }

    /// Who shows this token, whose SHA-256 is `digest`, at `now` since 1970. One that was verified
    /// before costs a look-up; one that is refused is verified each time.
    ///
    /// # Errors
    /// The reason to refuse it.
    pub(crate) fn find(
        &self,
        gateway: &Gateway,
        (token, digest): (&[u8], &Digest),
        now: Duration,
    ) -> Result<Rc<Verified>, Reason> {
        if let Some(verified) = self.known.borrow().get(digest, now) {
            return Ok(verified);
        }
        let verified = Rc::new(self.verify(gateway, token, now)?);
        let mut known = self.known.borrow_mut();
        known.insert(*digest, Rc::clone(&verified), now);
        Ok(verified)
    }

    fn verify(&self, gateway: &Gateway, token: &[u8], now: Duration) -> Result<Verified, Reason> {
        let token = Token::read(token)?;
        let name = token.issuer()?;
        let mut issuers = self.issuers.iter();
        let issuer = issuers
            .find(|issuer| issuer.rules.name == name)
            .ok_or(Refusal::Issuer)?;
        let caller = issuer.rules.admit(&token, &issuer.keys, now)?;
        issuer.entitle(gateway, caller)
    }
}
