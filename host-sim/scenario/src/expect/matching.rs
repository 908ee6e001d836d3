//! Whether a value is what it must be.

use serde_json::Value;

use crate::file::{Matcher, Test};

/// Longest text of a value in a report, in characters.
const SHOWN: usize = 300;

/// A value that is to be matched.
#[derive(Clone, Debug, PartialEq)]
pub enum Got {
    /// Nothing is there.
    Absent,
    /// Text; a number is written as text here.
    Text(String),
    /// Part of a JSON document, where a number is not its text.
    Json(Value),
}

impl Got {
    /// Text that may not be there.
    pub fn text(text: Option<impl Into<String>>) -> Got {
        text.map_or(Got::Absent, |text| Got::Text(text.into()))
    }

    /// A value that may not be there.
    pub fn json(value: Option<&Value>) -> Got {
        value.map_or(Got::Absent, |value| Got::Json(value.clone()))
    }

    fn equals(&self, expected: &Value) -> bool {
        match (self, expected) {
            (Got::Absent, _) => false,
            (Got::Json(value), expected) => same(value, expected),
            (Got::Text(text), Value::String(expected)) => text == expected,
            (Got::Text(text), expected) => {
                let written = expected.to_string();
                *text == written
            }
        }
    }

    /// Its characters; of JSON that is no text, how it is written.
    fn characters(&self) -> Option<String> {
        match self {
            Got::Absent => None,
            Got::Text(text) | Got::Json(Value::String(text)) => Some(text.clone()),
            Got::Json(value) => Some(value.to_string()),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Got::Absent => None,
            Got::Text(text) => text.parse().ok(),
            Got::Json(value) => value.as_f64(),
        }
    }

    /// For a report.
    pub fn shown(&self) -> String {
        match self {
            Got::Absent => "absent".to_owned(),
            Got::Text(text) => short(text),
            Got::Json(value) => short(&value.to_string()),
        }
    }
}

/// Equal as JSON, where `1.0` is `1`.
fn same(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.as_f64() == other.as_f64() && (one.is_f64() || other.is_f64()))
        }
        _ => value == expected,
    }
}

/// The first test that does not hold.
pub fn broken<'a>(matcher: &'a Matcher, got: &Got) -> Option<&'a Test> {
    matcher.tests.iter().find(|test| !holds(test, got))
}

fn holds(test: &Test, got: &Got) -> bool {
    let has = |check: &dyn Fn(&str) -> bool| got.characters().is_some_and(|text| check(&text));
    match test {
        Test::Is(value) => got.equals(value),
        Test::Not(value) => !got.equals(value),
        Test::OneOf(values) => values.iter().any(|value| got.equals(value)),
        Test::Contains(part) => has(&|text| text.contains(part)),
        Test::Lacks(part) => !has(&|text| text.contains(part)),
        Test::StartsWith(part) => has(&|text| text.starts_with(part)),
        Test::EndsWith(part) => has(&|text| text.ends_with(part)),
        Test::AtLeast(bound) => got.number().is_some_and(|number| number >= *bound),
        Test::AtMost(bound) => got.number().is_some_and(|number| number <= *bound),
        Test::Present(present) => *present == (*got != Got::Absent),
    }
}

/// A test as a report words it.
pub fn shown(test: &Test) -> String {
    match test {
        Test::Is(Value::String(text)) => short(text),
        Test::Is(value) => value.to_string(),
        Test::Not(value) => format!("not {value}"),
        Test::OneOf(values) => {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            format!("one of {}", values.join(", "))
        }
        Test::Contains(part) => format!("contains {part:?}"),
        Test::Lacks(part) => format!("does not contain {part:?}"),
        Test::StartsWith(part) => format!("starts with {part:?}"),
        Test::EndsWith(part) => format!("ends with {part:?}"),
        Test::AtLeast(bound) => format!("at least {bound}"),
        Test::AtMost(bound) => format!("at most {bound}"),
        Test::Present(true) => "present".to_owned(),
        Test::Present(false) => "absent".to_owned(),
    }
}

/// Text that fits a report, on one line.
pub fn short(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let shown = shown.replace('\n', "\\n").replace('\r', "\\r");
    if shown.is_empty() {
        "empty".to_owned()
    } else if text.chars().nth(SHOWN).is_some() {
        format!("{shown}... ({} bytes)", text.len())
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_compared_as_it_is_written_and_json_by_its_type() {
        let text = Got::Text("7".to_owned());
        assert!(text.equals(&json!(7)) && text.equals(&json!("7")));
        let number = Got::Json(json!(7));
        assert!(number.equals(&json!(7)) && !number.equals(&json!("7")));
        assert!(number.equals(&json!(7.0)));
        assert!(!Got::Absent.equals(&Value::Null));
    }

    #[test]
    fn what_is_absent_has_no_text_and_no_number() {
        for test in [
            Test::Contains(String::new()),
            Test::StartsWith(String::new()),
            Test::AtLeast(f64::MIN),
            Test::Is(Value::Null),
        ] {
            assert!(!holds(&test, &Got::Absent), "{test:?}");
        }
        assert!(holds(&Test::Lacks("x".to_owned()), &Got::Absent));
        assert!(holds(&Test::Not(json!(1)), &Got::Absent));
        assert!(holds(&Test::Present(false), &Got::Absent));
    }
}
