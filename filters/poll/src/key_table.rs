//! The table of keys: polled from the control plane, kept in shared data (`dragoman-keys`).

use std::time::Duration;

use dragoman_config::{Credential, KeyStore, MAX_PAGE_BYTES, PolledKey};
use dragoman_contract::names::CONTROL_CLUSTER;
use dragoman_keys::{Departure, Other, Progress, State, Sweep, abandon, confirm, state};
use dragoman_sdk::host::{Clock, Level, millis};
use dragoman_sdk::{CalloutResponse, Environment, HostResult, Root};

use crate::meters::{Meters, Outcome};
use crate::page::{self, Reading, Step};
use crate::service::TICK;
use crate::source::{Answer, Source};

/// How soon it is asked again while there is no table at all, and nobody can be let in.
const FIRST_INTERVAL: Duration = Duration::from_secs(1);
/// Work of one tick at what the former table left (`Sweep::step`): 2,500 buckets with records or
/// all without, some 5 ms of the thread. The largest table takes two seconds.
const SWEEP_WORK: u32 = 20_000;
/// How often a reading begins anew because the table changed between two pages, before it waits for
/// the next poll. A control plane that changes faster would keep it at work for good.
const MAX_RESTARTS: u32 = 2;

/// The configured poll and where it is at.
#[derive(Debug)]
pub(crate) struct KeyTable {
    source: Source,
    path: String,
    interval: Duration,
    /// When it was asked last.
    asked: Duration,
    /// When to ask again; at once if never asked.
    due: Option<Duration>,
    work: Work,
    restarts: u32,
    meters: Option<Meters>,
    /// What is wrong, where the log has said so.
    trouble: Option<Outcome>,
}

#[derive(Debug)]
enum Work {
    Idle,
    /// For a table with another tag than this, by the callout of this token.
    Asking {
        token: u32,
        known: Option<u64>,
    },
    /// For a further page.
    Reading {
        token: u32,
        reading: Reading,
    },
    Sweeping(Sweep),
}

impl KeyTable {
    pub(crate) fn new(store: KeyStore, environment: &dyn Environment) -> Result<Self, String> {
        let present = |credential: &Credential| {
            let variable = |name: &str| environment.variable(name);
            credential.header_line("auth.key_store.credential", variable)
        };
        let credential = store.credential.as_ref().map(present).transpose()?;
        Ok(Self {
            source: Source {
                cluster: CONTROL_CLUSTER.to_owned(),
                authority: store.address.to_string(),
                credential,
                timeout: Duration::from_millis(u64::from(store.timeout_ms)),
            },
            path: store.path,
            interval: Duration::from_secs(u64::from(store.poll_seconds)),
            asked: Duration::ZERO,
            due: None,
            work: Work::Idle,
            restarts: 0,
            meters: None,
            trouble: None,
        })
    }

    /// The lease is somebody else's: what is under way is theirs to take up.
    pub(crate) fn rest(&mut self) {
        self.work = Work::Idle;
        self.due = None;
    }

    /// Whether a callout is this table's.
    pub(crate) fn waits_for(&self, answered: u32) -> bool {
        match &self.work {
            Work::Asking { token, .. } | Work::Reading { token, .. } => *token == answered,
            Work::Idle | Work::Sweeping(_) => false,
        }
    }

    pub(crate) fn tick(&mut self, cx: &mut Root<'_>, now: Duration) -> HostResult<()> {
        let meters = self.meters(cx)?;
        let Some(state) = state(cx)? else {
            let reason = "shared data has a table of another version: restart the gateway";
            return self.over(cx, Outcome::Failed, reason);
        };
        if let Some(current) = &state.current {
            meters.show(cx, current, now)?;
        }
        match &mut self.work {
            Work::Asking { .. } | Work::Reading { .. } => return Ok(()),
            Work::Sweeping(_) => {}
            Work::Idle => match (state.other, Sweep::of(&state)) {
                // Whoever wrote it is lost, or is to know that it is.
                (Other::Building(table), _) => return abandon(cx, &table).map(|_| ()),
                (_, Some(sweep)) => self.work = Work::Sweeping(sweep),
                (_, None) => {}
            },
        }
        if let Work::Sweeping(sweep) = &mut self.work {
            if sweep_some(cx, sweep, &meters)? == Progress::Done {
                self.work = Work::Idle;
            }
            return Ok(());
        }
        if self.due.is_none_or(|due| due <= now) {
            self.ask(cx, &state)?;
        }
        Ok(())
    }

