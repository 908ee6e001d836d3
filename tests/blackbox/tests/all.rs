//! Every black-box test, in one binary: a file per topic in `tests/all/`.

#[path = "all/chat.rs"]
mod chat;
