//! The slot map over the shared data of any phase: `map.update(cx, ...)`.

use dragoman_slots::SharedData;

use crate::host::{Cas, HostError, HostResult};
use crate::phase::{Done, RequestBody, RequestHeaders, ResponseBody, ResponseHeaders, Root};

macro_rules! shared_data_of {
    ($($phase:ident)*) => {$(
        impl SharedData for $phase<'_> {
            type Error = HostError;

            fn get(&mut self, key: &str) -> HostResult<Option<(Vec<u8>, u32)>> {
                let found = self.host.shared(key)?;
                Ok(found.map(|(value, Cas(cas))| (value, cas)))
            }

            fn set(&mut self, key: &str, value: &[u8], cas: u32) -> HostResult<bool> {
                self.host.swap_shared(key, value, Cas(cas))
            }
        }
    )*};
}

shared_data_of!(RequestHeaders RequestBody ResponseHeaders ResponseBody Done Root);
