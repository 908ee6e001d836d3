//! What is wrong with an `envoy.yaml`, and where.

use std::cell::RefCell;
use std::fmt;

/// What there is to say about a field that the simulator has no place for.
pub const NOT_MODELLED: &str = "not modelled by host-sim";

/// What to do about fields that many files have.
const REMEDIES: [(&str, &str); 3] = [
    (
        "transport_socket",
        "it speaks no TLS, neither with clients nor with workers; leave it out of the file that host-sim serves, and talk to it in clear text",
    ),
    (
        "http3_protocol_options",
        "clients are served over HTTP/1.1 only; leave it out of the file that host-sim serves",
    ),
    (
        "health_checks",
        "workers are not asked; \"health\" in gateway.json makes the gateway ask them itself",
    ),
];

/// Most problems that are reported at once; a file for something else has one at nearly every line.
pub const MAX_PROBLEMS: usize = 50;

/// One fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as `static_resources.listeners[0].name`; empty for the file itself.
    pub path: String,
    /// Line of the faulty field or value, from 1; for an alias that of the anchor.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// Whose limit it is.
    pub kind: Kind,
}

/// Who cannot take a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// host-sim has no model of it; Envoy may well take it.
    NotModelled,
    /// It contradicts itself or the form that Envoy asks for.
    Refused,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "file"
        } else {
            &self.path
        };
        write!(f, "line {}: {path}: {}", self.line, self.what)
    }
}

impl std::error::Error for Problem {}

/// What is said of a field that nobody asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// Envoy may know it; the simulator has no place for it.
    #[default]
    NotModelled,
    /// Nobody knows it: the fields that there are, are named.
    NoSuchField,
}

/// Problems that do not stop the reading.
#[derive(Debug, Default)]
pub struct Problems {
    list: RefCell<Vec<Problem>>,
    unknown: Unknown,
}

impl Problems {
    /// None yet.
    #[must_use]
    pub fn new(unknown: Unknown) -> Self {
        Self {
            unknown,
            ..Self::default()
        }
    }

    /// What is wrong with a field that is none of those asked for.
    pub(crate) fn unknown(&self, key: &str, asked: &[String]) -> String {
        match self.unknown {
            Unknown::NotModelled => match REMEDIES.iter().find(|(field, _)| *field == key) {
                Some((_, remedy)) => format!("{NOT_MODELLED}: {remedy}"),
                None => NOT_MODELLED.to_owned(),
            },
            Unknown::NoSuchField => {
                format!("there is no such field: known are {}", asked.join(", "))
            }
        }
    }

    /// Notes the one that ends the reading; it takes the place of another if there are too many.
    pub fn add_last(&self, problem: Problem) {
        let mut list = self.list.borrow_mut();
        list.truncate(MAX_PROBLEMS - 1);
        list.push(problem);
    }

    /// Notes one more, up to [`MAX_PROBLEMS`].
    pub fn add(&self, problem: Problem) {
        let mut list = self.list.borrow_mut();
        if list.len() < MAX_PROBLEMS {
            list.push(problem);
        }
    }

    /// Notes one more, if there is one.
    pub fn extend(&self, problem: Option<Problem>) {
        problem.into_iter().for_each(|problem| self.add(problem));
    }

    /// All of them, in the order in which they were found.
    pub fn into_list(self) -> Vec<Problem> {
        self.list.into_inner()
    }
}
