//! What the main thread tries out before it is there for good, and what of it stays.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use host_sim_host::abi::{Call, Refusal, Status};

use crate::stage::{Script, Setup, Stage, guest, passes};

/// Callbacks of this name and their guests since the last look.
fn of(stage: &mut Stage, callback: &str) -> Vec<String> {
    let mut lines = stage.journal();
    lines.retain(|line| line.ends_with(&format!(" {callback}")));
    lines
}

#[test]
fn each_plugin_is_tried_out_before_any_is_there_for_good() {
    let plugins = [("a", passes()), ("b", passes())];
    let mut stage = Setup::new(&plugins).main_thread().start();

    let [trial, main, worker] = [["a configure", "b configure"]; 3];
    assert_eq!(of(&mut stage, "configure"), [trial, main, worker].concat());
}

#[test]
fn what_an_update_brings_is_tried_out_and_thrown_away_without_a_word() {
    let script = passes();
    let with = |text: &str| {
        Setup::new(&[("a", script.clone())])
            .plugin(0, |plugin| plugin.configuration = text.as_bytes().to_vec())
    };
    let mut stage = with("old").main_thread().start();
    stage.journal();

    stage.update(with("new")).unwrap();

    let journal = stage.journal();
    let count = |callback: &str| journal.iter().filter(|line| *line == callback).count();
    // The trial, the main thread, the worker thread; only the last two had an old one to end.
    assert_eq!((count("a configure"), count("a done")), (3, 2));
}

#[test]
fn what_a_trial_puts_into_shared_data_is_there_for_the_others() {
    let first = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&first);
    let script: Script = guest(move |host, call| {
        if let Call::Configure { .. } = call
            && host.get_shared_data(b"k") == Err(Refusal::Tell(Status::NotFound))
        {
            host.set_shared_data(b"k", b"v", 0).unwrap();
            counts.fetch_add(1, Ordering::Relaxed);
        }
        None
    });

    Setup::new(&[("a", script)]).main_thread().start();

    assert_eq!(first.load(Ordering::Relaxed), 1);
}

#[test]
fn shared_data_of_a_start_are_gone_with_the_vms_of_all_threads() {
    let found = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&found);
    let script: Script = guest(move |host, call| {
        if let Call::Configure { .. } = call {
            notes
                .lock()
                .unwrap()
                .push(host.get_shared_data(b"k").is_ok());
            host.set_shared_data(b"k", b"v", 0).unwrap();
        }
        None
    });
    let of = |vm_id: &str| {
        Setup::new(&[("a", script.clone())])
            .plugin(0, |plugin| vm_id.clone_into(&mut plugin.vm.vm_id))
    };
    let mut stage = of("one").main_thread().start();
    stage.update(of("two")).unwrap();
    stage.update(of("one")).unwrap();

    // The first to start finds nothing, each time: trial, main thread, worker thread.
    assert_eq!(*found.lock().unwrap(), [false, true, true].repeat(3));
}
