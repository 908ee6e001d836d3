//! An issuer: its rules and keys, and what its tokens entitle to.

use std::borrow::Cow;
use std::time::Duration;

use dragoman_config::{
    Encoding, Gateway, Grant, MAX_TENANT_ID_BYTES, Secret, TokenClaims, TokenIssuer,
};
use dragoman_contract::{Scope, Scopes};
use dragoman_sdk::{Environment, HostResult, RequestHeaders};
use dragoman_token::{
    Caller, Claim, ClaimNames, Issuer, Key, KeySet, KeySetFault, Refusal, decode_base64url,
};
use sha2::{Digest as _, Sha256};

use super::Verified;
use super::published::Published;
use crate::reason::Reason;
use crate::uploads::Digest;

/// Longest subject that stands in logs as it is, in bytes; of a longer one stands a digest.
const MAX_SHOWN_SUBJECT_BYTES: usize = 64;
/// Keeps what is counted by a subject apart from what is counted by a key: no header has this byte.
const SUBJECTS: &[u8] = b"\0subject\0";

/// An issuer of the document, ready to be asked.
#[derive(Debug)]
pub(super) struct Trusted {
    pub rules: Issuer,
    /// All keys that are known.
    pub keys: KeySet,
    /// Those that the issuer publishes, as this thread sees them; `None`: the document has them.
    published: Option<Published>,
    of_document: TokenIssuer,
}

impl Trusted {
    /// An issuer with its keys. Errors begin with the field.
    pub(super) fn new(issuer: &TokenIssuer, environment: &dyn Environment) -> Result<Self, String> {
        let mut keys = match &issuer.jwks {
            Some(jwks) => KeySet::parse(jwks.as_bytes()).map_err(|fault| in_jwks(&fault))?,
            None => KeySet::default(),
        };
        for (index, named) in issuer.secrets.iter().enumerate() {
            let secret = secret(named, environment)
                .map_err(|reason| format!("secrets[{index}].env: {}: {reason}", named.env))?;
            keys.add(secret)
                .map_err(|fault| format!("secrets[{index}].{fault}"))?;
        }
        let from = issuer.jwks_from.as_ref();
        Ok(Self {
            rules: rules(issuer),
            published: from.map(|from| Published::new(issuer, from, keys.clone())),
            keys,
            of_document: issuer.clone(),
        })
    }

    /// Takes the keys that the issuer publishes now; whether they are others than before.
    pub(super) fn refresh(&mut self, cx: &mut RequestHeaders<'_>, now_ms: u64) -> HostResult<bool> {
        let Some(published) = &mut self.published else {
            return Ok(false);
        };
        let keys = published.keys(cx, now_ms)?;
        let changed = keys.is_some();
        if let Some(keys) = keys {
            self.keys = keys;
        }
        Ok(changed)
    }

    /// Why a token is refused that the rules refuse for this reason. A key that nobody knows may be
    /// a new one: then it is asked for. Before any was read nobody can say that it is unknown.
    pub(super) fn explain(
        &mut self,
        cx: &mut RequestHeaders<'_>,
        now_ms: u64,
        refusal: Refusal,
    ) -> HostResult<Reason> {
        let is_unknown = refusal == Refusal::UnknownKey;
        let Some(published) = self.published.as_mut().filter(|_| is_unknown) else {
            return Ok(refusal.into());
        };
        if !published.is_ready() {
            return Ok(Reason::NotReady);
        }
        published.want(cx, now_ms)?;
        Ok(refusal.into())
    }

    /// Whether its keys are read at run time.
    pub(super) fn is_polled(&self) -> bool {
        self.published.is_some()
    }

    /// What a token of this issuer entitles to that says this.
    ///
    /// # Errors
    /// It names no tenant, or one that the issuer may not speak for.
    pub(super) fn entitle(
        &self,
        gateway: &Gateway,
        (issuer, caller): (usize, Caller),
    ) -> Result<Verified, Reason> {
        let (tenant, index) = self.tenant(gateway, caller.tenant)?;
        let id = self.id(caller.subject.as_deref());
        Ok(Verified {
            issuer,
            counted_by: counted_by(&id),
            id,
            grant: Grant {
                tenant,
                app: caller.app,
                scopes: self.scopes(caller.scopes.as_deref()),
                models: caller.models,
                class: self.of_document.class,
                limits: self.of_document.limits.clone(),
            },
            tenant: index,
            window: caller.window,
        })
    }

