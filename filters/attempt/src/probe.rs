//! Callouts of `poll`: requests without a plan that may still carry a worker's credential.

use dragoman_contract::names;
use dragoman_sdk::host::Shared;
use dragoman_sdk::{HeadersFlow, HostResult, RequestHeaders};

use crate::config::Attempt;

impl Attempt {
    /// Lets a callout through that shows the process's probe token, with the credential of the
    /// worker at this address; `None` if this is no such callout.
    ///
    /// A client cannot make one: its requests have a connection, callouts have none; it does not
    /// know the token; and the header is taken from it at the start of the chain.
    pub(crate) fn probe(
        &self,
        cx: &mut RequestHeaders<'_>,
        shown: Option<Vec<u8>>,
    ) -> HostResult<Option<HeadersFlow>> {
        let Some(shown) = shown else { return Ok(None) };
        let is_callout = cx.attribute(&["connection", "id"])?.is_none();
        let token = cx.shared(names::PROBE_TOKEN_KEY)?.map(|(token, _)| token);
        if !is_callout || token.is_none_or(|token| token.is_empty() || token != shown) {
            return Ok(None);
        }
        let (cluster, address) = chosen(cx)?;
        let text = |bytes| String::from_utf8(bytes).unwrap_or_default();
        let place = (text(cluster), text(address));
        let Some(worker) = self.places.get(&place) else {
            return Ok(None);
        };
        cx.set_request_header(":authority", place.1.as_bytes())?;
        self.present(cx, worker)?;
        Ok(Some(HeadersFlow::Continue))
    }
}

/// Cluster and address that Envoy chose.
pub(crate) fn chosen(cx: &mut RequestHeaders<'_>) -> HostResult<(Vec<u8>, Vec<u8>)> {
    let address = cx.attribute(&["upstream", "address"])?.unwrap_or_default();
    let cluster = cx.attribute(&["xds", "cluster_name"])?.unwrap_or_default();
    Ok((cluster, address))
}
