//! What Envoy 1.40 itself accepts, message by message: a field it does not know, a value of another
//! kind, a name that is none of an enum's, a message without what it requires. In a static
//! configuration each of them keeps Envoy from starting.
//!
//! `schema/envoy.txt` is what the program says of its own messages; `scripts/envoy-schema` writes it.

use std::collections::{HashMap, HashSet};

use crate::document::{Document, Place};
use crate::plain::{self, is_name};
use crate::problem::{Kind, MAX_PROBLEMS, Problem};

mod close;

const TEXT: &str = include_str!("schema/envoy.txt");
const ROOT: &str = "envoy.config.bootstrap.v3.Bootstrap";
/// Types in an `Any` that are one value: `{"@type": ..., value: ...}`.
const ONE_VALUE: [(&str, &str); 11] = [
    ("google.protobuf.StringValue", "string"),
    ("google.protobuf.BytesValue", "string"),
    ("google.protobuf.BoolValue", "bool"),
    ("google.protobuf.DoubleValue", "number"),
    ("google.protobuf.UInt32Value", "number"),
    ("google.protobuf.UInt64Value", "number"),
    ("google.protobuf.Int64Value", "number"),
    ("google.protobuf.Duration", "duration"),
    ("google.protobuf.Struct", "free"),
    ("google.protobuf.Value", "free"),
    ("google.protobuf.Empty", "free"),
];

/// All messages and enums.
struct Schema {
    messages: HashMap<&'static str, &'static str>,
    enums: HashMap<&'static str, &'static str>,
}

/// A field of a message.
#[derive(Clone, Copy)]
struct Field {
    name: &'static str,
    /// `[]` or `{}` before it, or nothing.
    many: &'static str,
    kind: &'static str,
    required: bool,
}

/// A walk through a file.
struct Walk {
    schema: Schema,
    problems: Vec<Problem>,
    /// What several aliases stand for is looked at once.
    seen: HashSet<(usize, &'static str)>,
}

/// What Envoy refuses in a file, at most [`MAX_PROBLEMS`], in the order of the file.
#[must_use]
pub fn refused_by_envoy(document: &Document) -> Vec<Problem> {
    let mut walk = Walk {
        schema: Schema::load(),
        problems: Vec::new(),
        seen: HashSet::new(),
    };
    walk.message(&document.root(), ROOT, false);
    walk.problems.sort_by_key(|problem| problem.line);
    walk.problems
}

impl Schema {
    fn load() -> Self {
        let mut schema = Schema {
            messages: HashMap::new(),
            enums: HashMap::new(),
        };
        let mut rest = TEXT;
        while !rest.is_empty() {
            let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
            rest = below;
            if let Some(name) = line.strip_prefix("message ") {
                let end = ends_of_block(below);
                schema.messages.insert(name, &below[..end]);
                rest = &below[end..];
            } else if let Some((name, names)) = line
                .strip_prefix("enum ")
                .and_then(|line| line.split_once(' '))
            {
                schema.enums.insert(name, names);
            }
        }
        schema
    }

    fn fields(&self, message: &str) -> Option<impl Iterator<Item = Field> + use<>> {
        let block = self.messages.get(message)?;
        Some(block.lines().filter_map(field))
    }

    fn one_value(&self, name: &str) -> Option<&'static str> {
        let found = ONE_VALUE.iter().find(|(known, _)| *known == name)?;
        Some(found.1)
    }
}

/// Where the indented lines of a message end.
fn ends_of_block(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if !line.starts_with(' ') {
            break;
        }
        end += line.len();
    }
    end
}

fn field(line: &'static str) -> Option<Field> {
    let (name, kind) = line.trim_start().split_once(' ')?;
    let (kind, required) = match kind.strip_suffix('!') {
        Some(kind) => (kind, true),
        None => (kind, false),
    };
    let many = ["[]", "{}"].into_iter().find(|many| kind.starts_with(many));
    let many = many.unwrap_or_default();
    Some(Field {
        name,
        many,
        kind: &kind[many.len()..],
        required,
    })
}

