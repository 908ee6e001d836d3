//! The part of WASI that steps can call.

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    pub safe fn fd_write(
        fd: i32,
        pieces: *const [usize; 2],
        count: usize,
        written: *mut u32,
    ) -> u32;
    pub safe fn fd_read(fd: i32, pieces: *const [usize; 2], count: usize, read: *mut u32) -> u32;
    pub safe fn fd_close(fd: i32) -> u32;
    pub safe fn fd_seek(fd: i32, offset: i64, whence: i32, place: *mut u64) -> u32;
    pub safe fn fd_fdstat_get(fd: i32, stat: *mut [u64; 3]) -> u32;
    pub safe fn fd_prestat_get(fd: i32, stat: *mut [u32; 2]) -> u32;
    pub safe fn path_open(
        fd: i32,
        flags: i32,
        path: *const u8,
        length: usize,
        open_flags: i32,
        rights: i64,
        inheriting: i64,
        fd_flags: i32,
        opened: *mut u32,
    ) -> u32;
    pub safe fn poll_oneoff(
        subscriptions: *const [u64; 6],
        events: *mut [u64; 4],
        count: usize,
        happened: *mut usize,
    ) -> u32;
    pub safe fn sched_yield() -> u32;
    pub safe fn random_get(bytes: *mut u8, length: usize) -> u32;
    pub safe fn clock_time_get(clock: i32, precision: i64, time: *mut u64) -> u32;
    pub safe fn clock_res_get(clock: i32, resolution: *mut u64) -> u32;
    pub safe fn args_sizes_get(count: *mut u32, bytes: *mut u32) -> u32;
    pub safe fn environ_sizes_get(count: *mut u32, bytes: *mut u32) -> u32;
    pub safe fn proc_exit(code: i32);
}
