//! The two programs that load the same configuration.

use std::io::Write;
use std::path::PathBuf;

use crate::shell::repository;

/// What stands between client and workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Stock Envoy: `$DRAGOMAN_ENVOY`, or what `scripts/install-envoy` put into `.tools/envoy`.
    Envoy,
    /// `host-sim serve`: `$DRAGOMAN_HOST_SIM`, or what was built into the target folder
    /// of the tests.
    HostSim,
}

impl Engine {
    /// Whether tests can run on it here. Only an Envoy that cannot be had makes it false, and that
    /// has to be said: `DRAGOMAN_NO_ENVOY=1`.
    #[must_use]
    pub fn is_here(self) -> bool {
        let skipped = self == Self::Envoy
            && std::env::var("DRAGOMAN_NO_ENVOY").is_ok_and(|value| value == "1");
        if skipped {
            // Not by `eprintln!`: that is kept back when a test passes.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: no Envoy (DRAGOMAN_NO_ENVOY=1): {}",
                test_name()
            );
        }
        !skipped
    }

    /// The program.
    ///
    /// # Panics
    /// When it is not there, with what to do about it.
    #[must_use]
    pub fn program(self) -> PathBuf {
        let (variable, built, remedy) = match self {
            Self::Envoy => (
                "DRAGOMAN_ENVOY",
                repository().join(".tools/envoy"),
                "run scripts/install-envoy first",
            ),
            Self::HostSim => (
                "DRAGOMAN_HOST_SIM",
                beside_the_tests("host-sim"),
                "run `cargo build --bin host-sim` first",
            ),
        };
        let path = std::env::var_os(variable).map_or(built, PathBuf::from);
        assert!(
            path.is_file(),
            "there is no {}: {remedy}, or set {variable}",
            path.display()
        );
        path
    }
}

/// A program that was built into the same target folder as this test program.
fn beside_the_tests(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap_or_default();
    tests.ancestors().nth(2).unwrap_or(&tests).join(name)
}

fn test_name() -> String {
    std::thread::current().name().unwrap_or("a test").to_owned()
}

/// Makes two tests of each function: `envoy::name` and `host_sim::name`. Once per file.
///
/// ```ignore
/// both_engines![a_chat_is_answered];
///
/// fn a_chat_is_answered(engine: Engine) { ... }
/// ```
#[macro_export]
macro_rules! both_engines {
    ($($name:ident),+ $(,)?) => {
        mod envoy {
            $($crate::one_engine!($name, Envoy);)+
        }
        mod host_sim {
            $($crate::one_engine!($name, HostSim);)+
        }
    };
}

/// Makes a test on Envoy of each function, and says why there is none on host-sim. Once per file.
#[macro_export]
macro_rules! envoy_only {
    ($reason:literal: $($name:ident),+ $(,)?) => {
        #[doc = $reason]
        mod only_envoy {
            $($crate::one_engine!($name, Envoy);)+
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! one_engine {
    ($name:ident, $engine:ident) => {
        #[test]
        fn $name() {
            if $crate::Engine::$engine.is_here() {
                super::$name($crate::Engine::$engine);
            }
        }
    };
}
