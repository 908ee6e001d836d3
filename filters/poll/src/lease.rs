//! Who polls: every thread has a copy of `poll`, one of them holds the lease.

use std::time::Duration;

use dragoman_sdk::host::millis;

/// How long a holder is believed without a sign of life. Several ticks, so that a late one loses
/// nothing; and the time that nobody polls after the holder's VM trapped.
pub(crate) const LEASE: Duration = Duration::from_secs(3);
/// Key of the lease in shared data.
pub(crate) const KEY: &str = "dragoman/1/poll";

/// Holder and end of the lease, on the process's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub holder: u64,
    pub until: Duration,
}

impl Lease {
    /// What `me` writes to hold the lease from `now` on; `None` while somebody else holds it.
    pub(crate) fn claim(current: Option<Self>, me: u64, now: Duration) -> Option<Self> {
        let free = current.is_none_or(|lease| lease.holder == me || lease.until <= now);
        free.then(|| Self {
            holder: me,
            until: now.saturating_add(LEASE),
        })
    }

    pub(crate) fn encode(self) -> [u8; 16] {
        let until = millis(self.until);
        let mut bytes = [0; 16];
        for (to, from) in bytes.iter_mut().zip(
            self.holder
                .to_le_bytes()
                .into_iter()
                .chain(until.to_le_bytes()),
        ) {
            *to = from;
        }
        bytes
    }

    /// Bytes that are no lease read as none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (holder, until) = bytes.split_at_checked(8)?;
        Some(Self {
            holder: u64::from_le_bytes(holder.try_into().ok()?),
            until: Duration::from_millis(u64::from_le_bytes(until.try_into().ok()?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    #[test]
    fn a_lease_is_kept_by_its_holder_and_taken_when_it_is_over() {
        let mine = Lease::claim(None, 1, NOW).unwrap();
        assert_eq!(
            mine,
            Lease {
                holder: 1,
                until: NOW + LEASE
            }
        );
        assert_eq!(
            Lease::claim(Some(mine), 2, NOW + LEASE - Duration::from_millis(1)),
            None
        );
        assert_eq!(
            Lease::claim(Some(mine), 1, NOW + LEASE / 2).unwrap().until,
            NOW + LEASE / 2 + LEASE
        );
        assert_eq!(Lease::claim(Some(mine), 2, NOW + LEASE).unwrap().holder, 2);
    }

    #[test]
    fn a_lease_reads_as_it_was_written() {
        let lease = Lease {
            holder: u64::MAX - 1,
            until: Duration::from_millis(123_456),
        };
        assert_eq!(Lease::decode(&lease.encode()), Some(lease));
        for length in [0, 7, 8, 15, 17] {
            assert_eq!(Lease::decode(&vec![0; length]), None, "{length}");
        }
    }
}
