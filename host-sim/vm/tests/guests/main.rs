//! Tiny guests in the real machine: what links, what stops, and what goes through real memory.

mod imports;
mod loading;
mod phases;
mod running;
mod stage;
mod table;
mod wasi;
mod watching;
