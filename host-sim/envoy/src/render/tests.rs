use super::{RenderError, RenderOptions, render};

const SHIPPED: &str = include_str!("../../../../envoy/gateway.json");

fn gateway(members: &str) -> String {
    SHIPPED.replacen("\"version\": 1,", &format!("\"version\": 1, {members}"), 1)
}

fn rendered(document: &str) -> String {
    match render(document, &RenderOptions::default()) {
        Ok(yaml) => yaml,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_shipped_envoy_yaml_is_what_its_gateway_json_renders_to() {
    let shipped = include_str!("../../../../envoy/envoy.yaml");
    assert!(
        rendered(SHIPPED) == shipped,
        "envoy/envoy.yaml is out of date: run `host-sim render envoy/gateway.json > envoy/envoy.yaml`"
    );
}

#[test]
fn no_name_of_a_template_is_left_over() {
    assert!(!rendered(SHIPPED).contains("${"));
}

#[test]
fn a_document_that_the_gateway_refuses_is_not_rendered() {
    let error = render(&gateway("\"max_body_byte\": 1,"), &RenderOptions::default());
    let Err(RenderError::Config(error)) = error else {
        panic!("expected a refusal, got {error:?}")
    };
    assert!(error.to_string().contains("max_body_byte"), "{error}");
}
