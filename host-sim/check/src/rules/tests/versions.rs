use super::{EnvoyVersion, Input, Options, SHIPPED, check};

fn rules(envoy: &str) -> Vec<(usize, String)> {
    let input = Input {
        name: "envoy.yaml".to_owned(),
        text: SHIPPED.to_owned(),
    };
    let options = Options {
        envoy: envoy.parse().unwrap(),
        ..Options::default()
    };
    let report = check(&[input], &options);
    report
        .findings()
        .iter()
        .map(|finding| (finding.line, finding.what.clone()))
        .collect()
}

#[test]
fn what_an_older_envoy_does_not_have_is_an_error() {
    assert_eq!(rules("1.39.3"), []);
    let found = rules("1.38");
    let line = 1 + SHIPPED[..SHIPPED.find("refresh_cluster_on_retry: true").unwrap()]
        .matches('\n')
        .count();
    assert_eq!(found, [(line, "refresh_cluster_on_retry came with Envoy 1.39: 1.38 refuses to start with it, and without it no retry moves to another cluster".to_owned())]);
    assert_eq!(rules("1.36").len(), 2);
    assert_eq!(rules("1.34").len(), 9);
}

#[test]
fn a_version_is_one_that_has_been_released() {
    for wrong in ["", "1", "1.29", "1.41", "2.0", "1.x"] {
        assert!(wrong.parse::<EnvoyVersion>().is_err(), "{wrong}");
    }
}
