//! The rotation drill: keys of an application are made, moved to and taken back under load, by the clock.
//!
//! ```sh
//! scripts/drill rotation                      # three rotations at the usual poll of 10 s, on Envoy
//! scripts/drill rotation --poll-seconds 2 --rounds 10
//! scripts/drill rotation --engine host-sim
//! ```
//!
//! In each round a new generation is made, `poll_seconds` later to the millisecond the clients move to it, then the
//! old one is taken back, and `poll_seconds` later it must be dead. Some clients never move, some have a key that has
//! nothing to do with it. Clients are `wrk`; what reached the worker is counted there. The program ends with status 1
//! if a good request failed, or a revoked one was accepted later than one poll.

mod report;
mod wrk;

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blackbox::tally::Tally;
use blackbox::{Engine, World};
use control_plane::ControlPlane;
use serde_json::json;

use crate::report::{Report, Round};
use crate::wrk::{Clients, Manner};

/// Shown by the clients whose key is in the document.
const STEADY_KEY: &str = "sk-drill-steady-20f1";
/// Worker threads of the gateway.
const THREADS: u32 = 2;
/// How long clients go on with a key that should be dead, after the bound.
const AFTERMATH: Duration = Duration::from_secs(2);
/// How long clients take to read that they are to move, and to end what they have begun.
const MOVING: Duration = Duration::from_secs(1);
/// How often the worker's records are taken; also how late an arrival is noted at most, give or
/// take what the machine is busy with.
const TAKE: Duration = Duration::from_millis(5);

const MOVERS: Manner = Manner {
    connections: 8,
    pause_ms: 1,
};
const HOLDOUTS: Manner = Manner {
    connections: 4,
    pause_ms: 2,
};
const STEADY: Manner = Manner {
    connections: 2,
    pause_ms: 5,
};

/// What was asked for.
struct Drill {
    engine: Engine,
    rounds: u32,
    poll_seconds: u32,
}

fn main() {
    let drill = match arguments(std::env::args().skip(1)) {
        Ok(drill) => drill,
        Err(problem) => {
            eprintln!(
                "drill: {problem}\nusage: scripts/drill rotation [--engine envoy|host-sim] [--rounds N] [--poll-seconds N]"
            );
            std::process::exit(2);
        }
    };
    let report = drill.run();
    print!("{report}");
    std::process::exit(i32::from(!report.is_good()));
}

fn arguments(mut arguments: impl Iterator<Item = String>) -> Result<Drill, String> {
    let mut drill = Drill {
        engine: Engine::Envoy,
        rounds: 3,
        poll_seconds: 10,
    };
    while let Some(flag) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{flag} needs a value"))?;
        let number = || match value.parse() {
            Ok(number @ 1..=1000) => Ok(number),
            _ => Err(format!("{flag}: {value}: must be a number from 1 to 1000")),
        };
        match flag.as_str() {
            "--rounds" => drill.rounds = number()?,
            "--poll-seconds" => drill.poll_seconds = number()?,
            "--engine" if value == "envoy" => drill.engine = Engine::Envoy,
            "--engine" if value == "host-sim" => drill.engine = Engine::HostSim,
            _ => return Err(format!("{flag} {value}: unknown argument")),
        }
    }
    Ok(drill)
}

fn key(generation: u32) -> String {
    format!("sk-drill-{generation}-77c0e1a4")
}

fn put(control: &ControlPlane, generation: u32) {
    let fields = json!({"generation": generation});
    control.put(
        &format!("app-{generation}"),
        &key(generation),
        "team-a",
        fields,
    );
}

