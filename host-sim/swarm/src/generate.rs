//! A plan from a seed. Each seed switches some features on and leaves the others out, each with an intensity of its
//! own: runs in which everything happens a little would hide what needs much of one thing and nothing of another.

mod faults;
mod topology;
mod traffic;

use crate::draw::Draw;
use crate::plan::Plan;

/// What a run has.
#[derive(Clone, Debug)]
struct Features {
    auth: bool,
    limits: bool,
    idempotency: bool,
    circuit: bool,
    health: bool,
    caps: bool,
    worker_faults: bool,
    deaths: bool,
    traps: bool,
    jumps: bool,
    updates: bool,
    leaving: bool,
    bad_bodies: bool,
    bad_callers: bool,
    pieces: bool,
    hostile: bool,
    duplicates: bool,
    crowds: bool,
}

impl Features {
    fn draw(draw: &mut Draw) -> Self {
        let mut half = || draw.percent(50);
        let (auth, limits, idempotency, circuit) = (half(), half(), half(), half());
        let (health, caps, worker_faults, deaths) = (half(), half(), half(), half());
        let (leaving, bad_bodies, bad_callers, pieces) = (half(), half(), half(), half());
        let (hostile, duplicates, crowds) = (half(), half(), half());
        Features {
            auth: auth || limits,
            limits,
            idempotency,
            circuit,
            health,
            caps,
            worker_faults,
            deaths,
            traps: draw.percent(20),
            jumps: draw.percent(25),
            updates: draw.percent(20),
            leaving,
            bad_bodies,
            bad_callers,
            pieces,
            hostile,
            duplicates,
            crowds,
        }
    }
}

/// The plan of a seed.
#[must_use]
pub fn plan(seed: u64) -> Plan {
    let mut draw = Draw::new(seed);
    let features = Features::draw(&mut draw);
    let topology = topology::draw(&features, &mut draw);
    let mut plan = Plan {
        seed,
        threads: draw.pick(2, &[1, 2, 2, 3, 4]),
        topology,
        ..Plan::default()
    };
    traffic::draw(&mut plan, &features, &mut draw);
    faults::draw(&mut plan, &features, &mut draw);
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_one_plan_and_other_seeds_have_others() {
        assert_eq!(plan(5), plan(5));
        assert_ne!(plan(5), plan(6));
    }

    #[test]
    fn a_plan_survives_a_file() {
        for seed in 0..200 {
            let text = serde_json::to_string(&plan(seed)).unwrap();
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan(seed));
        }
    }

    #[test]
    fn every_document_is_accepted() {
        for seed in 0..1000 {
            let document = crate::gateway::document(&plan(seed), 0);
            if let Err(fault) = dragoman_config::parse(document.as_bytes()) {
                panic!("seed {seed}: {fault}\n{document}");
            }
        }
    }
}
