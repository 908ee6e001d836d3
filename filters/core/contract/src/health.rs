//! What is known of a worker: `poll` → `select`, by way of shared data.

use std::time::Duration;

use crate::wire::{Reader, Writer};

/// Most models that are remembered of one worker; what it lists beyond them counts as installed
/// nowhere, so that the list cannot grow without end.
pub const MAX_MODELS: usize = 256;

/// The latest answers of a worker to `poll`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health<'a> {
    /// It says that it takes requests.
    pub ready: bool,
    /// The models it lists; `None` while that is not known.
    pub models: Option<Vec<&'a str>>,
    /// When this was found out, on the process's monotonic clock.
    pub checked: Duration,
}

impl<'a> Health<'a> {
    /// Key of a worker's record in shared data. Ids come from the configuration, so there are as
    /// many keys as workers there ever were.
    #[must_use]
    pub fn key(worker: &str) -> String {
        format!("dragoman/1/health/{worker}")
    }

    /// The record as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u8(u8::from(self.ready)).duration(self.checked);
        let models = self.models.as_deref();
        out.option_list(models.map(|models| models.get(..MAX_MODELS).unwrap_or(models)));
        out.finish()
    }

    /// The record in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let ready = input.u8()? != 0;
        let checked = input.duration()?;
        let models = input.option_list()?;
        input.end()?;
        Some(Self {
            ready,
            models,
            checked,
        })
    }

    /// Whether the worker has a model installed; one whose list is not known counts as if it had.
    #[must_use]
    pub fn is_warm(&self, model: &str) -> bool {
        self.models
            .as_ref()
            .is_none_or(|models| models.contains(&model))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn a_record_reads_as_it_was_written() {
        for models in [None, Some(Vec::new()), Some(vec!["a", "b/c"])] {
            let record = Health {
                ready: true,
                models,
                checked: Duration::from_millis(1234),
            };
            let bytes = record.encode();
            assert_eq!(Health::decode(&bytes), Some(record));
            for cut in 0..bytes.len() {
                assert_eq!(Health::decode(&bytes[..cut]), None);
            }
        }
    }

    #[test]
    fn a_long_model_list_is_cut() {
        let names: Vec<String> = (0..MAX_MODELS + 10)
            .map(|index| index.to_string())
            .collect();
        let models = Some(names.iter().map(String::as_str).collect());
        let bytes = Health {
            ready: true,
            models,
            checked: Duration::ZERO,
        }
        .encode();
        assert_eq!(
            Health::decode(&bytes).unwrap().models.unwrap().len(),
            MAX_MODELS
        );
    }

    #[test]
    fn a_worker_whose_models_are_not_known_counts_as_warm() {
        let health = |models| Health {
            ready: true,
            models,
            checked: Duration::ZERO,
        };
        assert!(health(None).is_warm("a"));
        assert!(health(Some(vec!["a"])).is_warm("a"));
        assert!(!health(Some(vec!["b"])).is_warm("a"));
    }
}
