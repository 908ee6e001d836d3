//! Callouts over gRPC: what comes of each answer was seen in Envoy 1.40.

mod answers;
mod beginnings;
mod clients;
mod tokens;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_sim_host::abi::{Answer, BufferKind, Call, GrpcTarget, HostCalls, MapKind};

use crate::stage::{PAUSE, Script, Setup, Stage, cluster, guest, lines};

/// What a guest has been told, a line each.
#[derive(Clone, Default)]
pub struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    /// The lines since the last look.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn target(service: &[u8]) -> GrpcTarget {
    GrpcTarget {
        service: service.to_vec(),
        service_name: b"test.Echo".to_vec(),
        method_name: b"Unary".to_vec(),
        initial_metadata: lines(&[("x-mine", "1")]),
    }
}

/// A call with a time of 500 ms.
fn call(host: &mut dyn HostCalls, service: &[u8]) -> Answer<u32> {
    host.grpc_call(b"hello", Duration::from_millis(500), target(service))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn names(host: &mut dyn HostCalls, map: MapKind) -> String {
    let pairs = host.get_header_map_pairs(map).unwrap();
    let names: Vec<_> = pairs.into_iter().map(|(name, _)| text(name)).collect();
    names.join(",")
}

/// All that the guest can read in a callback.
fn line(host: &mut dyn HostCalls, event: &Call) -> Option<String> {
    Some(match event {
        Call::GrpcReceiveInitialMetadata { count, .. } => {
            format!(
                "initial {count} {}",
                names(host, MapKind::GrpcInitialMetadata)
            )
        }
        Call::GrpcReceive { token, size, .. } => {
            let bytes = host.get_buffer_bytes(BufferKind::GrpcReceiveBuffer, 0, *size);
            format!("message {token} {}", text(bytes.unwrap()))
        }
        Call::GrpcReceiveTrailingMetadata { count, .. } => {
            format!(
                "trailing {count} {}",
                names(host, MapKind::GrpcTrailingMetadata)
            )
        }
        Call::GrpcClose { token, status, .. } => {
            let (code, message) = host.get_status();
            assert_eq!(code, *status);
            format!("close {token} {} {}", code.cast_signed(), text(message))
        }
        _ => return None,
    })
}

/// A guest that acts when a request comes and writes down what it is told.
fn acts(told: &Told, act: impl Fn(&mut dyn HostCalls, &Told) + Send + Sync + 'static) -> Script {
    let told = told.clone();
    guest(move |host, event| {
        if let Some(line) = line(host, event) {
            told.add(line);
        }
        if matches!(event, Call::RequestHeaders { .. }) {
            act(host, &told);
            return Some(PAUSE);
        }
        None
    })
}

/// A worker thread with that guest, the cluster `side` with a worker and `nobody` without.
fn setup(told: &Told, act: impl Fn(&mut dyn HostCalls, &Told) + Send + Sync + 'static) -> Setup {
    Setup::new(&[("asks", acts(told, act))])
        .cluster(cluster("side", &[9]))
        .cluster(cluster("nohosts", &[]))
}

/// The same with a request that has come.
fn stage(told: &Told, act: impl Fn(&mut dyn HostCalls, &Told) + Send + Sync + 'static) -> Stage {
    let mut stage = setup(told, act).start();
    stage.get(1);
    stage
}
