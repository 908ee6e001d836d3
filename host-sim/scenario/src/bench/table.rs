//! The table as text: a line for each request, filter and callback, and sums.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::instructions::{Cost, Place};

const HEADER: &str = "request\tfilter\tcallback\tcalls\tinstructions";

/// Stands for all filters, or all callbacks.
const ALL: &str = "all";

/// Filters in the order of the chain; others follow by name.
const CHAIN: [&str; 7] = [
    "poll",
    "auth",
    "alias",
    "idempotency",
    "rate_limit",
    "select",
    "attempt",
];

/// Instructions of one callback of one filter for one request, or a sum of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name of the request.
    pub request: String,
    /// Name of the module, or `all`.
    pub filter: String,
    /// Callback without `proxy_on_`, or `all`.
    pub callback: String,
    /// How often it ran.
    pub calls: u64,
    /// All of its instructions.
    pub instructions: u64,
}

/// All rows: those of a request together, each filter's sum before its callbacks, the request's own first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// In order.
    pub rows: Vec<Row>,
}

/// A text that is no table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for TableError {}

impl Row {
    /// What makes it the same row in another table.
    #[must_use]
    pub fn name(&self) -> (&str, &str, &str) {
        (&self.request, &self.filter, &self.callback)
    }
}

impl Table {
    /// Adds what one request cost.
    pub(super) fn add(&mut self, request: &str, costs: &BTreeMap<Place, Cost>) {
        let row = |filter: &str, callback: &str, cost: Cost| Row {
            request: request.to_owned(),
            filter: filter.to_owned(),
            callback: callback.to_owned(),
            calls: cost.calls,
            instructions: cost.instructions,
        };
        self.rows.push(row(ALL, ALL, sum(costs.values())));
        let mut filters: Vec<&str> = costs.keys().map(|(filter, _)| filter.as_str()).collect();
        filters.dedup();
        filters.sort_by_key(|filter| (place(filter), *filter));
        for filter in filters {
            let own = costs.iter().filter(|((name, _), _)| name == filter);
            let total = sum(own.clone().map(|(_, cost)| cost));
            self.rows.push(row(filter, ALL, total));
            let own = own.map(|((_, callback), cost)| row(filter, callback, *cost));
            self.rows.extend(own);
        }
    }

    /// Reads what [`Table::to_text`] wrote.
    ///
    /// # Errors
    /// The first line that is no row.
    pub fn read(text: &str) -> Result<Table, TableError> {
        let error = |line: usize, reason: &str| TableError {
            line,
            reason: reason.to_owned(),
        };
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(HEADER) {
            return Err(error(1, "the header is missing or another"));
        }
        let rows = lines.map(|(index, line)| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [request, filter, callback, calls, instructions] = fields[..] else {
                return Err(error(index + 1, "must have five fields"));
            };
            let number = |text: &str| {
                let number = text.parse();
                number.map_err(|_| error(index + 1, &format!("{text:?} is no number")))
            };
            Ok(Row {
                request: request.to_owned(),
                filter: filter.to_owned(),
                callback: callback.to_owned(),
                calls: number(calls)?,
                instructions: number(instructions)?,
            })
        });
        Ok(Table {
            rows: rows.collect::<Result<_, _>>()?,
        })
    }

    /// Tab-separated, with a header.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for row in &self.rows {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{}\t{}\t{}\t{}\t{}",
                row.request, row.filter, row.callback, row.calls, row.instructions
            );
        }
        text
    }

    /// For a person: a line for each request, a column for each filter.
    #[must_use]
    pub fn summary(&self) -> String {
        let sums = self.rows.iter().filter(|row| row.callback == ALL);
        let mut text = format!("{:<36}{:>10}", "instructions", ALL);
        for filter in CHAIN {
            let _ = write!(text, "{filter:>12}");
        }
        for row in sums.clone().filter(|row| row.filter == ALL) {
            let _ = write!(text, "\n{:<36}{:>10}", row.request, row.instructions);
            for filter in CHAIN {
                let own = sums
                    .clone()
                    .find(|other| other.request == row.request && other.filter == filter);
                let own = own.map_or("-".to_owned(), |own| own.instructions.to_string());
                let _ = write!(text, "{own:>12}");
            }
        }
        text.push('\n');
        text
    }
}

fn place(filter: &str) -> usize {
    let place = CHAIN.iter().position(|known| *known == filter);
    place.unwrap_or(CHAIN.len())
}

fn sum<'a>(costs: impl Iterator<Item = &'a Cost>) -> Cost {
    costs.fold(Cost::default(), |sum, cost| Cost {
        calls: sum.calls + cost.calls,
        instructions: sum.instructions + cost.instructions,
    })
}
