//! Statistics as text: Envoy's lines, and Prometheus's format with Envoy's tags.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Stats, names};

/// A statistic under its full name.
struct Line {
    name: String,
    gauge: bool,
    value: u64,
}

impl Stats {
    fn lines(&self) -> Vec<Line> {
        let tables = self.tables.iter().flat_map(|(prefix, table)| {
            table.iter().map(move |(name, value)| Line {
                name: format!("{prefix}{name}"),
                gauge: names::is_gauge(name),
                value: *value,
            })
        });
        let counter = |name: String, value: u64| Line {
            name,
            gauge: false,
            value,
        };
        let mut lines: Vec<Line> = tables.collect();
        for (cluster, answers) in &self.answers {
            let mut classes: BTreeMap<(&str, u16), u64> = BTreeMap::new();
            let mut completed: BTreeMap<&str, u64> = BTreeMap::new();
            for ((group, status), count) in answers {
                let name = format!("cluster.{cluster}.{group}upstream_rq_{status}");
                lines.push(counter(name, *count));
                *classes.entry((group, status / 100)).or_default() += count;
                *completed.entry(group).or_default() += count;
            }
            for ((group, class), count) in classes {
                let name = format!("cluster.{cluster}.{group}upstream_rq_{class}xx");
                lines.push(counter(name, count));
            }
            for (group, count) in completed {
                let name = format!("cluster.{cluster}.{group}upstream_rq_completed");
                match lines.iter_mut().find(|line| line.name == name) {
                    Some(line) => line.value = count,
                    None => lines.push(counter(name, count)),
                }
            }
        }
        lines.sort_by(|one, other| one.name.cmp(&other.name));
        lines
    }

    /// Envoy's `/stats`: a line for each counter and gauge.
    #[must_use]
    pub fn plain(&self) -> Vec<(String, u64)> {
        let lines = self.lines().into_iter();
        lines.map(|line| (line.name, line.value)).collect()
    }

    /// Prometheus's text format: counters, gauges, times, each by family.
    #[must_use]
    pub fn prometheus(&self) -> String {
        let mut families: BTreeMap<(bool, String), Vec<(String, u64)>> = BTreeMap::new();
        for line in self.lines() {
            let (family, labels) = family(&line.name);
            let members = families.entry((line.gauge, family)).or_default();
            members.push((labels, line.value));
        }
        let mut text = String::new();
        for ((gauge, family), members) in families {
            let kind = if gauge { "gauge" } else { "counter" };
            let _ = writeln!(text, "# TYPE {family} {kind}");
            for (labels, value) in members {
                let _ = writeln!(text, "{family}{{{labels}}} {value}");
            }
        }
        let mut known = String::new();
        for (name, times) in &self.times {
            let (family, labels) = family(name);
            if family != known {
                let _ = writeln!(text, "# TYPE {family} histogram");
                known.clone_from(&family);
            }
            times.write(&mut text, &family, &labels);
        }
        text
    }
}

/// Family and labels of a statistic of Envoy's, by its built-in tags.
fn family(name: &str) -> (String, String) {
    let mut labels = Vec::new();
    let mut rest = name.to_owned();
    let mut parts = name.splitn(3, '.');
    let (scope, whose, last) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
        parts.next(),
    );
    if let Some(last) = last {
        match scope {
            "http" => {
                labels.push(("envoy_http_conn_manager_prefix", whose.to_owned()));
                rest = format!("http.{last}");
            }
            "cluster" => {
                labels.push(("envoy_cluster_name", whose.to_owned()));
                rest = format!("cluster.{last}");
            }
            "listener" => rest = listener(name, &mut labels),
            _ => {}
        }
    }
    if let Some((head, status)) = rest.rsplit_once("_rq_")
        && let Some(tag) = status_tag(status)
    {
        let (label, value, tail) = tag;
        labels.insert(0, (label, value.to_owned()));
        rest = format!("{head}_rq{tail}");
    }
    let labels: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{value}\""))
        .collect();
    (format!("envoy_{}", sanitize(&rest)), labels.join(","))
}

/// `listener.<address>.…`, where the address has dots of its own.
fn listener(name: &str, labels: &mut Vec<(&'static str, String)>) -> String {
    let Some(rest) = name.strip_prefix("listener.") else {
        return name.to_owned();
    };
    let end = rest
        .find(".http.")
        .or_else(|| rest.rfind('.'))
        .unwrap_or(rest.len());
    let (address, tail) = rest.split_at(end);
    let tail = tail.trim_start_matches('.');
    let tail = match tail
        .strip_prefix("http.")
        .and_then(|tail| tail.split_once('.'))
    {
        Some((prefix, tail)) => {
            labels.push(("envoy_http_conn_manager_prefix", prefix.to_owned()));
            format!("http.{tail}")
        }
        None => tail.to_owned(),
    };
    labels.push(("envoy_listener_address", address.to_owned()));
    format!("listener.{tail}")
}

/// Label, its value and what stays in the name.
fn status_tag(status: &str) -> Option<(&'static str, &str, &'static str)> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match status.strip_suffix("xx") {
        Some(class) if class.len() == 1 && digits(class) => {
            Some(("envoy_response_code_class", class, "_xx"))
        }
        None if status.len() == 3 && digits(status) => Some(("envoy_response_code", status, "")),
        _ => None,
    }
}

/// Characters that Prometheus does not take become `_`.
pub(crate) fn sanitize(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a running Envoy 1.40 shows them.
    #[test]
    fn names_have_envoys_families_and_labels() {
        for (name, expected, labels) in [
            (
                "http.public.downstream_rq_2xx",
                "envoy_http_downstream_rq_xx",
                r#"envoy_response_code_class="2",envoy_http_conn_manager_prefix="public""#,
            ),
            (
                "cluster.workers.internal.upstream_rq_200",
                "envoy_cluster_internal_upstream_rq",
                r#"envoy_response_code="200",envoy_cluster_name="workers""#,
            ),
            (
                "cluster.workers.upstream_rq_total",
                "envoy_cluster_upstream_rq_total",
                r#"envoy_cluster_name="workers""#,
            ),
            (
                "listener.127.0.0.1_10000.http.public.downstream_rq_4xx",
                "envoy_listener_http_downstream_rq_xx",
                r#"envoy_response_code_class="4",envoy_http_conn_manager_prefix="public",envoy_listener_address="127.0.0.1_10000""#,
            ),
            (
                "listener.127.0.0.1_10000.downstream_cx_total",
                "envoy_listener_downstream_cx_total",
                r#"envoy_listener_address="127.0.0.1_10000""#,
            ),
            ("server.live", "envoy_server_live", ""),
            (
                "wasm.alias.vm_reload_success",
                "envoy_wasm_alias_vm_reload_success",
                "",
            ),
        ] {
            assert_eq!(
                family(name),
                (expected.to_owned(), labels.to_owned()),
                "{name}"
            );
        }
    }
}
