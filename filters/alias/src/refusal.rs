//! Why a body is refused, in the words of the error table.

use dragoman_contract::Code;
use dragoman_json::ScanError;
use dragoman_sdk::Reply;

/// The answer to a body that cannot be read. Says what and where, and nothing of the body itself.
pub(crate) fn of(error: &ScanError) -> Reply {
    let (code, field) = match error {
        ScanError::Malformed { .. } | ScanError::NotAnObject => (Code::InvalidJson, None),
        ScanError::DuplicateField(field) => (Code::DuplicateField, Some(field)),
        ScanError::WrongType { field, .. } => (Code::InvalidField, Some(field)),
    };
    let reply = Reply::error(code).message(error.to_string());
    match field {
        Some(field) => reply.param(field.as_str()),
        None => reply,
    }
}

/// One answer for every name that the caller cannot reach, whatever the reason: it does not repeat
/// the name.
pub(crate) fn unknown_model() -> Reply {
    Reply::error(Code::ModelNotFound).param("model")
}

/// For a model that the caller may know of, but not use.
pub(crate) fn model_not_allowed() -> Reply {
    Reply::error(Code::ModelNotAllowed).param("model")
}
