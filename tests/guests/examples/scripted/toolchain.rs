//! Steps that are no call of the ABI: WASI and memory.

use crate::answer::Answer;
use crate::wasi;
use crate::words::{bytes, number};

/// Carries out a step; `None` if there is none of that name.
pub fn carry_out(step: &str, words: &[&str]) -> Option<Answer> {
    let first = words.first().copied().unwrap_or("0");
    let fd = i32::try_from(number(first)).unwrap_or(-1);
    files(step, fd, words).or_else(|| rest(step, fd, first))
}

fn files(step: &str, fd: i32, words: &[&str]) -> Option<Answer> {
    let text = bytes(words.get(1).copied().unwrap_or("-"));
    let piece = [text.as_ptr() as usize, text.len()];
    Some(match step {
        "fd_write" => Answer::number(|out| wasi::fd_write(fd, &raw const piece, 1, out)),
        "fd_read" => Answer::number(|out| wasi::fd_read(fd, &raw const piece, 1, out)),
        "fd_close" => Answer::status(wasi::fd_close(fd)),
        "fd_seek" => Answer::number(|out| wasi::fd_seek(fd, 0, 0, out)),
        "fd_fdstat_get" => {
            let mut stat = [0; 3];
            Answer::status(wasi::fd_fdstat_get(fd, &raw mut stat))
        }
        "fd_prestat_get" => {
            let mut stat = [0; 2];
            Answer::status(wasi::fd_prestat_get(fd, &raw mut stat))
        }
        "path_open" => {
            Answer::number(|out| wasi::path_open(fd, 0, text.as_ptr(), text.len(), 0, 0, 0, 0, out))
        }
        _ => return None,
    })
}

fn rest(step: &str, number: i32, word: &str) -> Option<Answer> {
    Some(match step {
        "poll_oneoff" => {
            let (asked, mut events) = ([0; 6], [0; 4]);
            Answer::number(|out| wasi::poll_oneoff(&raw const asked, &raw mut events, 1, out))
        }
        "sched_yield" => Answer::status(wasi::sched_yield()),
        "random_get" => {
            let mut space = vec![0; usize::try_from(number).unwrap_or(0)];
            Answer::status(wasi::random_get(space.as_mut_ptr(), space.len()))
        }
        "clock_time_get" => {
            let mut time = 0;
            let status = wasi::clock_time_get(number, 0, &raw mut time);
            Answer::status(status).with(if time > 0 { "later" } else { "never" }, Vec::new())
        }
        "clock_res_get" => Answer::number(|out| wasi::clock_res_get(number, out)),
        "args_sizes_get" => {
            let mut size = 0;
            Answer::number(|out| wasi::args_sizes_get(out, &raw mut size))
        }
        "environ_sizes_get" => {
            let mut size = 0;
            Answer::number(|out| wasi::environ_sizes_get(out, &raw mut size))
        }
        "getenv" => {
            let name = String::from_utf8_lossy(&bytes(word)).into_owned();
            let value = std::env::var(name).unwrap_or_else(|_| "(none)".to_owned());
            Answer::status(0).with(&value, Vec::new())
        }
        "proc_exit" => {
            wasi::proc_exit(number);
            Answer::status(0).with("came back", Vec::new())
        }
        "memory_grow" => {
            let pages = usize::try_from(number).unwrap_or(0);
            let grown = core::arch::wasm32::memory_grow(0, pages) != usize::MAX;
            Answer::status(u32::from(!grown))
        }
        _ => return None,
    })
}
