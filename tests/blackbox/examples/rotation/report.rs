//! What came of it, as a table.

use std::fmt;

use blackbox::Engine;

use crate::wrk::Counted;

/// One rotation, seen by those who kept the old key.
pub(crate) struct Round {
    /// The generation that was taken back.
    pub(crate) generation: u32,
    pub(crate) counted: Counted,
    /// Their requests that reached the worker.
    pub(crate) reached: u64,
    /// When the last one did, in milliseconds after the revocation.
    pub(crate) last_ms: u64,
    /// When the last one of them was told so.
    pub(crate) told_ms: u64,
    /// Those that did later than one poll after the revocation.
    pub(crate) late: u64,
    /// When the last request of a client that moved came with the old key.
    pub(crate) moved_ms: u64,
    pub(crate) revoked_ms: u64,
}

/// The whole drill.
pub(crate) struct Report {
    pub(crate) engine: Engine,
    pub(crate) poll_seconds: u32,
    pub(crate) seconds: u64,
    /// What clients counted, and what reached the worker.
    pub(crate) movers: (Counted, u64),
    pub(crate) steady: (Counted, u64),
    /// Connections: so many requests may be under way when the clients are stopped.
    pub(crate) open: u64,
    pub(crate) rounds: Vec<Round>,
}

impl Report {
    /// Good requests that were not served.
    fn failed(&self) -> u64 {
        let failed = |counted: &Counted| counted.get("others") + counted.get("broken");
        let good = [&self.movers.0, &self.steady.0];
        let moved = good.map(|counted| failed(counted) + counted.get("refused"));
        let held = self.rounds.iter().map(|round| failed(&round.counted));
        moved.into_iter().sum::<u64>() + held.sum::<u64>()
    }

    /// Revoked requests that were served later than one poll.
    fn late(&self) -> u64 {
        self.rounds.iter().map(|round| round.late).sum()
    }

    /// What makes the drill itself worthless.
    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for round in &self.rounds {
            let generation = round.generation;
            if round.moved_ms > round.revoked_ms {
                doubts.push(format!(
                    "clients still had generation {generation} when it was taken back"
                ));
            }
            if round.counted.get("refused") == 0 || round.counted.get("accepted") == 0 {
                doubts.push(format!(
                    "nobody tried generation {generation} before and after"
                ));
            }
        }
        let held = self
            .rounds
            .iter()
            .map(|round| (&round.counted, round.reached));
        let all = [
            (&self.movers.0, self.movers.1),
            (&self.steady.0, self.steady.1),
        ];
        for (counted, reached) in all.into_iter().chain(held) {
            let told = counted.get("accepted");
            if reached < told || reached > told + self.open {
                doubts.push(format!(
                    "clients were served {told} times, the worker saw {reached} requests"
                ));
            }
        }
        doubts
    }

    /// Whether everything was as it should be.
    pub(crate) fn is_good(&self) -> bool {
        self.failed() == 0 && self.late() == 0 && self.doubts().is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (engine, poll, rounds) = (self.engine, self.poll_seconds, self.rounds.len());
        writeln!(
            out,
            "{engine:?}, a poll of {poll} s, {rounds} rotations in {} s\n",
            self.seconds
        )?;
        writeln!(
            out,
            "{:<28} {:>9} {:>9} {:>9} {:>9} {:>10}",
            "clients", "accepted", "refused", "failed", "at worker", "p99"
        )?;
        let mut line = |name: &str, counted: &Counted, reached: u64| {
            writeln!(
                out,
                "{name:<28} {:>9} {:>9} {:>9} {reached:>9} {:>7} ms",
                counted.get("accepted"),
                counted.get("refused"),
                counted.get("others") + counted.get("broken"),
                counted.get("p99_us") / 1000
            )
        };
        line("a key of the document", &self.steady.0, self.steady.1)?;
        line("move when they are told to", &self.movers.0, self.movers.1)?;
        for round in &self.rounds {
            line(
                &format!("keep generation {}", round.generation),
                &round.counted,
                round.reached,
            )?;
        }
        writeln!(
            out,
            "\n{:<28} {:>16} {:>16} {:>9}",
            "taken back", "last at worker", "last answer", "too late"
        )?;
        for round in &self.rounds {
            writeln!(
                out,
                "{:<28} {:>13} ms {:>13} ms {:>9}",
                format!("generation {}", round.generation),
                round.last_ms,
                round.told_ms,
                round.late
            )?;
        }
        writeln!(out, "\ngood requests that failed: {}", self.failed())?;
        writeln!(
            out,
            "revoked requests accepted later than one poll: {}",
            self.late()
        )?;
        let counted = self.rounds.iter().map(|round| &round.counted);
        for answer in [&self.movers.0, &self.steady.0]
            .into_iter()
            .chain(counted)
            .filter_map(|counted| counted.other.as_ref())
        {
            writeln!(out, "an answer that was neither: {answer}")?;
        }
        for doubt in self.doubts() {
            writeln!(out, "the drill proves nothing: {doubt}")?;
        }
        Ok(())
    }
}
