//! `envoy.config.core.v3.GrpcService`: where a call goes, as a guest writes it.

use std::time::Duration;

use super::protobuf::{Value, fields, text};
use crate::config::RetryPolicy;

/// Who is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// `envoy_grpc`: a cluster.
    Envoy,
    /// `google_grpc`: a client of its own, with connections that Envoy knows nothing of.
    Google,
}

/// The parts of a `GrpcService` that Envoy heeds for calls of guests; its `timeout` is not one of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Service {
    /// `None`: neither is set.
    pub(super) target: Option<Target>,
    pub(super) cluster: String,
    /// `:authority`; empty: the name of the cluster.
    pub(super) authority: String,
    /// A message that announces more bytes ends the call.
    pub(super) message_limit_bytes: Option<u64>,
    /// No `x-envoy-internal`.
    pub(super) skip_envoy_headers: bool,
    /// Names and values.
    pub(super) metadata: Vec<(String, String)>,
    pub(super) retry: RetryPolicy,
}

impl Service {
    /// What is given to the guest's host call: a `GrpcService`, or else the plain name of a cluster.
    /// `None`: neither; the caller knows which clusters there are.
    pub(super) fn read(bytes: &[u8], is_cluster: impl FnOnce(&str) -> bool) -> Option<Self> {
        if let Some(service) = parse(bytes) {
            return Some(service);
        }
        let cluster = text(bytes).filter(|name| is_cluster(name))?;
        Some(Service {
            target: Some(Target::Envoy),
            cluster,
            ..Service::default()
        })
    }
}

fn parse(bytes: &[u8]) -> Option<Service> {
    let mut service = Service::default();
    for field in fields(bytes)? {
        match field {
            (1, Value::Bytes(bytes)) => {
                // A choice: another one before it is forgotten, parts of the same one are merged.
                if service.target != Some(Target::Envoy) {
                    service.target = Some(Target::Envoy);
                    service.cluster.clear();
                    service.authority.clear();
                }
                envoy_grpc(&mut service, bytes)?;
            }
            (2, Value::Bytes(_)) => service.target = Some(Target::Google),
            (3, Value::Bytes(bytes)) => duration(bytes).map(|_| ())?,
            (5, Value::Bytes(bytes)) => service.metadata.push(header(bytes)?),
            (6, Value::Bytes(bytes)) => retry_policy(&mut service.retry, bytes)?,
            _ => {}
        }
    }
    Some(service)
}

fn envoy_grpc(service: &mut Service, bytes: &[u8]) -> Option<()> {
    for field in fields(bytes)? {
        match field {
            (1, Value::Bytes(name)) => service.cluster = text(name)?,
            (2, Value::Bytes(name)) => service.authority = text(name)?,
            (3, Value::Bytes(policy)) => retry_policy(&mut RetryPolicy::default(), policy)?,
            (4, Value::Bytes(bytes)) => {
                // Zero is no limit.
                let limit = u64::from(number(bytes)?);
                service.message_limit_bytes = (limit > 0).then_some(limit);
            }
            (5, Value::Varint(skip)) => service.skip_envoy_headers = skip != 0,
            _ => {}
        }
    }
    Some(())
}

/// `HeaderValue`; its `raw_value` is not looked at here.
fn header(bytes: &[u8]) -> Option<(String, String)> {
    let mut header = <(String, String)>::default();
    for field in fields(bytes)? {
        match field {
            (1, Value::Bytes(name)) => header.0 = text(name)?,
            (2, Value::Bytes(value)) => header.1 = text(value)?,
            _ => {}
        }
    }
    Some(header)
}

