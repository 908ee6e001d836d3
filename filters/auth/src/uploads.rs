//! How many bodies each caller is sending at the moment, on this thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// SHA-256 of a key.
pub(crate) type Digest = [u8; 32];

/// A counter per key. Only configured keys are counted, and a counter at zero is taken out. Lost
/// with the VM, and so are the requests it counted.
#[derive(Debug)]
pub(crate) struct Uploads {
    most: u32,
    open: RefCell<BTreeMap<Digest, u32>>,
}

/// A request whose body is still to come. Counts until it is dropped, however the request ends.
#[derive(Debug)]
pub(crate) struct Upload {
    uploads: Rc<Uploads>,
    key: Digest,
}

impl Uploads {
    /// At most `most` at a time for each key.
    pub(crate) fn new(most: u32) -> Self {
        Self {
            most,
            open: RefCell::default(),
        }
    }

    /// Counts one more; `None` if this key has as many as it may.
    pub(crate) fn begin(self: &Rc<Self>, key: Digest) -> Option<Upload> {
        let mut table = self.open.borrow_mut();
        let open = table.get(&key).copied().unwrap_or(0);
        if open >= self.most {
            return None;
        }
        table.insert(key, open + 1);
        Some(Upload {
            uploads: Rc::clone(self),
            key,
        })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut table = self.uploads.open.borrow_mut();
        match table.get_mut(&self.key) {
            Some(open) if *open > 1 => *open -= 1,
            _ => {
                table.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_bound_and_gets_back_what_ends() {
        let uploads = Rc::new(Uploads::new(2));
        let first = uploads.begin([1; 32]).unwrap();
        let second = uploads.begin([1; 32]).unwrap();
        assert!(uploads.begin([1; 32]).is_none());
        let other = uploads.begin([2; 32]).unwrap();
        drop(first);
        let third = uploads.begin([1; 32]).unwrap();
        assert!(uploads.begin([1; 32]).is_none());

        drop((second, other, third));
        assert!(uploads.open.borrow().is_empty(), "{uploads:?}");
    }
}
