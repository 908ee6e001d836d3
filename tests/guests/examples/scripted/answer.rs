//! What a host call answered.

use std::fmt::{Display, Write};
use std::ptr;

use crate::words;

/// Bytes that are a number have this many.
const NUMBER: usize = 8;

/// Status, what the log shows behind it, what can be kept.
pub struct Answer {
    status: u32,
    shown: String,
    /// For `name = step`.
    pub kept: Vec<u8>,
}

impl Answer {
    /// Only a status.
    pub fn status(status: u32) -> Self {
        Self {
            status,
            shown: String::new(),
            kept: Vec::new(),
        }
    }

    /// A number that the host writes where it is told to.
    pub fn number<T: Default + Display>(call: impl FnOnce(*mut T) -> u32) -> Self {
        let mut number = T::default();
        let status = call(&raw mut number);
        Self::status(status).with(&number.to_string(), number.to_string().into_bytes())
    }

    /// Bytes that the host allocates in this module's memory.
    pub fn bytes(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Self {
        let (status, bytes) = taken(call);
        let shown = match <[u8; NUMBER]>::try_from(bytes.as_slice()) {
            Ok(number) if bytes.contains(&0) => format!("number {}", i64::from_le_bytes(number)),
            _ => words::quoted(&bytes),
        };
        Self::status(status).with(&shown, bytes)
    }

    /// The same for a list of pairs.
    pub fn pairs(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Self {
        let (status, bytes) = taken(call);
        Self::status(status).with(&words::pairs_text(&bytes), bytes)
    }

    /// What came with the status; nothing is shown of a refusal.
    pub fn with(mut self, shown: &str, kept: Vec<u8>) -> Self {
        if self.status == 0 {
            let _ = write!(self.shown, " {shown}");
            self.kept = kept;
        }
        self
    }

    /// For the log.
    pub fn text(&self) -> String {
        format!("{}{}", self.status, self.shown)
    }
}

/// Bytes of a host call, and its status.
pub fn taken(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> (u32, Vec<u8>) {
    let (mut pointer, mut length) = (ptr::null_mut(), 0);
    let status = call(&raw mut pointer, &raw mut length);
    if status != 0 || pointer.is_null() {
        return (status, Vec::new());
    }
    // SAFETY: the host got the pointer from `proxy_on_memory_allocate`, which forgot a vector of that capacity.
    let bytes = unsafe { Vec::from_raw_parts(pointer, length, length) };
    (status, bytes)
}