impl Drill {
    fn run(&self) -> Report {
        let control = ControlPlane::start_free();
        put(&control, 1);
        let world = self.world(&control);
        while world.get("/readyz").status != 200 {
            thread::sleep(TAKE);
        }
        let started = now_ms();
        let steady = Clients::start(&world, "steady", &STEADY, (0, STEADY_KEY));
        let movers = Clients::start(&world, "movers", &MOVERS, (1, &key(1)));
        let mut watch = Watch::default();
        let mut rounds = Vec::new();
        for new in 2..self.rounds + 2 {
            rounds.push(self.round(&control, &world, &movers, &mut watch, new));
            eprintln!("round {} of {}", new - 1, self.rounds);
        }
        let (movers, steady) = (movers.stop(), steady.stop());
        watch.take(&world);
        Report {
            engine: self.engine,
            poll_seconds: self.poll_seconds,
            seconds: (now_ms() - started) / 1000,
            movers: (movers, watch.of("movers")),
            steady: (steady, watch.of("steady")),
            open: u64::from(MOVERS.connections + HOLDOUTS.connections + STEADY.connections),
            rounds,
        }
    }

    fn world(&self, control: &ControlPlane) -> World {
        let store =
            json!({"address": control.address().to_string(), "poll_seconds": self.poll_seconds});
        World::on(self.engine)
            .with("auth", json!({"key_store": store}))
            .concurrency(THREADS)
            .worker("w1")
            .document(|document| {
                document
                    .tenant("team-a", json!({}))
                    .tenant("team-b", json!({}))
                    .key("steady", STEADY_KEY, "team-b", json!({}))
            })
            .endpoint("chat", &[("w1", "large")])
            .start()
    }

    /// From one generation to the next.
    fn round(
        &self,
        control: &ControlPlane,
        world: &World,
        movers: &Clients,
        watch: &mut Watch,
        new: u32,
    ) -> Round {
        let poll = Duration::from_secs(u64::from(self.poll_seconds));
        let old = new - 1;
        let holdouts = Clients::start(world, "holdouts", &HOLDOUTS, (old, &key(old)));
        put(control, new);
        watch.pass(world, poll);
        movers.switch((new, &key(new)));
        watch.pass(world, MOVING);
        let id = format!("app-{old}");
        let revoked_ms = now_ms();
        // Both ways to take a key back.
        control.edit(|table| {
            if old % 2 == 1 {
                table.revoke(&id)
            } else {
                table.remove(&id)
            }
        });
        let dead_ms = revoked_ms + u64::from(self.poll_seconds) * 1000;
        watch.late_after(dead_ms);
        watch.pass(world, poll + AFTERMATH);
        let counted = holdouts.stop();
        watch.take(world);
        let mark = format!("holdouts {old}");
        Round {
            generation: old,
            reached: watch.tally.0.get(&mark).copied().unwrap_or_default(),
            last_ms: watch.last(&mark).saturating_sub(revoked_ms),
            told_ms: counted.get("last_accepted").saturating_sub(revoked_ms),
            late: watch.late(&mark),
            moved_ms: watch.last(&format!("movers {old}")),
            revoked_ms,
            counted,
        }
    }
}

/// What reached the worker, and when.
#[derive(Default)]
struct Watch {
    tally: Tally,
    /// By mark.
    last: std::collections::BTreeMap<String, u64>,
    late: std::collections::BTreeMap<String, u64>,
    bound_ms: u64,
}

impl Watch {
    fn take(&mut self, world: &World) {
        let marks = self.tally.take(world.worker("w1"));
        let now = now_ms();
        for mark in marks {
            if now > self.bound_ms {
                *self.late.entry(mark.clone()).or_default() += 1;
            }
            self.last.insert(mark, now);
        }
    }

    /// Lets this time pass.
    fn pass(&mut self, world: &World, time: Duration) {
        let until = now_ms() + u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        while now_ms() < until {
            self.take(world);
            thread::sleep(TAKE);
        }
    }

    /// From now on arrivals after this time are late.
    fn late_after(&mut self, bound_ms: u64) {
        self.bound_ms = bound_ms;
        self.late.clear();
    }

    fn last(&self, mark: &str) -> u64 {
        self.last.get(mark).copied().unwrap_or_default()
    }

    fn late(&self, mark: &str) -> u64 {
        self.late.get(mark).copied().unwrap_or_default()
    }

    /// Requests of a role, of all generations.
    fn of(&self, role: &str) -> u64 {
        let counts = self.tally.0.iter();
        counts
            .filter(|(mark, _)| mark.starts_with(role))
            .map(|(_, count)| count)
            .sum()
    }
}

fn now_ms() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
