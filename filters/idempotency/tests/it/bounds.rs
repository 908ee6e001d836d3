//! A full store: nothing is lost and nothing runs twice.

use std::time::Duration;

use dragoman_slots::{Change, Key, Purpose, Salt, SharedData, SlotMap, WhenFull};

use crate::process::{Further, Process, SECTION, chat};

#[derive(Default)]
struct OneSlot(Vec<u8>);

impl SharedData for OneSlot {
    type Error = ();

    fn get(&mut self, key: &str) -> Result<Option<(Vec<u8>, u32)>, ()> {
        Ok(key.ends_with("/0").then(|| (self.0.clone(), 0)))
    }

    fn set(&mut self, key: &str, value: &[u8], _: u32) -> Result<bool, ()> {
        if key.ends_with("/0") {
            self.0 = value.to_vec();
        }
        Ok(true)
    }
}

/// A slot that has hardly any room left, for a time.
fn full_slot(expires_ms: u64) -> Vec<u8> {
    let mut slot = OneSlot::default();
    let salt = Salt::agree(&mut slot, [0; 16]).unwrap().unwrap();
    let purpose = Purpose {
        name: "full",
        slots: 1,
        slot_bytes: 16 * 1024,
        tenant_bytes: 16 * 1024,
        when_full: WhenFull::Refuse,
    };
    let key = Key::new("another", [0; 32]).unwrap();
    let fill = |_: Option<&[u8]>| {
        let payload = vec![0; 16_300];
        let change = Change::Put {
            payload,
            expires_ms,
        };
        (change, ())
    };
    let map = SlotMap::new(purpose, salt);
    map.update(&mut slot, &key, 0, fill).unwrap();
    slot.0
}

#[test]
fn a_store_without_room_refuses_new_keys_until_there_is_some() {
    let process = Process::new(SECTION);
    let soon = process.now.get() + Duration::from_secs(5);
    let slot = full_slot(u64::try_from(soon.as_millis()).unwrap());
    for number in 0..4096 {
        let key = format!("dragoman/1/idempotency/{number}");
        process.shared.borrow_mut().insert(key, (slot.clone(), 1));
    }

    let reply = process.answered(&chat("k"));

    assert_eq!(reply.status, 503, "{}", reply.text());
    assert!(reply.text().contains("idempotency"), "{}", reply.text());
    assert_eq!(reply.header("retry-after").unwrap(), "10");
    process.wait(Duration::from_secs(5));
    process.runs(&chat("k"));
}

#[test]
fn a_record_that_cannot_be_read_refuses_its_key() {
    let process = Process::new(SECTION);
    for number in 0..4096 {
        let key = format!("dragoman/1/idempotency/{number}");
        process.shared.borrow_mut().insert(key, (vec![99], 1));
    }
    assert_eq!(
        process.refused(&chat("k")),
        (503, "gateway_error".to_owned())
    );
}

#[test]
fn a_body_without_a_chunk_for_it_is_given_up_and_its_request_does_not_run_again() {
    let process = Process::new(SECTION);
    let body = vec![b'x'; 60_000];
    let mut given_up = 0;
    for number in 0..1600 {
        let key = format!("k{number}");
        process.has_answered(&chat(&key), &body);
        let again = process.answered(&chat(&key));
        match again.status {
            200 => assert_eq!(again.body.len(), body.len()),
            _ => given_up += 1,
        }
    }
    // 48 chunks of each page of 64 are the tenant's.
    assert_eq!(given_up, 1600 - 2048 * 48 / 64);
}

#[test]
fn a_stream_that_is_left_gives_its_chunks_back() {
    let process = Process::new(SECTION);
    for number in 0..800 {
        let mut life = process.runs(&chat(&format!("k{number}")));
        life.works("w1");
        life.begins(&[(":status", "200")]);
        life.response_data(&[b'x'; 150_000], false);
        life.done();
    }
    let body = vec![b'x'; 150_000];
    process.has_answered(&chat("k"), &body);
    assert_eq!(process.answered(&chat("k")).body, body);
}

#[test]
fn the_chunks_of_a_kept_answer_are_not_given_to_others_after_the_lease() {
    let process = Process::new(SECTION);
    let body = vec![b'1'; 150_000];
    process.has_answered(&chat("first"), &body);
    process.wait(Duration::from_secs(61));
    for number in 0..1600 {
        process.has_answered(&chat(&format!("k{number}")), &[b'2'; 60_000]);
    }
    assert_eq!(process.answered(&chat("first")).body, body);
}
