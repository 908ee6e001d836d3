//! A worker's circuit as bytes.

/// Bytes of a stored circuit.
pub const CIRCUIT_BYTES: usize = 18;

const VERSION: u8 = 1;
const CLOSED: u8 = 0;
const OPEN: u8 = 1;
const TRIAL: u8 = 2;

/// Which trial a request is: only the outcome of the latest one decides. Wraps after 2^32 trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket(u32);

impl Ticket {
    /// The ticket with this number.
    #[must_use]
    pub const fn from_u32(number: u32) -> Self {
        Self(number)
    }

    /// The number, for a record that travels with the request.
    #[must_use]
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// What is known of a worker. The ticket is always the latest one, so that none comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is used; so many failures in a row.
    Closed { failures: u32 },
    /// It is not used before this moment.
    Open { until_ms: u64 },
    /// One request tries it; if nothing was heard of it by this moment, another one may.
    Trial { lease_until_ms: u64 },
}

/// The circuit of a worker. The default is closed, without failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub(crate) phase: Phase,
    pub(crate) ticket: Ticket,
}

impl Default for Circuit {
    fn default() -> Self {
        Self::CLOSED
    }
}

impl Circuit {
    /// Closed, without failures.
    pub const CLOSED: Self = Self {
        phase: Phase::Closed { failures: 0 },
        ticket: Ticket(0),
    };

    /// Key of a worker's circuit in shared data. Ids come from the configuration, so there are as
    /// many keys as workers there ever were.
    #[must_use]
    pub fn key(worker: &str) -> String {
        format!("dragoman/1/circuit/{worker}")
    }

    /// Whether anybody may be sent to the worker.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }

    /// The circuit in these bytes. Bytes that are none, also those of another version, are a
    /// closed circuit: what is not known of a worker does not speak against it.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        decode(bytes).unwrap_or_default()
    }

    /// As bytes: version, phase, ticket (u32), failures (u32), moment in ms (u64), little-endian.
    /// A rule over a window of time adds its counts behind, as another version.
    #[must_use]
    pub fn encode(&self) -> [u8; CIRCUIT_BYTES] {
        let (phase, failures, moment_ms) = match self.phase {
            Phase::Closed { failures } => (CLOSED, failures, 0),
            Phase::Open { until_ms } => (OPEN, 0, until_ms),
            Phase::Trial { lease_until_ms } => (TRIAL, 0, lease_until_ms),
        };
        let mut out = [0; CIRCUIT_BYTES];
        let parts = [
            &[VERSION, phase][..],
            &self.ticket.0.to_le_bytes(),
            &failures.to_le_bytes(),
            &moment_ms.to_le_bytes(),
        ];
        for (to, from) in out.iter_mut().zip(parts.into_iter().flatten()) {
            *to = *from;
        }
        out
    }
}

fn decode(bytes: &[u8]) -> Option<Circuit> {
    let ([version, phase], rest) = bytes.split_first_chunk::<2>()?;
    let (ticket, rest) = rest.split_first_chunk::<4>()?;
    let (failures, moment_ms) = rest.split_first_chunk::<4>()?;
    let failures = u32::from_le_bytes(*failures);
    let moment_ms = u64::from_le_bytes(moment_ms.try_into().ok()?);
    let phase = match (*version, *phase) {
        (VERSION, CLOSED) => Phase::Closed { failures },
        (VERSION, OPEN) => Phase::Open {
            until_ms: moment_ms,
        },
        (VERSION, TRIAL) => Phase::Trial {
            lease_until_ms: moment_ms,
        },
        _ => return None,
    };
    let ticket = Ticket(u32::from_le_bytes(*ticket));
    Some(Circuit { phase, ticket })
}
