//! The figures, beside what they are compared with.

use std::fmt::Write;

use crate::gateway::CHAIN;
use crate::measure::{REGIMES, Regime, Samples, median, spread};
use crate::variants::{Variant, name};

/// Resident memory in MB, each Envoy with its variants alone after the same load.
pub struct Memory {
    /// Without a module.
    pub bare: f64,
    /// With the whole chain.
    pub chain: f64,
}

/// Goals of the whole chain, of design.md.
mod goal {
    /// Regime A: at most this many µs over bare Envoy.
    pub const A_ADDED: f64 = 40.0;
    /// Regime A: the part of the hop to aim at.
    pub const A_PART: f64 = 0.5;
    /// Regime C: at most this part of the hop.
    pub const C_PART: f64 = 1.0 / 3.0;
    /// Regime C: the part to aim at.
    pub const C_AIM: f64 = 0.25;
    /// With a large prompt: at most this part of what the hop adds there.
    pub const LARGE_PART: f64 = 0.5;
    /// Most MB over bare Envoy.
    pub const ADDED_MB: f64 = 80.0;
}

/// The names of the variants in order, and what was measured of them.
pub struct Report<'a> {
    names: Vec<&'a str>,
    samples: &'a Samples,
}

impl<'a> Report<'a> {
    /// Of samples and the variants that they are of.
    pub fn new(variants: &'a [Variant], samples: &'a Samples) -> Self {
        let names = variants
            .iter()
            .map(|variant| variant.name.as_str())
            .collect();
        Self { names, samples }
    }

    /// All of it, as Markdown.
    pub fn text(&self, memory: &Memory) -> String {
        let mut out = String::new();
        for regime in REGIMES {
            self.totals(&mut out, regime);
        }
        self.filters(&mut out);
        self.goals(&mut out, memory);
        out
    }

    /// Every variant in one regime.
    fn totals(&self, out: &mut String, regime: Regime) {
        let title = match regime {
            Regime::A => "A: 16 connections kept busy, 1.1 KB",
            Regime::C => "C: one connection, one request at a time, 1.1 KB",
            Regime::LargeA => "A with a prompt of 220 KB",
        };
        out.push_str(&format!(
            "\n| {title} | µs | added | spread | server | of the hop |\n|---|---|---|---|---|---|\n"
        ));
        let hop = self.hop(regime);
        for (index, name) in self.names.iter().enumerate() {
            let envoy = self.samples.of(regime, index, |sample| sample.envoy);
            if envoy.is_empty() {
                continue;
            }
            let server = median(&self.samples.of(regime, index, |sample| sample.server));
            let _ = write!(out, "| {name} | {:.1} |", median(&envoy));
            if index == 0 {
                out.push_str(" | | | |\n");
                continue;
            }
            let added = self.samples.added(regime, index, 0);
            let (low, high) = spread(&added);
            let added = median(&added);
            let server_text = if server > 0.0 {
                format!("{server:.1}")
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                " {added:+.1} | {low:.1} to {high:.1} | {server_text} | {:.2} |",
                (added + server) / hop
            );
        }
    }

    /// What each filter adds to those before it.
    fn filters(&self, out: &mut String) {
        out.push_str("\n| one more filter | A | spread | C | spread |\n|---|---|---|---|---|\n");
        let mut before = self.index(name::FRAME);
        for filter in CHAIN {
            let here = match filter {
                "attempt" => self.index(name::CHAIN),
                _ => self.index(&name::up_to(filter)),
            };
            let _ = write!(out, "| {filter} |");
            for regime in [Regime::A, Regime::C] {
                let added = self.samples.added(regime, here, before);
                let (low, high) = spread(&added);
                let _ = write!(out, " {:+.1} | {low:.1} to {high:.1} |", median(&added));
            }
            out.push('\n');
            before = here;
        }
        out.push_str("\n`select` includes what Envoy does with its headers: the row \"and routed and retried\" less the one above it.\n");
    }

    fn goals(&self, out: &mut String, memory: &Memory) {
        out.push_str(
            "\n| goal for the whole chain | measured | at most | aim |\n|---|---|---|---|\n",
        );
        let chain = self.index(name::CHAIN);
        let frame = self.index(name::FRAME);
        let mut row = |what: &str, measured: f64, most: f64, aim: Option<f64>, unit: &str| {
            let met = if measured <= most { "" } else { " **missed**" };
            let aim = aim.map_or(String::new(), |aim| format!("{aim:+.0} {unit}"));
            let _ = writeln!(
                out,
                "| {what} | {measured:+.1} {unit}{met} | {most:+.0} {unit} | {aim} |"
            );
        };
        let added = |regime| median(&self.samples.added(regime, chain, 0));
        let hop = |regime| self.hop(regime);
        row(
            "A, over bare Envoy",
            added(Regime::A),
            goal::A_ADDED,
            Some(goal::A_PART * hop(Regime::A)),
            "µs",
        );
        row(
            "C, over bare Envoy",
            added(Regime::C),
            goal::C_PART * hop(Regime::C),
            Some(goal::C_AIM * hop(Regime::C)),
            "µs",
        );
        let large = goal::LARGE_PART * hop(Regime::LargeA);
        row(
            "A with 220 KB, over bare Envoy",
            added(Regime::LargeA),
            large,
            None,
            "µs",
        );
        row(
            "resident memory, over bare Envoy",
            memory.chain - memory.bare,
            goal::ADDED_MB,
            None,
            "MB",
        );
        let modules = |regime| median(&self.samples.added(regime, chain, frame));
        let _ = writeln!(
            out,
            "\nOf this the modules and Envoy's routing by their headers take {:+.1} µs in A and {:+.1} in C; the rest is what envoy.yaml \
             asks of Envoy itself, above all its access log.\nResident: bare {:.0} MB, whole chain {:.0} MB.",
            modules(Regime::A),
            modules(Regime::C),
            memory.bare,
            memory.chain
        );
    }

    /// What the ext_proc hop takes: added time of Envoy and time of the server.
    fn hop(&self, regime: Regime) -> f64 {
        let hop = self.index(name::HOP);
        median(&self.samples.added(regime, hop, 0))
            + median(&self.samples.of(regime, hop, |sample| sample.server))
    }

    fn index(&self, name: &str) -> usize {
        // Every name comes from the list of variants, where the first one is bare Envoy.
        self.names
            .iter()
            .position(|known| *known == name)
            .unwrap_or(0)
    }
}
