//! Why a target is not among the candidates.

use std::fmt;

/// Why a target was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Its circuit is open.
    Circuit,
    /// It says, or its probes say, that it takes no requests.
    NotReady,
    /// It is reserved for other tenants, or not where this tenant's data may be.
    NotPermitted,
    /// The request may be longer than it can read.
    ContextLength,
    /// It cannot call tools.
    Tools,
    /// It does not take this class of work.
    Class,
    /// It would have to load the model, and background work makes nobody do that.
    Cold,
    /// It has as many requests as it may have.
    Full,
    /// It serves the other version.
    Version,
    /// It has no weight.
    Weight,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Circuit,
        Self::NotReady,
        Self::NotPermitted,
        Self::ContextLength,
        Self::Tools,
        Self::Class,
        Self::Cold,
        Self::Full,
        Self::Version,
        Self::Weight,
    ];

    /// Its name in logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Circuit => "circuit_open",
            Self::NotReady => "not_ready",
            Self::NotPermitted => "not_permitted",
            Self::ContextLength => "context_length",
            Self::Tools => "no_tools",
            Self::Class => "class",
            Self::Cold => "cold",
            Self::Full => "full",
            Self::Version => "version",
            Self::Weight => "no_weight",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
