//! A file as a tree of places, for rules that look at what a file says rather than at what the
//! simulator makes of it.

use std::rc::Rc;
use std::time::Duration;

use crate::plain;
use crate::problem::Problem;
use crate::tree::{self, Node, Value};

/// A file that is YAML.
#[derive(Debug)]
pub struct Document {
    root: Rc<Node>,
}

/// A value in a [`Document`] with its path and line.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    node: &'a Rc<Node>,
    path: String,
    line: usize,
}

impl Document {
    /// Reads a file, within the bounds of [`crate::read`].
    ///
    /// # Errors
    /// Text that is not YAML, or more than a tree of text.
    pub fn parse(yaml: &str) -> Result<Self, Problem> {
        tree::parse(yaml).map(|root| Self { root })
    }

    /// The whole file.
    #[must_use]
    pub fn root(&self) -> Place<'_> {
        Place {
            node: &self.root,
            path: String::new(),
            line: self.root.line,
        }
    }
}

impl<'a> Place<'a> {
    /// Where it is, as `static_resources.clusters[0].name`; empty for the whole file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path of a field of it, which need not be there.
    #[must_use]
    pub fn path_of(&self, field: &str) -> String {
        match self.path.is_empty() {
            true => field.to_owned(),
            false => format!("{}.{field}", self.path),
        }
    }

    /// The same for the values that aliases of one anchor stand for.
    pub(crate) fn identity(&self) -> usize {
        Rc::as_ptr(self.node).addr()
    }

    /// Line of its key, or of the value itself where it has none; from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Line of the file on which a line of its text stands, from 1 both. Only a literal block keeps
    /// lines; for any other text it is where the text begins.
    #[must_use]
    pub fn line_of_text(&self, line: usize) -> usize {
        match self.node.block_line {
            Some(first) => first + line.saturating_sub(1),
            None => self.node.line,
        }
    }

    /// The value some fields down: `get("route.cluster")`.
    #[must_use]
    pub fn get(&self, fields: &str) -> Option<Self> {
        fields
            .split('.')
            .try_fold(self.clone(), |place, key| place.field(key))
    }

    /// The value of one key, which may hold dots, in either spelling (`stat_prefix`, `statPrefix`). As in Envoy
    /// a field that is null is not there.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<Self> {
        let Value::Map(fields) = &self.node.value else {
            return None;
        };
        let field = fields
            .iter()
            .find(|field| plain::is_name(key, &field.key))?;
        (!plain::is_null(&field.node.value)).then(|| Self {
            node: &field.node,
            path: self.path_of(&field.key),
            line: field.line,
        })
    }

    /// The keys of a map with their values; none if it is no map.
    #[must_use]
    pub fn entries(&self) -> Vec<(&'a str, Self)> {
        let Value::Map(fields) = &self.node.value else {
            return Vec::new();
        };
        let entry = |field: &'a tree::Field| {
            let place = Self {
                node: &field.node,
                path: self.path_of(&field.key),
                line: field.line,
            };
            (field.key.as_str(), place)
        };
        fields.iter().map(entry).collect()
    }

    /// The items of a list; none if it is no list.
    #[must_use]
    pub fn items(&self) -> Vec<Self> {
        let Value::List(items) = &self.node.value else {
            return Vec::new();
        };
        let item = |(index, node): (usize, &'a Rc<Node>)| Self {
            node,
            path: format!("{}[{index}]", self.path),
            line: node.line,
        };
        items.iter().enumerate().map(item).collect()
    }

    /// The items of a list some fields down.
    #[must_use]
    pub fn list(&self, fields: &str) -> Vec<Self> {
        self.get(fields)
            .map_or_else(Vec::new, |place| place.items())
    }

    /// Whether it is a map.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.node.value, Value::Map(_))
    }

    /// Whether it is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.node.value, Value::List(_))
    }

    /// Whether it is null, with which Envoy takes a field for not given.
    pub(crate) fn is_null(&self) -> bool {
        plain::is_null(&self.node.value)
    }

    /// Whether it is text without quotes.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(self.node.value, Value::Plain(_))
    }

    /// Its text; `None` for lists and maps.
    #[must_use]
    pub fn text(&self) -> Option<&'a str> {
        match &self.node.value {
            Value::Plain(text) | Value::Quoted(text) => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The text some fields down.
    #[must_use]
    pub fn text_at(&self, fields: &str) -> Option<&'a str> {
        self.get(fields)?.text()
    }

    /// A boolean in any spelling of YAML 1.1; Envoy takes quoted ones as well.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        plain::boolean(self.text()?)
    }

    /// Whether a field some steps down is there and true.
    #[must_use]
    pub fn is_true(&self, fields: &str) -> bool {
        self.get(fields).and_then(|place| place.boolean()) == Some(true)
    }

    /// A whole number; Envoy takes quoted ones as well.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.text()?.parse().ok()
    }

    /// The number some fields down.
    #[must_use]
    pub fn number_at(&self, fields: &str) -> Option<u64> {
        self.get(fields)?.number()
    }

    /// Seconds with an `s`.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        plain::duration(self.text()?)
    }

    /// The time some fields down.
    #[must_use]
    pub fn duration_at(&self, fields: &str) -> Option<Duration> {
        self.get(fields)?.duration()
    }

    /// `@type` without its prefix.
    #[must_use]
    pub fn type_name(&self) -> Option<&'a str> {
        let text = self.field("@type")?.text()?;
        Some(text.rsplit_once('/').map_or(text, |(_, name)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_knows_its_path_and_the_line_of_its_key() {
        let document = Document::parse("a:\n  b:\n  - c: 1\n  - {c: yes}\n").unwrap();
        let second = &document.root().list("a.b")[1];
        let c = second.get("c").unwrap();
        assert_eq!(
            (c.path(), c.line(), c.boolean()),
            ("a.b[1].c", 4, Some(true))
        );
        assert_eq!(second.path_of("d"), "a.b[1].d");
        assert!(document.root().get("a.b.c").is_none());
    }

    #[test]
    fn both_spellings_of_a_field_lead_to_it_and_a_null_is_none() {
        let text = "statPrefix: a\nhttp_filters: ~\n\"@type\": x/HttpFilter\nhttpFilter: {b: 1}\n";
        let document = Document::parse(text).unwrap();
        let root = document.root();
        let prefix = root.get("stat_prefix").unwrap();
        assert_eq!((prefix.path(), prefix.text()), ("statPrefix", Some("a")));
        assert!(root.get("http_filters").is_none());
        assert_eq!(root.number_at("http_filter.b"), Some(1));
        assert_eq!(root.type_name(), Some("HttpFilter"));
    }

    #[test]
    fn a_line_of_a_literal_block_is_a_line_of_the_file() {
        let document = Document::parse("a:\n  v: |\n    {\n\n    }\nb: \"{\\n}\"\n").unwrap();
        let root = document.root();
        let block = root.get("a.v").unwrap();
        assert_eq!((block.line(), block.line_of_text(3)), (2, 5));
        let document = Document::parse("v: |\n\n\n  {\n").unwrap();
        assert_eq!(document.root().get("v").unwrap().line_of_text(3), 4);
        let quoted = root.get("b").unwrap();
        assert_eq!((quoted.line(), quoted.line_of_text(2)), (6, 6));
    }

    #[test]
    fn what_an_alias_stands_for_keeps_the_line_of_the_key_it_is_used_by() {
        let document = Document::parse("a: &x {k: 1}\nb: *x\n").unwrap();
        let b = document.root().get("b").unwrap();
        assert_eq!((b.line(), b.get("k").unwrap().line()), (2, 1));
    }
}