fn retry_policy(retry: &mut RetryPolicy, bytes: &[u8]) -> Option<()> {
    for field in fields(bytes)? {
        match field {
            (1, Value::Bytes(bytes)) => {
                for field in fields(bytes)? {
                    match field {
                        (1, Value::Bytes(bytes)) => retry.base_interval = duration(bytes)?,
                        (2, Value::Bytes(bytes)) => retry.max_interval = duration(bytes)?,
                        _ => {}
                    }
                }
            }
            (2, Value::Bytes(bytes)) => retry.num_retries = Some(number(bytes)?),
            (3, Value::Bytes(on)) => retry.retry_on = text(on)?,
            _ => {}
        }
    }
    Some(())
}

/// `UInt32Value`.
fn number(bytes: &[u8]) -> Option<u32> {
    let last = fields(bytes)?
        .into_iter()
        .filter_map(|field| match field {
            (1, Value::Varint(number)) => Some(number as u32),
            _ => None,
        })
        .next_back();
    Some(last.unwrap_or_default())
}

/// `Duration`; one that is negative or out of range is none.
fn duration(bytes: &[u8]) -> Option<Option<Duration>> {
    let (mut seconds, mut nanos) = (0, 0);
    for field in fields(bytes)? {
        match field {
            (1, Value::Varint(number)) => seconds = number,
            (2, Value::Varint(number)) => nanos = number,
            _ => {}
        }
    }
    let nanos = u32::try_from(nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000);
    Some(
        nanos
            .filter(|_| seconds <= u64::from(u32::MAX))
            .map(|nanos| Duration::new(seconds, nanos)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).unwrap();
        [&[number << 3 | 2, length][..], bytes].concat()
    }

    fn read(bytes: &[u8]) -> Option<Service> {
        Service::read(bytes, |name| name == "workers")
    }

    #[test]
    fn a_cluster_is_named_plainly_or_by_a_service() {
        for bytes in [b"workers".to_vec(), field(1, &field(1, b"workers"))] {
            let service = read(&bytes).unwrap();
            assert_eq!(service.target, Some(Target::Envoy));
            assert_eq!(service.cluster, "workers");
        }
        assert!(read(b"nobody").is_none());
        assert!(read(&field(1, &field(1, b"\xff"))).is_none());
    }

    #[test]
    fn all_that_counts_is_read() {
        let grpc = [
            field(1, b"workers"),
            field(2, b"other.test"),
            field(4, &[8, 9]),
            vec![5 << 3, 1],
        ];
        let header = [field(1, b"x-a"), field(2, b"1"), field(3, b"raw")].concat();
        let back_off = field(1, &field(1, &[8, 2]));
        let retry = [back_off, field(2, &[8, 4]), field(3, b"reset")].concat();
        let bytes = [
            field(1, &grpc.concat()),
            field(5, &header),
            field(6, &retry),
        ]
        .concat();

        let service = read(&bytes).unwrap();

        assert_eq!(service.authority, "other.test");
        assert_eq!(service.message_limit_bytes, Some(9));
        assert!(service.skip_envoy_headers);
        assert_eq!(service.metadata, [("x-a".to_owned(), "1".to_owned())]);
        assert_eq!(service.retry.num_retries, Some(4));
        assert_eq!(service.retry.base_interval, Some(Duration::from_secs(2)));
        assert_eq!(service.retry.retry_on, "reset");
    }

    #[test]
    fn of_two_targets_the_last_counts_and_two_parts_of_one_are_merged() {
        let named = |name: &[u8]| field(1, &field(1, name));
        let google = field(2, &field(1, b"127.0.0.1:1"));
        let target = |parts: &[Vec<u8>]| read(&parts.concat()).unwrap().target;
        assert_eq!(target(&[named(b"a"), google.clone()]), Some(Target::Google));
        assert_eq!(target(&[google, named(b"a")]), Some(Target::Envoy));
        assert_eq!(target(&[]), None);

        let parts = [field(1, &field(2, b"other.test")), named(b"a"), named(b"b")];
        let service = read(&parts.concat()).unwrap();
        assert_eq!(service.cluster, "b");
        assert_eq!(service.authority, "other.test");
    }
}
