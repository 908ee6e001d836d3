//! Shared queues: who is told, when, and what is refused.

use host_sim_host::abi::{Call, HostCalls, Refusal, Status};
use host_sim_host::io::{Command, Event};

use crate::stage::{Setup, guest};

const EMPTY: Refusal = Refusal::Tell(Status::Empty);
const NOT_FOUND: Refusal = Refusal::Tell(Status::NotFound);

/// Registers `jobs` when it is configured, and takes one value out each time it is told.
fn consumer(host: &mut dyn HostCalls, call: &Call) {
    match call {
        Call::Configure { .. } => assert_eq!(host.register_shared_queue(b"jobs"), Ok(1)),
        Call::QueueReady { token, .. } => {
            let value = host.dequeue_shared_queue(*token).unwrap();
            host.log(2, &value).unwrap();
        }
        _ => {}
    }
}

fn said(commands: &[Command]) -> Vec<&str> {
    let lines = commands.iter().filter_map(|command| match command {
        Command::Log { text, .. } => text.rsplit(": ").next(),
        _ => None,
    });
    lines.collect()
}

#[test]
fn values_come_out_in_their_order_and_each_is_announced_after_the_call_is_over() {
    let script = guest(|host, call| {
        consumer(host, call);
        if let Call::RequestHeaders { .. } = call {
            host.enqueue_shared_queue(1, b"first").unwrap();
            host.enqueue_shared_queue(1, b"").unwrap();
            host.enqueue_shared_queue(1, b"third").unwrap();
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();

    stage.get(1);
    assert_eq!(said(&stage.commands), [""; 0], "not while the guest runs");

    assert_eq!(stage.deliver_wakes(), 3);
    assert_eq!(said(&stage.commands), ["first", "", "third"]);
}

#[test]
fn the_last_that_registered_hears_and_the_values_stay() {
    let mut stage = Setup::new(&[(
        "a",
        guest(|host, call| {
            consumer(host, call);
            if let Call::RequestHeaders { .. } = call {
                host.enqueue_shared_queue(1, b"job").unwrap();
            }
            None
        }),
    )])
    .start();
    stage.get(1);
    let mut second = stage.second_worker();
    stage.get(2);

    let woken = |command: &Command| match command {
        Command::Wake { thread } => Some(*thread),
        _ => None,
    };
    let woken: Vec<usize> = stage.commands.iter().filter_map(woken).collect();
    assert_eq!(woken, [0, 1]);

    second.handle(stage.now, Event::Woken);
    assert_eq!(said(&second.take_commands()), ["job"], "the older value");
}

#[test]
fn a_queue_that_a_stream_registers_belongs_to_its_root_context() {
    let script = guest(|host, call| {
        match call {
            Call::RequestHeaders { .. } => {
                let token = host.register_shared_queue(b"late").unwrap();
                host.enqueue_shared_queue(token, b"x").unwrap();
            }
            Call::QueueReady { root, .. } => assert_eq!(*root, 1),
            _ => {}
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    assert_eq!(stage.deliver_wakes(), 1);
    assert!(stage.journal().contains(&"a queue_ready".to_owned()));
}

#[test]
fn queues_are_found_by_vm_id_and_name() {
    let owner = guest(|host, call| {
        consumer(host, call);
        None
    });
    let other = guest(|host, call| {
        if let Call::RequestHeaders { .. } = call {
            assert_eq!(host.resolve_shared_queue(b"", b"jobs"), Err(NOT_FOUND));
            assert_eq!(host.resolve_shared_queue(b"test", b"none"), Err(NOT_FOUND));
            let token = host.resolve_shared_queue(b"test", b"jobs").unwrap();
            assert_eq!(host.dequeue_shared_queue(token), Err(EMPTY));
            assert_eq!(host.dequeue_shared_queue(77), Err(NOT_FOUND));
            assert_eq!(host.enqueue_shared_queue(77, b"x"), Err(NOT_FOUND));
            assert_eq!(host.register_shared_queue(b"jobs"), Ok(token + 1));
            assert_eq!(host.register_shared_queue(b"jobs"), Ok(token + 1));
        }
        None
    });
    let mut stage = Setup::new(&[("a", owner), ("b", other)])
        .plugin(1, |plugin| plugin.vm.vm_id = "other".to_owned())
        .start();
    stage.get(1);
    assert_eq!(stage.tried(), [1]);
}

#[test]
fn a_full_queue_refuses_and_says_so_once() {
    const PIECE: usize = 10_000_000;
    let script = guest(|host, call| {
        consumer(host, call);
        if let Call::RequestHeaders { .. } = call {
            let value = vec![0; PIECE];
            for _ in 0..10 {
                host.enqueue_shared_queue(1, &value).unwrap();
            }
            let full = Err(Refusal::Tell(Status::InternalFailure));
            assert_eq!(host.enqueue_shared_queue(1, b"x"), full);
            assert_eq!(host.enqueue_shared_queue(1, b"x"), full);
            host.dequeue_shared_queue(1).unwrap();
            assert_eq!(host.enqueue_shared_queue(1, b"x"), Ok(()));
        }
        None
    });
    let mut stage = Setup::new(&[("a", script)]).start();
    stage.get(1);
    let full = |command: &&Command| matches!(command, Command::Log { text, .. } if text.starts_with("shared queues hold"));
    assert_eq!(stage.commands.iter().filter(full).count(), 1);
}

#[test]
fn nobody_hears_for_a_dead_vm_and_the_values_stay() {
    let script = std::sync::Arc::new(|host: &mut dyn HostCalls, call: &Call| {
        if let Call::RequestHeaders { .. } = call {
            let token = host.register_shared_queue(b"q").unwrap();
            host.enqueue_shared_queue(token, b"x").unwrap();
            return Err(host_sim_host::abi::Trap("dead".to_owned()));
        }
        Ok(None)
    });
    let reader = guest(|host, call| {
        if let Call::Log { .. } = call {
            let token = host.resolve_shared_queue(b"test", b"q").unwrap();
            assert_eq!(host.dequeue_shared_queue(token), Ok(b"x".to_vec()));
        }
        None
    });
    let mut stage = Setup::new(&[("a", script), ("b", reader)]).start();
    stage.get(1);
    stage.deliver_wakes();
    assert!(!stage.journal().contains(&"a queue_ready".to_owned()));
}
