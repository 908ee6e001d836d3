//! Who is calling: `auth` → all later filters.

use crate::wire::{Reader, Writer};

/// Most patterns in one allowlist of models.
pub const MAX_MODEL_PATTERNS: usize = 64;

/// What a caller's requests are for, which decides who waits when workers are busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Somebody waits for the answer.
    #[default]
    Interactive = 0,
    /// Nobody does: it may be refused first and asked again later.
    Background = 1,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 2] = [Self::Interactive, Self::Background];

    /// Its name in configurations, tokens and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Background => "background",
        }
    }

    /// The class that a client names; `batch` is another word for [`Class::Background`]. `None`: the word
    /// means nothing, and counts as not said.
    #[must_use]
    pub fn of_word(word: &[u8]) -> Option<Self> {
        match word {
            b"interactive" => Some(Self::Interactive),
            b"background" | b"batch" => Some(Self::Background),
            _ => None,
        }
    }

    /// The class of a request whose caller asks for another one. A caller may wait longer than it
    /// would have to; that nobody waits for a background key's requests, it cannot deny.
    #[must_use]
    pub const fn and(self, asked: Option<Self>) -> Self {
        match asked {
            Some(Self::Background) => Self::Background,
            Some(Self::Interactive) | None => self,
        }
    }

    /// The class with this number on the wire, if there is one.
    #[must_use]
    pub fn from_wire(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|class| *class as u8 == byte)
    }
}

/// A caller whose credential was checked (`dragoman.identity`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity<'a> {
    /// Id of the API key or of whatever else the caller showed; never the credential itself.
    pub key: &'a str,
    /// Tenant.
    pub tenant: &'a str,
    /// Application of the tenant.
    pub app: &'a str,
    /// Models that the key may use: names, or beginnings that end with `*`; `None`: all.
    pub key_models: Option<Vec<&'a str>>,
    /// Models that the tenant may use, likewise.
    pub tenant_models: Option<Vec<&'a str>>,
    /// Names of the limits that count this caller's requests; `None`: all.
    pub limits: Option<Vec<&'a str>>,
    /// What its requests are for.
    pub class: Class,
    /// Whether it came in by an internal listener, where private endpoints are.
    pub internal: bool,
}

impl<'a> Identity<'a> {
    /// The record as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.str(self.key).str(self.tenant).str(self.app);
        out.option_list(self.key_models.as_deref())
            .option_list(self.tenant_models.as_deref())
            .option_list(self.limits.as_deref())
            .u8(self.class as u8)
            .u8(u8::from(self.internal));
        out.finish()
    }

    /// The record in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let (key, tenant, app) = (input.str()?, input.str()?, input.str()?);
        let key_models = input.option_list()?;
        let tenant_models = input.option_list()?;
        let limits = input.option_list()?;
        let class = Class::from_wire(input.u8()?)?;
        let internal = input.u8()? != 0;
        input.end()?;
        Some(Self {
            key,
            tenant,
            app,
            key_models,
            tenant_models,
            limits,
            class,
            internal,
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

    /// Whether a limit counts this caller's requests.
    #[must_use]
    pub fn is_counted_by(&self, limit: &str) -> bool {
        self.limits
            .as_ref()
            .is_none_or(|limits| limits.contains(&limit))
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
            ..Identity::default()
        }
    }

    #[test]
    fn an_identity_reads_as_it_was_written() {
        for record in [
            identity(None, None),
            identity(Some(&[]), Some(&["chat-*", "x"])),
            identity(Some(&["*"]), None),
            Identity {
                limits: Some(vec!["gold"]),
                class: Class::Background,
                internal: true,
                ..identity(None, None)
            },
        ] {
            let bytes = record.encode();
            assert_eq!(Identity::decode(&bytes), Some(record));
            for cut in 0..bytes.len() {
                assert_eq!(Identity::decode(&bytes[..cut]), None);
            }
        }
    }

    #[test]
    fn a_caller_may_ask_to_wait_and_not_to_go_first() {
        let class = |of_key: Class, word: &[u8]| of_key.and(Class::of_word(word));
        for (of_key, word, expected) in [
            (Class::Interactive, &b"background"[..], Class::Background),
            (Class::Interactive, b"batch", Class::Background),
            (Class::Interactive, b"interactive", Class::Interactive),
            (Class::Interactive, b"", Class::Interactive),
            (Class::Interactive, b"Background", Class::Interactive),
            (Class::Background, b"interactive", Class::Background),
            (Class::Background, b"", Class::Background),
        ] {
            assert_eq!(class(of_key, word), expected, "{word:?}");
        }
    }

    #[test]
    fn the_limits_it_names_count_it_and_all_where_it_names_none() {
        let of = |limits: Option<Vec<&'static str>>| Identity {
            limits,
            ..identity(None, None)
        };
        assert!(of(None).is_counted_by("gold"));
        assert!(of(Some(vec!["gold"])).is_counted_by("gold"));
        assert!(!of(Some(vec!["gold"])).is_counted_by("silver"));
        assert!(!of(Some(Vec::new())).is_counted_by("gold"));
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
