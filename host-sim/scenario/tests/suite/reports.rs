//! What reports say.

use host_sim_scenario::report::{json, junit, text, total};
use roxmltree::Document;

use crate::run;

const GOOD: &str = "requests: [{chat: chat}]\n";
const BAD: &str = "requests:\n- {name: \"a <b> & \\\"c\\\"\", chat: chat, expect: {status: 503}}\n";

#[test]
fn the_text_names_the_place_both_sides_and_the_request() {
    let report = run(BAD);
    let text = text(&report);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "FAIL s.yaml: two workers (1 request, 0s)");
    assert_eq!(lines[1], "  s.yaml:8: a <b> & \"c\": status");
    assert_eq!(lines[2], "    expected: 503");
    assert_eq!(lines[3], "         got: 200");
    assert_eq!(
        lines[4],
        "      sent 0s, head 0s with status 200, tried [w1]"
    );
    assert!(lines[5].starts_with("      log: {\""), "{text}");
    assert!(text.contains("\n      body: {\"choices\""), "{text}");
    assert_eq!(total(&[run(GOOD), report]), "1 passed, 1 failed\n");
}

#[test]
fn junit_has_a_case_for_each_scenario_with_its_failure() {
    let xml = junit(&[run(GOOD), run(BAD), run("nothing: 1\n")]);
    let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let elements = |node: roxmltree::Node<'_, '_>| -> Vec<String> {
        let children = node.children().filter(|child| child.is_element());
        children
            .map(|child| child.tag_name().name().to_owned())
            .collect()
    };
    assert_eq!(elements(root), ["testsuite"]);
    let suite = root.first_element_child().unwrap();
    for node in [root, suite] {
        for (name, number) in [("tests", "3"), ("failures", "1"), ("errors", "1")] {
            assert_eq!(node.attribute(name), Some(number), "{name}");
        }
        assert!(node.attribute("time").unwrap().parse::<f64>().is_ok());
    }
    assert_eq!(elements(suite), ["testcase"; 3]);
    let cases: Vec<_> = suite
        .children()
        .filter(|child| child.is_element())
        .collect();
    for case in &cases {
        assert_eq!(case.attribute("classname"), Some("s.yaml"));
        assert!(case.attribute("name").is_some() && case.attribute("time").is_some());
    }
    assert_eq!(elements(cases[0]), [""; 0]);
    let failure = cases[1].first_element_child().unwrap();
    assert_eq!(failure.tag_name().name(), "failure");
    assert_eq!(
        failure.attribute("message"),
        Some("a <b> & \"c\": status: expected 503, got 200")
    );
    assert!(failure.text().unwrap().contains("\n    expected: 503\n"));
    let error = cases[2].first_element_child().unwrap();
    assert_eq!(error.tag_name().name(), "error");
    assert!(
        error
            .attribute("message")
            .unwrap()
            .starts_with("s.yaml:7: nothing: there is no such field")
    );
}

#[test]
fn the_json_holds_all_of_it() {
    let document: serde_json::Value = serde_json::from_str(&json(&[run(GOOD), run(BAD)])).unwrap();
    assert_eq!(document["passed"], 1);
    assert_eq!(document["failed"], 1);
    let failure = &document["scenarios"][1]["runs"][0]["failures"][0];
    assert_eq!(failure["line"], 8);
    assert_eq!(failure["expected"], "503");
    assert_eq!(failure["got"], "200");
}
