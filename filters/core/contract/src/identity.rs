//! Who is calling: `auth` → all later filters.

use crate::wire::{Reader, Writer};

/// Most patterns in one allowlist of models.
pub const MAX_MODEL_PATTERNS: usize = 64;

/// A caller whose credential was checked (`dragoman.identity`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    /// Id of the API key; never the key itself.
    pub key: &'a str,
    /// Tenant.
    pub tenant: &'a str,
    /// Application of the tenant.
    pub app: &'a str,
    /// Models that the key may use: names, or beginnings that end with `*`; `None`: all.
    pub key_models: Option<Vec<&'a str>>,
    /// Models that the tenant may use, likewise.
    pub tenant_models: Option<Vec<&'a str>>,
}

impl<'a> Identity<'a> {
    /// The record as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.str(self.key).str(self.tenant).str(self.app);
        out.option_list(self.key_models.as_deref())
            .option_list(self.tenant_models.as_deref());
        out.finish()
    }

    /// The record in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let (key, tenant, app) = (input.str()?, input.str()?, input.str()?);
        let key_models = input.option_list()?;
        let tenant_models = input.option_list()?;
        input.end()?;
        Some(Self {
            key,
            tenant,
            app,
            key_models,
            tenant_models,
        })
    }

    /// Whether key and tenant may both use a model.
    #[must_use]
    pub fn may_use(&self, model: &str) -> bool {
        [&self.key_models, &self.tenant_models]
            .into_iter()
            .all(|models| {
                models
                    .as_ref()
                    .is_none_or(|models| models.iter().any(|pattern| matches(pattern, model)))
            })
    }
}

/// A pattern is a name, or the beginning of one followed by `*`.
fn matches(pattern: &str, model: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => model.starts_with(beginning),
        None => pattern == model,
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    fn identity<'a>(key: Option<&[&'a str]>, tenant: Option<&[&'a str]>) -> Identity<'a> {
        let list = |models: Option<&[&'a str]>| models.map(<[_]>::to_vec);
        Identity {
            key: "k1",
            tenant: "team-a",
            app: "chatbot",
            key_models: list(key),
            tenant_models: list(tenant),
        }
    }

    #[test]
    fn an_identity_reads_as_it_was_written() {
        for record in [
            identity(None, None),
            identity(Some(&[]), Some(&["chat-*", "x"])),
            identity(Some(&["*"]), None),
        ] {
            let bytes = record.encode();
            assert_eq!(Identity::decode(&bytes), Some(record));
            for cut in 0..bytes.len() {
                assert_eq!(Identity::decode(&bytes[..cut]), None);
            }
        }
    }

    #[test]
    fn key_and_tenant_must_both_allow_a_model() {
        let table = [
            (identity(None, None), true),
            (identity(Some(&["chat-*"]), None), true),
            (identity(Some(&["chat-fast"]), Some(&["*"])), true),
            (identity(Some(&["chat-fast"]), Some(&["other"])), false),
            (identity(Some(&["chat"]), None), false),
            (identity(Some(&[]), None), false),
            (identity(None, Some(&["Chat-fast"])), false),
        ];
        for (identity, expected) in table {
            assert_eq!(identity.may_use("chat-fast"), expected, "{identity:?}");
        }
    }
}
