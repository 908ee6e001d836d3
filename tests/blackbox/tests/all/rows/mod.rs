//! Sentences of `tests/requirements.tsv` that are one small test long and belong to no other topic.

mod answers;
mod health;
mod logs;
mod routing;
