//! A mean in which what is older counts less.

use std::time::Duration;

/// After this time an observation counts half: long beside one request, short beside the time in which
/// somebody wants to see that a worker has become slow or fast.
pub const HALF_LIFE: Duration = Duration::from_secs(10);
/// An average of less than this part of one observation, which one is after 100 s, says nothing any more.
const FORGOTTEN: f32 = 1.0 / 1024.0;

/// An exponentially weighted mean by time, in milliseconds. The default has seen nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Average {
    mean_ms: f32,
    /// How many observations it is worth at `at_ms`.
    weight: f32,
    at_ms: u64,
}

impl Average {
    /// Takes in one observation at `now_ms` of a monotonic clock. One that is no number, or is negative,
    /// is left out.
    pub fn observe(&mut self, value_ms: f32, now_ms: u64) {
        if value_ms.is_finite() && value_ms >= 0.0 {
            *self = self.merged(&Self {
                mean_ms: value_ms,
                weight: 1.0,
                at_ms: now_ms,
            });
        }
    }

    /// Of both together.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let at_ms = self.at_ms.max(other.at_ms);
        let (mine, others) = (self.weight_at(at_ms), other.weight_at(at_ms));
        let weight = mine + others;
        if weight <= 0.0 {
            return Self::default();
        }
        Self {
            mean_ms: (self.mean_ms * mine + other.mean_ms * others) / weight,
            weight,
            at_ms,
        }
    }

    /// The mean; `None`: nothing was seen, or too long ago to count.
    #[must_use]
    pub fn value_ms(&self, now_ms: u64) -> Option<f32> {
        (self.weight_at(now_ms) >= FORGOTTEN).then_some(self.mean_ms)
    }

    /// A clock that is behind changes nothing.
    fn weight_at(&self, now_ms: u64) -> f32 {
        let age_ms = now_ms.saturating_sub(self.at_ms) as f32;
        self.weight * (-age_ms / HALF_LIFE.as_millis() as f32).exp2()
    }

    pub(crate) const fn parts(&self) -> (f32, f32, u64) {
        (self.mean_ms, self.weight, self.at_ms)
    }

    /// `None`: no average has these parts.
    pub(crate) fn of_parts(mean_ms: f32, weight: f32, at_ms: u64) -> Option<Self> {
        let sound = |part: f32| part.is_finite() && part >= 0.0;
        (sound(mean_ms) && sound(weight)).then_some(Self {
            mean_ms,
            weight,
            at_ms,
        })
    }
}
