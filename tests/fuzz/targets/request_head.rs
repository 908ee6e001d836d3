//! The head of a request through the whole of `auth`: who is let in, what is left of the head, and what is said to those who
//! are not. The first line of an input is method, path and host with spaces between them, each further one a header.
#![no_main]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use dragoman_auth::Auth;
use dragoman_contract::Identity;
use dragoman_sdk::Plugin;
use dragoman_sdk::fake::{Exchange, FakeHost};
use dragoman_sdk::host::Pairs;
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

/// The issuer of tokens has this secret, which nobody guesses, so no token is good.
const SECRET: (&str, &str) = ("CORP_SECRET", "nobody can guess this while fuzzing");
/// Within the time of the tokens that the search starts from.
const NOW: Duration = Duration::from_secs(1_800_000_000);
/// Of the only tenant, whose hosts are [`HOST`] and all below it.
const KEY: &[u8] = b"sk-fuzzed";
const HOST: &str = "a.example";
const CREDENTIALS: [&[u8]; 4] = [
    b"authorization",
    b"x-api-key",
    b"api-key",
    b"proxy-authorization",
];
const RESERVED: [&[u8]; 3] = [
    b"x-dragoman-",
    b"x-envoy-",
    b"x-gateway-destination-endpoint",
];

fuzz_target!(|input: &[u8]| {
    let Some(head) = head(input) else { return };
    let environment = BTreeMap::from([(SECRET.0.to_owned(), SECRET.1.to_owned())]);
    let auth = Auth::configure(configuration().as_bytes(), &environment);
    let auth = Rc::new(auth.expect("it is in order"));
    let host = FakeHost {
        request: Some(head.clone()),
        now: NOW,
        ..FakeHost::default()
    };
    let mut exchange = Exchange::new(&auth, host);
    exchange.headers(false);
    let host = &exchange.host;
    let left = host.request.iter().flatten();
    for (name, _) in left {
        let lower = name.to_ascii_lowercase();
        let spelt: Vec<u8> = lower
            .iter()
            .map(|byte| if *byte == b'_' { b'-' } else { *byte })
            .collect();
        assert!(
            !CREDENTIALS.contains(&&*lower),
            "a credential stays: {head:?}"
        );
        assert!(
            !RESERVED.iter().any(|reserved| spelt.starts_with(reserved)),
            "{head:?} leaves {name:?}"
        );
    }
    match &host.replied {
        None => {
            let identity = host
                .properties
                .get("dragoman.identity")
                .expect("somebody was let in");
            let identity = Identity::decode(identity).expect("an identity");
            assert_eq!((identity.key, identity.tenant), ("k", "t"));
            assert!(is_shown(&head), "{head:?}");
            assert!(is_host(value(&head, b":authority")), "{head:?}");
        }
        Some(replied) => {
            assert!(matches!(replied.status, 200 | 401 | 403), "{replied:?}");
            assert!(!host.properties.contains_key("dragoman.identity"));
            let said = [replied.body.as_slice(), &host.logged.concat().into_bytes()].concat();
            assert!(
                !said.windows(KEY.len()).any(|part| part == KEY),
                "{replied:?}"
            );
        }
    }
});

fn configuration() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let digest: String = Sha256::digest(KEY).iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            r#"{{"version": 1, "workers": [], "endpoints": [], "tenants": [{{"id": "t", "hosts": ["{HOST}", "*.{HOST}"]}}],
               "auth": {{"issuers": [{{"id": "corp", "issuer": "https://issuer.example", "audiences": ["dragoman"],
                                        "secrets": [{{"env": "CORP_SECRET", "kid": "shared"}}]}}],
                        "keys": [{{"id": "k", "sha256": "{digest}", "tenant": "t", "app": "a"}}]}}}}"#
        )
    })
}

/// As Envoy hands it over: names in lower case, pseudo headers once and first, a request id of its own.
fn head(input: &[u8]) -> Option<Pairs> {
    let mut lines = input.split(|byte| *byte == b'\n');
    let mut first = lines.next()?.splitn(3, |byte| *byte == b' ');
    let mut head: Vec<(Vec<u8>, Vec<u8>)> = [b":method".as_slice(), b":path", b":authority"]
        .into_iter()
        .zip(&mut first)
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .collect();
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let name = name.to_ascii_lowercase();
        if !name.is_empty() && name != b"x-request-id" {
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            head.push((name, value.to_vec()));
        }
    }
    Some(head.into_iter().collect())
}

fn value<'a>(head: &'a Pairs, wanted: &[u8]) -> &'a [u8] {
    let found = head.iter().find(|(name, _)| *name == wanted);
    found.map_or(&[], |(_, value)| value)
}

/// Whether the key stands whole in a header for it; written down once more, and simply.
fn is_shown(head: &Pairs) -> bool {
    head.iter().any(|(name, value)| match name.as_slice() {
        b"x-api-key" | b"api-key" => value == KEY,
        b"authorization" => {
            value.to_ascii_lowercase().starts_with(b"bearer ")
                && value.windows(KEY.len()).any(|part| part == KEY)
        }
        _ => false,
    })
}

/// The same of the host: in any case, with a dot at the end and a port or without.
fn is_host(authority: &[u8]) -> bool {
    let authority = String::from_utf8_lossy(authority).to_ascii_lowercase();
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => &authority,
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    name == HOST || name.ends_with(&format!(".{HOST}"))
}
