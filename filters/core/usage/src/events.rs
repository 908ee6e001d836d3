//! Server-sent events: the `data` of each is one JSON object.

use memchr::memchr2;

use crate::object::Object;

const FIELD: &[u8] = b"data:";

/// A stream of events.
#[derive(Debug)]
pub(crate) struct Events {
    line: Line,
    /// The byte before was a carriage return, so a line feed now belongs to it.
    after_return: bool,
    pub(crate) object: Object,
}

/// Where in a line we are.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// So many bytes of [`FIELD`] have come and nothing else.
    Name(usize),
    /// In the value of a `data` field.
    Data,
    /// In a comment or another field.
    Other,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self {
            line: Line::Name(0),
            after_return: false,
            object: Object::new(true),
        }
    }

    /// Takes the next bytes, cut anywhere.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let used = match self.line {
                Line::Name(come) => self.name(come, *first),
                Line::Data => self.rest_of_line(rest, true),
                Line::Other => self.rest_of_line(rest, false),
            };
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    fn name(&mut self, come: usize, first: u8) -> usize {
        let second_half = std::mem::take(&mut self.after_return) && first == b'\n';
        if second_half {
            return 1;
        }
        if FIELD.get(come) == Some(&first) {
            let come = come + 1;
            self.line = if come == FIELD.len() {
                Line::Data
            } else {
                Line::Name(come)
            };
        } else if is_line_end(first) {
            if come == 0 {
                self.object.restart();
            }
            self.end_line(first);
        } else {
            self.line = Line::Other;
        }
        1
    }

    fn rest_of_line(&mut self, rest: &[u8], is_data: bool) -> usize {
        let end = memchr2(b'\r', b'\n', rest);
        if is_data {
            self.object
                .push(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
        }
        let Some(end) = end else { return rest.len() };
        if is_data {
            // The lines of an event are joined by line feeds.
            self.object.push(b"\n");
        }
        self.end_line(rest.get(end).copied().unwrap_or_default());
        end + 1
    }

    fn end_line(&mut self, end: u8) {
        self.line = Line::Name(0);
        self.after_return = end == b'\r';
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
