//! Small readers from raw values to Rust values. None of them knows a path: whoever opens an
//! object or a list puts its own part in front of a fault that comes out of it.

use std::collections::BTreeSet;

use crate::error::ConfigError;
use crate::raw::{Raw, shown_text};

/// Fields of one object that is being read.
pub(crate) struct Fields<'a> {
    entries: &'a [(String, Raw)],
    taken: BTreeSet<&'static str>,
}

impl<'a> Fields<'a> {
    /// The raw value of a field, which counts as read from now on.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<&'a Raw> {
        self.taken.insert(name);
        let (_, raw) = self.entries.iter().find(|(key, _)| key == name)?;
        Some(raw)
    }

    /// A field that may be left out.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Raw) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.take(name)
            .map(|raw| read(raw).map_err(|fault| fault.in_field(name)))
            .transpose()
    }

    /// A field that must be there.
    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Raw) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        self.optional(name, read)?
            .ok_or_else(|| ConfigError::new("is required").in_field(name))
    }
}

/// Reads an object that has no other fields than `known`. A known field that `read` does not
/// take is refused like an unknown one: nothing is accepted and then ignored.
pub(crate) fn object<'a, T>(
    raw: &'a Raw,
    known: &[&str],
    read: impl FnOnce(&mut Fields<'a>) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    let Raw::Object(entries) = raw else {
        return Err(ConfigError::of(raw, "must be an object"));
    };
    let mut seen = BTreeSet::new();
    for (key, _) in entries {
        if !known.contains(&key.as_str()) {
            return Err(ConfigError::new("unknown field").in_field(&shown_key(key)));
        }
        if !seen.insert(key.as_str()) {
            return Err(ConfigError::new("is given twice").in_field(key));
        }
    }
    let mut fields = Fields {
        entries,
        taken: BTreeSet::new(),
    };
    let value = read(&mut fields)?;
    match seen.iter().find(|key| !fields.taken.contains(*key)) {
        Some(key) => Err(ConfigError::new("unknown field").in_field(key)),
        None => Ok(value),
    }
}

/// Reads a list of at most `most` items; `read` gets an item and what was read of those before.
pub(crate) fn list<T>(
    raw: &Raw,
    most: usize,
    mut read: impl FnMut(&Raw, &[T]) -> Result<T, ConfigError>,
) -> Result<Vec<T>, ConfigError> {
    let Raw::List(items) = raw else {
        return Err(ConfigError::of(raw, "must be a list"));
    };
    if items.len() > most {
        let reason = format!("has {} items: must have at most {most}", items.len());
        return Err(ConfigError::new(reason));
    }
    let mut out = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let value = read(item, &out).map_err(|fault| fault.in_item(index))?;
        out.push(value);
    }
    Ok(out)
}

/// A whole number within these bounds.
pub(crate) fn whole(raw: &Raw, least: u32, most: u32) -> Result<u32, ConfigError> {
    let Raw::Whole(number) = raw else {
        return Err(ConfigError::of(raw, "must be a whole number"));
    };
    if *number < i128::from(least) {
        return Err(ConfigError::of(raw, format!("must be at least {least}")));
    }
    match u32::try_from(*number) {
        Ok(number) if number <= most => Ok(number),
        _ => Err(ConfigError::of(raw, format!("must be at most {most}"))),
    }
}

/// `true` or `false`.
pub(crate) fn flag(raw: &Raw) -> Result<bool, ConfigError> {
    match raw {
        Raw::Flag(flag) => Ok(*flag),
        _ => Err(ConfigError::of(raw, "must be true or false")),
    }
}

/// Any string.
pub(crate) fn text(raw: &Raw) -> Result<&str, ConfigError> {
    match raw {
        Raw::Text(text) => Ok(text),
        _ => Err(ConfigError::of(raw, "must be a string")),
    }
}

/// One of a closed set of words.
pub(crate) fn word<T: Copy>(raw: &Raw, words: &[(&str, T)]) -> Result<T, ConfigError> {
    let text = text(raw)?;
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*value);
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let reason = format!("must be one of {}", names.join(", "));
    Err(ConfigError::of(raw, reason))
}

/// A key for a path: as it stands if it is a plain word, else as a cut JSON string.
fn shown_key(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=64).contains(&key.len()) && key.bytes().all(plain) {
        key.to_owned()
    } else {
        shown_text(key)
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn a_known_field_that_nothing_reads_is_refused() {
        let raw = Raw::Object(vec![("a".into(), Raw::Null), ("b".into(), Raw::Null)]);
        let fault = object(&raw, &["a", "b"], |fields| Ok(fields.take("a").is_some()));
        assert_eq!(fault.unwrap_err().to_string(), "b: unknown field");
    }
}
