//! Where a configuration comes from: an `envoy.yaml`, or a `gateway.json` that is rendered in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_sim_envoy::RenderOptions;
use host_sim_host::config::{Bootstrap, Plugin};

/// What is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An `envoy.yaml`.
    Envoy(PathBuf),
    /// A `gateway.json`.
    Gateway {
        /// The document.
        path: PathBuf,
        /// Addresses, modules and access log.
        options: RenderOptions,
    },
}

/// A configuration with the text it was read from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The checked form.
    pub config: Bootstrap,
    /// The `envoy.yaml`, as written or as rendered.
    pub yaml: String,
}

impl Source {
    /// The file that a person edits.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Source::Envoy(path) | Source::Gateway { path, .. } => path,
        }
    }

    /// Reads the file. `access_log` takes the place of the files of all access logs, if there is one.
    ///
    /// # Errors
    /// A line for each problem: file, line, path, what is wrong.
    pub fn load(&self, access_log: Option<&str>) -> Result<Loaded, String> {
        let name = self.path().display();
        let text = std::fs::read_to_string(self.path())
            .map_err(|error| format!("cannot read {name}: {error}"))?;
        let yaml = match self {
            Source::Envoy(_) => text,
            Source::Gateway { options, .. } => host_sim_envoy::render(&text, options)
                .map_err(|error| format!("{name}: {error}"))?,
        };
        let config = host_sim_envoy::read(&yaml).map_err(|problems| {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| format!("{name}: {problem}"))
                .collect();
            lines.join("\n")
        });
        let mut config = config?;
        if let Some(path) = access_log {
            redirect_logs(&mut config, path);
        }
        Ok(Loaded { config, yaml })
    }
}

fn redirect_logs(config: &mut Bootstrap, path: &str) {
    let https = config
        .listeners
        .iter_mut()
        .map(|listener| &mut listener.http);
    for log in https.flat_map(|http| {
        http.access_log
            .iter_mut()
            .chain(&mut http.router.upstream_log)
    }) {
        path.clone_into(&mut log.path);
    }
}

/// Every plugin of a configuration.
pub fn plugins(config: &Bootstrap) -> impl Iterator<Item = &Arc<Plugin>> {
    let downstream = config
        .listeners
        .iter()
        .flat_map(|listener| &listener.http.filters);
    let upstream = config
        .clusters
        .values()
        .flat_map(|cluster| &cluster.upstream_filters);
    downstream.chain(upstream)
}