    /// The tenant that the token names; without a name the only one that the issuer may speak for.
    fn tenant(
        &self,
        gateway: &Gateway,
        named: Option<String>,
    ) -> Result<(String, Option<usize>), Reason> {
        let allowed = self.of_document.tenants.as_deref();
        let Some(name) = named else {
            let only = match allowed {
                Some([only]) => gateway.tenant(*only).map(|tenant| (&tenant.id, *only)),
                _ => None,
            };
            let (id, index) = only.ok_or(Refusal::Missing(Claim::Tenant))?;
            return Ok((id.clone(), Some(index)));
        };
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if !(1..=MAX_TENANT_ID_BYTES).contains(&name.len()) || !name.bytes().all(is_id) {
            return Err(Refusal::Malformed(Claim::Tenant).into());
        }
        let index = gateway.tenant_index(&name);
        let may_speak = |allowed: &[usize]| index.is_some_and(|index| allowed.contains(&index));
        if allowed.is_none_or(may_speak) {
            Ok((name, index))
        } else {
            Err(Reason::ForeignTenant)
        }
    }

    /// The scopes of ours among those of a token: others are for other services.
    fn scopes(&self, named: Option<&[String]>) -> Scopes {
        match named {
            None => self.of_document.scopes.clone(),
            Some(words) => words
                .iter()
                .filter_map(|word| Scope::of_word(word))
                .fold(Scopes::none(), Scopes::with),
        }
    }

    fn id(&self, subject: Option<&str>) -> String {
        let issuer = &self.of_document.id;
        match subject {
            None => issuer.clone(),
            Some(subject) => format!("{issuer}:{}", shown(subject)),
        }
    }
}

fn rules(issuer: &TokenIssuer) -> Issuer {
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    Issuer {
        name: issuer.issuer.clone(),
        audiences: issuer.audiences.clone(),
        leeway: seconds(issuer.leeway_s),
        max_lifetime: seconds(issuer.max_lifetime_s),
        claims: claim_names(&issuer.claims),
    }
}

fn claim_names(given: &TokenClaims) -> ClaimNames {
    let usual = ClaimNames::default();
    ClaimNames {
        tenant: given.tenant.clone().unwrap_or(usual.tenant),
        app: given.app.clone().unwrap_or(usual.app),
        scopes: given.scopes.clone().unwrap_or(usual.scopes),
        models: given.models.clone().unwrap_or(usual.models),
    }
}

fn secret(named: &Secret, environment: &dyn Environment) -> Result<Key, String> {
    let value = environment
        .variable(&named.env)
        .filter(|value| !value.is_empty())
        .ok_or("not set in the environment of Envoy")?;
    let bytes = match named.encoding {
        Encoding::Text => value.into_bytes(),
        Encoding::Base64Url => decode_base64url(value.as_bytes())
            .ok_or("does not hold base64url without padding, as encoding says")?,
    };
    Key::secret(named.kid.clone(), &bytes).map_err(|fault| fault.to_string())
}

fn in_jwks(fault: &KeySetFault) -> String {
    let joint = if fault.path.is_empty() { ": " } else { "." };
    format!("jwks{joint}{fault}")
}

/// A subject as logs can carry it: anything but visible ASCII, or much of it, is a digest instead.
fn shown(subject: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'"' | b'\\');
    if (1..=MAX_SHOWN_SUBJECT_BYTES).contains(&subject.len()) && subject.bytes().all(plain) {
        return Cow::Borrowed(subject);
    }
    let digest = Sha256::digest(subject.as_bytes());
    let hex: Vec<String> = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Cow::Owned(format!("#{}", hex.concat()))
}

fn counted_by(id: &str) -> Digest {
    let mut digest = Sha256::new();
    digest.update(SUBJECTS);
    digest.update(id.as_bytes());
    digest.finalize().into()
}
