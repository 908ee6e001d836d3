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

/// They run as a step of `scripts/test`; here is what makes them documentation.
#[test]
fn every_shipped_scenario_is_read_says_what_it_shows_and_is_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let page = std::fs::read_to_string(folder.join("README.md")).expect("a list");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("scenarios") {
        let path = entry.expect("a file").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".trace") {
            assert!(
                path.with_extension("yaml").exists(),
                "{name} is of no scenario"
            );
        }
        if !name.ends_with(".yaml") {
            continue;
        }
        count += 1;
        let text = std::fs::read_to_string(&path).expect("text");
        if let Err(problems) = host_sim_scenario::file::read(&text) {
            panic!("{name}: {problems:?}");
        }
        assert!(text.starts_with("# "), "{name} says what it shows");
        assert!(page.contains(&format!("`{name}`")), "{name} is not listed");
    }
    assert!(count >= 25, "{count}");
}
