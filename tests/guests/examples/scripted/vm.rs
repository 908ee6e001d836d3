//! What this VM remembers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::script::Line;

/// What is known of a context.
#[derive(Clone, Default)]
pub struct Known {
    /// Its root; itself if it is one.
    pub root: u32,
    /// Path of its request.
    pub path: String,
    /// Calls by callback.
    calls: BTreeMap<String, u32>,
}

#[derive(Default)]
struct Memory {
    tag: String,
    /// Scripts by root context; 0 is the VM's own.
    scripts: BTreeMap<u32, Vec<Line>>,
    contexts: BTreeMap<u32, Known>,
    /// Which context sent a callout.
    callers: BTreeMap<u32, u32>,
    kept: BTreeMap<String, Vec<u8>>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

/// No host call may run in `with`: it allocates here.
fn with<T: Default>(act: impl FnOnce(&mut Memory) -> T) -> T {
    MEMORY.with(|memory| {
        memory
            .try_borrow_mut()
            .map_or_else(|_| T::default(), |mut memory| act(&mut memory))
    })
}

/// Tells this VM from others.
pub fn tag() -> String {
    with(|memory| memory.tag.clone())
}

/// Sets what [`tag`] tells.
pub fn set_tag(tag: String) {
    with(|memory| memory.tag = tag);
}

/// Sets the script of a root context, or with 0 that of the VM.
pub fn set_script(root: u32, lines: Vec<Line>) {
    with(|memory| drop(memory.scripts.insert(root, lines)));
}

/// The VM's script, then the root's.
pub fn script(root: u32) -> Vec<Line> {
    with(|memory| {
        let mut lines = memory.scripts.get(&0).cloned().unwrap_or_default();
        if root != 0 {
            lines.extend(memory.scripts.get(&root).cloned().unwrap_or_default());
        }
        lines
    })
}

/// A context was made.
pub fn created(context: u32, root: u32) {
    let known = Known {
        root: if root == 0 { context } else { root },
        ..Known::default()
    };
    with(|memory| drop(memory.contexts.insert(context, known)));
}

/// A context is gone.
pub fn deleted(context: u32) {
    with(|memory| drop(memory.contexts.remove(&context)));
}

/// What is known of a context.
pub fn known(context: u32) -> Known {
    with(|memory| memory.contexts.get(&context).cloned().unwrap_or_default())
}

/// The path of a context's request.
pub fn set_path(context: u32, path: String) {
    with(|memory| {
        if let Some(known) = memory.contexts.get_mut(&context) {
            known.path = path;
        }
    });
}

/// One more call of a callback; which it is, from 1.
pub fn count(context: u32, callback: &str) -> u32 {
    with(|memory| {
        let known = memory.contexts.entry(context).or_default();
        let calls = known.calls.entry(callback.to_owned()).or_default();
        *calls += 1;
        *calls
    })
}

/// A callout was sent.
pub fn called(token: u32, context: u32) {
    with(|memory| {
        memory.callers.insert(token, context);
    });
}

/// Who sent a callout; `fallback` if that is not known.
pub fn caller(token: u32, fallback: u32) -> u32 {
    with(|memory| memory.callers.get(&token).copied()).unwrap_or(fallback)
}

/// Keeps an answer under a name.
pub fn keep(name: &str, value: Vec<u8>) {
    with(|memory| drop(memory.kept.insert(name.to_owned(), value)));
}

/// What was kept; empty if nothing was.
pub fn kept(name: &str) -> Vec<u8> {
    with(|memory| memory.kept.get(name).cloned().unwrap_or_default())
}

/// The next allocation for the host runs the lines of `memory_allocate`.
pub fn arm() {
    ARMED.with(|armed| armed.set(true));
}

/// Whether that was asked for, once.
pub fn take_arm() -> bool {
    ARMED.with(|armed| armed.replace(false))
}
