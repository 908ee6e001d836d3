//! `host-sim trace` as a person uses it, with the shipped gateway and modules.

mod shared;

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use shared::host_sim;

/// Columns of the text.
const WIDTH: usize = 100;

fn trace(arguments: &[&str]) -> Output {
    host_sim("trace").args(arguments).output().unwrap()
}

/// Standard output of a trace that must succeed.
fn text(arguments: &[&str]) -> String {
    let output = trace(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--format", "json"]].concat())).unwrap()
}

/// Without what another compiler of the modules may change: `bench` has the instructions.
fn without_instructions(text: &str) -> String {
    let mut sums = false;
    let mut lines = String::new();
    for line in text.lines() {
        let shown = match line.strip_suffix(" instructions") {
            Some(line) => line
                .trim_end_matches(|c: char| c.is_ascii_digit() || c == ',')
                .trim_end(),
            None if sums => line
                .rsplit_once(' ')
                .map_or(line, |(line, _)| line)
                .trim_end(),
            None => line,
        };
        sums = line.starts_with("filters ") || (sums && !line.is_empty());
        lines.push_str(shown);
        lines.push('\n');
    }
    lines
}

/// Compares with the file of that name, and shows the first lines that differ.
fn compare(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UPDATE_TRACES").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = expected
        .lines()
        .zip(found.lines())
        .position(|(a, b)| a != b);
    let line = differing.unwrap_or(expected.lines().count().min(found.lines().count()));
    let show = |text: &str, sign: &str| -> String {
        let lines = text.lines().skip(line).take(5);
        lines.map(|line| format!("{sign} {line}\n")).collect()
    };
    assert!(
        expected == found,
        "{} differs from line {} on:\n{}{}\
         If that is as it should be: UPDATE_TRACES=1 cargo test -p host-sim --test trace",
        path.display(),
        line + 1,
        show(&expected, "-"),
        show(found, "+"),
    );
}

#[test]
fn a_failover_is_told_as_before() {
    let story = text(&["--worker-answers", "503", "200"]);
    compare("failover.txt", &without_instructions(&story));
}

#[test]
fn a_refused_key_is_told_as_before() {
    let story = text(&["-H", "authorization: Bearer sk-unknown"]);
    compare("refused_key.txt", &without_instructions(&story));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_none_has_colours_in_a_pipe() {
    for arguments in [
        &["--worker-answers", "503", "cut"][..],
        &["--path", "/v1/models"],
        &[
            "-d",
            r#"{"model": "chat-fast", "stream": true, "messages": []}"#,
        ],
    ] {
        for line in text(arguments).lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
            assert!(!line.contains('\x1b'), "{line}");
        }
    }
}

#[test]
fn the_same_question_has_the_same_story_and_another_seed_another() {
    let once = text(&["--seed", "3"]);
    assert_eq!(once, text(&["--seed", "3"]));
    assert_ne!(once, text(&["--seed", "4"]));
}

#[test]
fn the_outcome_says_who_answered() {
    for (arguments, expected) in [
        (&[][..], "200 from w"),
        (
            &["--worker-answers", "503", "200"],
            "200 from w2 at attempt 2, complete after 48000 µs",
        ),
        (
            &["--worker-answers", "reset"],
            "503 from the gateway itself after attempt 2",
        ),
        (
            &["--worker-answers", "hang"],
            "504 from the gateway itself after attempt 2",
        ),
        (&["-d", "{"], "400 from the filter alias"),
        (&["-H", "x-api-key: nobody"], "401 from the filter auth"),
        (&["-H", "x-api-key: a"], "401 from the filter auth"),
        (
            &["--times", "21", "--worker-delay-ms", "0"],
            "429 from the filter rate_limit",
        ),
    ] {
        let outcome = json(arguments)["outcome"].as_str().unwrap().to_owned();
        assert!(outcome.starts_with(expected), "{arguments:?}: {outcome}");
    }
}

#[test]
fn an_answer_that_is_cut_is_told_as_broken() {
    let story = json(&["--worker-answers", "cut"]);
    assert!(
        story["outcome"].as_str().unwrap().contains("broken off"),
        "{}",
        story["outcome"]
    );
    let attempt = story["attempts"][0]["outcome"].as_str().unwrap();
    assert!(attempt.starts_with("broke after"), "{attempt}");
}

#[test]
fn steps_are_in_the_order_in_which_they_happened() {
    let story = json(&[]);
    let steps = story["steps"].as_array().unwrap();
    let place = |wanted: &dyn Fn(&Value) -> bool| steps.iter().position(wanted).unwrap();
    let callback = |filter: &'static str, name: &'static str| {
        move |step: &Value| step["callback"]["filter"] == filter && step["callback"]["name"] == name
    };
    let says = |part: &'static str| {
        move |step: &Value| {
            step["text"]
                .as_str()
                .is_some_and(|text| text.contains(part))
        }
    };
    let order = [
        place(&says("POST /v1/chat/completions")),
        place(&callback("auth", "request_headers")),
        place(&callback("select", "request_headers")),
        place(&says("attempt 1 goes to")),
        place(&callback("attempt", "request_headers")),
        place(&says("is connected")),
        place(&callback("attempt", "response_headers")),
        place(&says("to the client: 200")),
    ];
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn sums_add_up_to_the_callbacks() {
    let story = json(&["--worker-answers", "503", "200"]);
    let number = |value: &Value| value.as_u64().unwrap();
    let steps = story["steps"].as_array().unwrap().iter();
    let callbacks = steps.filter(|step| step["callback"].is_object());
    let of_steps: u64 = callbacks
        .map(|step| number(&step["callback"]["instructions"]))
        .sum();
    let filters = story["filters"].as_array().unwrap().iter();
    let of_filters: u64 = filters.map(|filter| number(&filter["instructions"])).sum();
    assert!(of_steps > 0);
    assert_eq!(of_steps, of_filters);
}

#[test]
fn a_callers_own_key_is_nowhere_in_the_story() {
    for format in ["text", "json"] {
        let story = text(&[
            "-H",
            "Authorization: Bearer sk-very-secret",
            "--format",
            format,
        ]);
        assert!(!story.contains("sk-very-secret"), "{story}");
        assert!(story.contains("Bearer ***"), "{story}");
    }
}

#[test]
fn credentials_of_workers_are_never_the_real_ones() {
    let output = host_sim("trace")
        .env("W1_KEY", "sk-real-one")
        .env("W2_KEY", "sk-real-one")
        .output()
        .unwrap();
    let story = String::from_utf8(output.stdout).unwrap();
    assert!(!story.contains("sk-real-one"));
    assert!(story.contains("Bearer value-of-W"), "{story}");
}

#[test]
fn the_shipped_envoy_yaml_is_explained_too() {
    let story = json(&["-c", "envoy/envoy.yaml"]);
    assert_eq!(story["response"]["status"], 401);
}

#[test]
fn a_body_comes_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.json");
    std::fs::write(&path, r#"{"model": "chat-fast", "messages": []}"#).unwrap();
    let story = json(&["-d", &format!("@{}", path.display())]);
    assert_eq!(story["attempts"][0]["worker"], "w2");
}

#[test]
fn what_cannot_be_read_is_named() {
    for (arguments, part) in [
        (
            ["--gateway", "/nowhere/gateway.json"],
            "/nowhere/gateway.json",
        ),
        (["-c", "/nowhere/envoy.yaml"], "/nowhere/envoy.yaml"),
        (["-d", "@/nowhere/body"], "/nowhere/body"),
        (["--modules", "/nowhere"], "scripts/build-filters"),
    ] {
        let output = trace(&arguments);
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(part), "{error}");
    }
}
