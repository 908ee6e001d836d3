//! Attributes of where a request came in and where it goes.

use super::metadata;
use super::value::Value;
use crate::abi::{Answer, Refusal};
use crate::config::Locality;
use crate::host_calls::Guest;

impl Guest<'_> {
    /// In a callout's stream there is no client, and Envoy does not check.
    pub(super) fn address(&mut self, name: &str, field: &str) -> Answer<Option<Value>> {
        let Some(stream) = self.stream() else {
            return Ok(None);
        };
        let Some(origin) = stream.origin else {
            return Err(Refusal::Stop(format!(
                "{name} read in a callout stream: Envoy itself crashes here"
            )));
        };
        let address = if name == "source" {
            Some(origin.peer)
        } else {
            stream.listener().map(|listener| listener.address)
        };
        Ok(address.and_then(|address| match field {
            "address" => Some(address.to_string().into()),
            "port" => Some(u64::from(address.port()).into()),
            _ => None,
        }))
    }

    pub(super) fn connection(&self, field: &str) -> Option<Value> {
        let origin = self.stream()?.origin?;
        match field {
            "id" => Some(origin.connection_id.into()),
            "mtls" => Some(Value::Bool(false)),
            "requested_server_name" => Some("".into()),
            _ => None,
        }
    }

    pub(super) fn upstream(&mut self, field: &str) -> Option<Value> {
        let stream = self.stream()?;
        let info = &stream.info;
        match field {
            "address" => info
                .upstream_address
                .map(|address| address.to_string().into()),
            "port" => info
                .upstream_address
                .map(|address| u64::from(address.port()).into()),
            "locality" => {
                let nowhere = Locality::default();
                info.upstream_address.map(|_| metadata::locality(&nowhere))
            }
            "request_attempt_count" => Some(u64::from(info.attempts).into()),
            // Empty as long as nothing failed, absent before the first attempt.
            "transport_failure_reason" => {
                let reason = info.transport_failure.clone().unwrap_or_default();
                info.upstream_address.map(|_| reason.into())
            }
            "cx_pool_ready_duration" => {
                let took = info.pool_ready?;
                i64::try_from(took.as_nanos()).ok().map(Value::Number)
            }
            "num_endpoints" => {
                let name = info.upstream_cluster.as_ref()?;
                let cluster = stream.version.config.clusters.get(name)?;
                Some((cluster.endpoints.len() as u64).into())
            }
            _ => None,
        }
    }

    pub(super) fn xds(&mut self, field: &str) -> Option<Value> {
        if field == "node" {
            return Some(metadata::node(&self.engine.process.config().node));
        }
        let key = self.stream_key()?;
        let stream = self.stream()?;
        let info = &stream.info;
        let none = || metadata::message(&std::collections::BTreeMap::new());
        match field {
            "cluster_name" => info.upstream_cluster.clone().map(Value::from),
            "cluster_metadata" => info.upstream_cluster.as_ref().map(|_| none()),
            "route_name" => Some(self.engine.route_names(key)?.0.unwrap_or_default().into()),
            "route_metadata" => self.engine.route_names(key).map(|_| none()),
            "virtual_host_name" => Some(self.engine.route_names(key)?.1.into()),
            "virtual_host_metadata" => self.engine.route_names(key).map(|_| none()),
            // A host has none, which is not the same as empty ones.
            "upstream_host_metadata" | "upstream_host_locality_metadata" => {
                info.upstream_address.map(|_| Value::Null)
            }
            "filter_chain_name" => Some("".into()),
            "listener_direction" => stream.origin.map(|_| Value::Number(0)),
            "listener_metadata" => Some(metadata::message(&stream.listener()?.metadata)),
            _ => None,
        }
    }
}
