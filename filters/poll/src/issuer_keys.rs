//! The key set of one issuer of tokens: polled from where the issuer publishes it, kept in shared
//! data (`dragoman-issuers`).

use std::time::Duration;

use dragoman_config::{KeySetSource, TokenIssuer};
use dragoman_contract::names::issuer_cluster;
use dragoman_issuers::{Origin, Publish, Published, confirm, publish, published, wanted};
use dragoman_sdk::host::{Clock, Level, millis};
use dragoman_sdk::{CalloutResponse, HostResult, Root};
use dragoman_token::{Jwk, KeptKeys, MAX_KEY_SET_BYTES, check_key_set, read_key_set};

use crate::issuer_meters::IssuerMeters;
use crate::meters::Outcome;
use crate::source::{Answer, Source};

/// How soon it is asked again while there is no set at all, and no token can be verified.
const FIRST_INTERVAL: Duration = Duration::from_secs(1);
/// How soon it is asked again after trouble, if that is sooner than the next reading.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// Shortest time between two questions that key ids nobody knows gave rise to: anybody can make
/// such ids up, and the issuer is somebody else's server.
const WANTED_INTERVAL: Duration = Duration::from_secs(30);

/// The configured poll of one issuer and where it is at.
#[derive(Debug)]
pub(crate) struct IssuerKeys {
    id: String,
    origin: Origin,
    source: Source,
    path: String,
    refresh: Duration,
    overlap_s: u64,
    /// When it was asked last.
    asked: Duration,
    /// When to ask again; at once if never asked.
    due: Option<Duration>,
    /// When it was asked last because of a key id that nobody knows.
    honoured: Option<Duration>,
    asking: Option<Asking>,
    /// When the issuer last said that the set in force holds.
    confirmed_ms: Option<u64>,
    meters: Option<IssuerMeters>,
    /// What is wrong, where the log has said so.
    trouble: Option<Outcome>,
}

/// A question that is under way.
#[derive(Debug)]
struct Asking {
    token: u32,
    /// Number of the set whose tag was sent.
    tagged: Option<u64>,
}

impl IssuerKeys {
    pub(crate) fn new(issuer: &TokenIssuer, from: &KeySetSource) -> Self {
        Self {
            origin: Origin::of(&[&issuer.issuer, &from.place()]),
            source: Source {
                cluster: issuer_cluster(&issuer.id),
                authority: from.host.clone(),
                credential: None,
                timeout: Duration::from_millis(from.timeout_ms.into()),
            },
            id: issuer.id.clone(),
            path: from.path.clone(),
            refresh: Duration::from_secs(from.refresh_seconds.into()),
            overlap_s: from.overlap_seconds.into(),
            asked: Duration::ZERO,
            due: None,
            honoured: None,
            asking: None,
            confirmed_ms: None,
            meters: None,
            trouble: None,
        }
    }

    /// The lease is somebody else's: what is under way is theirs to take up.
    pub(crate) fn rest(&mut self) {
        self.asking = None;
        self.due = None;
        self.confirmed_ms = None;
    }

    /// Whether a callout is this issuer's.
    pub(crate) fn waits_for(&self, answered: u32) -> bool {
        self.asking
            .as_ref()
            .is_some_and(|asking| asking.token == answered)
    }

    pub(crate) fn tick(&mut self, cx: &mut Root<'_>, now: Duration) -> HostResult<()> {
        let meters = self.meters(cx)?;
        if let Some(confirmed_ms) = self.confirmed_ms {
            meters.age(cx, millis(now).saturating_sub(confirmed_ms))?;
        }
        if self.asking.is_some() {
            return Ok(());
        }
        if self.due.is_none_or(|due| due <= now) || self.is_wanted(cx, now)? {
            self.ask(cx, now)?;
        }
        Ok(())
    }

    /// Whether somebody saw a key id since the last question that the set does not have.
    fn is_wanted(&mut self, cx: &mut Root<'_>, now: Duration) -> HostResult<bool> {
        let recent = |before: Duration| now.saturating_sub(before) < WANTED_INTERVAL;
        if self.honoured.is_some_and(recent) {
            return Ok(false);
        }
        let wanted = wanted(cx, &self.id)?.is_some_and(|time_ms| time_ms > millis(self.asked));
        if wanted {
            self.honoured = Some(now);
        }
        Ok(wanted)
    }

    fn ask(&mut self, cx: &mut Root<'_>, now: Duration) -> HostResult<()> {
        let current = published(cx, &self.id, self.origin)?;
        let current = current.as_ref();
        self.confirmed_ms = current.map(|set| set.confirmed_ms);
        self.asked = now;
        let etag = current.and_then(|set| set.etag.as_deref());
        match cx.dispatch(&self.source.ask(&self.path, etag)) {
            Ok(token) => {
                let tagged = current.filter(|set| set.etag.is_some());
                let tagged = tagged.map(|set| set.number);
                self.asking = Some(Asking { token, tagged });
                Ok(())
            }
            Err(_) => self.over(cx, Outcome::Failed, "the callout could not be sent"),
        }
    }

