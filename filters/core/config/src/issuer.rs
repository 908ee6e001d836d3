//! Issuers: whose signed tokens are believed, and how far.

use dragoman_contract::{Class, Scopes};

use crate::error::ConfigError;
use crate::form::{env_name, id};
use crate::grant::{class, limit_names, scopes};
use crate::key_set_source::{KeySetSource, key_set_source};
use crate::raw::Raw;
use crate::read::{list, object, text, whole, word};
use crate::tenant::{MAX_TENANT_ID_BYTES, TenantIndex, tenant_index};
use crate::unique::unique;

/// Most issuers. Each is another party that can let people in.
pub const MAX_ISSUERS: usize = 16;
/// Most bytes of an issuer's id; it stands in log lines.
pub const MAX_ISSUER_ID_BYTES: usize = 64;
/// Most bytes of an issuer's name, an audience or the name of a claim: they are URLs at the longest.
pub const MAX_CLAIM_TEXT_BYTES: usize = 256;
/// Most audiences of one issuer: names that this gateway has, or had.
pub const MAX_AUDIENCES: usize = 16;
/// Most secrets of one issuer: the one in use, the next, and some that are to be forgotten.
pub const MAX_SECRETS: usize = 4;
/// Largest leeway, in seconds: clocks that differ by more need mending, not patience.
pub const MAX_LEEWAY_S: u32 = 300;
/// Longest lifetime of a token, in seconds (31 days): it cannot be taken back before.
pub const MAX_TOKEN_LIFETIME_S: u32 = 31 * 86_400;
/// Leeway where the document says nothing, in seconds.
const DEFAULT_LEEWAY_S: u32 = 60;
/// Lifetime where the document says nothing, in seconds.
const DEFAULT_TOKEN_LIFETIME_S: u32 = 3600;

/// Somebody whose signed tokens are credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenIssuer {
    /// Name for people and logs; unique, at most [`MAX_ISSUER_ID_BYTES`].
    pub id: String,
    /// What its tokens have as `iss`; unique, at most [`MAX_CLAIM_TEXT_BYTES`].
    pub issuer: String,
    /// What this gateway is called in `aud`; 1 to [`MAX_AUDIENCES`].
    pub audiences: Vec<String>,
    /// Its public keys, as the JSON text of a key set. `auth` reads it: nothing else needs keys.
    pub jwks: Option<String>,
    /// Where they are read at run time instead.
    pub jwks_from: Option<KeySetSource>,
    /// Its secrets for HS256, at most [`MAX_SECRETS`].
    pub secrets: Vec<Secret>,
    /// Indices into [`crate::Gateway::tenants`] of those it may speak for; `None`: all.
    pub tenants: Option<Vec<usize>>,
    /// What its tokens may be used for that name no scopes themselves.
    pub scopes: Scopes,
    /// What the requests of its callers are for.
    pub class: Class,
    /// Names of the limits that count them; `None`: all.
    pub limits: Option<Vec<String>>,
    /// By how much its clock and ours may differ, at most [`MAX_LEEWAY_S`].
    pub leeway_s: u32,
    /// Longest time from `iat` to `exp`, 1 to [`MAX_TOKEN_LIFETIME_S`].
    pub max_lifetime_s: u32,
    /// Which claims say who calls.
    pub claims: TokenClaims,
}

/// A secret that an issuer signs with. The document names it; it never holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secret {
    /// Environment variable of the Envoy process that holds it.
    pub env: String,
    /// Its id in tokens (`kid`).
    pub kid: Option<String>,
    /// How the variable holds it.
    pub encoding: Encoding,
}

/// How a text stands for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As they are.
    Text,
    /// In base64url without padding.
    Base64Url,
}

/// Names of the claims that say who calls; `None`: the usual name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenClaims {
    /// The tenant.
    pub tenant: Option<String>,
    /// The application.
    pub app: Option<String>,
    /// The scopes.
    pub scopes: Option<String>,
    /// The models.
    pub models: Option<String>,
}

/// All issuers.
pub(crate) fn issuers(
    raw: &Raw,
    tenants: &TenantIndex<'_>,
) -> Result<Vec<TokenIssuer>, ConfigError> {
    let all = list(raw, MAX_ISSUERS, |raw, _| issuer(raw, tenants))?;
    let of = |field: &'static str, text: fn(&TokenIssuer) -> &str| {
        unique("auth.issuers", field, all.iter().map(text))
    };
    of("id", |issuer| &issuer.id)?;
    of("issuer", |issuer| &issuer.issuer)?;
    Ok(all)
}

