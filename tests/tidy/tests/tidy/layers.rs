use tidy::{Tree, layers};

use crate::{assert_finds, assert_tidy, project};

const CRATES: &[(&str, &str)] = &[
    ("filters/core/json", "json"),
    ("filters/core/contract", "contract"),
    ("filters/sdk", "sdk"),
    ("filters/alias", "alias-filter"),
    ("filters/select", "select-filter"),
    ("filters/modules/alias", "alias"),
    ("host-sim/host", "host"),
    ("host-sim/vm", "vm"),
    ("host-sim/envoy", "envoy"),
    ("host-sim/scenario", "scenario"),
    ("host-sim/server", "server"),
    ("host-sim/cli", "cli"),
    ("scripts/strip", "strip"),
    ("tests/mock-worker", "mock-worker"),
    ("tests/blackbox", "blackbox"),
];

/// A workspace of [`CRATES`], where the one in `folder` has these lines in its manifest.
fn workspace(folder: &str, lines: &str) -> Tree {
    let manifests: Vec<(String, String)> = CRATES
        .iter()
        .map(|(path, name)| {
            let lines = if *path == folder { lines } else { "" };
            (
                format!("{path}/Cargo.toml"),
                format!("[package]\nname = \"{name}\"\n{lines}\n"),
            )
        })
        .collect();
    let shared = "[workspace.dependencies]\nengine = { version = \"1\", package = \"wasmtime\" }";
    let mut files: Vec<(&str, &str)> = manifests
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    files.push(("Cargo.toml", shared));
    Tree::of(&files)
}

#[track_caller]
fn accepted(folder: &str, dependencies: &[&str]) {
    for name in dependencies {
        let tree = workspace(folder, &format!("[dependencies]\n{name} = \"1\""));
        assert_tidy(&layers::check(&tree));
    }
}

#[track_caller]
fn refused(folder: &str, dependencies: &[&str]) {
    for name in dependencies {
        let tree = workspace(folder, &format!("[dependencies]\n{name} = \"1\""));
        assert_finds(
            &layers::check(&tree),
            &[&format!("{folder}/Cargo.toml: {name}")],
        );
    }
}

#[test]
fn the_project_keeps_its_layers() {
    assert_tidy(&layers::check(&project()));
}

#[test]
fn core_uses_core_and_names_no_host() {
    accepted("filters/core/json", &["contract", "serde", "memchr"]);
    refused(
        "filters/core/json",
        &["sdk", "alias-filter", "host", "mock-worker"],
    );
    refused("filters/core/json", &["proxy-wasm", "wasmtime", "tokio"]);
}

#[test]
fn only_the_sdk_names_proxy_wasm() {
    accepted("filters/sdk", &["contract", "proxy-wasm"]);
    refused("filters/sdk", &["alias-filter", "host"]);
    refused("filters/alias", &["proxy-wasm"]);
    refused("filters/modules/alias", &["proxy-wasm"]);
    refused("tests/blackbox", &["proxy-wasm"]);
}

#[test]
fn a_filter_uses_core_and_the_sdk_only() {
    accepted("filters/alias", &["json", "contract", "sdk"]);
    refused(
        "filters/alias",
        &["select-filter", "alias", "host", "vm", "tokio"],
    );
}

#[test]
fn a_module_is_a_filter_and_the_sdk() {
    accepted("filters/modules/alias", &["sdk", "alias-filter"]);
    refused("filters/modules/alias", &["json", "host"]);
}

#[test]
fn host_sim_never_sees_a_filter() {
    refused("host-sim/host", &["contract", "sdk", "alias-filter", "vm"]);
    refused("host-sim/vm", &["contract", "alias-filter", "envoy"]);
    accepted("host-sim/envoy", &["host", "contract"]);
    refused("host-sim/envoy", &["json", "sdk", "alias-filter", "vm"]);
    accepted(
        "host-sim/scenario",
        &["host", "vm", "envoy", "contract", "mock-worker"],
    );
    refused("host-sim/scenario", &["json", "alias-filter", "server"]);
    accepted("host-sim/server", &["host", "vm", "envoy"]);
    refused(
        "host-sim/server",
        &["scenario", "alias-filter", "alias", "blackbox", "cli"],
    );
    accepted("host-sim/cli", &["host", "server", "scenario", "contract"]);
    refused(
        "host-sim/cli",
        &["json", "alias-filter", "alias", "blackbox"],
    );
}

#[test]
fn engine_sockets_and_yaml_have_one_home_each() {
    accepted("host-sim/vm", &["wasmtime", "host"]);
    refused(
        "host-sim/host",
        &["wasmtime", "tokio", "httparse", "serde_yaml"],
    );
    refused("host-sim/server", &["wasmtime", "wasmtime-wasi"]);
    accepted("host-sim/server", &["tokio", "httparse", "mio"]);
    refused("host-sim/scenario", &["tokio", "mio", "socket2"]);
    accepted("tests/blackbox", &["tokio", "h2", "mock-worker"]);
    refused("scripts/strip", &["tokio", "json"]);
}

#[test]
fn every_kind_of_dependency_counts() {
    let tables = [
        "dev-dependencies",
        "build-dependencies",
        "target.'cfg(unix)'.dependencies",
    ];
    for table in tables {
        let tree = workspace(
            "host-sim/host",
            &format!("[{table}]\nalias-filter.workspace = true"),
        );
        assert_finds(
            &layers::check(&tree),
            &["alias-filter (filters/alias) is out of reach"],
        );
    }
}

#[test]
fn another_name_hides_no_dependency() {
    let here = "[dependencies]\nrun = { version = \"1\", package = \"tokio\" }";
    assert_finds(
        &layers::check(&workspace("host-sim/host", here)),
        &["tokio: sockets"],
    );
    let shared = "[dependencies]\nengine.workspace = true";
    assert_finds(
        &layers::check(&workspace("host-sim/host", shared)),
        &["wasmtime: only"],
    );
}

#[test]
fn a_folder_without_a_layer_and_a_broken_manifest_are_found() {
    let strange = Tree::of(&[("tools/x/Cargo.toml", "[package]\nname = \"x\"")]);
    assert_finds(
        &layers::check(&strange),
        &["tools/x/Cargo.toml: this folder has no layer"],
    );
    let broken = Tree::of(&[("tests/x/Cargo.toml", "[package")]);
    assert_finds(&layers::check(&broken), &["tests/x/Cargo.toml: "]);
}
