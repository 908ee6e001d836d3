//! The mark of an issuer: when somebody last saw a key id that its set does not have.

use dragoman_slots::{Reader, SharedData, Swap, swap};

/// Notes it. Of several threads the latest time stays; when it is lost in their contention, another
/// one's is there.
///
/// # Errors
/// When the host fails.
pub fn want<S: SharedData>(shared: &mut S, issuer: &str, now_ms: u64) -> Result<(), S::Error> {
    swap(shared, &key(issuer), |old| {
        if time(old).is_some_and(|other| other >= now_ms) {
            return Swap::Keep(());
        }
        Swap::Write(now_ms.to_le_bytes().to_vec(), ())
    })?;
    Ok(())
}

/// When that was last, in ms of the process's monotonic clock: one host call.
///
/// # Errors
/// When the host fails.
pub fn wanted<S: SharedData>(shared: &mut S, issuer: &str) -> Result<Option<u64>, S::Error> {
    let bytes = shared.get(&key(issuer))?;
    Ok(bytes.and_then(|(bytes, _)| time(&bytes)))
}

fn key(issuer: &str) -> String {
    format!("dragoman/1/issuer/{issuer}/wanted")
}

fn time(bytes: &[u8]) -> Option<u64> {
    Reader::new(bytes).u64()
}
