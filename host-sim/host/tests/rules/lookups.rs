//! Names that guests look up, and the buffer in which the answer lies.

use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use host_sim_host::abi::{Answer, BufferKind, Call, HostCalls, Refusal, Status};
use host_sim_host::io::{Command, Event, LookupId};

use crate::stage::{Script, Setup, guest, panics};

/// What `envoy_on_resolve_dns` told: the token, the size, and the bytes.
type Told = Arc<Mutex<Vec<(u32, u32, Vec<u8>)>>>;

fn call_data(host: &mut dyn HostCalls) -> Answer<Vec<u8>> {
    host.get_buffer_bytes(BufferKind::CallData, 0, 1000)
}

/// Asks for names in a request and notes what it is told of them later.
fn asks(names: &'static [&'static str], told: &Told) -> Script {
    let told = Arc::clone(told);
    guest(move |host, call| {
        match *call {
            Call::RequestHeaders { .. } => {
                for name in names {
                    host.resolve_dns(name.as_bytes()).expect("a token");
                }
            }
            Call::ResolveDns { token, size, .. } => {
                let bytes = call_data(host).expect("the call data are there");
                told.lock().expect("no panic").push((token, size, bytes));
            }
            _ => {}
        }
        None
    })
}

fn asked(commands: &[Command]) -> Vec<(LookupId, String)> {
    let resolve = |command: &Command| match command {
        Command::Resolve { lookup, name } => Some((*lookup, name.clone())),
        _ => None,
    };
    commands.iter().filter_map(resolve).collect()
}

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts
        .iter()
        .map(|text| text.parse().expect("an address"))
        .collect()
}

#[test]
fn a_name_is_the_worlds_business_and_the_root_context_is_told() {
    let told = Told::default();
    let mut stage = Setup::new(&[("a", asks(&["one", "two"], &told))]).start();
    stage.get(1);
    let asked = asked(&stage.commands);
    assert_eq!(asked[0].1, "one");
    assert_eq!(asked[1].1, "two");

    let of_one = addresses(&["10.0.0.1", "::2", "::3"]);
    stage.handle(Event::Resolved {
        lookup: asked[1].0,
        addresses: Vec::new(),
    });
    stage.handle(Event::Resolved {
        lookup: asked[0].0,
        addresses: of_one,
    });

    let told = told.lock().unwrap();
    assert_eq!(told[0], (3, 4, vec![0; 4]), "nobody knows the second");
    let of_six = b"\x02\0\0\0\0\0\0\0\0\0\0\0[::2]:0\0[::3]:0\0".to_vec();
    assert_eq!(told[1], (2, 28, of_six), "without those of version 4");
    assert_eq!(told.len(), 2);
}

#[test]
fn an_address_is_told_before_the_call_returns() {
    let script = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            host.get_buffer_bytes(BufferKind::VmConfiguration, 0, 9)
                .unwrap();
            assert_eq!(host.resolve_dns(b"127.0.0.1"), Ok(2));
            let told = Call::ResolveDns {
                root: 1,
                token: 2,
                size: 20,
            };
            assert_eq!(host.next_nested(), Some(told));
            let bytes = call_data(host).unwrap();
            assert!(bytes.ends_with(b"127.0.0.1:0\0"));
            host.nested_done().unwrap();
            assert_eq!(call_data(host), Ok(Vec::new()), "the stream has its own");
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();

    stage.get(1);

    assert_eq!(asked(&stage.commands), []);
}

#[test]
fn who_is_dead_is_told_nothing() {
    let told = Told::default();
    let switch = Arc::new(AtomicBool::new(true));
    let both: Vec<Script> = vec![
        asks(&["one"], &told),
        panics(&switch, |call| matches!(call, Call::Log { .. })),
    ];
    let script: Script = Arc::new(move |host, call| {
        both.iter()
            .try_fold(None, |answer, script| Ok(script(host, call)?.or(answer)))
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    let lookup = asked(&stage.commands)[0].0;
    stage.leave(1);

    stage.handle(Event::Resolved {
        lookup,
        addresses: addresses(&["10.0.0.1"]),
    });
    stage.handle(Event::Resolved {
        lookup,
        addresses: addresses(&["10.0.0.1"]),
    });

    assert!(told.lock().unwrap().is_empty());
}

#[test]
fn names_that_are_looked_up_are_bounded() {
    let script = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            let refused =
                |answer: &Answer<u32>| *answer == Err(Refusal::Tell(Status::InternalFailure));
            let first = (0..20_000)
                .map(|_| host.resolve_dns(b"name"))
                .position(|answer| refused(&answer));
            assert_eq!(first, Some(10_000));
        }
        None
    });
    Setup::new(&[("a", script)]).start().get(1);
}

#[test]
fn the_call_data_are_what_was_looked_at_last() {
    let script = guest(|host, call| {
        let mut look = |kind| host.get_buffer_bytes(kind, 0, 100);
        match call {
            Call::Configure { .. } => {
                assert_eq!(look(BufferKind::CallData), Ok(Vec::new()));
                let configuration = look(BufferKind::PluginConfiguration);
                assert_eq!(look(BufferKind::CallData), configuration);
            }
            Call::RequestBody { .. } => {
                assert_eq!(look(BufferKind::CallData), Ok(Vec::new()));
                let vm = look(BufferKind::VmConfiguration);
                assert_eq!(look(BufferKind::CallData), vm);
                assert!(look(BufferKind::PluginConfiguration).is_err());
                assert_eq!(look(BufferKind::CallData), vm, "as before");
                let fixed = host.set_buffer_bytes(BufferKind::CallData, 0, 9, b"new");
                assert_eq!(fixed, Err(Refusal::Tell(Status::BadArgument)));
                host.get_buffer_status(BufferKind::RequestBody).unwrap();
                let changed = host.set_buffer_bytes(BufferKind::CallData, 0, 9, b"new");
                assert_eq!(changed, Ok(()));
                let body = host.get_buffer_bytes(BufferKind::RequestBody, 0, 100);
                assert_eq!(body, Ok(b"new".to_vec()));
            }
            _ => {}
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();

    stage.post(1, "body");

    let journal = stage.journal();
    let body = journal.iter().find(|line| line.contains("request_body"));
    assert!(body.is_some(), "{journal:?}");
}
