//! `/stats` and `/stats/prometheus`.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use host_sim_host::stats::Scope;

use super::Admin;

/// Envoy's plain text: Envoy's own statistics, then those of the guests.
pub fn plain(admin: &Admin, filter: Option<&str>, used_only: bool) -> String {
    refresh(admin);
    let own = admin.process.stats().plain();
    let mut lines: Vec<(String, u64)> = own;
    lines.extend(admin.process.guest_metrics());
    let mut text = String::new();
    for (name, value) in lines {
        let wanted = filter.is_none_or(|part| name.contains(part));
        if wanted && !(used_only && value == 0) {
            let _ = writeln!(text, "{name}: {value}");
        }
    }
    text
}

/// Prometheus's text format.
pub fn prometheus(admin: &Admin) -> String {
    refresh(admin);
    let own = admin.process.stats().prometheus();
    own + &admin.process.prometheus()
}

/// What is not counted but read.
fn refresh(admin: &Admin) {
    let ready = admin.ready.load(Ordering::Acquire);
    let concurrency = admin.concurrency as u64;
    let mut stats = admin.process.stats();
    let server = Scope::Other("server");
    stats.set(server, "concurrency", concurrency);
    stats.set(server, "live", u64::from(ready));
    stats.set(server, "uptime", admin.clock.now().monotonic.as_secs());
    let started = if ready { 1 } else { 0 };
    stats.set(Scope::Other("listener_manager"), "workers_started", started);
}
