//! What may become of the record of a key: pure functions, run inside a compare-and-swap.

use dragoman_slots::Change;

use crate::record::{Answer, Fingerprint, Owner, Record, State};

/// A request that wants its key, or has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claimant {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) owner: Owner,
    /// What the worker knows the request by.
    pub(crate) request_id: String,
}

/// Whether a request may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// It may, and until its lease is over nobody else with this key.
    Granted,
    /// The same request is under way.
    InProgress,
    /// The key was used for another request.
    Reused,
    /// The same request was answered like this.
    Answered(Answer),
    /// The same request was answered, but the answer is not kept.
    TooLarge,
    /// Nobody knows what came of the same request.
    Unknown { request_id: String },
    /// There is a record that this code cannot read.
    Unreadable,
}

/// What becomes of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Settlement {
    /// The key is free again.
    Release,
    /// This is remembered until then.
    Keep { state: State, expires_ms: u64 },
}

impl Claimant {
    fn processing(&self, expires_ms: u64) -> Change {
        let (owner, request_id) = (self.owner, self.request_id.clone());
        self.put(State::Processing { owner, request_id }, expires_ms)
    }

    fn put(&self, state: State, expires_ms: u64) -> Change {
        let fingerprint = self.fingerprint;
        Change::Put {
            payload: Record { fingerprint, state }.encode(),
            expires_ms,
        }
    }

    fn holds(&self, payload: &[u8]) -> bool {
        let state = Record::decode(payload).map(|record| record.state);
        matches!(state, Some(State::Processing { owner, .. }) if owner == self.owner)
    }

    /// Claims the key of the live record `payload` until `expires_ms`.
    ///
    /// That the request is another comes first: who waited for the first one would be refused for
    /// it all the same. A claim whose lease is over is no live record.
    pub(crate) fn claim(&self, payload: Option<&[u8]>, expires_ms: u64) -> (Change, Claimed) {
        let Some(payload) = payload else {
            return (self.processing(expires_ms), Claimed::Granted);
        };
        let claimed = match Record::decode(payload) {
            None => Claimed::Unreadable,
            Some(record) if record.fingerprint != self.fingerprint => Claimed::Reused,
            Some(record) => match record.state {
                State::Processing { .. } => Claimed::InProgress,
                State::Answered(answer) => Claimed::Answered(answer),
                State::TooLarge => Claimed::TooLarge,
                State::Unknown { request_id } => Claimed::Unknown { request_id },
            },
        };
        (Change::Keep, claimed)
    }

    /// Moves the end of the lease. `false`: the key is another's by now. Where the lease was over
    /// and nobody came, the claim is made again: its request still runs.
    pub(crate) fn renew(&self, payload: Option<&[u8]>, expires_ms: u64) -> (Change, bool) {
        match payload {
            Some(payload) if !self.holds(payload) => (Change::Keep, false),
            _ => (self.processing(expires_ms), true),
        }
    }

    /// Ends the claim. `false`: the key is another's by now, and stays so. What is known is kept
    /// even where the lease was over and nobody came.
    pub(crate) fn settle(&self, payload: Option<&[u8]>, end: &Settlement) -> (Change, bool) {
        match (payload, end) {
            (Some(payload), _) if !self.holds(payload) => (Change::Keep, false),
            (_, Settlement::Release) => (Change::Remove, true),
            (_, Settlement::Keep { state, expires_ms }) => {
                (self.put(state.clone(), *expires_ms), true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Body;

    fn claimant(owner: u8, body: u8) -> Claimant {
        Claimant {
            fingerprint: Fingerprint {
                api: 1,
                body_sha256: [body; 32],
            },
            owner: Owner([owner; 16]),
            request_id: format!("r{owner}"),
        }
    }

    fn answer() -> Answer {
        Answer {
            status: 200,
            head: Vec::new(),
            body: Body::Inline(b"hi".to_vec()),
        }
    }

    fn payload(change: Change) -> Vec<u8> {
        match change {
            Change::Put { payload, .. } => payload,
            other => panic!("no record: {other:?}"),
        }
    }

    /// The record that claimant 1 with body 1 leaves in this state.
    fn left(state: State) -> Vec<u8> {
        payload(claimant(1, 1).put(state, 1))
    }

    fn processing() -> Vec<u8> {
        payload(claimant(1, 1).processing(1))
    }

    fn unknown() -> State {
        State::Unknown {
            request_id: "r1".to_owned(),
        }
    }

    #[test]
    fn a_key_without_a_record_is_granted_until_the_lease_is_over() {
        let (change, claimed) = claimant(1, 1).claim(None, 77);
        let Change::Put {
            payload,
            expires_ms: 77,
        } = change
        else {
            panic!("{change:?}")
        };
        assert_eq!(claimed, Claimed::Granted);
        assert!(claimant(1, 1).holds(&payload));
    }

    #[test]
    fn the_same_request_gets_what_is_known_and_changes_nothing() {
        let table = [
            (processing(), Claimed::InProgress),
            (left(State::TooLarge), Claimed::TooLarge),
            (left(State::Answered(answer())), Claimed::Answered(answer())),
            (
                left(unknown()),
                Claimed::Unknown {
                    request_id: "r1".to_owned(),
                },
            ),
            (b"?".to_vec(), Claimed::Unreadable),
            (Vec::new(), Claimed::Unreadable),
        ];
        for (payload, expected) in table {
            let got = claimant(2, 1).claim(Some(&payload), 9);
            assert_eq!(got, (Change::Keep, expected));
        }
    }

    #[test]
    fn another_request_is_refused_in_every_state() {
        let states = [State::TooLarge, State::Answered(answer()), unknown()];
        for payload in states.map(left).into_iter().chain([processing()]) {
            let by_body = claimant(2, 2).claim(Some(&payload), 9);
            assert_eq!(by_body, (Change::Keep, Claimed::Reused));
            let mut elsewhere = claimant(2, 1);
            elsewhere.fingerprint.api = 2;
            let by_path = elsewhere.claim(Some(&payload), 9);
            assert_eq!(by_path, (Change::Keep, Claimed::Reused));
        }
    }

    #[test]
    fn a_claim_is_settled_and_renewed_by_its_owner_only() {
        let end = Settlement::Keep {
            state: State::TooLarge,
            expires_ms: 5,
        };
        let own = processing();
        assert!(claimant(1, 1).settle(Some(&own), &end).1);
        assert!(claimant(1, 1).renew(Some(&own), 5).1);
        let released = claimant(1, 1).settle(Some(&own), &Settlement::Release);
        assert_eq!(released, (Change::Remove, true));
        for other in [payload(claimant(2, 1).processing(1)), left(State::TooLarge)] {
            let none = (Change::Keep, false);
            assert_eq!(claimant(1, 1).settle(Some(&other), &end), none);
            assert_eq!(
                claimant(1, 1).settle(Some(&other), &Settlement::Release),
                none
            );
            assert_eq!(claimant(1, 1).renew(Some(&other), 5), none);
        }
    }

    #[test]
    fn what_is_known_after_the_lease_is_kept_if_nobody_came() {
        let end = Settlement::Keep {
            state: State::Answered(answer()),
            expires_ms: 5,
        };
        let (change, kept) = claimant(1, 1).settle(None, &end);
        assert_eq!(
            (payload(change), kept),
            (left(State::Answered(answer())), true)
        );
        let (change, renewed) = claimant(1, 1).renew(None, 5);
        assert_eq!((payload(change), renewed), (processing(), true));
    }
}
