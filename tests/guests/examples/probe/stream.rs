//! One stream.

use std::rc::Rc;
use std::time::Duration;

use dragoman_sdk::wasm::proxy_wasm;
use proxy_wasm::hostcalls::{get_property, set_shared_data};
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

use crate::notes;
use crate::word::Word;

/// Longer than every idle limit of a test.
const CALL_TIMEOUT: Duration = Duration::from_secs(20);

/// What is known of a stream.
pub struct Stream {
    words: Rc<[Word]>,
    vm: u64,
    attempt: String,
    waiting: bool,
    grown: bool,
    status: Option<String>,
    complete: bool,
}

impl Stream {
    pub fn new(words: Rc<[Word]>, vm: u64) -> Self {
        Self {
            words,
            vm,
            attempt: String::new(),
            waiting: false,
            grown: false,
            status: None,
            complete: false,
        }
    }

    fn has(&self, wanted: fn(&Word) -> bool) -> bool {
        self.words.iter().any(wanted)
    }

    /// Carries out a word of the header phase; true if the stream is to wait.
    fn carry_out(&mut self, word: &Word, end_of_stream: bool) -> bool {
        match word {
            Word::Set { name, value } => self.set_http_request_header(name, Some(value)),
            Word::Add { name, value } => self.add_http_request_header(name, value),
            Word::Publish { name, value } => self.set_property(vec![name], Some(value.as_bytes())),
            Word::Show { header, path } => {
                self.set_http_request_header(header, Some(&property(path)));
            }
            Word::Next => self.name_next_cluster(),
            Word::Trap { header } => {
                let value = self.get_http_request_header(header);
                assert!(value.is_none(), "told to trap");
            }
            Word::Call { cluster } => return self.call(cluster),
            Word::Claim { path } => return self.claim(path),
            Word::Notes => return self.show_notes(),
            Word::Buffer => return !end_of_stream,
            Word::Hold
            | Word::Grow { .. }
            | Word::Log { .. }
            | Word::Finish { .. }
            | Word::Note => {}
        }
        false
    }

    fn name_next_cluster(&self) {
        let clusters = self
            .get_http_request_header("x-clusters")
            .unwrap_or_default();
        let attempt: usize = self.attempt.parse().unwrap_or_default();
        if let Some(next) = clusters.split(',').nth(attempt) {
            self.set_http_request_header("x-dragoman-cluster", Some(next));
        }
    }

    fn call(&mut self, cluster: &str) -> bool {
        let Some(to) = self.get_http_request_header("x-call") else {
            return false;
        };
        let mut headers = vec![
            (":method", "GET"),
            (":path", "/readyz"),
            (":authority", "call"),
        ];
        if to != "-" {
            headers.push(("x-gateway-destination-endpoint", &to));
        }
        if self
            .dispatch_http_call(cluster, headers, None, vec![], CALL_TIMEOUT)
            .is_err()
        {
            self.send_http_response(500, vec![], Some(b"not sent"));
        }
        self.waiting = true;
        true
    }

    fn claim(&self, path: &str) -> bool {
        if self.get_http_request_header(":path").as_deref() != Some(path) {
            return false;
        }
        let key = self.get_http_request_header("x-key").unwrap_or_default();
        let key = format!("probe/claim/{key}");
        let won = set_shared_data(&key, Some(b"taken"), Some(notes::ABSENT)).is_ok();
        let answer: &[u8] = if won { b"won" } else { b"lost" };
        let vm = self.vm.to_string();
        self.send_http_response(200, vec![("x-vm", &vm)], Some(answer));
        true
    }

    fn show_notes(&self) -> bool {
        let asked = self.get_http_request_header(":path").as_deref() == Some("/notes");
        if asked {
            self.send_http_response(200, vec![], Some(&notes::all()));
        }
        asked
    }
}

/// A property as text; numbers are the 8 bytes of an integer.
fn property(path: &[String]) -> String {
    let path = path.iter().map(String::as_str).collect();
    match get_property(path).ok().flatten() {
        None => "-".to_owned(),
        Some(bytes) => match <[u8; 8]>::try_from(bytes.as_slice()) {
            Ok(number) if bytes.contains(&0) => i64::from_le_bytes(number).to_string(),
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        },
    }
}

fn at(path: &[&str]) -> String {
    property(
        &path
            .iter()
            .map(|part| (*part).to_owned())
            .collect::<Vec<_>>(),
    )
}

impl Context for Stream {
    fn on_http_call_response(&mut self, _: u32, headers: usize, _: usize, _: usize) {
        self.waiting = false;
        let status = if headers > 0 {
            self.get_http_call_response_header(":status")
                .unwrap_or_default()
        } else {
            "502".to_owned()
        };
        if status == "200" {
            self.resume_http_request();
        } else {
            self.send_http_response(status.parse().unwrap_or(502), vec![], Some(b"refused"));
        }
    }

    fn on_done(&mut self) -> bool {
        for word in self.words.iter() {
            if let Word::Finish { name, value } = word {
                self.set_property(vec![name], Some(value.as_bytes()));
            }
        }
        if self.has(|word| matches!(word, Word::Note)) {
            notes::add(&format!(
                "attempt={} status={} complete={} details={} failure={} flags={}",
                self.attempt,
                self.status.as_deref().unwrap_or("-"),
                self.complete,
                at(&["response", "code_details"]),
                at(&["upstream", "transport_failure_reason"]).replace(' ', "_"),
                at(&["response", "flags"]),
            ));
        }
        true
    }
}

impl HttpContext for Stream {
    fn on_http_request_headers(&mut self, _: usize, end_of_stream: bool) -> Action {
        self.attempt = at(&["upstream", "request_attempt_count"]);
        let words = Rc::clone(&self.words);
        for word in words.iter() {
            if self.carry_out(word, end_of_stream) {
                return Action::Pause;
            }
        }
        Action::Continue
    }

    fn on_http_request_body(&mut self, _: usize, end_of_stream: bool) -> Action {
        let words = Rc::clone(&self.words);
        for word in words.iter() {
            match word {
                Word::Hold if self.waiting => return Action::Pause,
                Word::Buffer if !end_of_stream => return Action::Pause,
                Word::Grow { text } if !self.grown => {
                    self.grown = true;
                    self.set_http_request_body(0, 0, text.as_bytes());
                }
                _ => {}
            }
        }
        Action::Continue
    }

    fn on_http_response_headers(&mut self, _: usize, end_of_stream: bool) -> Action {
        self.status = self.get_http_response_header(":status");
        self.complete = end_of_stream;
        Action::Continue
    }

    fn on_http_response_body(&mut self, _: usize, end_of_stream: bool) -> Action {
        self.complete |= end_of_stream;
        Action::Continue
    }

    fn on_log(&mut self) {
        for word in self.words.iter() {
            if let Word::Log { name, value } = word {
                self.set_property(vec![name], Some(value.as_bytes()));
            }
        }
    }
}
