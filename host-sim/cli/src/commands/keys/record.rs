//! The record of a key: what the gateway knows of it.

use serde_json::{Map, Value, json};

/// Stands for the digest until there is a key: a record is checked before one is made.
const NO_DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One text.
    Text,
    /// A whole number.
    Number,
    /// Texts, one each time that the flag is given.
    List,
}

/// A field of the record and the flag that sets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    flag: &'static str,
    name: &'static str,
    kind: Kind,
}

const fn of(flag: &'static str, name: &'static str, kind: Kind) -> Field {
    Field { flag, name, kind }
}

const FIELDS: [Field; 10] = [
    of("id", "id", Kind::Text),
    of("tenant", "tenant", Kind::Text),
    of("app", "app", Kind::Text),
    of("generation", "generation", Kind::Number),
    of("not-before", "not_before", Kind::Text),
    of("expires-at", "expires_at", Kind::Text),
    of("scope", "scopes", Kind::List),
    of("model", "models", Kind::List),
    of("class", "class", Kind::Text),
    of("limit", "limits", Kind::List),
];

/// The field that a flag sets.
pub(super) fn field(flag: &str) -> Option<Field> {
    FIELDS.into_iter().find(|field| field.flag == flag)
}

/// A record without its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record(Map<String, Value>);

impl Record {
    /// Takes the value of a flag.
    ///
    /// # Errors
    /// It is no number where one has to be, or the flag is given twice and is none of a list.
    pub(super) fn set(&mut self, field: Field, text: String) -> Result<(), String> {
        let Field { flag, name, kind } = field;
        let value = match kind {
            Kind::Number => {
                let number: Result<u32, _> = text.parse();
                json!(number.map_err(|_| format!("--{flag} {text:?}: must be a whole number"))?)
            }
            Kind::Text | Kind::List => Value::String(text),
        };
        let before = self.0.get_mut(name);
        match (kind, before) {
            (Kind::List, Some(Value::Array(list))) => list.push(value),
            (Kind::List, _) => drop(self.0.insert(name.to_owned(), json!([value]))),
            (_, Some(_)) => return Err(format!("--{flag} is given twice")),
            (_, None) => drop(self.0.insert(name.to_owned(), value)),
        }
        Ok(())
    }

    /// Whether a gateway would take the record.
    ///
    /// # Errors
    /// The first fault, by the flag that it is of.
    pub(super) fn check(&self) -> Result<(), String> {
        for name in ["id", "tenant", "app"] {
            if !self.0.contains_key(name) {
                return Err(format!("--{name} is missing: the record needs it"));
            }
        }
        let page = json!({"version": 1, "keys": [self.with_digest(NO_DIGEST)], "next": null});
        let Err(fault) = dragoman_config::key_page(page.to_string().as_bytes()) else {
            return Ok(());
        };
        let fault = fault.to_string();
        let fault = fault.strip_prefix("keys[0].").unwrap_or(&fault);
        let by_flag = FIELDS.iter().find_map(|field| {
            let rest = fault.strip_prefix(field.name)?;
            rest.starts_with([':', '['])
                .then(|| format!("--{}{rest}", field.flag))
        });
        Err(by_flag.unwrap_or_else(|| fault.to_owned()))
    }

    /// The whole record.
    pub(super) fn with_digest(&self, sha256: &str) -> Value {
        let mut record = self.0.clone();
        record.insert("sha256".to_owned(), sha256.into());
        Value::Object(record)
    }
}
