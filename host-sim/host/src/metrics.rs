//! Metrics that guests define. All threads and plugins that use a name share it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::abi::{MetricKind, Status};
use crate::config::StatsTag;
use crate::stats::{Histogram, sanitize};

/// One metric by kind.
#[derive(Clone, Debug)]
enum Value {
    Number(u64),
    Histogram(Histogram),
}

/// The process-wide store; like Envoy's it never forgets a name.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    values: BTreeMap<(MetricKind, String), Value>,
}

impl Metrics {
    pub(crate) fn define(&mut self, kind: MetricKind, name: &str) {
        self.values
            .entry((kind, name.to_owned()))
            .or_insert_with(|| match kind {
                MetricKind::Histogram => Value::Histogram(Histogram::default()),
                _ => Value::Number(0),
            });
    }

    /// Counters take positive offsets only, histograms none.
    pub(crate) fn increment(
        &mut self,
        kind: MetricKind,
        name: &str,
        offset: i64,
    ) -> Result<(), Status> {
        if kind == MetricKind::Counter && offset <= 0 {
            return Err(Status::BadArgument);
        }
        // Envoy's numbers have 64 bits and go round.
        let value = self.number(kind, name)?;
        *value = value.wrapping_add_signed(offset);
        Ok(())
    }

    /// Adds to a counter, sets a gauge, counts in a histogram.
    pub(crate) fn record(
        &mut self,
        kind: MetricKind,
        name: &str,
        value: u64,
    ) -> Result<(), Status> {
        if kind == MetricKind::Histogram {
            return self.observe(name, value);
        }
        let number = self.number(kind, name)?;
        *number = if kind == MetricKind::Counter {
            number.wrapping_add(value)
        } else {
            value
        };
        Ok(())
    }

    pub(crate) fn get(&mut self, kind: MetricKind, name: &str) -> Result<u64, Status> {
        self.number(kind, name).map(|value| *value)
    }

    fn number(&mut self, kind: MetricKind, name: &str) -> Result<&mut u64, Status> {
        match self.values.get_mut(&(kind, name.to_owned())) {
            Some(Value::Number(value)) => Ok(value),
            Some(Value::Histogram(_)) => Err(Status::BadArgument),
            None => Err(Status::NotFound),
        }
    }

    fn observe(&mut self, name: &str, value: u64) -> Result<(), Status> {
        let known = self
            .values
            .get_mut(&(MetricKind::Histogram, name.to_owned()));
        let Some(Value::Histogram(histogram)) = known else {
            return Err(Status::NotFound);
        };
        histogram.observe(value);
        Ok(())
    }

    /// Counters and gauges as Envoy's plain text names them.
    pub(crate) fn numbers(&self) -> Vec<(String, u64)> {
        let number = |((_, name), value): (&(MetricKind, String), &Value)| match value {
            Value::Number(number) => Some((format!("wasmcustom.{name}"), *number)),
            Value::Histogram(_) => None,
        };
        self.values.iter().filter_map(number).collect()
    }

    /// Prometheus's text format; `tags` cut labels out of the names.
    pub(crate) fn prometheus(&self, tags: &[StatsTag]) -> String {
        let mut families: BTreeMap<(String, MetricKind), Vec<(String, &Value)>> = BTreeMap::new();
        for ((kind, name), value) in &self.values {
            let (family, labels) = split_tags(name, tags);
            families
                .entry((family, *kind))
                .or_default()
                .push((labels, value));
        }
        let mut text = String::new();
        for ((family, kind), members) in families {
            let kind = match kind {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
                MetricKind::Histogram => "histogram",
            };
            let _ = writeln!(text, "# TYPE {family} {kind}");
            for (labels, value) in members {
                write_value(&mut text, &family, &labels, value);
            }
        }
        text
    }
}

fn write_value(text: &mut String, family: &str, labels: &str, value: &Value) {
    match value {
        Value::Number(number) => {
            let _ = writeln!(text, "{family}{{{labels}}} {number}");
        }
        Value::Histogram(histogram) => histogram.write(text, family, labels),
    }
}

/// Family name and labels of a metric: the first group of each tag's expression is cut from the
/// name, the second is the label's value.
fn split_tags(name: &str, tags: &[StatsTag]) -> (String, String) {
    let mut rest = name.to_owned();
    let mut labels: Vec<String> = Vec::new();
    for tag in tags {
        let Ok(regex) = regex_lite::Regex::new(&tag.regex) else {
            continue;
        };
        let Some(found) = regex.captures(name) else {
            continue;
        };
        let (Some(cut), value) = (found.get(1), found.get(2).or(found.get(1))) else {
            continue;
        };
        rest = rest.replacen(cut.as_str(), "", 1);
        let value = value.map_or("", |value| value.as_str());
        labels.push(format!("{}=\"{}\"", sanitize(&tag.tag_name), escape(value)));
    }
    (sanitize(&rest), labels.join(","))
}

fn escape(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags() -> Vec<StatsTag> {
        ["tenant", "alias"]
            .map(|name| StatsTag {
                tag_name: name.to_owned(),
                regex: format!("(;{name}=([^;]*))"),
            })
            .to_vec()
    }

    /// envoy-lab.md, section 24.
    #[test]
    fn labels_are_cut_out_of_the_name() {
        let mut metrics = Metrics::default();
        let name = "dragoman_requests;tenant=a;alias=b";
        metrics.define(MetricKind::Counter, name);
        metrics.increment(MetricKind::Counter, name, 2).unwrap();
        let text = metrics.prometheus(&tags());
        assert_eq!(
            text,
            "# TYPE dragoman_requests counter\ndragoman_requests{tenant=\"a\",alias=\"b\"} 2\n"
        );
    }

    #[test]
    fn a_counter_takes_no_zero_and_a_histogram_no_get() {
        let mut metrics = Metrics::default();
        metrics.define(MetricKind::Counter, "c");
        metrics.define(MetricKind::Histogram, "h");
        assert_eq!(
            metrics.increment(MetricKind::Counter, "c", 0),
            Err(Status::BadArgument)
        );
        assert_eq!(
            metrics.increment(MetricKind::Histogram, "h", 1),
            Err(Status::BadArgument)
        );
        assert_eq!(
            metrics.get(MetricKind::Histogram, "h"),
            Err(Status::BadArgument)
        );
        assert_eq!(metrics.get(MetricKind::Gauge, "c"), Err(Status::NotFound));
    }

    #[test]
    fn a_histogram_shows_buckets_sum_and_count() {
        let mut metrics = Metrics::default();
        metrics.define(MetricKind::Histogram, "ttft");
        metrics.record(MetricKind::Histogram, "ttft", 7).unwrap();
        let text = metrics.prometheus(&[]);
        assert!(
            text.contains("ttft_bucket{le=\"5\"} 0\nttft_bucket{le=\"10\"} 1\n"),
            "{text}"
        );
        assert!(text.contains("ttft_sum{} 7\nttft_count{} 1\n"), "{text}");
    }
}
