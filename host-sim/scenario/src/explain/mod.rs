//! One request explained: what each filter was told, asked for, changed and decided, where the request went, and
//! what the client got.

mod changes;
mod json;
mod question;
mod recorder;
mod story;
mod text;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mock_worker::{At, Faults, How};

use crate::world::build::worker_names;
use crate::{End, Ended, RequestId, Setup, World};

pub use json::json;
pub use question::{Answer, AnswerError, Gateway, Question, QuestionError, Sent};
pub use story::{Asking, Attempt, Callback, Step, Story, Sum, What};
pub use text::{WIDTH, text};

use recorder::Recorder;

/// When the request comes in: every worker has been probed.
const SETTLED: Duration = Duration::from_secs(2);

/// Bytes of an answer that is cut: some of its first event, or of its JSON.
const CUT_BYTES: usize = 20;

/// Explains a request.
///
/// # Errors
/// The gateway cannot be set up, or the request waits for ever.
pub fn explain(question: &Question) -> Result<Story, QuestionError> {
    let prepared = question.prepare()?;
    let names = match &prepared.gateway {
        Gateway::Json(document) => worker_names(document),
        Gateway::Envoy(_) => BTreeMap::new(),
    };
    let recorder = Arc::new(Recorder::new(names));
    let setup = Setup {
        threads: 1,
        seed: question.seed,
        environment: prepared.environment,
        modules: question.modules.clone(),
        cache: question.cache.clone(),
        watchers: vec![recorder.clone()],
        onlookers: vec![recorder.clone()],
        ..Setup::default()
    };
    let mut world = match &prepared.gateway {
        Gateway::Json(document) => World::new(document, &setup),
        Gateway::Envoy(yaml) => World::from_envoy(yaml, &setup),
    }
    .map_err(QuestionError::Setup)?;
    world.run_until(SETTLED);
    let mut answers = question.answers.iter();
    for _ in 1..question.times.get() {
        ask(&mut world, question, &prepared.sent, &mut answers)?;
    }
    recorder.arm();
    let id = ask(&mut world, question, &prepared.sent, &mut answers)?;
    let mut story = told(&world, id, &recorder);
    story.setting = prepared.setting;
    story.hide(&prepared.secrets);
    Ok(story)
}

/// Sends the request and runs until it is over. Every attempt takes the next answer; the last one stands for all
/// that follow.
fn ask(
    world: &mut World,
    question: &Question,
    sent: &Sent,
    answers: &mut std::slice::Iter<'_, Answer>,
) -> Result<RequestId, QuestionError> {
    let id = world.request(sent.request());
    let mut seen = 0;
    let ended = world.run_with(|world| {
        let attempts: Vec<String> = world.attempts(id).into_iter().map(str::to_owned).collect();
        for worker in attempts.into_iter().skip(seen) {
            seen += 1;
            let answer = match answers.as_slice() {
                [only] => *only,
                _ => answers.next().copied().unwrap_or_default(),
            };
            world
                .worker(&worker)
                .set_faults(answer.faults(question.worker_delay));
        }
    });
    match ended {
        Ended::Idle => Ok(id),
        Ended::Deadline | Ended::Stuck => Err(QuestionError::Stuck),
    }
}

impl Answer {
    fn faults(self, delay: Duration) -> Faults {
        let faults = match self {
            Answer::Status(200) => Faults::default(),
            Answer::Status(status) => Faults::status(status),
            Answer::Reset => Faults::interrupt(At::BeforeHeaders, How::Reset),
            Answer::Hang => Faults::interrupt(At::BeforeHeaders, How::Stall),
            Answer::Cut => Faults::interrupt(At::Bytes(CUT_BYTES), How::Reset),
        };
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        Faults {
            delay_before_headers_ms: delay_ms,
            event_interval_ms: delay_ms,
            ..faults
        }
    }
}

fn told(world: &World, id: RequestId, recorder: &Recorder) -> Story {
    let recorded = recorder.take();
    let response = world.response(id);
    let began = world.sent(id).unwrap_or_default();
    let after = |at: Duration| at.saturating_sub(began).as_micros();
    Story {
        setting: Vec::new(),
        steps: recorded.steps,
        attempts: recorded.attempts,
        status: response.status,
        end: match response.end {
            End::Pending => "without an end".to_owned(),
            End::Complete(at) => format!("complete after {} µs", after(at)),
            End::Broken(at) => format!("broken off after {} µs", after(at)),
            End::Left(at) => format!("the client left after {} µs", after(at)),
        },
        headers: response.headers.iter().map(changes::line).collect(),
        body: response.text(),
        access_log: recorded.access_log,
    }
}
