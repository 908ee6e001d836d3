//! Envoy's response flags: short names for logs, bits for guests.

/// Why a response is not the plain answer of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// `UH`.
    NoHealthyUpstream,
    /// `UT`.
    UpstreamRequestTimeout,
    /// `UR`.
    UpstreamRemoteReset,
    /// `UF`.
    UpstreamConnectionFailure,
    /// `UC`.
    UpstreamConnectionTermination,
    /// `UO`.
    UpstreamOverflow,
    /// `NR`.
    NoRouteFound,
    /// `DC`.
    DownstreamConnectionTermination,
    /// `URX`.
    UpstreamRetryLimitExceeded,
    /// `SI`.
    StreamIdleTimeout,
    /// `DPE`.
    DownstreamProtocolError,
    /// `UPE`.
    UpstreamProtocolError,
    /// `NC`.
    NoClusterFound,
}

impl Flag {
    /// As in `%RESPONSE_FLAGS%`.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Flag::NoHealthyUpstream => "UH",
            Flag::UpstreamRequestTimeout => "UT",
            Flag::UpstreamRemoteReset => "UR",
            Flag::UpstreamConnectionFailure => "UF",
            Flag::UpstreamConnectionTermination => "UC",
            Flag::UpstreamOverflow => "UO",
            Flag::NoRouteFound => "NR",
            Flag::DownstreamConnectionTermination => "DC",
            Flag::UpstreamRetryLimitExceeded => "URX",
            Flag::StreamIdleTimeout => "SI",
            Flag::DownstreamProtocolError => "DPE",
            Flag::UpstreamProtocolError => "UPE",
            Flag::NoClusterFound => "NC",
        }
    }

    /// As in `response.flags`.
    #[must_use]
    pub fn bit(self) -> u64 {
        match self {
            Flag::NoHealthyUpstream => 0x2,
            Flag::UpstreamRequestTimeout => 0x4,
            Flag::UpstreamRemoteReset => 0x10,
            Flag::UpstreamConnectionFailure => 0x20,
            Flag::UpstreamConnectionTermination => 0x40,
            Flag::UpstreamOverflow => 0x80,
            Flag::NoRouteFound => 0x100,
            Flag::DownstreamConnectionTermination => 0x4000,
            Flag::UpstreamRetryLimitExceeded => 0x8000,
            Flag::StreamIdleTimeout => 0x1_0000,
            Flag::DownstreamProtocolError => 0x4_0000,
            Flag::UpstreamProtocolError => 0x80_0000,
            Flag::NoClusterFound => 0x100_0000,
        }
    }
}

/// `URX,UT`, in the order they were set; `-` if there is none.
pub(crate) fn short_names(flags: &[Flag]) -> String {
    if flags.is_empty() {
        return "-".to_owned();
    }
    flags
        .iter()
        .map(|flag| flag.short())
        .collect::<Vec<_>>()
        .join(",")
}
