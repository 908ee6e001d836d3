//! `./scripts/run` as a newcomer uses it: the printed commands are typed as printed.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use blackbox::{Engine, shell::repository};

/// The demo has fixed ports, so there is one at a time.
static PORTS: Mutex<()> = Mutex::new(());

#[test]
fn the_demo_runs_in_host_sim() {
    the_demo_runs(&[]);
}

#[test]
fn the_demo_runs_in_envoy() {
    if Engine::Envoy.is_here() {
        the_demo_runs(&["--envoy"]);
    }
}

fn the_demo_runs(arguments: &[&str]) {
    let _ports = PORTS
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut demo = Demo::start(arguments);
    let commands = demo.printed_commands();
    assert_eq!(commands.len(), 3, "{commands:?}");

    let [chat, stream, models] = [0, 1, 2].map(|index| shell(&commands[index]));
    assert!(chat.contains("hello from w"), "{chat}");
    assert!(
        stream.starts_with("data: ") && stream.ends_with("data: [DONE]\n\n"),
        "{stream}"
    );
    assert!(
        models.contains("chat-standard") && models.contains("chat-fast"),
        "{models}"
    );

    demo.interrupt();
    for port in [10000, 9901, 9101, 9102] {
        assert!(
            TcpStream::connect(("127.0.0.1", port)).is_err(),
            "something still listens on {port}"
        );
    }
}

#[test]
fn a_busy_port_is_named() {
    let _ports = PORTS
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let _busy = std::net::TcpListener::bind(("127.0.0.1", 9102)).expect("the port is free");
    let output = Command::new(repository().join("scripts/run"))
        .output()
        .expect("the script starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("port 9102 on 127.0.0.1 is busy"), "{said}");
}

fn shell(command: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", command])
        .output()
        .expect("there is a shell");
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

struct Demo {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Demo {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(repository().join("scripts/run"))
            .args(arguments)
            .stdout(Stdio::piped())
            // A group of its own, so that the interrupt reaches all of it, as from a terminal.
            .process_group(0)
            .spawn()
            .expect("the script starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    /// Waits until the demo says that it is ready; its text ends before the first log line.
    fn printed_commands(&mut self) -> Vec<String> {
        let mut commands = Vec::new();
        for line in self.lines.by_ref() {
            let line = line.expect("text");
            if line.trim_start().starts_with("curl ") {
                commands.push(line.trim_start().to_owned());
            }
            if line.contains("Ctrl-C ends it all") {
                return commands;
            }
        }
        panic!("the demo ended before it was ready");
    }

    fn interrupt(&mut self) {
        let group = format!("-{}", self.child.id());
        let sent = Command::new("kill").args(["-INT", "--", &group]).status();
        assert!(sent.expect("there is kill").success());
        let status = self.child.wait().expect("the script ends");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let group = format!("-{}", self.child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = self.child.wait();
        }
    }
}
