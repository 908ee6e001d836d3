//! The pages of the admin address. Names, methods and texts are Envoy's, as far as Envoy has the page.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use super::{Admin, clusters, dump, stats};
use crate::logs::Level;
use crate::reload::{Reload, Wish};

/// What is answered.
pub struct Page {
    /// HTTP status.
    pub status: u16,
    /// `content-type`.
    pub content_type: &'static str,
    /// Body.
    pub text: String,
}

impl Page {
    /// Plain text.
    pub fn text(status: u16, text: impl Into<String>) -> Page {
        Page {
            status,
            content_type: "text/plain; charset=UTF-8",
            text: text.into(),
        }
    }

    /// A JSON document, for people too.
    pub fn json(document: &serde_json::Value) -> Page {
        Page {
            status: 200,
            content_type: "application/json",
            text: format!("{document:#}\n"),
        }
    }
}

/// Path, whether it changes something (and so wants a POST), and what it is for.
const PAGES: [(&str, bool, &str); 15] = [
    ("/clusters", false, "members of all clusters; ?format=json"),
    (
        "/config_dump",
        false,
        "the configuration that is served, its version, and the last one that was refused; without secrets",
    ),
    (
        "/drain_listeners",
        true,
        "no more connections; kept ones go on; ?graceful: first the drain time long every response ends its connection",
    ),
    (
        "/healthcheck/fail",
        true,
        "/ready says no, and every response ends its connection",
    ),
    ("/healthcheck/ok", true, "take that back"),
    ("/help", false, "this list"),
    (
        "/listeners",
        false,
        "addresses of the listeners; ?format=json",
    ),
    (
        "/logging",
        true,
        "?level=debug shows more lines of the log, ?level=warning fewer",
    ),
    ("/quitquitquit", true, "end the process"),
    ("/ready", false, "LIVE once all threads have started"),
    (
        "/reload",
        true,
        "read the configuration again; the answer says how that went",
    ),
    ("/server_info", false, "version, state and options"),
    (
        "/stats",
        false,
        "statistics; ?filter=part, ?usedonly, ?format=prometheus",
    ),
    ("/stats/prometheus", false, "the same for Prometheus"),
    ("/", false, "this list"),
];

/// Answers a request.
pub async fn answer(admin: &Admin, method: &[u8], target: &[u8]) -> Page {
    let target = String::from_utf8_lossy(target);
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let Some((_, changes, _)) = PAGES.iter().find(|(known, ..)| *known == path) else {
        let text = format!("host-sim has no admin page {path}\n\n{}", help());
        return Page::text(404, text);
    };
    if *changes && method != b"POST" {
        let text = format!("{path} changes something: it wants a POST (curl -X POST)\n");
        return Page::text(405, text);
    }
    match path {
        "/clusters" if asks(query, "format", "json") => {
            Page::json(&clusters::document(&admin.process))
        }
        "/clusters" => Page::text(200, clusters::text(&admin.process)),
        "/config_dump" => Page::json(&dump::document(&admin.board.status(), &admin.source)),
        "/drain_listeners" => drain(admin, field(query, "graceful").is_some()).await,
        "/healthcheck/fail" | "/healthcheck/ok" => {
            let fails = path == "/healthcheck/fail";
            admin.process.set_draining(fails);
            admin.failing.store(fails, Ordering::Relaxed);
            Page::text(200, "OK\n")
        }
        "/listeners" => listeners(admin, asks(query, "format", "json")),
        "/logging" => logging(admin, query),
        "/quitquitquit" => {
            admin.quit.notify_one();
            Page::text(200, "OK\n")
        }
        "/ready" => ready(admin),
        "/reload" => reload(admin).await,
        "/server_info" => server_info(admin),
        "/stats" if asks(query, "format", "prometheus") => {
            Page::text(200, stats::prometheus(admin))
        }
        "/stats" => Page::text(
            200,
            stats::plain(
                admin,
                field(query, "filter"),
                field(query, "usedonly").is_some(),
            ),
        ),
        "/stats/prometheus" => Page::text(200, stats::prometheus(admin)),
        _ => Page::text(200, help()),
    }
}

