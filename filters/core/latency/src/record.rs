//! What one VM saw of the workers, and what all saw together.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_contract::wire::{Reader, Writer};

use crate::average::Average;

/// How often a VM tells what it saw, at most: as often as readers look.
pub const PUBLISH: Duration = Duration::from_millis(100);
/// Most workers of one record, as many as a document may have.
const MAX_WORKERS: usize = 1024;

/// What was seen of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// From the beginning of an attempt to the head of its answer.
    pub first_byte: Average,
    /// From the beginning to the end of the answer.
    pub completion: Average,
}

/// What was seen of all workers: worker hash → latency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies(BTreeMap<u64, Latency>);

impl Latencies {
    /// Key of the record of a seat in shared data.
    #[must_use]
    pub fn key(seat: u16) -> String {
        format!("dragoman/1/latency/{seat}")
    }

    /// Takes in a whole answer. Of more than 1,024 workers the others are not measured.
    pub fn observe(
        &mut self,
        worker: u64,
        first_byte: Duration,
        completion: Duration,
        now_ms: u64,
    ) {
        if self.0.len() >= MAX_WORKERS && !self.0.contains_key(&worker) {
            return;
        }
        let ms = |time: Duration| time.as_secs_f32() * 1000.0;
        let latency = self.0.entry(worker).or_default();
        latency.first_byte.observe(ms(first_byte), now_ms);
        latency.completion.observe(ms(completion), now_ms);
    }

    /// Takes in what another one saw.
    pub fn merge(&mut self, other: &Self) {
        for (worker, seen) in &other.0 {
            let latency = self.0.entry(*worker).or_default();
            latency.first_byte = latency.first_byte.merged(&seen.first_byte);
            latency.completion = latency.completion.merged(&seen.completion);
        }
    }

    /// What was seen of a worker.
    #[must_use]
    pub fn of(&self, worker: u64) -> Latency {
        self.0.get(&worker).copied().unwrap_or_default()
    }

    /// The record as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u16(u16::try_from(self.0.len()).unwrap_or(u16::MAX));
        for (worker, latency) in self.0.iter().take(usize::from(u16::MAX)) {
            out.u64(*worker);
            for average in [&latency.first_byte, &latency.completion] {
                let (mean_ms, weight, at_ms) = average.parts();
                out.u32(mean_ms.to_bits()).u32(weight.to_bits()).u64(at_ms);
            }
        }
        out.finish()
    }

    /// The record in these bytes; nothing seen where they are not one.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        Self::read(bytes).unwrap_or_default()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let mut workers = BTreeMap::new();
        for _ in 0..input.u16()? {
            let worker = input.u64()?;
            let mut average = || {
                let (mean, weight) = (input.u32()?, input.u32()?);
                Average::of_parts(f32::from_bits(mean), f32::from_bits(weight), input.u64()?)
            };
            let latency = Latency {
                first_byte: average()?,
                completion: average()?,
            };
            workers.insert(worker, latency);
        }
        input.end()?;
        Some(Self(workers))
    }
}