    pub(crate) fn answered(
        &mut self,
        cx: &mut Root<'_>,
        response: CalloutResponse,
    ) -> HostResult<()> {
        let answer = Answer::of(response, MAX_PAGE_BYTES);
        match std::mem::replace(&mut self.work, Work::Idle) {
            Work::Asking { known, .. } => self.first_page(cx, known, answer),
            Work::Reading { reading, .. } => self.further_page(cx, reading, answer),
            work @ (Work::Idle | Work::Sweeping(_)) => {
                self.work = work;
                Ok(())
            }
        }
    }

    fn ask(&mut self, cx: &mut Root<'_>, state: &State) -> HostResult<()> {
        let current = state.current.as_ref();
        let etag = current.map(|current| current.etag.as_str());
        self.asked = cx.monotonic();
        match cx.dispatch(&self.source.ask(&self.path, etag)) {
            Ok(token) => {
                let known = current.map(|current| current.table.id);
                self.work = Work::Asking { token, known };
                Ok(())
            }
            Err(_) => self.over(cx, Outcome::Failed, "the callout could not be sent"),
        }
    }

    fn first_page(
        &mut self,
        cx: &mut Root<'_>,
        known: Option<u64>,
        answer: Answer,
    ) -> HostResult<()> {
        match (answer, known) {
            (Answer::Unchanged, Some(id)) => {
                let now = cx.monotonic();
                confirm(cx, id, millis(now))?;
                self.over(cx, Outcome::Unchanged, "")
            }
            (Answer::Unchanged, None) => self.over(
                cx,
                Outcome::Failed,
                "status 304 to a question without a tag",
            ),
            (Answer::Failed(reason), _) => self.over(cx, Outcome::Failed, &reason),
            (Answer::Document { etag: None, .. }, _) => {
                let reason = format!("{}: has no etag of 1 to 256 bytes", self.path);
                self.over(cx, Outcome::Refused, &reason)
            }
            (
                Answer::Document {
                    etag: Some(etag),
                    body,
                },
                _,
            ) => {
                let step = page::first(cx, &self.path, etag, &body)?;
                self.go_on(cx, step)
            }
        }
    }

    fn further_page(
        &mut self,
        cx: &mut Root<'_>,
        reading: Reading,
        answer: Answer,
    ) -> HostResult<()> {
        match answer {
            Answer::Document { etag, body } if etag.as_ref() == Some(&reading.etag) => {
                let step = reading.further(cx, &body)?;
                self.go_on(cx, step)
            }
            Answer::Document { .. } if self.restarts < MAX_RESTARTS => {
                // The next tick gives up what was written, sweeps it, and asks again.
                self.restarts += 1;
                self.due = None;
                Ok(())
            }
            Answer::Document { .. } => {
                let reason = format!(
                    "{}: has another etag than the page before, time and again",
                    reading.path
                );
                self.over(cx, Outcome::Refused, &reason)
            }
            Answer::Unchanged => {
                let reason = format!("{}: status 304 to a question without a tag", reading.path);
                self.over(cx, Outcome::Failed, &reason)
            }
            Answer::Failed(reason) => {
                let reason = format!("{}: {reason}", reading.path);
                self.over(cx, Outcome::Failed, &reason)
            }
        }
    }

    fn go_on(&mut self, cx: &mut Root<'_>, step: Step) -> HostResult<()> {
        match step {
            Step::Next(reading) => {
                match cx.dispatch(&self.source.ask(&reading.path, None)) {
                    Ok(token) => self.work = Work::Reading { token, reading },
                    Err(_) => {
                        return self.over(cx, Outcome::Failed, "the callout could not be sent");
                    }
                }
                Ok(())
            }
            Step::Last(Reading { build, etag, .. }) => {
                let (keys, now) = (build.keys(), cx.monotonic());
                if !build.commit(cx, &etag, millis(now))? {
                    return self.over(cx, Outcome::Failed, "another thread reads it too");
                }
                cx.log(Level::Info, &format!("key table: {keys} keys"));
                self.over(cx, Outcome::Replaced, "")
            }
            Step::Refused(reason) => self.over(cx, Outcome::Refused, &reason),
            Step::Overtaken => self.over(cx, Outcome::Failed, "another thread reads it too"),
        }
    }

