//! Rounds of bursts: each burst visits one variant, in one regime, with one prompt.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::load::{self, Connections};
use crate::variants::Variant;
use crate::{Failure, cpu, gateway};

/// Nothing is under way when the processor time is read; this long after the last answer Envoy has
/// also written its logs and released its streams.
const SETTLE: Duration = Duration::from_millis(8);

/// How the client works and what it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regime {
    /// 16 connections kept busy, a body of 1.1 KB.
    A,
    /// One connection, one request at a time, the same body.
    C,
    /// As A with a body of 220 KB.
    LargeA,
}

/// In the order of the report.
pub const REGIMES: [Regime; 3] = [Regime::A, Regime::C, Regime::LargeA];

impl Regime {
    /// How many are kept busy.
    pub fn connections(self) -> usize {
        match self {
            Self::A | Self::LargeA => 16,
            Self::C => 1,
        }
    }

    fn prompt_bytes(self) -> usize {
        match self {
            Self::A | Self::C => 960,
            Self::LargeA => 220_000,
        }
    }

    /// The request that all connections send.
    pub fn request(self, variant: &Variant) -> Vec<u8> {
        load::chat(self.prompt_bytes(), gateway::API_KEY, &variant.headers)
    }
}

/// How long and how often.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Visits to each variant and regime.
    pub rounds: usize,
    /// Length of a burst.
    pub burst: Duration,
}

/// Processor time of one burst, in µs a request.
#[derive(Clone, Copy, Default)]
pub struct Sample {
    /// Of Envoy.
    pub envoy: f64,
    /// Of the ext_proc server.
    pub server: f64,
}

/// The samples of all rounds.
pub struct Samples {
    /// By round, then by regime and index of the variant.
    rounds: Vec<Vec<(Regime, usize, Sample)>>,
}

/// Who is measured.
pub struct Bench<'a> {
    /// What is compared; the first is bare Envoy.
    pub variants: &'a [Variant],
    /// Where each of them listens.
    pub ports: &'a [u16],
    /// Process of Envoy.
    pub envoy: u32,
    /// Process of the ext_proc server.
    pub server: u32,
}

impl Bench<'_> {
    /// Carries out the plan. The first variant is measured at both ends of a round, since all others
    /// are compared with it; every other round goes backwards.
    pub async fn run(&self, plan: Plan) -> Result<Samples, Failure> {
        let mut visits = Vec::new();
        for regime in REGIMES {
            let measured =
                |(_, variant): &(usize, &Variant)| variant.with_large || regime != Regime::LargeA;
            let indices = self.variants.iter().enumerate().filter(measured);
            visits.extend(indices.map(|(index, _)| (regime, index)));
            visits.push((regime, 0));
        }
        for (regime, variant) in &visits {
            self.burst(*regime, *variant, plan.burst / 4).await?;
        }
        let mut rounds = Vec::new();
        for _ in 0..plan.rounds {
            let mut round = Vec::new();
            for (regime, variant) in &visits {
                let sample = self.burst(*regime, *variant, plan.burst).await?;
                round.push((*regime, *variant, sample));
            }
            rounds.push(round);
            visits.reverse();
        }
        Ok(Samples { rounds })
    }

    async fn burst(
        &self,
        regime: Regime,
        index: usize,
        length: Duration,
    ) -> Result<Sample, Failure> {
        let variant = &self.variants[index];
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports[index]));
        let request = regime.request(variant);
        let named = |error| format!("{}, {regime:?}: {error}", variant.name);
        let connections = Connections::open(at, &request, regime.connections()).await;
        let mut connections = connections.map_err(named)?;
        tokio::time::sleep(SETTLE).await;
        let before = (cpu::time_ns(self.envoy)?, cpu::time_ns(self.server)?);
        let requests = connections.burst(length).await.map_err(named)?;
        tokio::time::sleep(SETTLE).await;
        let after = (cpu::time_ns(self.envoy)?, cpu::time_ns(self.server)?);
        let each = |ns: u64| ns as f64 / 1000.0 / requests.max(1) as f64;
        Ok(Sample {
            envoy: each(after.0 - before.0),
            server: if variant.is_hop {
                each(after.1 - before.1)
            } else {
                0.0
            },
        })
    }
}

impl Samples {
    /// One value for each round in which the variant was measured; the mean where it was twice.
    pub fn of(&self, regime: Regime, variant: usize, value: fn(&Sample) -> f64) -> Vec<f64> {
        let in_round = |round: &Vec<(Regime, usize, Sample)>| {
            let found = round
                .iter()
                .filter(|(r, v, _)| (*r, *v) == (regime, variant));
            let values: Vec<f64> = found.map(|(_, _, sample)| value(sample)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        self.rounds.iter().filter_map(in_round).collect()
    }

    /// Differences of Envoy's time to another variant, within each round.
    pub fn added(&self, regime: Regime, variant: usize, base: usize) -> Vec<f64> {
        let values = self.of(regime, variant, |sample| sample.envoy);
        let base = self.of(regime, base, |sample| sample.envoy);
        values
            .iter()
            .zip(base)
            .map(|(value, base)| value - base)
            .collect()
    }
}

/// Median of values, 0 without any.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[length / 2],
        length => (sorted[length / 2 - 1] + sorted[length / 2]) / 2.0,
    }
}

/// Least and largest value, without the outermost of five or more.
pub fn spread(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = usize::from(sorted.len() >= 5);
    match sorted.as_slice() {
        [] => (0.0, 0.0),
        sorted => (sorted[cut], sorted[sorted.len() - 1 - cut]),
    }
}
