//! Refuses what stands twice in a list.

use crate::error::ConfigError;
use crate::raw::shown_text;

/// Refuses two items of `list` with the same text in a field.
pub(crate) fn unique<'a>(
    list: &str,
    field: &str,
    texts: impl Iterator<Item = &'a str>,
) -> Result<(), ConfigError> {
    unique_shown(list, field, texts, |text| Some(shown_text(text)))
}

/// The same for values that are no text, or not for an error: `shown` says what of a value is.
///
/// Sorts, because comparing each with each would take seconds for a full table.
pub(crate) fn unique_shown<T: Ord>(
    list: &str,
    field: &str,
    values: impl Iterator<Item = T>,
    shown: impl Fn(T) -> Option<String>,
) -> Result<(), ConfigError> {
    let mut order: Vec<(T, usize)> = values.zip(0..).collect();
    order.sort_unstable();
    let mut before = None;
    for (value, place) in order {
        match before {
            Some((other, first)) if other == value => {
                let reason = format!("is the {field} of {list}[{first}] already");
                let fault = ConfigError {
                    value: shown(value),
                    ..ConfigError::new(reason)
                };
                return Err(fault.in_field(field).in_item(place));
            }
            _ => before = Some((value, place)),
        }
    }
    Ok(())
}
