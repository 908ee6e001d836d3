//! Tiny guests in the real machine: what links, what stops, and what goes through real memory.

mod loading;
mod running;
mod stage;
mod watching;