    pub(crate) fn answered(
        &mut self,
        cx: &mut Root<'_>,
        response: CalloutResponse,
    ) -> HostResult<()> {
        let Some(asking) = self.asking.take() else {
            return Ok(());
        };
        match (Answer::of(response, MAX_KEY_SET_BYTES), asking.tagged) {
            (Answer::Unchanged, Some(number)) => self.confirmed(cx, number, None),
            (Answer::Unchanged, None) => {
                let reason = "status 304 to a question without a tag";
                self.over(cx, Outcome::Failed, reason)
            }
            (Answer::Failed(reason), _) => self.over(cx, Outcome::Failed, &reason),
            (Answer::Document { etag, body }, _) => {
                let keys = read_key_set(&body).and_then(|keys| check_key_set(&keys).map(|()| keys));
                match keys {
                    Ok(keys) => self.take(cx, keys, etag),
                    Err(fault) => self.over(cx, Outcome::Refused, &fault.to_string()),
                }
            }
        }
    }

    /// Brings a set into force, with the keys that left it and are good for a while; one that is
    /// what it was is confirmed, so that no thread reads it anew.
    fn take(&mut self, cx: &mut Root<'_>, set: Vec<Jwk>, etag: Option<String>) -> HostResult<()> {
        let current = published(cx, &self.id, self.origin)?;
        let kept = |set: &Published| KeptKeys::decode(&set.keys).unwrap_or_default();
        let before = current.as_ref().map(kept).unwrap_or_default();
        let in_set = set.len();
        let after = before.replaced_by(set, cx.wall().as_secs(), self.overlap_s);
        let keys = after.encode();
        let etag = etag.unwrap_or_default();
        if let Some(same) = current.filter(|current| current.keys == keys) {
            return self.confirmed(cx, same.number, Some(&etag));
        }
        let now_ms = millis(cx.monotonic());
        let new = Publish {
            keys: &keys,
            etag: &etag,
            now_ms,
        };
        if !publish(cx, &self.id, self.origin, &new)? {
            return self.over(cx, Outcome::Failed, "another thread reads it too");
        }
        self.confirmed_ms = Some(now_ms);
        let left = after.keys.len().saturating_sub(in_set);
        let id = &self.id;
        let text = format!("issuer {id}: {in_set} keys, and {left} that left the set");
        cx.log(Level::Info, &text);
        self.meters(cx)?.keys(cx, after.keys.len())?;
        self.over(cx, Outcome::Replaced, "")
    }

    fn confirmed(&mut self, cx: &mut Root<'_>, number: u64, etag: Option<&str>) -> HostResult<()> {
        let now_ms = millis(cx.monotonic());
        confirm(cx, &self.id, number, etag, now_ms)?;
        self.confirmed_ms = Some(now_ms);
        self.over(cx, Outcome::Unchanged, "")
    }

    /// A poll is over. The log has what is wrong once, and once that it is right again.
    fn over(&mut self, cx: &mut Root<'_>, outcome: Outcome, reason: &str) -> HostResult<()> {
        let trouble = match outcome {
            Outcome::Unchanged | Outcome::Replaced => None,
            Outcome::Refused | Outcome::Failed => Some(outcome),
        };
        let ready = self.confirmed_ms.is_some();
        let most = match trouble {
            _ if !ready => FIRST_INTERVAL,
            Some(_) => RETRY_INTERVAL,
            None => self.refresh,
        };
        self.due = Some(due(self.asked, self.refresh.min(most), cx.random()));
        if trouble != self.trouble {
            let (level, text) = told(trouble, reason, ready);
            cx.log(level, &format!("issuer {}: key set {text}", self.id));
            self.trouble = trouble;
        }
        self.meters(cx)?.polled(cx, outcome)
    }

    fn meters(&mut self, cx: &mut Root<'_>) -> HostResult<IssuerMeters> {
        if let Some(meters) = self.meters {
            return Ok(meters);
        }
        let meters = IssuerMeters::define(cx, &self.id)?;
        self.meters = Some(meters);
        Ok(meters)
    }
}

/// What the log says when trouble begins, changes or ends.
fn told(trouble: Option<Outcome>, reason: &str, ready: bool) -> (Level, String) {
    let stays = if ready {
        "the last good one stays in force"
    } else {
        "there is none yet"
    };
    match trouble {
        None => (Level::Info, "can be read again".to_owned()),
        Some(Outcome::Refused) => (Level::Error, format!("refused: {reason}; {stays}")),
        Some(_) => (Level::Warn, format!("not read: {reason}; {stays}")),
    }
}

/// When to ask again after a question of this time: up to a tenth early, so that many gateways do
/// not ask together. `random` is any number.
fn due(asked: Duration, interval: Duration, random: u64) -> Duration {
    let thousandths = 900 + u32::try_from(random % 101).unwrap_or(100);
    asked.saturating_add(interval.saturating_mul(thousandths) / 1000)
}
