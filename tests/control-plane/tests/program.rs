//! The program as a child process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// Ended when dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The answer to a request on a connection of its own.
fn asked(address: &str, method: &str, target: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let text =
        format!("{method} {target} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_control_plane_serves_a_file_of_keys_and_takes_changes() {
    let keys = std::env::temp_dir().join(format!("control-plane-{}.json", std::process::id()));
    std::fs::write(&keys, r#"[{"id": "k1"}]"#).unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_control-plane"))
        .args(["--listen", "127.0.0.1:0", "--keys"])
        .arg(&keys)
        .stdout(Stdio::piped())
        .spawn();
    let mut program = Program(program.unwrap());
    let mut line = String::new();
    BufReader::new(program.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap();
    std::fs::remove_file(&keys).unwrap();

    let table = || asked(address, "GET", "/v1/keys/resolved", "");
    assert!(table().contains(r#""keys":[{"id":"k1"}]"#));
    assert!(asked(address, "PUT", "/keys/k2", r#"{"id": "k2"}"#).starts_with("HTTP/1.1 204"));
    assert!(asked(address, "PUT", "/keys/k2", r#"{"id": "k3"}"#).starts_with("HTTP/1.1 400"));
    assert!(asked(address, "POST", "/keys/k1/revoke", "").starts_with("HTTP/1.1 204"));
    assert!(table().contains(r#"[{"id":"k1","revoked":true},{"id":"k2"}]"#));
    assert!(asked(address, "DELETE", "/keys/k1", "").starts_with("HTTP/1.1 204"));
    assert!(asked(address, "DELETE", "/keys/k1", "").starts_with("HTTP/1.1 404"));
    assert!(table().contains(r#"[{"id":"k2"}]"#));
}
