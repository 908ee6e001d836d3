//! Sends the requests of a scenario, each when it is its turn.

use std::time::Duration;

use super::{Failure, PATIENCE, Sent, stopped};
use crate::client::{End, Request, RequestId};
use crate::file::{Cut, RequestPlan, Scenario, Start, show_time};
use crate::world::World;

/// Sends all and waits until all are over, and until the run is.
pub fn direct<'a>(scenario: &'a Scenario, world: &mut World) -> Result<Vec<Sent<'a>>, Failure> {
    let mut sent: Vec<Sent<'a>> = Vec::new();
    let mut last = Duration::ZERO;
    for plan in &scenario.requests {
        let start = match plan.start {
            Start::At(at) if at < world.now() => return Err(too_late(plan, world.now())),
            Start::At(at) => at,
            Start::After(pause) => {
                wait_for_all(world, &sent, last)?;
                world.now() + pause
            }
        };
        let template = request(plan);
        let mut at = start;
        let mut ids = Vec::new();
        for _ in 0..plan.times {
            ids.push(world.request(template.clone().at(at)));
            last = last.max(at);
            at += plan.every;
        }
        sent.push(Sent { plan, ids });
    }
    wait_for_all(world, &sent, last)?;
    // What was set off goes on to its end: attempts of clients that left, lines of logs.
    let until = scenario.until.unwrap_or_default();
    while world.goes_on(until.max(world.now()))? {}
    world.run_until(until.max(world.now()));
    Ok(sent)
}

fn too_late(plan: &RequestPlan, now: Duration) -> Failure {
    let what = format!("{}: at", plan.name);
    let text = format!(
        "the requests before it were over only at {}: give it a later time, or after",
        show_time(now)
    );
    stopped(plan.line, &what, text)
}

/// Runs until everybody has an answer or left, within bounds.
fn wait_for_all(world: &mut World, sent: &[Sent<'_>], last: Duration) -> Result<(), Failure> {
    let waits = |world: &World, id: &RequestId| world.response(*id).end == End::Pending;
    let deadline = last.max(world.now()) + PATIENCE;
    // Who is over stays over, so the list only shrinks.
    let mut open: Vec<RequestId> = sent.iter().flat_map(|sent| &sent.ids).copied().collect();
    loop {
        while let Some(id) = open.last()
            && !waits(world, id)
        {
            open.pop();
        }
        if open.is_empty() || !world.goes_on(deadline)? {
            return Ok(());
        }
    }
}

fn request(plan: &RequestPlan) -> Request {
    let mut request = match &plan.body {
        Some(body) => Request::with_body(&plan.path, body.clone()),
        None => Request::get(&plan.path),
    };
    request.method.clone_from(&plan.method);
    for (name, value) in &plan.headers {
        request = request.header(name, value);
    }
    let length = plan.body.as_ref().map_or(0, Vec::len);
    request = match &plan.cut {
        None => request,
        Some(Cut::At(offsets)) => request.cut(offsets),
        Some(Cut::Pieces(pieces)) => {
            let offsets = (1..*pieces).map(|piece| length * piece / pieces);
            request.cut(&offsets.collect::<Vec<_>>())
        }
    };
    request = request.pause(plan.pause).on_listener(plan.listener);
    if plan.chunked {
        request = request.chunked();
    }
    if plan.unfinished {
        request = request.unfinished();
    }
    if let Some(thread) = plan.thread {
        request = request.on_thread(thread);
    }
    if let Some(patience) = plan.leaves {
        request = request.leaves_after(patience);
    }
    request
}