/// Value of a field of a query.
fn field<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let fields = query.split('&');
    let mut fields = fields.map(|field| field.split_once('=').unwrap_or((field, "")));
    fields.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn asks(query: &str, name: &str, value: &str) -> bool {
    field(query, name) == Some(value)
}

fn help() -> String {
    let mut text = "admin pages of host-sim:\n".to_owned();
    for (path, changes, what) in PAGES {
        let method = if changes { "POST" } else { "GET" };
        let _ = writeln!(text, "  {method:<4} {path:<18} {what}");
    }
    text
}

fn state(admin: &Admin) -> &'static str {
    if !admin.ready.load(Ordering::Acquire) {
        "INITIALIZING"
    } else if admin.failing.load(Ordering::Relaxed) {
        "DRAINING"
    } else {
        "LIVE"
    }
}

fn ready(admin: &Admin) -> Page {
    let state = state(admin);
    let status = if state == "LIVE" { 200 } else { 503 };
    Page::text(status, format!("{state}\n"))
}

fn listeners(admin: &Admin, json: bool) -> Page {
    let config = admin.process.config();
    if json {
        let statuses: Vec<_> = config
            .listeners
            .iter()
            .map(|listener| {
                serde_json::json!({
                    "name": listener.name,
                    "local_address": clusters::address(listener.address),
                })
            })
            .collect();
        return Page::json(&serde_json::json!({ "listener_statuses": statuses }));
    }
    let mut text = String::new();
    for listener in &config.listeners {
        let _ = writeln!(text, "{}::{}", listener.name, listener.address);
    }
    Page::text(200, text)
}

fn logging(admin: &Admin, query: &str) -> Page {
    match field(query, "level").map(|name| (name, Level::named(name))) {
        Some((name, Some(level))) => {
            admin.threshold.set(level);
            Page::text(200, format!("lines from level {name} on are shown\n"))
        }
        _ => Page::text(
            400,
            "level is one of trace, debug, info, warning, error, critical, off: /logging?level=debug\n",
        ),
    }
}

async fn drain(admin: &Admin, graceful: bool) -> Page {
    let wishes = admin.wishes.clone();
    if graceful {
        admin.process.set_draining(true);
        let time = admin.drain_time;
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            // Nobody takes it once the process ends.
            let _ = wishes.send(Wish::Drain).await;
        });
    } else {
        // The same.
        let _ = wishes.send(Wish::Drain).await;
    }
    Page::text(200, "OK\n")
}

async fn reload(admin: &Admin) -> Page {
    let (say, done) = oneshot::channel();
    let wish = Wish::Reload(Reload {
        why: "POST /reload".to_owned(),
        answer: Some(say),
    });
    if admin.wishes.try_send(wish).is_err() {
        return Page::text(503, "enough reloads are waiting already: try again later\n");
    }
    match done.await {
        Ok(Ok(text)) => Page::text(200, format!("{text}\n")),
        Ok(Err(reason)) => Page::text(
            400,
            format!("refused, what was served before stays:\n{reason}\n"),
        ),
        Err(_) => Page::text(503, "the process is ending\n"),
    }
}

fn server_info(admin: &Admin) -> Page {
    let status = admin.board.status();
    let uptime = format!("{}s", admin.clock.now().monotonic.as_secs());
    Page::json(&serde_json::json!({
        "version": concat!("host-sim/", env!("CARGO_PKG_VERSION")),
        "state": state(admin),
        "uptime_current_epoch": uptime,
        "uptime_all_epochs": uptime,
        "hot_restart_version": "disabled",
        "command_line_options": {
            "concurrency": admin.concurrency,
            "config_path": admin.source.display().to_string(),
        },
        "configuration_version": status.version,
    }))
}
