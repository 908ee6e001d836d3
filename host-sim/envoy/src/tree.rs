//! YAML text as a tree that remembers lines. Aliases share their anchor's node.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::problem::{Kind, Problem};

/// Largest file, in bytes: four times the largest `gateway.json`, which is inlined once.
pub const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting; the shipped file has about 25 levels. Bounds the recursion of the reader.
pub const MAX_DEPTH: usize = 64;
/// Most nodes, where an alias counts as much as what it stands for. Bounds the work of the reader:
/// a worker of `gateway.json` takes about 20.
pub const MAX_NODES: usize = 1_000_000;

/// A value and where it begins.
#[derive(Debug)]
pub struct Node {
    /// From 1.
    pub line: usize,
    /// What it is.
    pub value: Value,
    /// Line on which the text of a literal block begins: there a line of the text is a line of the file.
    pub block_line: Option<usize>,
    /// Nodes below and including this one, aliases counted in full.
    weight: usize,
}

/// What a node is.
#[derive(Debug)]
pub enum Value {
    /// Text without quotes: what it means depends on where it stands.
    Plain(String),
    /// Text in quotes or in a block: always a string.
    Quoted(String),
    /// `[...]` or lines with `-`.
    List(Vec<Rc<Node>>),
    /// Keys in the order of the file, each once.
    Map(Vec<Field>),
}

/// A key of a map and its value.
#[derive(Debug)]
pub struct Field {
    /// Line of the key.
    pub line: usize,
    /// The key.
    pub key: String,
    /// Its value.
    pub node: Rc<Node>,
}

/// A list or map whose end has not come.
struct Open {
    anchor: usize,
    line: usize,
    weight: usize,
    items: Items,
}

enum Items {
    List(Vec<Rc<Node>>),
    /// The key whose value is awaited is apart; all keys so far are in the set.
    Map(Vec<Field>, Option<(usize, String)>, HashSet<String>),
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

/// Reads the one document of a file.
///
/// # Errors
///
/// Text that is not YAML, breaks a bound above, has tags, several documents, keys that are not
/// text, or a key twice.
pub fn parse(yaml: &str) -> Result<Rc<Node>, Problem> {
    if yaml.len() > MAX_FILE_BYTES {
        return Err(fault(
            1,
            format!(
                "has {} bytes: must have at most {MAX_FILE_BYTES}",
                yaml.len()
            ),
        ));
    }
    let mut builder = Builder::default();
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event.map_err(|error| {
            fault(
                error.marker().line(),
                format!("is not YAML: {}", error.info()),
            )
        })?;
        builder.event(event, line(span))?;
    }
    builder.root.ok_or_else(|| fault(1, "is empty".to_owned()))
}

fn line(span: Span) -> usize {
    span.start.line()
}

fn fault(line: usize, what: String) -> Problem {
    Problem {
        path: String::new(),
        line,
        what,
        kind: Kind::Refused,
    }
}

impl Builder {
    fn event(&mut self, event: Event<'_>, line: usize) -> Result<(), Problem> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(fault(line, "has a second document".to_owned()))
            }
            Event::DocumentStart(_) => Ok(()),
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => Err(fault(
                line,
                "has a tag: not modelled by host-sim".to_owned(),
            )),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node
                    .ok_or_else(|| fault(line, "has an alias inside its own anchor".to_owned()))?;
                self.place(node, line)
            }
            Event::Scalar(text, style, anchor, None) => {
                // A block is found where its first line with something in it stands.
                let empty = text.bytes().take_while(|byte| *byte == b'\n').count();
                let block_line =
                    (style == ScalarStyle::Literal).then(|| line.saturating_sub(empty).max(1));
                let value = match style {
                    ScalarStyle::Plain => Value::Plain(text.into_owned()),
                    _ => Value::Quoted(text.into_owned()),
                };
                self.finish(
                    anchor,
                    Node {
                        line,
                        value,
                        block_line,
                        weight: 1,
                    },
                    line,
                )
            }
            Event::SequenceStart(anchor, None) => self.begin(anchor, line, Items::List(Vec::new())),
            Event::MappingStart(anchor, None) => {
                self.begin(anchor, line, Items::Map(Vec::new(), None, HashSet::new()))
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(line),
        }
    }

    fn begin(&mut self, anchor: usize, line: usize, items: Items) -> Result<(), Problem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(fault(
                line,
                format!("is nested deeper than {MAX_DEPTH} levels"),
            ));
        }
        self.open.push(Open {
            anchor,
            line,
            weight: 1,
            items,
        });
        Ok(())
    }

    fn end(&mut self, line: usize) -> Result<(), Problem> {
        let Some(open) = self.open.pop() else {
            return Err(fault(line, "ends something that has not begun".to_owned()));
        };
        let value = match open.items {
            Items::List(items) => Value::List(items),
            Items::Map(fields, ..) => Value::Map(fields),
        };
        let node = Node {
            line: open.line,
            value,
            block_line: None,
            weight: open.weight,
        };
        self.finish(open.anchor, node, line)
    }

    fn finish(&mut self, anchor: usize, node: Node, line: usize) -> Result<(), Problem> {
        let node = Rc::new(node);
        // Anchors are numbered from 1.
        if anchor != 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.place(node, line)
    }

    /// Puts a complete node where the innermost open list or map expects one.
    fn place(&mut self, node: Rc<Node>, line: usize) -> Result<(), Problem> {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.weight = open.weight.saturating_add(node.weight);
        if open.weight > MAX_NODES {
            return Err(fault(line, format!("has more than {MAX_NODES} nodes")));
        }
        match &mut open.items {
            Items::List(items) => items.push(node),
            Items::Map(fields, key, keys) => match key.take() {
                None => *key = Some((line, key_text(&node, keys, line)?)),
                Some((line, key)) => fields.push(Field { line, key, node }),
            },
        }
        Ok(())
    }
}

fn key_text(node: &Node, keys: &mut HashSet<String>, line: usize) -> Result<String, Problem> {
    let (Value::Plain(text) | Value::Quoted(text)) = &node.value else {
        return Err(fault(line, "has a key that is not text".to_owned()));
    };
    if !keys.insert(text.clone()) {
        return Err(fault(
            line,
            format!("has the key {text:?} twice in one map"),
        ));
    }
    Ok(text.clone())
}
