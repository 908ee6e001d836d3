//! What a credential may be used for: kinds of API, or a method and the beginning of a path.

use crate::paths::{ApiKind, Route, path_of};

/// Most paths in one set of scopes: a request is compared with each of them.
pub const MAX_SCOPE_PATHS: usize = 16;

macro_rules! scopes {
    ($($variant:ident $word:literal $meaning:literal;)*) => {
        /// A kind of API that a credential can be limited to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Scope {
            $(#[doc = $meaning] $variant,)*
        }

        impl Scope {
            /// Every scope.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name in configurations and tokens.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

scopes! {
    Chat "chat" "Chat completions.";
    Completions "completions" "Completions of plain text.";
    Embeddings "embeddings" "Embeddings.";
    Responses "responses" "OpenAI's responses.";
    Messages "messages" "Anthropic's messages.";
    Images "images" "Images.";
    Audio "audio" "Speech and transcriptions.";
    Videos "videos" "Videos.";
    Models "models" "The list of models and their descriptions.";
    Admin "admin" "What changes the gateway itself; never had without being named.";
}

impl Scope {
    /// The scope of this name.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|scope| scope.as_str() == word)
    }

    /// The scope that a request needs; `None` where nothing is served.
    #[must_use]
    pub fn of_route(route: &Route<'_>) -> Option<Self> {
        Some(match route {
            Route::Api(ApiKind::Chat) => Self::Chat,
            Route::Api(ApiKind::Completions) => Self::Completions,
            Route::Api(ApiKind::Embeddings) => Self::Embeddings,
            Route::Api(ApiKind::Responses) => Self::Responses,
            Route::Api(ApiKind::Messages) => Self::Messages,
            Route::Api(ApiKind::Images) => Self::Images,
            Route::Api(ApiKind::Speech) => Self::Audio,
            Route::ModelList | Route::Model(_) => Self::Models,
            Route::Health | Route::Unknown => return None,
        })
    }

    const fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// A method and the beginning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathScope {
    /// The method; `None`: any.
    pub method: Option<String>,
    /// The path itself, or where it ends at a `/` of the request's path, what lies below it.
    pub path: String,
}

impl PathScope {
    fn covers(&self, method: &[u8], path: &[u8]) -> bool {
        let same_method = self
            .method
            .as_ref()
            .is_none_or(|own| own.as_bytes() == method);
        let below =
            |rest: &[u8]| rest.is_empty() || rest.starts_with(b"/") || self.path.ends_with('/');
        same_method && path.strip_prefix(self.path.as_bytes()).is_some_and(below)
    }
}

/// Everything that a credential may be used for. What nothing in it covers is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scopes {
    kinds: u16,
    paths: Vec<PathScope>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self::usual()
    }
}

impl Scopes {
    /// What a credential may do that says nothing: everything but [`Scope::Admin`].
    #[must_use]
    pub fn usual() -> Self {
        let all = Scope::ALL
            .iter()
            .fold(0, |kinds, scope| kinds | scope.bit());
        Self {
            kinds: all & !Scope::Admin.bit(),
            paths: Vec::new(),
        }
    }

    /// Nothing at all.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            kinds: 0,
            paths: Vec::new(),
        }
    }

    /// Adds a kind.
    #[must_use]
    pub fn with(mut self, scope: Scope) -> Self {
        self.kinds |= scope.bit();
        self
    }

    /// Adds a path; beyond [`MAX_SCOPE_PATHS`] it is left out, which denies.
    #[must_use]
    pub fn with_path(mut self, path: PathScope) -> Self {
        if self.paths.len() < MAX_SCOPE_PATHS {
            self.paths.push(path);
        }
        self
    }

    /// Whether a kind was given by its name.
    #[must_use]
    pub fn has(&self, scope: Scope) -> bool {
        self.kinds & scope.bit() != 0
    }

    /// The kinds, in their order.
    pub fn kinds(&self) -> impl Iterator<Item = Scope> + '_ {
        Scope::ALL.iter().copied().filter(|scope| self.has(*scope))
    }

    /// The paths, in the order in which they were given.
    #[must_use]
    pub fn paths(&self) -> &[PathScope] {
        &self.paths
    }

    /// Whether a request may be made. `target` is the path as Envoy normalised it, with or without
    /// a query. Where nothing is served at all, there is nothing to deny.
    #[must_use]
    pub fn allow(&self, method: &[u8], target: &[u8], route: &Route<'_>) -> bool {
        let Some(needed) = Scope::of_route(route) else {
            return true;
        };
        let path = path_of(target);
        self.has(needed) || self.paths.iter().any(|own| own.covers(method, path))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;
    use crate::paths::route;

    fn may(scopes: &Scopes, method: &str, target: &str) -> bool {
        let (method, target) = (method.as_bytes(), target.as_bytes());
        scopes.allow(method, target, &route(method, target))
    }

    fn path(method: Option<&str>, path: &str) -> PathScope {
        PathScope {
            method: method.map(str::to_owned),
            path: path.to_owned(),
        }
    }

    #[test]
    fn every_kind_of_api_needs_the_scope_of_its_name() {
        for kind in ApiKind::ALL {
            let needed = Scope::of_route(&Route::Api(kind)).unwrap();
            let only = Scopes::none().with(needed);
            for other in ApiKind::ALL {
                assert_eq!(
                    may(&only, "POST", other.path()),
                    other == kind,
                    "{kind:?} {other:?}"
                );
            }
            assert!(!may(&only, "GET", "/v1/models"));
        }
    }

    #[test]
    fn no_scope_allows_nothing_and_the_usual_ones_all_that_is_served() {
        for (method, target) in [
            ("POST", "/v1/chat/completions"),
            ("POST", "/v1/audio/speech?x"),
            ("GET", "/v1/models"),
            ("GET", "/v1/models/a"),
        ] {
            assert!(!may(&Scopes::none(), method, target), "{target}");
            assert!(may(&Scopes::usual(), method, target), "{target}");
        }
        assert!(!Scopes::usual().has(Scope::Admin));
    }

    #[test]
    fn a_path_covers_itself_and_what_lies_below_it_for_its_method() {
        let audio = Scopes::none().with_path(path(Some("POST"), "/v1/audio"));
        let models = Scopes::none().with_path(path(None, "/v1/models/"));
        for (scopes, method, target, expected) in [
            (&audio, "POST", "/v1/audio/speech", true),
            (&audio, "POST", "/v1/audio/speech?q=/v1/models", true),
            (
                &audio,
                "POST",
                "/v1/chat/completions?/v1/audio/speech",
                false,
            ),
            (&audio, "POST", "/v1/chat/completions", false),
            (&models, "GET", "/v1/models/a", true),
            (&models, "GET", "/v1/models", false),
        ] {
            assert_eq!(may(scopes, method, target), expected, "{method} {target}");
        }
        let part = Scopes::none().with_path(path(Some("POST"), "/v1/chat/comp"));
        assert!(!may(&part, "POST", "/v1/chat/completions"));
        let other_method = Scopes::none().with_path(path(Some("POST"), "/v1/models"));
        assert!(!may(&other_method, "GET", "/v1/models"));
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for scope in Scope::ALL {
            assert_eq!(Scope::of_word(scope.as_str()), Some(*scope));
        }
        assert_eq!(Scope::of_word("Chat"), None);
        assert_eq!(Scope::of_word(""), None);
    }
}
