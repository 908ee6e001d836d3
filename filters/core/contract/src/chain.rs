//! The modules and how they fit together: who comes after whom, and what each asks of its place.

/// Where a module runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In the chain of a listener, once a request.
    Request,
    /// In the upstream chain of each cluster of workers, once an attempt.
    Attempt,
}

/// A module. Its file is `<name>.wasm`.
#[derive(Debug, PartialEq, Eq)]
pub struct Module {
    /// Name of the file and of the plugin.
    pub name: &'static str,
    /// Where it runs.
    pub side: Side,
    /// The modules that must have run before, where they run at all.
    pub after: &'static [After],
    /// Whether it holds the headers until the body is complete. Such a module never sees the body
    /// unless its plugin has `allow_on_headers_stop_iteration: true`.
    pub holds_body: bool,
}

/// A module that must have run before another one.
#[derive(Debug, PartialEq, Eq)]
pub struct After {
    /// Its name.
    pub module: &'static str,
    /// What happens in the other order, as half a sentence about the later one.
    pub otherwise: &'static str,
}

/// All modules. Those of a listener stand in the order in which requests pass them.
pub const MODULES: [Module; 7] = [
    Module {
        name: "poll",
        side: Side::Request,
        after: &[],
        holds_body: false,
    },
    Module {
        name: "auth",
        side: Side::Request,
        after: &[],
        holds_body: false,
    },
    Module {
        name: "alias",
        side: Side::Request,
        after: &[After {
            module: "auth",
            otherwise: "it answers 500 misconfigured, since nobody has said who calls",
        }],
        holds_body: true,
    },
    Module {
        name: "idempotency",
        side: Side::Request,
        after: &[
            After {
                module: "auth",
                otherwise: "it cannot tell one caller's keys from another's and answers 500 misconfigured",
            },
            After {
                module: "alias",
                otherwise: "it does not know what is asked for and answers 500 misconfigured to every request with a key",
            },
        ],
        holds_body: false,
    },
    Module {
        name: "rate_limit",
        side: Side::Request,
        after: &[
            After {
                module: "auth",
                otherwise: "it does not know whose buckets to use and answers 500 misconfigured",
            },
            After {
                module: "alias",
                otherwise: "requests that are refused as malformed spend their caller's tokens",
            },
            After {
                module: "idempotency",
                otherwise: "an answer that is only given again spends a token",
            },
        ],
        holds_body: false,
    },
    Module {
        name: "select",
        side: Side::Request,
        after: &[
            After {
                module: "auth",
                otherwise: "auth takes away the headers by which a request finds its worker, so all get 503",
            },
            After {
                module: "alias",
                otherwise: "it does not know what is asked for and answers 500 misconfigured",
            },
            After {
                module: "idempotency",
                otherwise: "requests that are answered here without a worker take the one trial of a circuit that is half open",
            },
            After {
                module: "rate_limit",
                otherwise: "requests that are refused here take the one trial of a circuit that is half open",
            },
        ],
        holds_body: false,
    },
    Module {
        name: "attempt",
        side: Side::Attempt,
        after: &[],
        holds_body: true,
    },
];

/// The module of a name.
#[must_use]
pub fn module(name: &str) -> Option<&'static Module> {
    MODULES.iter().find(|module| module.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_itself_is_in_an_order_that_all_modules_accept() {
        for (at, module) in MODULES.iter().enumerate() {
            for after in module.after {
                let before = MODULES.iter().position(|other| other.name == after.module);
                assert!(before < Some(at), "{} after {}", module.name, after.module);
            }
        }
    }
}
