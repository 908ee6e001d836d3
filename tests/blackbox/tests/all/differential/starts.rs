//! How many VMs there are, and how each begins.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

#[test]
fn a_plugin_starts_on_each_thread_on_the_main_one_and_for_trial() {
    let seen = Case::new()
        .filter(scripted("a", ""))
        .with_starts()
        .run(|client| drop(client.get("/readyz")));

    let configured = |vm: &Vec<String>| vm.iter().any(|line| line.contains("configure("));
    assert_eq!(
        seen.idle.len(),
        3,
        "the first VM of the module, the trial, the main thread"
    );
    assert_eq!(seen.idle.iter().filter(|vm| configured(vm)).count(), 2);
    assert_eq!(seen.said("configure("), 1, "and the worker's");
}

#[test]
fn plugins_of_one_vm_are_tried_out_one_by_one() {
    let seen = Case::new()
        .filter(scripted("a", "").in_vm("// shared"))
        .filter(scripted("b", "").in_vm("// shared"))
        .filter(scripted("c", ""))
        .with_starts()
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.said("initialize("), 2);
    assert_eq!(seen.said("vm_start("), 3, "once for each root context");
    assert_eq!(
        seen.idle.len(),
        2 + 3 + 2,
        "first VMs, trials, the main thread's"
    );
}

#[test]
fn what_the_trial_does_outside_of_its_vm_stays() {
    let script = "
        configure: c = define_metric 0 scripted_starts
        configure: increment_metric $c 1
        configure: get_shared_data starts
        configure: set_shared_data starts here 0
        request_headers: get_metric $c";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("get_metric"),
        ["0 3"],
        "trial, main thread, worker"
    );
    assert!(seen.answers("get_shared_data")[0].starts_with("0 \"here\""));
}

#[test]
fn ticks_come_on_the_main_thread_too() {
    let script = "
        configure: set_tick_period 20
        tick #3: set_tick_period 0";

    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        client.wait_for("tick(", 6);
        drop(client.get("/readyz"));
    });

    assert_eq!(seen.said("tick("), 3, "of the worker");
    let main = seen
        .idle
        .iter()
        .filter(|vm| vm.iter().any(|line| line.contains("tick(")));
    assert_eq!(main.count(), 1, "and of the main thread: not of the trial");
}
