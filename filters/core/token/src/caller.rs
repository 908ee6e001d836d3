//! Who calls, as a verified token says it.

use dragoman_contract::identity::MAX_MODEL_PATTERNS;

use crate::claims::Claims;
use crate::date::Window;
use crate::refusal::{Claim, Refusal};

/// Longest name of an application, in bytes, as in the document: it stands in every log line.
pub const MAX_APP_BYTES: usize = 64;
/// Longest subject, in bytes: what OpenID Connect allows.
pub const MAX_SUBJECT_BYTES: usize = 255;
/// Longest name of a model, in bytes, as in the document.
pub const MAX_MODEL_BYTES: usize = 256;
/// Most scopes of a token. Issuers put those of other services beside ours; a token of
/// [`crate::MAX_TOKEN_BYTES`] has no room for many more.
pub const MAX_SCOPES: usize = 256;

/// Names of the claims that say who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimNames {
    /// A string.
    pub tenant: String,
    /// A string of 1 to [`MAX_APP_BYTES`] of `A-Z a-z 0-9 . _ -`.
    pub app: String,
    /// A string with spaces between the scopes, or a list of strings.
    pub scopes: String,
    /// Likewise: names of models, or beginnings that end with `*`.
    pub models: String,
}

impl Default for ClaimNames {
    fn default() -> Self {
        Self {
            tenant: "tenant_id".to_owned(),
            app: "app_id".to_owned(),
            scopes: "scope".to_owned(),
            models: "models".to_owned(),
        }
    }
}

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The one the token was made for (`sub`).
    pub subject: Option<String>,
    /// `None`: the token does not say.
    pub tenant: Option<String>,
    /// Application of the tenant.
    pub app: String,
    /// `None`: the token does not say. Scopes of other services may be among them.
    pub scopes: Option<Vec<String>>,
    /// At most [`MAX_MODEL_PATTERNS`] names, or beginnings that end with `*`; `None`: the token
    /// does not say.
    pub models: Option<Vec<String>>,
    /// When the token is valid: to be looked at each time it is shown.
    pub window: Window,
}

impl Caller {
    /// What these claims say; `window` is when they do.
    pub(crate) fn of(claims: &Claims, names: &ClaimNames, window: Window) -> Result<Self, Refusal> {
        Ok(Self {
            subject: subject(claims)?,
            tenant: claims
                .text(&names.tenant, Claim::Tenant)?
                .map(str::to_owned),
            app: app(claims, &names.app)?,
            scopes: scopes(claims, &names.scopes)?,
            models: models(claims, &names.models)?,
            window,
        })
    }
}

fn subject(claims: &Claims) -> Result<Option<String>, Refusal> {
    match claims.text("sub", Claim::Subject)? {
        Some(subject) if subject.len() > MAX_SUBJECT_BYTES => {
            Err(Refusal::Malformed(Claim::Subject))
        }
        subject => Ok(subject.map(str::to_owned)),
    }
}

fn app(claims: &Claims, name: &str) -> Result<String, Refusal> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    match claims.text(name, Claim::App)? {
        None => Err(Refusal::Missing(Claim::App)),
        Some(app) if (1..=MAX_APP_BYTES).contains(&app.len()) && app.bytes().all(allowed) => {
            Ok(app.to_owned())
        }
        Some(_) => Err(Refusal::Malformed(Claim::App)),
    }
}

fn scopes(claims: &Claims, name: &str) -> Result<Option<Vec<String>>, Refusal> {
    match claims.words(name, Claim::Scopes)? {
        Some(words) if words.len() > MAX_SCOPES => Err(Refusal::Malformed(Claim::Scopes)),
        words => Ok(words.map(owned)),
    }
}

/// A list that says something else than meant would allow too much or too little.
fn models(claims: &Claims, name: &str) -> Result<Option<Vec<String>>, Refusal> {
    let Some(words) = claims.words(name, Claim::Models)? else {
        return Ok(None);
    };
    if words.len() > MAX_MODEL_PATTERNS || !words.iter().all(|word| is_pattern(word)) {
        return Err(Refusal::Malformed(Claim::Models));
    }
    Ok(Some(owned(words)))
}

fn is_pattern(word: &str) -> bool {
    let beginning = word.strip_suffix('*').unwrap_or(word);
    (1..=MAX_MODEL_BYTES).contains(&word.len())
        && !beginning.contains('*')
        && !word.chars().any(char::is_control)
}

fn owned(words: Vec<&str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}
