//! The claims of a token, by name and type.

use std::time::Duration;

use crate::date::numeric_date;
use crate::json::{Json, Object, object};
use crate::refusal::{Claim, Refusal};

/// Everything a token claims.
#[derive(Debug)]
pub(crate) struct Claims {
    members: Object,
}

impl Claims {
    pub(crate) fn read(text: &[u8]) -> Result<Self, Refusal> {
        let members = object(text).ok_or(Refusal::Claims)?;
        Ok(Self { members })
    }

    pub(crate) fn issuer(&self) -> Result<&str, Refusal> {
        self.text("iss", Claim::Issuer)?
            .ok_or(Refusal::Missing(Claim::Issuer))
    }

    /// Whom it is for: one name or a list of names.
    pub(crate) fn audiences(&self) -> Result<Vec<&str>, Refusal> {
        match self.members.get("aud") {
            None => Err(Refusal::Missing(Claim::Audience)),
            Some(Json::Text(one)) => Ok(vec![one]),
            Some(Json::List(items)) => texts(items, Claim::Audience),
            Some(_) => Err(Refusal::Malformed(Claim::Audience)),
        }
    }

    pub(crate) fn date(&self, name: &str, claim: Claim) -> Result<Option<Duration>, Refusal> {
        let date = |value| numeric_date(value).ok_or(Refusal::Malformed(claim));
        self.members.get(name).map(date).transpose()
    }

    pub(crate) fn text(&self, name: &str, claim: Claim) -> Result<Option<&str>, Refusal> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::Malformed(claim)),
        }
    }

    /// Words: a list of strings, or one string with spaces between them, as `scope` of OAuth is.
    pub(crate) fn words(&self, name: &str, claim: Claim) -> Result<Option<Vec<&str>>, Refusal> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Json::Text(text)) => {
                let words = text.split(' ').filter(|word| !word.is_empty());
                Ok(Some(words.collect()))
            }
            Some(Json::List(items)) => texts(items, claim).map(Some),
            Some(_) => Err(Refusal::Malformed(claim)),
        }
    }
}

fn texts(items: &[Json], claim: Claim) -> Result<Vec<&str>, Refusal> {
    items
        .iter()
        .map(|item| match item {
            Json::Text(text) => Ok(text.as_str()),
            _ => Err(Refusal::Malformed(claim)),
        })
        .collect()
}
