//! How the targets of an endpoint are ordered.

use dragoman_selection::{Strategy, TopK};

use crate::endpoint::MAX_TARGETS;
use crate::error::ConfigError;
use crate::raw::Raw;
use crate::read::{self, Fields, object, whole};
use crate::worker::MAX_IN_FLIGHT;

/// `k` and `epsilon` of `least-request-top-k` where the document gives none (S1-18).
const DEFAULT_TOP: TopK = TopK { k: 5, epsilon: 4 };

/// Any strategy by its name.
pub(crate) fn word(raw: &Raw) -> Result<Strategy, ConfigError> {
    const STRATEGIES: [Strategy; 9] = [
        Strategy::Weighted,
        Strategy::Failover,
        Strategy::RoundRobin,
        Strategy::LeastConnections,
        Strategy::LeastLatency,
        Strategy::Sticky,
        Strategy::Random,
        Strategy::PowerOfTwo,
        Strategy::LeastRequestTopK(DEFAULT_TOP),
    ];
    let words = STRATEGIES.map(|strategy| (strategy.as_str(), strategy));
    read::word(raw, &words)
}

/// What an endpoint says of its strategy: its name, and what only some strategies have.
#[derive(Debug, Default)]
pub(crate) struct Said {
    mode: Option<Strategy>,
    by_caller: Option<bool>,
    top: Option<TopK>,
}

impl Said {
    /// The fields `mode`, `split` and `top_k`.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self, ConfigError> {
        Ok(Self {
            mode: fields.optional("mode", word)?,
            by_caller: fields.optional("split", |raw| {
                read::word(raw, &[("request", false), ("caller", true)])
            })?,
            top: fields.optional("top_k", top_k)?,
        })
    }

    /// The strategy; `usual` where the endpoint names none and none of its targets has a weight.
    pub(crate) fn strategy(
        &self,
        any_weight: bool,
        usual: Strategy,
    ) -> Result<Strategy, ConfigError> {
        let unnamed = if any_weight {
            Strategy::Weighted
        } else {
            usual
        };
        let strategy = self.mode.unwrap_or(unnamed);
        let only = |field, mode| {
            let reason = format!("is for mode {mode}, not for {}", strategy.as_str());
            Err(ConfigError::new(reason).in_field(field))
        };
        match (strategy, self.by_caller, self.top) {
            (Strategy::Weighted, Some(true), None) => Ok(Strategy::WeightedByCaller),
            (Strategy::LeastRequestTopK(usual), None, top) => {
                Ok(Strategy::LeastRequestTopK(top.unwrap_or(usual)))
            }
            (Strategy::Weighted, _, None) | (_, None, None) => Ok(strategy),
            (_, Some(_), _) if strategy != Strategy::Weighted => only("split", "weighted"),
            _ => only("top_k", "least-request-top-k"),
        }
    }
}

fn top_k(raw: &Raw) -> Result<TopK, ConfigError> {
    object(raw, &["k", "epsilon"], |fields| {
        let most = u32::try_from(MAX_TARGETS).unwrap_or(u32::MAX);
        let k = fields.optional("k", |raw| whole(raw, 1, most))?;
        let epsilon = fields.optional("epsilon", |raw| whole(raw, 0, MAX_IN_FLIGHT))?;
        Ok(TopK {
            k: k.unwrap_or(DEFAULT_TOP.k),
            epsilon: epsilon.unwrap_or(DEFAULT_TOP.epsilon),
        })
    })
}
