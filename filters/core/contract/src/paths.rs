//! The closed table of what the gateway answers: (method, path) to kind of API.

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ApiKind {
    /// `POST /v1/chat/completions`
    Chat = 1,
    /// `POST /v1/completions`
    Completions = 2,
    /// `POST /v1/embeddings`
    Embeddings = 3,
    /// `POST /v1/responses`
    Responses = 4,
    /// `POST /v1/messages` (Anthropic)
    Messages = 5,
    /// `POST /v1/images/generations`
    Images = 6,
    /// `POST /v1/audio/speech`
    Speech = 7,
}

impl ApiKind {
    /// Every kind, for tables and tests.
    pub const ALL: [Self; 7] = [
        Self::Chat,
        Self::Completions,
        Self::Embeddings,
        Self::Responses,
        Self::Messages,
        Self::Images,
        Self::Speech,
    ];

    /// The path that serves this kind.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
            Self::Embeddings => "/v1/embeddings",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
            Self::Images => "/v1/images/generations",
            Self::Speech => "/v1/audio/speech",
        }
    }

    /// The kind with this number on the wire, if there is one.
    #[must_use]
    pub fn from_wire(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// What a method and a path mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// A request with a JSON body that names a model.
    Api(ApiKind),
    /// `GET /v1/models`
    ModelList,
    /// `GET /v1/models/{id}`; the id as it stands in the path, still percent-encoded.
    Model(&'a [u8]),
    /// `GET /healthz`, `GET /readyz`: whether the gateway itself is up; asked without a credential.
    Health,
    /// Everything else.
    Unknown,
}

/// Paths that answer whether the gateway itself is up.
const HEALTH: [&[u8]; 2] = [b"/healthz", b"/readyz"];

/// A target without its query.
#[must_use]
pub fn path_of(path_and_query: &[u8]) -> &[u8] {
    let end = path_and_query.iter().position(|byte| *byte == b'?');
    end.and_then(|end| path_and_query.get(..end))
        .unwrap_or(path_and_query)
}

/// Looks up a request line. The query string is ignored; a trailing slash, another case or
/// another spelling of a path is another path, so nothing is served under a name that a later
/// check does not know.
#[must_use]
pub fn route<'a>(method: &[u8], path_and_query: &'a [u8]) -> Route<'a> {
    let path = path_of(path_and_query);
    match method {
        // The whole target, without a query: what needs no credential is exactly this.
        b"GET" if HEALTH.contains(&path_and_query) => Route::Health,
        b"POST" => ApiKind::ALL
            .into_iter()
            .find(|kind| kind.path().as_bytes() == path)
            .map_or(Route::Unknown, Route::Api),
        b"GET" if path == b"/v1/models" => Route::ModelList,
        b"GET" => match path.strip_prefix(b"/v1/models/") {
            Some(id) if !id.is_empty() => Route::Model(id),
            _ => Route::Unknown,
        },
        _ => Route::Unknown,
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn every_kind_is_found_by_its_path_and_by_its_number() {
        for kind in ApiKind::ALL {
            assert_eq!(route(b"POST", kind.path().as_bytes()), Route::Api(kind));
            assert_eq!(ApiKind::from_wire(kind as u8), Some(kind));
        }
        assert_eq!(ApiKind::from_wire(0), None);
    }

    #[test]
    fn a_query_string_does_not_hide_the_path() {
        let chat = Route::Api(ApiKind::Chat);
        assert_eq!(
            route(b"POST", b"/v1/chat/completions?api-version=2025-01-01"),
            chat
        );
        assert_eq!(route(b"POST", b"/v1/chat/completions?"), chat);
    }

    #[test]
    fn the_gateway_s_own_health_has_two_exact_names() {
        for path in ["/healthz", "/readyz"] {
            assert_eq!(route(b"GET", path.as_bytes()), Route::Health);
        }
        for (method, path) in [
            ("GET", "/healthz/"),
            ("GET", "/healthz?a=b"),
            ("GET", "/healthz?"),
            ("GET", "/Healthz"),
            ("GET", "//healthz"),
            ("GET", "/healthz/../v1/models"),
            ("GET", "/healthz;x"),
            ("GET", "/%68ealthz"),
            ("POST", "/healthz"),
            ("HEAD", "/healthz"),
            ("get", "/healthz"),
        ] {
            let route = route(method.as_bytes(), path.as_bytes());
            assert_eq!(route, Route::Unknown, "{method} {path}");
        }
    }

    #[test]
    fn a_name_in_the_path_is_taken_as_it_stands() {
        assert_eq!(route(b"GET", b"/v1/models/a%2Fb?x"), Route::Model(b"a%2Fb"));
    }

    #[test]
    fn other_spellings_are_not_served() {
        for (method, path) in [
            ("POST", "/v1/chat/completions/"),
            ("POST", "//v1/chat/completions"),
            ("POST", "/V1/chat/completions"),
            ("POST", "/v1/%63hat/completions"),
            ("POST", "/v1/chat/completions;a=b"),
            ("POST", "/health/../v1/chat/completions"),
            (
                "POST",
                "/openai/deployments/d1/chat/completions?api-version=x",
            ),
            ("GET", "/v1/chat/completions"),
            ("post", "/v1/chat/completions"),
            ("POST", "/v1/models"),
            ("GET", "/v1/models/"),
            ("GET", ""),
        ] {
            assert_eq!(
                route(method.as_bytes(), path.as_bytes()),
                Route::Unknown,
                "{method} {path}"
            );
        }
    }
}