fn issuer(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<TokenIssuer, ConfigError> {
    const FIELDS: &[&str] = &[
        "id",
        "issuer",
        "audiences",
        "jwks",
        "jwks_from",
        "secrets",
        "tenants",
        "scopes",
        "class",
        "limits",
        "leeway_s",
        "max_lifetime_s",
        "claims",
    ];
    object(raw, FIELDS, |fields| {
        let issuer = TokenIssuer {
            id: fields.required("id", |raw| id(raw, MAX_ISSUER_ID_BYTES))?,
            issuer: fields.required("issuer", claim_text)?,
            audiences: fields.required("audiences", audiences)?,
            jwks: fields.optional("jwks", jwks)?,
            jwks_from: fields.optional("jwks_from", key_set_source)?,
            secrets: fields.optional("secrets", secrets)?.unwrap_or_default(),
            tenants: fields.optional("tenants", |raw| some_tenants(raw, tenants))?,
            scopes: fields
                .optional("scopes", scopes)?
                .unwrap_or_else(Scopes::none),
            class: fields.optional("class", class)?.unwrap_or_default(),
            limits: fields.optional("limits", limit_names)?,
            leeway_s: fields
                .optional("leeway_s", |raw| whole(raw, 0, MAX_LEEWAY_S))?
                .unwrap_or(DEFAULT_LEEWAY_S),
            max_lifetime_s: fields
                .optional("max_lifetime_s", |raw| whole(raw, 1, MAX_TOKEN_LIFETIME_S))?
                .unwrap_or(DEFAULT_TOKEN_LIFETIME_S),
            claims: fields.optional("claims", claims)?.unwrap_or_default(),
        };
        let public = (issuer.jwks.is_some(), issuer.jwks_from.is_some());
        if public == (true, true) {
            let reason = "must not stand beside jwks: its public keys come from one place";
            return Err(ConfigError::new(reason).in_field("jwks_from"));
        }
        if public == (false, false) && issuer.secrets.is_empty() {
            let reason = "has no keys: give its public ones as jwks, say where they are read as jwks_from, or name the secrets of HS256";
            return Err(ConfigError::new(reason));
        }
        Ok(issuer)
    })
}

/// Kept as text. What must never stand in the document is refused here, where every filter and
/// `host-sim render` see it.
fn jwks(raw: &Raw) -> Result<String, ConfigError> {
    let Raw::Object(members) = raw else {
        let reason = "must be a set of public keys: {\"keys\": [...]}";
        return Err(ConfigError::new(reason));
    };
    for (_, value) in members {
        let Raw::List(keys) = value else { continue };
        for (index, key) in keys.iter().enumerate() {
            let secret = |(name, _): &(String, Raw)| matches!(name.as_str(), "k" | "d");
            if matches!(key, Raw::Object(key) if key.iter().any(secret)) {
                let reason = "must not hold a secret or private key, which config dumps show: withdraw it; a secret of HS256 is named in secrets as {\"env\": \"NAME\"}";
                let fault = ConfigError::new(reason).in_item(index);
                return Err(fault.in_field("keys"));
            }
        }
    }
    Ok(raw.json())
}

fn secrets(raw: &Raw) -> Result<Vec<Secret>, ConfigError> {
    list(raw, MAX_SECRETS, |raw, _| secret(raw))
}

fn secret(raw: &Raw) -> Result<Secret, ConfigError> {
    let literal = match raw {
        Raw::Text(_) => true,
        Raw::Object(entries) => entries
            .iter()
            .any(|(name, _)| matches!(name.as_str(), "value" | "secret" | "key" | "k")),
        _ => false,
    };
    if literal {
        let reason = "must not hold the secret itself, which config dumps show: name the environment variable that holds it as {\"env\": \"NAME\"}";
        return Err(ConfigError::new(reason));
    }
    object(raw, &["env", "kid", "encoding"], |fields| {
        let encodings = [("text", Encoding::Text), ("base64url", Encoding::Base64Url)];
        Ok(Secret {
            env: fields
                .required("env", env_name)
                .map_err(ConfigError::without_value)?,
            kid: fields.optional("kid", claim_text)?,
            encoding: fields
                .optional("encoding", |raw| word(raw, &encodings))?
                .unwrap_or(Encoding::Text),
        })
    })
}

fn audiences(raw: &Raw) -> Result<Vec<String>, ConfigError> {
    let all = list(raw, MAX_AUDIENCES, |raw, _| claim_text(raw))?;
    if all.is_empty() {
        return Err(ConfigError::new("must name this gateway at least once"));
    }
    Ok(all)
}

fn some_tenants(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<Vec<usize>, ConfigError> {
    list(raw, tenants.len(), |raw, before| {
        id(raw, MAX_TENANT_ID_BYTES)?;
        let tenant = tenant_index(raw, tenants)?;
        if before.contains(&tenant) {
            return Err(ConfigError::of(raw, "is given twice"));
        }
        Ok(tenant)
    })
}

fn claims(raw: &Raw) -> Result<TokenClaims, ConfigError> {
    object(raw, &["tenant", "app", "scopes", "models"], |fields| {
        Ok(TokenClaims {
            tenant: fields.optional("tenant", claim_text)?,
            app: fields.optional("app", claim_text)?,
            scopes: fields.optional("scopes", claim_text)?,
            models: fields.optional("models", claim_text)?,
        })
    })
}

fn claim_text(raw: &Raw) -> Result<String, ConfigError> {
    let text = text(raw)?;
    if !(1..=MAX_CLAIM_TEXT_BYTES).contains(&text.len()) || text.chars().any(char::is_control) {
        let reason =
            format!("must have 1 to {MAX_CLAIM_TEXT_BYTES} bytes without control characters");
        return Err(ConfigError::of(raw, reason));
    }
    Ok(text.to_owned())
}
