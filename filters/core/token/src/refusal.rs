//! Why a token is refused.

use std::fmt;

/// Why a token is refused: for the audit log. Whoever showed it learns only that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Longer than [`crate::MAX_TOKEN_BYTES`].
    TooLong,
    /// Not three parts, or a part that is not base64url without padding in its one spelling.
    NotCompact,
    /// The header is not a JSON object, has a name twice, or a parameter of the wrong type.
    Header,
    /// An algorithm that nothing here is signed with (`none` among them), or another than the key's.
    Algorithm,
    /// A header parameter that must be understood (`crit`).
    Critical,
    /// Something else than a JWT or an access token (`typ`).
    Type,
    /// The claims are not a JSON object, or a name stands in it twice.
    Claims,
    /// A claim that must be there is not.
    Missing(Claim),
    /// A claim has the wrong type or is out of bounds.
    Malformed(Claim),
    /// Nobody configured is called that (`iss`).
    Issuer,
    /// No key of the issuer has this id (`kid`), or none could be meant where no id stands.
    UnknownKey,
    /// No key id, and several keys of the issuer that it could mean.
    UnnamedKey,
    /// The key did not make this signature.
    Signature,
    /// Meant for somebody else (`aud`).
    Audience,
    /// Not valid any more (`exp`).
    Expired,
    /// Not valid yet (`nbf`).
    NotYetValid,
    /// Issued in the future (`iat`).
    IssuedInFuture,
    /// Valid for longer than its issuer may grant, or for no time at all (`exp - iat`).
    Lifetime,
}

/// A claim that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// `iss`
    Issuer,
    /// `aud`
    Audience,
    /// `exp`
    Expiry,
    /// `nbf`
    NotBefore,
    /// `iat`
    IssuedAt,
    /// `sub`
    Subject,
    /// The claim that names the tenant.
    Tenant,
    /// The claim that names the application.
    App,
    /// The claim that lists scopes.
    Scopes,
    /// The claim that lists models.
    Models,
}

impl Refusal {
    /// A word for logs; the claim that it is about follows after a dot.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::NotCompact => "not_compact",
            Self::Header => "header",
            Self::Algorithm => "algorithm",
            Self::Critical => "critical",
            Self::Type => "type",
            Self::Claims => "claims",
            Self::Missing(_) => "missing",
            Self::Malformed(_) => "malformed",
            Self::Issuer => "issuer",
            Self::UnknownKey => "unknown_key",
            Self::UnnamedKey => "unnamed_key",
            Self::Signature => "signature",
            Self::Audience => "audience",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::IssuedInFuture => "issued_in_future",
            Self::Lifetime => "lifetime",
        }
    }
}

impl Claim {
    fn as_str(self) -> &'static str {
        match self {
            Self::Issuer => "iss",
            Self::Audience => "aud",
            Self::Expiry => "exp",
            Self::NotBefore => "nbf",
            Self::IssuedAt => "iat",
            Self::Subject => "sub",
            Self::Tenant => "tenant",
            Self::App => "app",
            Self::Scopes => "scopes",
            Self::Models => "models",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())?;
        match self {
            Self::Missing(claim) | Self::Malformed(claim) => write!(out, ".{}", claim.as_str()),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}
