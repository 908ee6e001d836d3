//! For CI: JUnit's XML, one test case a scenario.

use std::fmt::Write;

use super::Report;
use super::text::text;

/// One document for all scenarios: `testsuites`, `testsuite`, `testcase`, `failure` and `error`.
#[must_use]
pub fn junit(reports: &[Report]) -> String {
    let failed = reports.iter().filter(|report| is_failure(report)).count();
    let broken = reports.iter().filter(|report| is_error(report)).count();
    let time: f64 = reports.iter().map(|report| report.took.as_secs_f64()).sum();
    let numbers = format!(
        "tests=\"{}\" failures=\"{failed}\" errors=\"{broken}\" time=\"{time:.3}\"",
        reports.len()
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(xml, "<testsuites name=\"host-sim run\" {numbers}>");
    let _ = writeln!(
        xml,
        "  <testsuite name=\"scenarios\" skipped=\"0\" {numbers}>"
    );
    for report in reports {
        case(&mut xml, report);
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// It ran, and something came otherwise.
fn is_failure(report: &Report) -> bool {
    !report.passed() && report.problems.is_empty()
}

/// It did not run.
fn is_error(report: &Report) -> bool {
    !report.problems.is_empty()
}

fn case(xml: &mut String, report: &Report) {
    let _ = write!(
        xml,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(&report.file),
        escaped(&report.title),
        report.took.as_secs_f64()
    );
    if report.passed() {
        xml.push_str("/>\n");
        return;
    }
    let kind = if is_error(report) { "error" } else { "failure" };
    let first = report.failures().next();
    let message = match (report.problems.first(), first) {
        (Some(problem), _) => problem.clone(),
        (None, Some((_, failure))) => format!(
            "{}: expected {}, got {}",
            failure.what, failure.expected, failure.got
        ),
        (None, None) => String::new(),
    };
    let (message, text) = (escaped(&message), escaped(&text(report)));
    let _ = writeln!(
        xml,
        ">\n      <{kind} type=\"scenario\" message=\"{message}\">{text}</{kind}>\n    </testcase>"
    );
}

/// Text for elements and attributes. What XML cannot say at all becomes `?`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
