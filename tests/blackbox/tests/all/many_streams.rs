//! Two thousand streams at a time. On host-sim: Envoy's numbers are Envoy's.

use blackbox::client::{Piece, Rest};
use blackbox::{At, Connection, End, Engine, Faults, How, World};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{STREAMED_CHAT, chat_request};

const STREAMS: usize = 2000;
/// So many begin at once: the worker's queue of connections that nobody accepted yet is twice as long.
const GROUP: usize = 50;
/// Here and in the gateway: a socket each towards the client and the worker, and some for the rest.
const OPEN_FILES: u64 = 3 * STREAMS as u64;
/// Memory of the gateway for one stream that is held: both connections, four contexts of guests, a
/// kept request. Measured: 16 KiB.
const BYTES_EACH: u64 = 64 * 1024;

#[test]
fn two_thousand_streams_are_held_and_all_end_well() {
    raise_open_files();
    let world = World::on(Engine::HostSim)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .concurrency(2)
        .start();
    // Warm: the VMs have their memory.
    assert_eq!(world.chat(STREAMED_CHAT).status, 200);
    world.fail("w1", Faults::interrupt(At::Events(1), How::Hold));
    let before = memory_bytes(&world);

    let mut streams = Vec::new();
    while streams.len() < STREAMS {
        let mut group: Vec<_> = (0..GROUP).map(|_| begin(&world)).collect();
        let rests: Vec<_> = group.iter_mut().map(first_event).collect();
        streams.extend(group.into_iter().zip(rests));
    }
    let each = memory_bytes(&world).saturating_sub(before) / STREAMS as u64;
    world.worker("w1").release();

    for (connection, rest) in &mut streams {
        let (body, end) = connection.to_end(rest);
        assert_eq!(end, End::Complete);
        assert!(body.ends_with(b"data: [DONE]\n\n"));
    }
    assert!(each < BYTES_EACH, "{each} bytes a stream");
    println!("{each} bytes a stream");
}

fn begin(world: &World) -> Connection {
    let mut connection = world.connect();
    connection.send(chat_request(STREAMED_CHAT));
    connection
}

fn first_event(connection: &mut Connection) -> Rest {
    let head = connection.head();
    assert_eq!(head.status, 200);
    let mut rest = head.rest();
    match connection.piece(&mut rest) {
        Piece::Data(event) => assert!(event.ends_with(b"\n\n")),
        Piece::End(end) => panic!("no event: {end:?}"),
    }
    rest
}

/// What the gateway holds of the machine's memory.
fn memory_bytes(world: &World) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", world.pid()));
    let status = status.expect("the gateway runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok())
        .expect("VmRSS in kB")
        * 1024
}

fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    assert!(
        limit.maximum.is_none_or(|maximum| maximum >= OPEN_FILES),
        "this test opens {OPEN_FILES} files: raise the hard limit (ulimit -Hn {OPEN_FILES})"
    );
    if limit.current.is_some_and(|current| current < OPEN_FILES) {
        let raised = Rlimit {
            current: Some(OPEN_FILES),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, raised).expect("up to the hard limit");
    }
}
