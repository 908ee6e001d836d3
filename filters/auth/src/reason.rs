//! Why somebody is not let in: what the log says, and what the client is told.

use std::borrow::Cow;

use dragoman_contract::Code;
use dragoman_token::Refusal;

macro_rules! reasons {
    ($($variant:ident $word:literal $code:ident $meaning:literal;)*) => {
        /// Why a request is refused. The client learns the code only; several reasons share one, so
        /// that it does not say which keys there are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Reason {
            $(#[doc = $meaning] $variant,)*
            /// The token is not believed.
            Token(Refusal),
        }

        impl Reason {
            /// Its name in the access log.
            pub(crate) fn word(self) -> Cow<'static, str> {
                match self {
                    $(Self::$variant => Cow::Borrowed($word),)*
                    Self::Token(refusal) => Cow::Owned(format!("token.{refusal}")),
                }
            }

            /// What the client is told.
            pub(crate) const fn code(self) -> Code {
                match self {
                    $(Self::$variant => Code::$code,)*
                    Self::Token(_) => Code::InvalidCredential,
                }
            }
        }
    };
}

reasons! {
    Missing "missing" MissingCredential "Nothing was shown.";
    Several "several" AmbiguousCredential "Different credentials were shown.";
    Malformed "malformed" InvalidCredential "Another scheme than `Bearer`, or none.";
    TooLong "too_long" InvalidCredential "Longer than any key.";
    Unknown "unknown" InvalidCredential "Nobody has this key.";
    NotReady "not_ready" NotReady "No table of keys was read yet, or no keys of the issuer, so nobody knows whose it is.";
    Revoked "revoked" InvalidCredential "The key was taken back.";
    NotYetValid "not_yet_valid" InvalidCredential "The key's time is still to come.";
    Expired "expired" InvalidCredential "The key's time is over.";
    ForeignTenant "token.foreign_tenant" InvalidCredential "The token's issuer may not speak for this tenant.";
    WrongHost "wrong_host" InvalidCredential "The host is not one of the key's tenant.";
    TenantUnknown "tenant_unknown" TenantInactive "The configuration has no such tenant.";
    TenantSuspended "tenant_suspended" TenantInactive "The tenant is suspended.";
    Scope "scope" ScopeDenied "The key is not for this API.";
    Uploads "uploads" TooManyUploads "Too many bodies at a time.";
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Self {
        Self::Token(refusal)
    }
}
