//! The secret that a polled server wants to see.

use dragoman_config::{Credential, CredentialHeader};
use dragoman_sdk::Environment;

/// Header name and value. `path` is where the document names the credential. One whose variable is
/// not set would leave the gateway without an answer for good; so that is a faulty configuration.
pub(crate) fn header(
    path: &str,
    credential: &Credential,
    environment: &dyn Environment,
) -> Result<(String, String), String> {
    let fault = |reason: &str| format!("{path}.env: {}: {reason}", credential.env);
    let secret = environment
        .variable(&credential.env)
        .filter(|secret| !secret.is_empty())
        .ok_or_else(|| fault("not set in the environment of Envoy"))?;
    if secret.bytes().any(|byte| !(0x20..0x7f).contains(&byte)) {
        return Err(fault("holds a byte that a header value cannot carry"));
    }
    Ok(match &credential.header {
        CredentialHeader::Authorization => ("authorization".to_owned(), format!("Bearer {secret}")),
        CredentialHeader::XApiKey => ("x-api-key".to_owned(), secret),
        CredentialHeader::ApiKey => ("api-key".to_owned(), secret),
        CredentialHeader::Named(name) => (name.clone(), secret),
    })
}
