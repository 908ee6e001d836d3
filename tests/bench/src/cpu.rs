//! Processor time and memory of a process, as Linux counts them, and the cores it may use.

use std::fs;
use std::process::{Command, Stdio};

use crate::Failure;

/// Processor time of all threads that a process has, in nanoseconds. Threads that ended are left
/// out; neither Envoy nor the ext_proc server ends any while it serves.
pub fn time_ns(pid: u32) -> Result<u64, Failure> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        let ran = text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok());
        sum += ran.ok_or("schedstat has no time in it")?;
    }
    Ok(sum)
}

/// Resident memory of a process in MB.
pub fn resident_mb(pid: u32) -> Result<f64, Failure> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: Option<f64> = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    Ok(kib.ok_or("/proc says nothing of the memory")? * 1024.0 / 1e6)
}

/// Two cores that this process may use: one for Envoy, one for everything else.
pub fn two_cores() -> Result<[usize; 2], Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .ok_or("/proc says nothing of the cores")?;
    let mut cores = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        cores.extend(first.parse::<usize>()?..=last.parse::<usize>()?);
    }
    match cores[..] {
        [first, second, ..] => Ok([first, second]),
        _ => Err("two cores are needed: one for Envoy, one for load and upstream".into()),
    }
}

/// Keeps a process and what it starts from now on on one core.
pub fn pin(pid: u32, core: usize) -> Result<(), Failure> {
    let status = Command::new("taskset")
        .args(["-a", "-p", "-c", &core.to_string(), &pid.to_string()])
        .stdout(Stdio::null())
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("taskset could not keep process {pid} on core {core}").into()),
    }
}

/// What the machine is and how busy it was a moment ago, for the head of the report.
pub fn machine() -> String {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let cores = cpuinfo
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    format!("{model}, {cores} cores, load average {load} at the start")
}
