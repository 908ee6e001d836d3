//! Scenarios that documentation shows are right.

use host_sim_scenario::report::text;
use host_sim_scenario::suite::{self, Wanted};

use crate::surroundings;

fn holds(scenario: &str) {
    let report = suite::run("shown.yaml", scenario, &surroundings(), Wanted::default());
    assert!(report.passed(), "{}\n{scenario}", text(&report));
}

#[test]
fn the_example_of_the_format_holds() {
    let page = include_str!("../../FORMAT.md");
    let blocks: Vec<&str> = page.split("```yaml\n").skip(1).collect();
    assert_eq!(blocks.len(), 1);
    holds(blocks[0].split("```").next().expect("the block"));
}

#[test]
fn the_example_of_the_help_holds() {
    let help = include_str!("../../../cli/src/commands/run.txt");
    let (_, rest) = help
        .split_once("A scenario, complete:\n")
        .expect("an example");
    let (example, _) = rest.split_once("\nAll fields").expect("its end");
    let cut = |line: &str| line.strip_prefix("  ").unwrap_or(line).to_owned();
    let lines: Vec<String> = example.lines().map(cut).collect();
    holds(&lines.join("\n"));
}
