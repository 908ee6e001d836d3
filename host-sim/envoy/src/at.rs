//! A place in a file: a node with its path. Everything that is read goes through here, so that a
//! field nobody asked for is always reported.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use crate::plain::{self, boolean, duration, other_meaning};
use crate::problem::{Kind, NOT_MODELLED, Problem, Problems};
use crate::tree::{Field, Node, Value};

/// A node, its path, and where problems go that do not stop the reading.
#[derive(Clone)]
pub struct At<'a> {
    node: &'a Rc<Node>,
    path: String,
    problems: &'a Problems,
}

/// The fields of a map that nobody has asked for yet.
pub struct Fields<'a> {
    at: At<'a>,
    left: Vec<&'a Field>,
    asked: Vec<String>,
}

/// The result of reading one thing.
pub type Read<T> = Result<T, Problem>;

impl<'a> At<'a> {
    /// The whole file.
    pub fn root(node: &'a Rc<Node>, problems: &'a Problems) -> Self {
        Self {
            node,
            path: String::new(),
            problems,
        }
    }

    /// What is there, for the few places that look at YAML itself.
    pub fn value(&self) -> &'a Value {
        &self.node.value
    }

    /// Line of the value, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.node.line
    }

    /// Where it is, as `requests[0].expect`; empty for the whole file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// A problem at this place.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem {
            path: self.path.clone(),
            line: self.node.line,
            what: what.into(),
            kind: Kind::Refused,
        }
    }

    /// Something at this place that the simulator has no place for.
    pub fn without_model(&self, what: impl Into<String>) -> Problem {
        Problem {
            kind: Kind::NotModelled,
            ..self.problem(what)
        }
    }

    /// A value that the simulator has no place for, quoted in the problem.
    pub fn not_modelled(&self, value: &str) -> Problem {
        self.without_model(format!("{value:?}: {NOT_MODELLED}"))
    }

    fn below(&self, step: &str, node: &'a Rc<Node>) -> Self {
        let path = match (self.path.is_empty(), step.starts_with('[')) {
            (true, _) => step.to_owned(),
            (false, true) => format!("{}{step}", self.path),
            (false, false) => format!("{}.{step}", self.path),
        };
        Self {
            node,
            path,
            problems: self.problems,
        }
    }

    /// Reads a map with `read`; what it did not ask for is a problem, but not the end.
    pub fn map<T>(&self, read: impl FnOnce(&mut Fields<'a>) -> Read<T>) -> Read<T> {
        let Value::Map(fields) = &self.node.value else {
            return Err(self.problem("must be a map"));
        };
        let mut fields = Fields {
            at: self.clone(),
            left: fields.iter().collect(),
            asked: Vec::new(),
        };
        let read = read(&mut fields)?;
        fields.asked.sort_unstable();
        for field in fields.left {
            self.problems.add(Problem {
                path: self.below(&field.key, &field.node).path,
                line: field.line,
                what: self.problems.unknown(&field.key, &fields.asked),
                kind: Kind::NotModelled,
            });
        }
        Ok(read)
    }

    /// Reads a map that says its type in `@type`.
    pub fn typed<T>(&self, name: &str, read: impl FnOnce(&mut Fields<'a>) -> Read<T>) -> Read<T> {
        self.map(|fields| {
            let found = fields.type_name()?;
            if found != name {
                let what = format!("@type: {found}: must be {name}");
                return Err(fields.at.without_model(what));
            }
            read(fields)
        })
    }

    /// The keys of a map with their values.
    pub fn entries(&self) -> Read<Vec<(&'a str, Self)>> {
        let Value::Map(fields) = &self.node.value else {
            return Err(self.problem("must be a map"));
        };
        Ok(fields
            .iter()
            .map(|field| (&*field.key, self.below(&field.key, &field.node)))
            .collect())
    }

    /// The items of a list.
    pub fn items(&self) -> Read<Vec<Self>> {
        let Value::List(items) = &self.node.value else {
            return Err(self.without_model("must be a list"));
        };
        let item = |(index, node)| self.below(&format!("[{index}]"), node);
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// Each item of a list, read. A faulty one does not keep the others from being looked at.
    pub fn each<T>(&self, mut read: impl FnMut(Self) -> Read<T>) -> Read<Vec<T>> {
        let mut values = Vec::new();
        let mut fault = None;
        for item in self.items()? {
            match read(item) {
                Ok(value) => values.push(value),
                Err(problem) => self.problems.extend(fault.replace(problem)),
            }
        }
        fault.map_or(Ok(values), Err)
    }

    /// The only item of a list.
    pub fn only(&self) -> Read<Self> {
        let [one] = <[Self; 1]>::try_from(self.items()?).map_err(|items| {
            self.without_model(format!(
                "has {} items: only one is modelled by host-sim",
                items.len()
            ))
        })?;
        Ok(one)
    }

    /// A string. Plain text that Envoy takes for something else is refused.
    pub fn string(&self) -> Read<String> {
        match &self.node.value {
            Value::Quoted(text) => Ok(text.clone()),
            Value::Plain(text) => match other_meaning(text) {
                Some(kind) => Err(self.problem(format!("{text} is {kind} here: put it in quotes"))),
                None => Ok(text.clone()),
            },
            Value::List(_) | Value::Map(_) => Err(self.problem("must be a string")),
        }
    }

    /// Any scalar as it is written, in quotes or not.
    pub fn text(&self) -> Read<&'a str> {
        match &self.node.value {
            Value::Plain(text) | Value::Quoted(text) => Ok(text),
            Value::List(_) | Value::Map(_) => Err(self.problem("must be text, not a list or map")),
        }
    }

    /// A string that is not empty.
    pub fn name(&self) -> Read<String> {
        let text = self.string()?;
        if text.is_empty() {
            return Err(self.problem("must not be empty"));
        }
        Ok(text)
    }

    /// A boolean in any spelling of YAML 1.1.
    pub fn boolean(&self) -> Read<bool> {
        match &self.node.value {
            Value::Plain(text) => boolean(text),
            _ => None,
        }
        .ok_or_else(|| self.another_spelling("must be true or false"))
    }

    /// A value of another spelling than the simulator's reader takes. In quotes, with zeros in front or
    /// alone where a list is asked for Envoy takes some; what it does not take is told by its own
    /// messages.
    fn another_spelling(&self, what: &str) -> Problem {
        let fits = match &self.node.value {
            Value::Quoted(text) => boolean(text).is_some() || text.parse::<u64>().is_ok(),
            Value::Plain(text) => text.parse::<u64>().is_ok() || text.starts_with("0x"),
            Value::List(_) | Value::Map(_) => false,
        };
        match fits {
            true => self.without_model(what),
            false => self.problem(what),
        }
    }

    /// A whole number, decimal.
    pub fn number(&self, largest: u64) -> Read<u64> {
        let Value::Plain(text) = &self.node.value else {
            return Err(self.another_spelling("must be a whole number"));
        };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let decimal = digits && (text == "0" || !text.starts_with('0'));
        let number = text.parse().ok().filter(|_| decimal);
        let number: u64 = number
            .ok_or_else(|| self.another_spelling(&format!("{text}: must be a whole number")))?;
        if number > largest {
            return Err(self.problem(format!("{number}: must be at most {largest}")));
        }
        Ok(number)
    }

    /// A whole number of 32 bits.
    pub fn number32(&self) -> Read<u32> {
        let number = self.number(u64::from(u32::MAX))?;
        u32::try_from(number).map_err(|_| self.problem(format!("{number}: must be smaller")))
    }

    /// Status of an answer that Envoy gives itself.
    pub fn status(&self) -> Read<u16> {
        match self.number(599)? {
            status @ 200.. => Ok(status as u16),
            status => Err(self.problem(format!("{status}: must be 200 to 599"))),
        }
    }

    /// A duration as Envoy writes it: `0.1s`.
    pub fn duration(&self) -> Read<Duration> {
        let text = self.string()?;
        duration(&text)
            .ok_or_else(|| self.problem(format!("{text}: must be seconds with an s, like 0.1s")))
    }

    /// A duration that is not zero: where zero switches the limit off, that is not modelled.
    pub fn limit(&self) -> Read<Duration> {
        let duration = self.duration()?;
        if duration.is_zero() {
            return Err(self.not_modelled("0s"));
        }
        Ok(duration)
    }

    /// One of the names of an enum.
    pub fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Read<T> {
        let text = self.string()?;
        let found = choices.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, value)| value.clone())
            .ok_or_else(|| self.not_modelled(&text))
    }

    /// `{socket_address: {address, port_value}}`
    pub fn address(&self) -> Read<SocketAddr> {
        self.map(|address| {
            address.required("socket_address")?.map(|socket| {
                let address = socket.required("address")?;
                let text = address.string()?;
                let ip: IpAddr = text.parse().map_err(|_| address.not_modelled(&text))?;
                let port = socket.required("port_value")?;
                let port = port.number(u64::from(u16::MAX))? as u16;
                Ok(SocketAddr::new(ip, port))
            })
        })
    }
}

