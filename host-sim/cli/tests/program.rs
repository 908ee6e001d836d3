//! The program as a person runs it. These configurations have no filters, so they need no modules.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host-sim"));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn output(arguments: &[&str]) -> Output {
    program()
        .args(arguments)
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder of this test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("host-sim-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A gateway that answers everything by itself.
fn config(listen: SocketAddr, access_log: &Path) -> String {
    let (port, access_log) = (listen.port(), access_log.display());
    format!(
        r#"admin: {{address: {{socket_address: {{address: 127.0.0.1, port_value: 0}}}}}}
static_resources:
  listeners:
  - name: public
    address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: public
          access_log:
          - name: envoy.access_loggers.file
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
              path: "{access_log}"
              log_format: {{json_format: {{code: "%RESPONSE_CODE%"}}}}
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {{prefix: "/"}}
                direct_response: {{status: 503, body: {{inline_string: "nobody here"}}}}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
"#
    )
}

/// A port that was free a moment ago.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|socket| socket.local_addr())
        .expect("a port")
}

/// A running gateway, ended when dropped.
struct Running {
    child: Child,
    admin: SocketAddr,
}

impl Running {
    fn start(config: &str, folder: &Folder) -> Running {
        let admin_file = folder.0.join("admin");
        let arguments = [
            "serve",
            "-c",
            config,
            "--concurrency",
            "2",
            "--disable-hot-restart",
            "-l",
            "warning",
        ];
        let child = program()
            .args(arguments)
            .arg("--admin-address-path")
            .arg(&admin_file)
            .spawn()
            .expect("it starts");
        let mut running = Running {
            child,
            admin: ([127, 0, 0, 1], 0).into(),
        };
        running.wait_until(|| {
            std::fs::read_to_string(&admin_file)
                .is_ok_and(|text| text.parse::<SocketAddr>().is_ok())
        });
        running.admin = std::fs::read_to_string(&admin_file)
            .expect("written")
            .parse()
            .expect("an address");
        let admin = running.admin;
        running.wait_until(|| ask(admin, "GET", "/ready").contains("LIVE"));
        running
    }

    fn wait_until(&mut self, mut done: impl FnMut() -> bool) {
        let until = Instant::now() + Duration::from_secs(20);
        while !done() {
            assert!(
                self.child.try_wait().expect("a child").is_none(),
                "it ended at its start"
            );
            assert!(Instant::now() < until, "it does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(address: SocketAddr, method: &str, path: &str) -> String {
    let mut socket = TcpStream::connect(address).expect("it listens");
    let request = format!("{method} {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("text");
    answer
}

#[test]
fn help_has_examples() {
    for arguments in [&["--help"][..], &["serve", "--help"], &["render", "--help"]] {
        let output = output(arguments);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("Examples:"), "{arguments:?}");
    }
}

#[test]
fn a_gateway_answers_logs_and_ends_when_told() {
    let folder = Folder::new("serve");
    let (listen, log) = (free_address(), folder.0.join("access.log"));
    let config = folder.file("envoy.yaml", &config(listen, &log));
    let mut running = Running::start(&config, &folder);
    let answer = ask(listen, "GET", "/");
    assert!(
        answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"),
        "{answer}"
    );
    assert!(answer.ends_with("nobody here"), "{answer}");
    assert_eq!(
        std::fs::read_to_string(&log).expect("a log"),
        "{\"code\":503}\n"
    );
    assert!(ask(running.admin, "GET", "/stats").contains("server.concurrency: 2\n"));
    assert!(ask(running.admin, "GET", "/stats/prometheus").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(ask(running.admin, "GET", "/nowhere").starts_with("HTTP/1.1 404 Not Found\r\n"));
    assert!(ask(running.admin, "GET", "/quitquitquit").starts_with("HTTP/1.1 405 "));
    assert!(ask(running.admin, "POST", "/quitquitquit").ends_with("OK\n"));
    assert!(running.child.wait().expect("it ends").success());
}

#[test]
fn sigterm_ends_it_in_good_order() {
    let folder = Folder::new("sigterm");
    let config = folder.file(
        "envoy.yaml",
        &config(free_address(), Path::new("/dev/null")),
    );
    let mut running = Running::start(&config, &folder);
    let pid = running.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill runs")
            .success()
    );
    assert!(running.child.wait().expect("it ends").success());
}

#[test]
fn a_busy_port_is_named() {
    let folder = Folder::new("busy");
    let taken = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = taken.local_addr().expect("bound");
    let config = folder.file("envoy.yaml", &config(address, Path::new("/dev/null")));
    let output = output(&["serve", "-c", &config]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        format!("host-sim: cannot listen on {address}: address in use\n")
    );
}

#[test]
fn a_field_that_is_not_modelled_is_named_with_file_line_and_path() {
    let folder = Folder::new("field");
    let yaml = config(free_address(), Path::new("/dev/null")).replace(
        "stat_prefix: public",
        "stat_prefix: public\n          tracing: {}",
    );
    let config = folder.file("envoy.yaml", &yaml);
    let output = output(&["serve", "-c", &config]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.starts_with(&format!(
            "host-sim: {config}: line 12: static_resources.listeners[0]"
        )),
        "{error}"
    );
    assert!(error.contains("tracing"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    for arguments in [
        ["serve", "-c", "/nowhere/envoy.yaml"].as_slice(),
        &["render", "/nowhere/gateway.json"],
        &["check", "/nowhere/gateway.json"],
    ] {
        let output = output(arguments);
        let code = if arguments[0] == "check" { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code));
        assert!(
            text(&output.stderr).starts_with("host-sim: cannot read /nowhere/"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn the_shipped_gateway_is_rendered() {
    let gateway = concat!(env!("CARGO_MANIFEST_DIR"), "/../../envoy/gateway.json");
    let output = output(&[
        "render",
        gateway,
        "--listen",
        "127.0.0.1:18080",
        "--access-log",
        "/tmp/a.log",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("port_value: 18080"));
    assert!(text(&output.stdout).contains("/tmp/a.log"));
}
