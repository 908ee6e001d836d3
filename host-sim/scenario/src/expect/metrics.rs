//! Values of metrics in Prometheus's text format.

use crate::file::MetricName;

/// The sum of all samples of that name which have these labels; `None` if there is none.
pub fn value(text: &str, wanted: &MetricName) -> Option<f64> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let values = samples.filter_map(|line| {
        let (sample, value) = line.rsplit_once(' ')?;
        let (name, labels) = sample.split_once('{').unwrap_or((sample, "}"));
        let labels = labels.strip_suffix('}')?;
        let has = |(name, value): &(String, String)| {
            let label = format!("{name}=\"{}\"", escaped(value));
            format!(",{labels}").contains(&format!(",{label}"))
        };
        (name == wanted.name && wanted.labels.iter().all(has)).then(|| value.parse::<f64>().ok())?
    });
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# TYPE a counter\na{tenant=\"x\",app=\"1\"} 2\na{tenant=\"x\",app=\"2\"} 3\na{tenant=\"y\"} 5\nb{} 7\nc 9\n";

    fn named(name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        value(
            TEXT,
            &MetricName {
                name: name.to_owned(),
                labels: labels.collect(),
            },
        )
    }

    #[test]
    fn samples_with_the_labels_are_added_up() {
        assert_eq!(named("a", &[]), Some(10.0));
        assert_eq!(named("a", &[("tenant", "x")]), Some(5.0));
        assert_eq!(named("a", &[("app", "2"), ("tenant", "x")]), Some(3.0));
        assert_eq!(named("a", &[("tenant", "z")]), None);
        assert_eq!(named("b", &[]), Some(7.0));
        assert_eq!(named("c", &[]), Some(9.0));
        assert_eq!(named("d", &[]), None);
    }
}
