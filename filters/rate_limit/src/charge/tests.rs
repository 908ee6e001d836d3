//! Many threads and many callers, over shared data as Envoy has it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use dragoman_config::Dimension;
use dragoman_contract::Identity;
use dragoman_limits::Limit;
use dragoman_slots::SharedData;

use super::charge;
use crate::buckets::{BUCKETS, Buckets};
use crate::config::Configured;

/// Value and token of each key.
#[derive(Default)]
struct Process(Mutex<HashMap<String, (Vec<u8>, u32)>>);

/// One thread's way to it.
struct Thread<'a> {
    process: &'a Process,
    /// Every first attempt at a change comes too late.
    loses_first: bool,
    lost: bool,
}

impl SharedData for Thread<'_> {
    type Error = Infallible;

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, Infallible> {
        Ok(self.process.0.lock().unwrap().get(key).cloned())
    }

    fn set(&mut self, key: &str, value: &[u8], cas: u32) -> Result<bool, Infallible> {
        self.lost = self.loses_first && !self.lost;
        if self.lost {
            return Ok(false);
        }
        // Others get a turn between every read and its write.
        std::thread::yield_now();
        let mut map = self.process.0.lock().unwrap();
        let old = map.get(key).map(|(_, cas)| *cas);
        let is_latest = old.is_none_or(|old| old == cas);
        if is_latest {
            let value = (value.to_vec(), old.unwrap_or(0) + 1);
            map.insert(key.to_owned(), value);
        }
        Ok(is_latest)
    }
}

impl Process {
    fn thread(&self, loses_first: bool) -> Thread<'_> {
        Thread {
            process: self,
            loses_first,
            lost: false,
        }
    }

    fn bytes(&self) -> u64 {
        let map = self.0.lock().unwrap();
        let each = map.iter().map(|(key, (value, _))| key.len() + value.len());
        each.sum::<usize>() as u64
    }
}

fn limit(by: Dimension, per_1000_s: u64, burst: u64) -> Configured {
    Configured {
        name: format!("{by:?}"),
        by: vec![by],
        limit: Limit::new(per_1000_s, 1_000_000, burst).unwrap(),
    }
}

fn caller(key: &str) -> Identity<'_> {
    Identity {
        key,
        tenant: "team-a",
        app: "app",
        key_models: None,
        tenant_models: None,
        ..Identity::default()
    }
}

fn found(shared: &mut Thread<'_>) -> Buckets {
    let Ok(buckets) = Buckets::find(shared, [1, 2]);
    buckets.unwrap()
}

/// How many of `count` requests on each of four threads are admitted, at the times that `clock`
/// gives.
fn admitted(
    limits: &[Configured],
    count: u32,
    loses_first: bool,
    clock: &(dyn Fn() -> Duration + Sync),
) -> usize {
    let process = Process::default();
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut shared = process.thread(loses_first);
                    let buckets = found(&mut shared);
                    start.wait();
                    let mut ask = || {
                        let Ok(verdict) =
                            charge(buckets, &mut shared, (limits, &caller("k")), clock());
                        verdict
                    };
                    let verdicts = (0..count).map(|_| ask());
                    verdicts.filter(Result::is_ok).count()
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).sum()
    })
}

/// C34
#[test]
fn four_threads_admit_a_bucket_and_not_one_more() {
    let still = || Duration::from_secs(1);
    for loses_first in [false, true] {
        let limits = [limit(Dimension::Key, 1, 100)];
        assert_eq!(admitted(&limits, 250, loses_first, &still), 100);
    }
}

/// C34
#[test]
fn four_threads_never_admit_more_than_comes_back() {
    let now_us = AtomicU64::new(0);
    let clock = || Duration::from_micros(now_us.fetch_add(1_000, Ordering::Relaxed));
    let limits = [limit(Dimension::Key, 50_000, 10)];
    let admitted = admitted(&limits, 2_500, false, &clock);
    // 10,000 requests, 1 ms apart, at 50 a second.
    assert!(admitted <= 10 + 500, "{admitted}");
    assert!(admitted >= 400, "{admitted}");
}

#[test]
fn four_threads_that_give_back_never_admit_more_than_the_smaller_bucket() {
    let still = || Duration::from_secs(1);
    let limits = [limit(Dimension::App, 1, 50), limit(Dimension::Key, 1, 40)];
    // A refused request holds a token of the first bucket for a moment: ten are more than four
    // threads ever hold.
    assert_eq!(admitted(&limits, 100, false, &still), 40);
}

#[test]
fn shared_data_stays_within_its_bound_however_many_callers_come() {
    let process = Process::default();
    let mut shared = process.thread(false);
    let buckets = found(&mut shared);
    let salt_bytes = process.bytes();
    // Each is remembered for twenty seconds, in which another 20,000 come.
    let limits = [limit(Dimension::Key, 50, 1)];
    for number in 0..200_000 {
        let key = number.to_string();
        let now = Duration::from_millis(number);
        let Ok(verdict) = charge(buckets, &mut shared, (&limits, &caller(&key)), now);
        assert!(verdict.is_ok(), "{number}: {verdict:?}");
    }
    assert!(process.bytes() <= BUCKETS.bound_bytes() + salt_bytes);
}

#[test]
fn all_buckets_of_the_largest_document_have_room_at_once() {
    let process = Process::default();
    let mut shared = process.thread(false);
    let buckets = found(&mut shared);
    let limits: Vec<_> = (0..dragoman_config::MAX_LIMITS)
        .map(|number| Configured {
            name: number.to_string(),
            ..limit(Dimension::Key, 1, 1)
        })
        .collect();
    let tenant = "t".repeat(dragoman_config::MAX_TENANT_ID_BYTES);
    for number in 0..dragoman_config::MAX_KEYS {
        let key = number.to_string();
        let identity = Identity {
            tenant: &tenant,
            ..caller(&key)
        };
        let now = Duration::from_secs(1);
        let Ok(verdict) = charge(buckets, &mut shared, (&limits, &identity), now);
        assert!(verdict.is_ok(), "{number}: {verdict:?}");
    }
}
