//! Shared data: one map per `vm_id` for all modules and threads, with compare-and-swap.

use std::collections::BTreeMap;

use crate::abi::Status;

/// The process-wide store. Values are never removed one by one, as in Envoy; all of a `vm_id` go with
/// its last VM.
#[derive(Debug, Default)]
pub(crate) struct SharedData {
    values: BTreeMap<String, Namespace>,
    /// VMs of all threads by `vm_id`.
    vms: BTreeMap<String, usize>,
    last_cas: u32,
}

/// Values of one `vm_id` with their numbers.
type Namespace = BTreeMap<Vec<u8>, (Vec<u8>, u32)>;

impl SharedData {
    /// A VM of this `vm_id` is made.
    pub(crate) fn enter(&mut self, vm_id: &str) {
        *self.vms.entry(vm_id.to_owned()).or_default() += 1;
    }

    /// A VM of this `vm_id` is gone; with the last one the values are. Says whether it was the last.
    pub(crate) fn leave(&mut self, vm_id: &str) -> bool {
        if let Some(count) = self.vms.get_mut(vm_id) {
            *count -= 1;
            if *count == 0 {
                self.vms.remove(vm_id);
                self.values.remove(vm_id);
                return true;
            }
        }
        false
    }

    /// Value and its compare-and-swap number, which is never 0.
    pub(crate) fn get(&self, vm_id: &str, key: &[u8]) -> Result<(Vec<u8>, u32), Status> {
        self.values
            .get(vm_id)
            .and_then(|values| values.get(key))
            .cloned()
            .ok_or(Status::NotFound)
    }

    /// Sets unconditionally for `cas` 0; otherwise only if the key is absent or has this number.
    pub(crate) fn set(
        &mut self,
        vm_id: &str,
        key: &[u8],
        value: &[u8],
        cas: u32,
    ) -> Result<(), Status> {
        if !self.values.contains_key(vm_id) {
            self.values.insert(vm_id.to_owned(), BTreeMap::new());
        }
        let next = self.last_cas.wrapping_add(1).max(1);
        let Some(values) = self.values.get_mut(vm_id) else {
            return Err(Status::InternalFailure);
        };
        match values.get_mut(key) {
            Some((_, current)) if cas != 0 && *current != cas => return Err(Status::CasMismatch),
            Some(entry) => *entry = (value.to_vec(), next),
            None => {
                values.insert(key.to_vec(), (value.to_vec(), next));
            }
        }
        self.last_cas = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of envoy-lab.md, section 1.
    #[test]
    fn an_absent_key_is_created_whatever_the_cas() {
        let mut data = SharedData::default();
        assert_eq!(data.get("v", b"k"), Err(Status::NotFound));
        assert_eq!(data.set("v", b"k", b"first", u32::MAX), Ok(()));
        assert_eq!(data.get("v", b"k"), Ok((b"first".to_vec(), 1)));
        assert_eq!(
            data.set("v", b"k", b"second", u32::MAX),
            Err(Status::CasMismatch)
        );
        assert_eq!(data.get("v", b"k"), Ok((b"first".to_vec(), 1)));
        assert_eq!(data.set("v", b"other", b"x", 7), Ok(()));
    }

    #[test]
    fn cas_zero_overwrites_and_a_stale_cas_is_refused() {
        let mut data = SharedData::default();
        data.set("v", b"k", b"1", 0).unwrap();
        data.set("v", b"k", b"2", 0).unwrap();
        assert_eq!(data.get("v", b"k"), Ok((b"2".to_vec(), 2)));
        assert_eq!(data.set("v", b"k", b"3", 1), Err(Status::CasMismatch));
        assert_eq!(data.set("v", b"k", b"3", 2), Ok(()));
        assert_eq!(data.get("v", b"k"), Ok((b"3".to_vec(), 3)));
    }

    #[test]
    fn an_empty_value_is_not_an_absent_one() {
        let mut data = SharedData::default();
        data.set("v", b"k", b"", 0).unwrap();
        assert_eq!(data.get("v", b"k"), Ok((Vec::new(), 1)));
    }

    #[test]
    fn vm_ids_do_not_see_each_other() {
        let mut data = SharedData::default();
        data.set("v", b"k", b"1", 0).unwrap();
        assert_eq!(data.get("w", b"k"), Err(Status::NotFound));
    }
}