impl Walk {
    fn add(&mut self, path: String, line: usize, what: impl Into<String>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem {
                path,
                line,
                what: what.into(),
                kind: Kind::Refused,
            });
        }
    }

    fn refuse(&mut self, place: &Place<'_>, what: impl Into<String>) {
        self.add(place.path().to_owned(), place.line(), what);
    }

    /// `any`: it stands in an `Any`, beside its `@type`.
    fn message(&mut self, place: &Place<'_>, name: &'static str, any: bool) {
        let Some(fields) = self.schema.fields(name) else {
            return;
        };
        if !self.seen.insert((place.identity(), name)) {
            return;
        }
        let fields: Vec<Field> = fields.collect();
        if !place.is_map() {
            return self.refuse(place, format!("must be a map: the fields of {name}"));
        }
        for (key, value) in place.entries() {
            if any && key == "@type" {
                continue;
            }
            match fields.iter().find(|field| is_name(field.name, key)) {
                Some(field) => self.field(&value, *field),
                None => {
                    let names = fields.iter().map(|field| field.name);
                    let hint = close::hint(key, names);
                    self.refuse(
                        &value,
                        format!(
                            "is no field of {name} in Envoy 1.40, which refuses to start{hint}"
                        ),
                    );
                }
            }
        }
        for field in fields.iter().filter(|field| field.required) {
            if !given(place, field.name) {
                self.add(
                    place.path_of(field.name),
                    place.line(),
                    format!("is missing or empty: Envoy refuses a {name} without it"),
                );
            }
        }
    }

    fn field(&mut self, place: &Place<'_>, field: Field) {
        if place.is_null() {
            return;
        }
        match field.many {
            "[]" if place.is_list() => {
                for item in place.items() {
                    self.value(&item, field.kind);
                }
            }
            "{}" if !place.is_map() => self.refuse(place, "must be a map"),
            "{}" => {
                for (_, entry) in place.entries() {
                    self.value(&entry, field.kind);
                }
            }
            // Envoy takes one value for a list of one.
            _ => self.value(place, field.kind),
        }
    }

    fn value(&mut self, place: &Place<'_>, kind: &'static str) {
        match kind {
            "free" => {}
            "any" => self.any(place),
            // Envoy does not mind quotes around a boolean or a number.
            "bool" if place.text().and_then(plain::boolean).is_none() => {
                self.refuse(place, "must be true or false");
            }
            "bool" => {}
            "number" if !place.text().is_some_and(is_number) => {
                self.refuse(place, "must be a number");
            }
            "number" => {}
            "string" => self.string(place),
            "duration" if place.duration().is_none() => {
                self.refuse(place, "must be seconds with an s, like 0.1s");
            }
            "duration" => {}
            name => match self.schema.enums.get(name) {
                Some(names) => self.choice(place, name, names),
                None => self.message(place, name, false),
            },
        }
    }

    fn string(&mut self, place: &Place<'_>) {
        match place.text() {
            None => self.refuse(place, "must be a string"),
            Some(text) if place.is_plain() => {
                if let Some(kind) = plain::other_meaning(text).filter(|kind| *kind != "null") {
                    self.refuse(place, format!("{text} is {kind} here: put it in quotes"));
                }
            }
            Some(_) => {}
        }
    }

    fn choice(&mut self, place: &Place<'_>, name: &'static str, names: &'static str) {
        let text = place.text().unwrap_or_default();
        let known = names
            .split(' ')
            .any(|known| known.eq_ignore_ascii_case(text));
        if !known && text.parse::<i32>().is_err() {
            let hint = close::hint(text, names.split(' '));
            self.refuse(place, format!("{text:?} is no {name} of Envoy 1.40{hint}"));
        }
    }

    /// A message that says its type itself.
    fn any(&mut self, place: &Place<'_>) {
        if !place.is_map() {
            return self.refuse(place, "must be a map with \"@type\"");
        }
        let Some(name) = place.type_name() else {
            return self.refuse(place, "has no \"@type\": Envoy cannot tell what it is");
        };
        if let Some(kind) = self.schema.one_value(name) {
            if let Some(value) = place.field("value") {
                self.value(&value, kind);
            }
            return;
        }
        match self.schema.messages.get_key_value(name) {
            Some((name, _)) => self.message(place, name, true),
            None if name.starts_with("envoy.") => {
                let hint = close::hint(name, self.schema.messages.keys().copied());
                self.refuse(
                    place,
                    format!("@type: {name}: Envoy 1.40 has no such message{hint}"),
                );
            }
            None => {}
        }
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let hexadecimal = digits
        .strip_prefix("0x")
        .is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok());
    hexadecimal || text.parse::<f64>().is_ok()
}

/// Whether a field is there and says something.
fn given(place: &Place<'_>, name: &str) -> bool {
    let mut entries = place.entries().into_iter();
    entries.any(|(key, value)| {
        let empty = (value.is_list() && value.items().is_empty()) || value.text() == Some("");
        is_name(name, key) && !empty && !value.is_null()
    })
}

#[cfg(test)]
mod tests;