impl<'a> Fields<'a> {
    /// The map itself.
    pub fn at(&self) -> &At<'a> {
        &self.at
    }

    /// A field that may be left out, in either spelling. One that is null is left out, as in Envoy.
    pub fn optional(&mut self, key: &str) -> Option<At<'a>> {
        if !self.asked.iter().any(|asked| asked == key) {
            self.asked.push(key.to_owned());
        }
        let named = |field: &&Field| plain::is_name(key, &field.key);
        let index = self.left.iter().position(named)?;
        let field = self.left.remove(index);
        (!plain::is_null(&field.node.value)).then(|| self.at.below(&field.key, &field.node))
    }

    /// A field that must be there.
    pub fn required(&mut self, key: &str) -> Read<At<'a>> {
        self.optional(key)
            .ok_or_else(|| self.at.problem(format!("{key}: is missing")))
    }

    /// A field that may be left out, read.
    pub fn maybe<T>(&mut self, key: &str, read: impl FnOnce(At<'a>) -> Read<T>) -> Read<Option<T>> {
        self.optional(key).map(read).transpose()
    }

    /// A boolean that is false if left out, as in Envoy.
    pub fn flag(&mut self, key: &str) -> Read<bool> {
        Ok(self.maybe(key, |at| at.boolean())?.unwrap_or_default())
    }

    /// A list that is empty if left out.
    pub fn list<T>(&mut self, key: &str, read: impl FnMut(At<'a>) -> Read<T>) -> Read<Vec<T>> {
        Ok(self.maybe(key, |at| at.each(read))?.unwrap_or_default())
    }

    /// `@type` without its prefix.
    pub fn type_name(&mut self) -> Read<String> {
        let at = self.required("@type")?;
        let text = at.string()?;
        let name = text.strip_prefix("type.googleapis.com/");
        name.map(str::to_owned)
            .ok_or_else(|| at.not_modelled(&text))
    }
}