    /// A poll is over. The log has what is wrong once, and once that it is right again; of a
    /// refused table it is told what it is.
    fn over(&mut self, cx: &mut Root<'_>, outcome: Outcome, reason: &str) -> HostResult<()> {
        let random = cx.random();
        let ready = state(cx)?.is_some_and(|state| state.current.is_some());
        let interval = if ready {
            self.interval
        } else {
            self.interval.min(FIRST_INTERVAL)
        };
        self.due = Some(due(self.asked, interval, random));
        self.work = Work::Idle;
        self.restarts = 0;
        let trouble = match outcome {
            Outcome::Unchanged | Outcome::Replaced => None,
            Outcome::Refused | Outcome::Failed => Some(outcome),
        };
        if trouble != self.trouble {
            let stays = if ready {
                "the last good one stays in force"
            } else {
                "there is none yet"
            };
            match trouble {
                None => cx.log(Level::Info, "key table: can be read again"),
                Some(Outcome::Refused) => {
                    cx.log(
                        Level::Error,
                        &format!("key table refused: {reason}; {stays}"),
                    );
                }
                Some(_) => cx.log(
                    Level::Warn,
                    &format!("key table not read: {reason}; {stays}"),
                ),
            }
            self.trouble = trouble;
        }
        self.meters(cx)?.polled(cx, outcome)
    }

    fn meters(&mut self, cx: &mut Root<'_>) -> HostResult<Meters> {
        if let Some(meters) = self.meters {
            return Ok(meters);
        }
        let meters = Meters::define(cx)?;
        self.meters = Some(meters);
        Ok(meters)
    }
}

/// When to ask again after a question of this time: so early that what changes right after it is in
/// force within `interval`. Three quarters of it and up to a tenth more, so that the polls of many
/// gateways do not fall together; the rest is for the answer, and for the threads that remember the
/// former table (`FRESH_MS`). A tick less, because only the next tick sees that it is time.
/// `random` is any number.
fn due(asked: Duration, interval: Duration, random: u64) -> Duration {
    let thousandths = 750 + u32::try_from(random % 101).unwrap_or(100);
    let wait = interval.saturating_mul(thousandths) / 1000;
    asked.saturating_add(wait.saturating_sub(TICK))
}

/// Sweeps for a tick, and writes down which keys are good no more.
fn sweep_some(cx: &mut Root<'_>, sweep: &mut Sweep, meters: &Meters) -> HostResult<Progress> {
    let now = cx.wall().as_secs();
    let mut lines = Vec::new();
    let progress = sweep.step(cx, SWEEP_WORK, |departure| {
        lines.extend(revocation(&departure, now))
    })?;
    for line in &lines {
        cx.log(Level::Warn, line);
    }
    meters.revoked(cx, lines.len())?;
    Ok(progress)
}

/// The line of a key that was good and is not any more; one whose time was over says nothing.
fn revocation(departure: &Departure<'_>, now_s: u64) -> Option<String> {
    let before = PolledKey::decode(*departure.digest, departure.before)?;
    let expired = before.key.expires_at.is_some_and(|end| end <= now_s);
    if before.revoked || expired {
        return None;
    }
    let after = departure
        .after
        .and_then(|after| PolledKey::decode(*departure.digest, after));
    let why = match after {
        None => "not in the key table any more",
        Some(after) if after.revoked => "marked in the key table",
        Some(_) => return None,
    };
    let (id, grant) = (&before.key.id, &before.key.grant);
    Some(format!(
        "key revoked: {id} of {}/{}: {why}",
        grant.tenant, grant.app
    ))
}

#[cfg(test)]
mod tests {
    use dragoman_keys::FRESH_MS;

    use super::*;

    /// The promise of `poll_seconds`, as arithmetic: question, tick and memory of the threads.
    #[test]
    fn what_changes_right_after_a_question_is_in_force_within_the_interval() {
        for seconds in [1, 2, 10, 3600] {
            let interval = Duration::from_secs(seconds);
            let times = (0..202).map(|random| due(Duration::ZERO, interval, random));
            let (first, last) = (times.clone().min().unwrap(), times.max().unwrap());
            assert!(first >= interval / 2, "{first:?} of {interval:?}");
            let in_force = last + TICK + Duration::from_millis(FRESH_MS);
            let left = interval.saturating_sub(in_force);
            assert!(left >= interval / 20, "{left:?} of {interval:?}");
        }
    }
}
