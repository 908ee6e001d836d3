//! Records survive the bus, and nothing else is taken for one.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use dragoman_contract::{ApiKind, Candidate, Class, Plan, RequestRecord};
use proptest::prelude::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn name() -> impl Strategy<Value = String> {
    let character = any::<char>().prop_filter("no NUL", |c| *c != '\0');
    proptest::collection::vec(character, 0..40).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_request_record_reads_as_it_was_written(
        api in proptest::sample::select(ApiKind::ALL.to_vec()),
        numbers in any::<[u32; 4]>(),
        stream: bool,
        tools: bool,
        body_sha256: Option<[u8; 32]>,
        class in proptest::sample::select(Class::ALL.to_vec()),
        names in [name(), name(), name(), name()],
    ) {
        let record = RequestRecord {
            api,
            stream,
            body_len: numbers[0],
            model_start: numbers[1],
            model_end: numbers[2],
            max_tokens: numbers[3],
            endpoint: &names[0],
            version: &names[1],
            tenant: &names[2],
            app: &names[3],
            class,
            tools,
            body_sha256,
        };
        let bytes = record.encode();
        prop_assert_eq!(RequestRecord::decode(&bytes), Some(record.clone()));
        let longer = [bytes.as_slice(), b"x"].concat();
        prop_assert_eq!(RequestRecord::decode(&longer), None);
        for cut in 0..bytes.len() {
            prop_assert_eq!(RequestRecord::decode(&bytes[..cut]), None);
        }
    }

    #[test]
    fn a_plan_reads_as_it_was_written(
        numbers in any::<[u32; 4]>(),
        trial: Option<u32>,
        claim in proptest::option::of(1_u64..),
        names in proptest::collection::vec([name(), name(), name(), name()], 0..16),
    ) {
        let candidates = names
            .iter()
            .map(|[cluster, address, worker, served_model_name]| Candidate { cluster, address, worker, served_model_name })
            .collect();
        let [body_len, model_start, model_end, timeout_ms] = numbers;
        let plan = Plan { body_len, model_start, model_end, timeout_ms, trial, claim, candidates };
        let bytes = plan.encode();
        prop_assert_eq!(Plan::decode(&bytes), Some(plan.clone()));
        for cut in 0..bytes.len() {
            prop_assert_eq!(Plan::decode(&bytes[..cut]), None);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let _ = RequestRecord::decode(&bytes);
        let _ = Plan::decode(&bytes);
    }
}

#[test]
fn a_record_of_another_version_is_absent() {
    let plan = Plan {
        body_len: 1,
        model_start: 2,
        model_end: 3,
        timeout_ms: 4,
        trial: None,
        claim: None,
        candidates: Vec::new(),
    };
    let mut bytes = plan.encode();
    bytes[0] += 1;
    assert_eq!(Plan::decode(&bytes), None);
}
