//! What a credential entitles its holder to, whatever kind of credential it is.

use dragoman_contract::scopes::{MAX_SCOPE_PATHS, PathScope};
use dragoman_contract::{Class, Scope, Scopes};

use crate::error::ConfigError;
use crate::form::{MAX_PATH_BYTES, id, model_patterns};
use crate::limit::{MAX_LIMIT_NAME_BYTES, MAX_LIMITS};
use crate::raw::Raw;
use crate::read::{Fields, list, text, word};
use crate::tenant::MAX_TENANT_ID_BYTES;

/// Most bytes of an application's id; it stands in every log line.
pub const MAX_APP_ID_BYTES: usize = 64;

/// Fields of an object that [`grant`] reads.
pub(crate) const GRANT_FIELDS: [&str; 6] = ["tenant", "app", "scopes", "models", "class", "limits"];

/// Who somebody is, and what that one may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Id of the tenant, at most [`MAX_TENANT_ID_BYTES`]. One that the document does not have is as
    /// good as suspended.
    pub tenant: String,
    /// Application of the tenant, at most [`MAX_APP_ID_BYTES`].
    pub app: String,
    /// What may be asked for.
    pub scopes: Scopes,
    /// Models that may be used: names, or beginnings that end with `*`; `None`: all.
    pub models: Option<Vec<String>>,
    /// What the requests are for.
    pub class: Class,
    /// Names of the limits that count the requests, at most [`MAX_LIMITS`]; `None`: all.
    pub limits: Option<Vec<String>>,
}

/// The grant among the fields of an object.
pub(crate) fn grant(fields: &mut Fields<'_>) -> Result<Grant, ConfigError> {
    Ok(Grant {
        tenant: fields.required("tenant", |raw| id(raw, MAX_TENANT_ID_BYTES))?,
        app: fields.required("app", |raw| id(raw, MAX_APP_ID_BYTES))?,
        scopes: fields.optional("scopes", scopes)?.unwrap_or_default(),
        models: fields.optional("models", model_patterns)?,
        class: fields.optional("class", class)?.unwrap_or_default(),
        limits: fields.optional("limits", limit_names)?,
    })
}

/// A work class by its name.
pub(crate) fn class(raw: &Raw) -> Result<Class, ConfigError> {
    word(raw, &Class::ALL.map(|class| (class.as_str(), class)))
}

/// Kinds of API and paths. An empty list allows nothing.
pub(crate) fn scopes(raw: &Raw) -> Result<Scopes, ConfigError> {
    let most = Scope::ALL.len() + MAX_SCOPE_PATHS;
    let named = list(raw, most, |raw, _| named_scope(raw))?;
    let mut scopes = Scopes::none();
    for (index, one) in named.into_iter().enumerate() {
        let before = (scopes.kinds().count(), scopes.paths().len());
        let twice = matches!(&one, Named::Path(path) if scopes.paths().contains(path));
        scopes = match one {
            Named::Kind(scope) => scopes.with(scope),
            Named::Path(path) => scopes.with_path(path),
        };
        if twice || before == (scopes.kinds().count(), scopes.paths().len()) {
            let reason = format!("is given twice, or is one path more than {MAX_SCOPE_PATHS}");
            return Err(ConfigError::new(reason).in_item(index));
        }
    }
    Ok(scopes)
}

enum Named {
    Kind(Scope),
    Path(PathScope),
}

fn named_scope(raw: &Raw) -> Result<Named, ConfigError> {
    let text = text(raw)?;
    let Some((method, path)) = text.split_once(' ') else {
        return Scope::of_word(text).map(Named::Kind).ok_or_else(|| {
            let words: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
            let words = words.join(", ");
            let reason = format!(
                "must be one of {words}, or a method and a path such as \"POST /v1/audio/\""
            );
            ConfigError::of(raw, reason)
        });
    };
    let any = method == "*";
    if !any && (method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase())) {
        let reason = "must begin with a method in capital letters, or * for any";
        return Err(ConfigError::of(raw, reason));
    }
    if !is_plain_path(path) {
        let reason = "must go on with the beginning of a path as Envoy normalises it: no query, no percent sign, no dot segment, no two slashes in a row";
        return Err(ConfigError::of(raw, reason));
    }
    Ok(Named::Path(PathScope {
        method: (!any).then(|| method.to_owned()),
        path: path.to_owned(),
    }))
}

/// A path that has one spelling.
fn is_plain_path(path: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b"?#%\\".contains(&byte);
    path.starts_with('/')
        && path.len() <= MAX_PATH_BYTES
        && path.bytes().all(allowed)
        && !path.contains("//")
        && !path.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// Names of limits; whether there are such is for whoever has all of the document.
pub(crate) fn limit_names(raw: &Raw) -> Result<Vec<String>, ConfigError> {
    list(raw, MAX_LIMITS, |raw, before: &[String]| {
        let name = id(raw, MAX_LIMIT_NAME_BYTES)?;
        if before.contains(&name) {
            return Err(ConfigError::of(raw, "is given twice"));
        }
        Ok(name)
    })
}
