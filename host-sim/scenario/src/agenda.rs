//! What is still to happen, by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Things to come. Of two at the same moment the one with the smaller draw comes first.
#[derive(Debug)]
pub struct Agenda<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    added: u64,
}

#[derive(Debug)]
struct Entry<T> {
    at: Duration,
    draw: u64,
    /// Makes the order total should two draws be equal.
    number: u64,
    item: T,
}

impl<T> Entry<T> {
    fn key(&self) -> (Duration, u64, u64) {
        (self.at, self.draw, self.number)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda {
            heap: BinaryHeap::new(),
            added: 0,
        }
    }
}

impl<T> Agenda<T> {
    /// Something to happen at `at`.
    pub fn add(&mut self, at: Duration, draw: u64, item: T) {
        self.added += 1;
        self.heap.push(Reverse(Entry {
            at,
            draw,
            number: self.added,
            item,
        }));
    }

    /// When the next thing happens.
    pub fn next(&self) -> Option<Duration> {
        self.peek().map(|(at, _)| at)
    }

    /// The next thing, and when it happens.
    pub fn peek(&self) -> Option<(Duration, &T)> {
        self.heap
            .peek()
            .map(|Reverse(entry)| (entry.at, &entry.item))
    }

    /// Takes the next thing.
    pub fn take(&mut self) -> Option<T> {
        self.heap.pop().map(|Reverse(entry)| entry.item)
    }

    /// Takes the first thing due at `at` that is `wanted`; the search ends at one of which `ends` says so, and looks at no
    /// more than so many.
    pub fn take_due(
        &mut self,
        at: Duration,
        wanted: impl Fn(&T) -> bool,
        ends: impl Fn(&T) -> bool,
        most: usize,
    ) -> Option<T> {
        let mut skipped = Vec::new();
        let mut found = None;
        while skipped.len() < most && self.next() == Some(at) {
            let Some(Reverse(entry)) = self.heap.pop() else {
                break;
            };
            if wanted(&entry.item) {
                found = Some(entry.item);
                break;
            }
            let is_end = ends(&entry.item);
            skipped.push(Reverse(entry));
            if is_end {
                break;
            }
        }
        self.heap.extend(skipped);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_by_time_then_by_draw() {
        let mut agenda = Agenda::default();
        for (at, draw, item) in [
            (2, 0, "late"),
            (1, 9, "second"),
            (1, 3, "first"),
            (1, 9, "third"),
        ] {
            agenda.add(Duration::from_secs(at), draw, item);
        }
        let order: Vec<&str> = std::iter::from_fn(|| agenda.take()).collect();
        assert_eq!(order, ["first", "second", "third", "late"]);
    }

    #[test]
    fn a_search_takes_one_thing_and_leaves_the_others_in_order() {
        let mut agenda = Agenda::default();
        for (draw, item) in [(1, "a"), (2, "b"), (3, "stop"), (4, "c")] {
            agenda.add(Duration::from_secs(1), draw, item);
        }
        let at = Duration::from_secs(1);
        let mut search = |wanted, most| {
            agenda.take_due(at, |item| *item == wanted, |item| *item == "stop", most)
        };
        assert_eq!(search("c", 9), None, "it is behind the end");
        assert_eq!(search("b", 1), None, "it is too far");
        assert_eq!(search("b", 9), Some("b"));
        let order: Vec<&str> = std::iter::from_fn(|| agenda.take()).collect();
        assert_eq!(order, ["a", "stop", "c"]);
    }
}
