//! What a set of slots is for, and how much of shared data it may use.

/// A set of slots. Number and name are part of the layout: records are found again only under the
/// same ones, so code that changes them starts with an empty map and leaves the old keys behind.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// Part of the keys; lower-case words.
    pub name: &'static str,
    /// Number of slots; 0 counts as 1.
    pub slots: u32,
    /// Most bytes of a slot. Every access reads one slot and every change writes one, so a few
    /// kilobytes serve best.
    pub slot_bytes: u16,
    /// Most bytes of a slot for records of one tenant.
    pub tenant_bytes: u16,
    /// What gives way in a full slot.
    pub when_full: WhenFull,
}

/// What gives way to a new record in a slot that has no room. Expired records always do.
#[derive(Clone, Copy, Debug)]
pub enum WhenFull {
    /// Live records that carry no information any more, as this says of a payload and the time
    /// in ms: a bucket that is full again is as good as none.
    Evict(fn(&[u8], u64) -> bool),
    /// Nothing: a live record may never be dropped.
    Refuse,
}

impl Purpose {
    /// Number of slots, at least 1.
    pub(crate) fn slots(&self) -> u32 {
        self.slots.max(1)
    }

    /// Key of a slot. The number in it is the version of the whole layout.
    pub(crate) fn key(&self, slot: u32) -> String {
        format!("dragoman/1/{}/{slot}", self.name)
    }

    /// Most bytes of keys and values that this purpose ever has in shared data.
    #[must_use]
    pub fn bound_bytes(&self) -> u64 {
        // No slot has a longer key than the last one.
        let key = self.key(self.slots().saturating_sub(1)).len();
        let each = (key as u64).saturating_add(u64::from(self.slot_bytes));
        each.saturating_mul(u64::from(self.slots()))
    }
}

/// Most bytes of keys and values that these purposes ever have in shared data, without what the
/// host's map needs for its nodes.
#[must_use]
pub fn bound_bytes(purposes: &[Purpose]) -> u64 {
    let each = purposes.iter().map(Purpose::bound_bytes);
    each.fold(0, u64::saturating_add)
}
