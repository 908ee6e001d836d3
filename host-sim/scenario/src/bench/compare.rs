//! A measured table against the committed one.

use std::fmt::{self, Write};

use super::table::{Row, Table};

/// A change of more than this part of the old number counts: 5 %.
const PART: u64 = 20;

/// Changes of fewer instructions do not count: in a callback of some hundred, another compiler's choice of a
/// register would be a rise of 5 %.
pub const FLOOR_INSTRUCTIONS: u64 = 50;

/// What became of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing changed by more than 5 %.
    Same,
    /// Something fell by more than 5 % and nothing rose: the table should be renewed.
    Fell,
    /// Something rose by more than 5 %, or is not in the table.
    Rose,
}

/// All changes that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    changes: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    before: Option<Row>,
    after: Option<Row>,
}

impl Comparison {
    /// Of two tables.
    #[must_use]
    pub fn new(committed: &Table, measured: &Table) -> Comparison {
        let same = |row: &Row, table: &Table| {
            let found = table.rows.iter().find(|other| other.name() == row.name());
            found.cloned()
        };
        let measured_rows = measured.rows.iter().map(|row| Change {
            before: same(row, committed),
            after: Some(row.clone()),
        });
        let gone = committed
            .rows
            .iter()
            .filter(|row| same(row, measured).is_none());
        let gone = gone.map(|row| Change {
            before: Some(row.clone()),
            after: None,
        });
        let changes = measured_rows.chain(gone);
        Comparison {
            changes: changes
                .filter(|change| change.verdict() != Verdict::Same)
                .collect(),
        }
    }

    /// The worst of all.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self
            .changes
            .iter()
            .any(|change| change.verdict() == Verdict::Rose)
        {
            Verdict::Rose
        } else if self.changes.is_empty() {
            Verdict::Same
        } else {
            Verdict::Fell
        }
    }
}

impl Change {
    fn numbers(&self) -> (u64, u64) {
        let number = |row: &Option<Row>| row.as_ref().map_or(0, |row| row.instructions);
        (number(&self.before), number(&self.after))
    }

    fn verdict(&self) -> Verdict {
        let (before, after) = self.numbers();
        let counts = |larger: u64, smaller: u64| {
            let change = larger.saturating_sub(smaller);
            change > FLOOR_INSTRUCTIONS && change > before / PART
        };
        if counts(after, before) || self.before.is_none() {
            Verdict::Rose
        } else if counts(before, after) || self.after.is_none() {
            Verdict::Fell
        } else {
            Verdict::Same
        }
    }
}

/// A line each: what, before, after, by how much.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in &self.changes {
            let Some(row) = change.after.as_ref().or(change.before.as_ref()) else {
                continue;
            };
            let (before, after) = change.numbers();
            let mut what = String::new();
            let _ = write!(what, "{}, {} {}", row.request, row.filter, row.callback);
            let sign = if change.verdict() == Verdict::Rose {
                '+'
            } else {
                '-'
            };
            let by = match (&change.before, &change.after) {
                (None, _) => "not in the table".to_owned(),
                (_, None) => "gone".to_owned(),
                _ => format!(
                    "{sign}{}.{} %",
                    tenths(before, after) / 10,
                    tenths(before, after) % 10
                ),
            };
            writeln!(f, "{sign} {what:<60} {before:>9} -> {after:>9}  {by}")?;
        }
        Ok(())
    }
}

/// Tenths of a percent of `before`.
fn tenths(before: u64, after: u64) -> u64 {
    (before.abs_diff(after) * 1000)
        .checked_div(before)
        .unwrap_or_default()
}
