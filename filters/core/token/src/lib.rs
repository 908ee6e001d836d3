#![doc = include_str!("../README.md")]

mod caller;
mod claims;
mod compact;
mod date;
mod header;
mod issuer;
mod json;
mod jwk;
mod kept;
mod key;
mod key_set;
mod refusal;

pub use caller::{
    Caller, ClaimNames, MAX_APP_BYTES, MAX_MODEL_BYTES, MAX_SCOPES, MAX_SUBJECT_BYTES,
};
pub use compact::{MAX_TOKEN_BYTES, Token, decode_base64url, has_token_form};
pub use date::Window;
pub use header::{Algorithm, MAX_KEY_ID_BYTES};
pub use issuer::{Issuer, MAX_LEEWAY, MAX_LIFETIME};
pub use jwk::{Jwk, KeyFault, MAX_RSA_BITS, MIN_RSA_BITS};
pub use kept::{KeptKey, KeptKeys, MAX_KEPT_KEYS};
pub use key::{Key, MIN_SECRET_BYTES};
pub use key_set::{KeySet, KeySetFault, MAX_KEY_SET_BYTES, MAX_KEYS, check_key_set, read_key_set};
pub use refusal::{Claim, Refusal};
