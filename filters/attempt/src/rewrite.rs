//! The new model name in the old body: everything up to the end of the model's value is written
//! again, the rest is not touched.

use dragoman_contract::Plan;
use dragoman_contract::errors::quoted;

/// What becomes of a body for one candidate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    /// The body begins with this many bytes that stay.
    pub keep: usize,
    /// First byte after the old value.
    pub end: usize,
    /// The new value, as a JSON string.
    pub value: Vec<u8>,
    /// Length of the body afterwards.
    pub new_len: usize,
    /// Length of the body before.
    pub old_len: usize,
}

impl Rewrite {
    /// `None` where the plan's span does not lie in the body.
    pub(crate) fn new(plan: &Plan<'_>, served_model_name: &str) -> Option<Self> {
        let number = |value: u32| usize::try_from(value).ok();
        let (keep, end) = (number(plan.model_start)?, number(plan.model_end)?);
        let old_len = number(plan.body_len)?;
        if keep >= end || end > old_len {
            return None;
        }
        let value = quoted(served_model_name).into_bytes();
        let new_len = old_len.checked_sub(end - keep)?.checked_add(value.len())?;
        Some(Self {
            keep,
            end,
            value,
            new_len,
            old_len,
        })
    }

    /// The new first bytes: what was kept, then the new value. `None` if `kept` is not whole.
    pub(crate) fn prefix(&self, mut kept: Vec<u8>) -> Option<Vec<u8>> {
        if kept.len() != self.keep {
            return None;
        }
        kept.extend_from_slice(&self.value);
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(body: &str, model: &str) -> Plan<'static> {
        let start = body.find(model).unwrap();
        let number = |value: usize| u32::try_from(value).unwrap();
        Plan {
            body_len: number(body.len()),
            model_start: number(start),
            model_end: number(start + model.len()),
            timeout_ms: 0,
            trial: None,
            claim: None,
            candidates: Vec::new(),
        }
    }

    fn rewritten(body: &str, model: &str, served: &str) -> String {
        let rewrite = Rewrite::new(&plan(body, model), served).unwrap();
        let kept = body.as_bytes()[..rewrite.keep].to_vec();
        let mut whole = rewrite.prefix(kept).unwrap();
        whole.extend_from_slice(&body.as_bytes()[rewrite.end..]);
        assert_eq!(whole.len(), rewrite.new_len);
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn only_the_value_changes_whatever_its_length() {
        let body = r#"{ "seed":9007199254740995,"model":"fast","x":1E400}"#;
        for served in ["f", "fast", "provider/very-long-model-name-2026", "quo\"te"] {
            let expected = body.replace(r#""fast""#, &serde_like(served));
            assert_eq!(rewritten(body, r#""fast""#, served), expected);
        }
    }

    fn serde_like(text: &str) -> String {
        format!("\"{}\"", text.replace('"', "\\\""))
    }

    #[test]
    fn a_span_outside_the_body_is_refused() {
        let good = plan(r#"{"model":"a"}"#, r#""a""#);
        for (start, end) in [(9, 9), (10, 9), (9, 14), (u32::MAX, u32::MAX)] {
            let bad = Plan {
                model_start: start,
                model_end: end,
                ..good.clone()
            };
            assert_eq!(Rewrite::new(&bad, "b"), None, "{start}..{end}");
        }
    }

    #[test]
    fn a_body_that_is_shorter_than_it_was_is_refused() {
        let rewrite = Rewrite::new(&plan(r#"{"model":"a"}"#, r#""a""#), "b").unwrap();
        assert_eq!(rewrite.prefix(b"{\"mod".to_vec()), None);
    }
}
