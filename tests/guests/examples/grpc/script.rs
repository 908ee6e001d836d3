//! The steps of a request.

use std::collections::VecDeque;

use crate::abi::{self, Target};
use crate::{SCRIPT, transcript};

/// Time between two ticks of a script that counts them.
const TICK_MS: u32 = 20;

/// A script under way.
#[derive(Default)]
pub struct Script {
    context: u32,
    steps: VecDeque<String>,
    /// What arrived and was not waited for yet.
    arrived: VecDeque<&'static str>,
    /// A step is being carried out.
    busy: bool,
    target: Vec<u8>,
    service: String,
    method: String,
    metadata: Vec<(Vec<u8>, Vec<u8>)>,
    token: u32,
}

/// One step with its words.
pub struct Step(Vec<String>);

impl Script {
    pub fn begin(&mut self, context: u32, text: &str) {
        *self = Self {
            context,
            steps: text.split(';').map(|step| step.trim().to_owned()).collect(),
            ..Self::default()
        };
    }

    pub fn is_of(&self, context: u32) -> bool {
        self.context == context
    }

    pub fn arrived(&mut self, kind: &'static str) {
        self.arrived.push_back(kind);
    }

    /// The next step, unless one is under way or what it waits for has not come.
    pub fn next(&mut self) -> Option<Step> {
        if self.busy {
            return None;
        }
        let words: Vec<String> = self
            .steps
            .front()?
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        if words.first().is_some_and(|word| word == "wait") {
            let wanted = words.get(1).cloned().unwrap_or_default();
            loop {
                if self.arrived.pop_front()? == wanted {
                    break;
                }
            }
        }
        self.steps.pop_front();
        self.busy = true;
        Some(Step(words))
    }

    pub fn done(&mut self) {
        self.busy = false;
    }
}

impl Step {
    fn word(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }

    /// Carries it out; nothing of the script is borrowed while the host is called.
    pub fn carry_out(&self) {
        let token = || SCRIPT.with_borrow(|script| script.token);
        match self.word(0) {
            "target" => {
                SCRIPT.with_borrow_mut(|script| script.target = bytes(self.word(1)));
            }
            "method" => SCRIPT.with_borrow_mut(|script| {
                script.service = self.word(1).to_owned();
                script.method = self.word(2).to_owned();
            }),
            "meta" => SCRIPT.with_borrow_mut(|script| {
                let pair = (bytes(self.word(1)), bytes(self.word(2)));
                script.metadata.push(pair);
            }),
            "token" => SCRIPT.with_borrow_mut(|script| {
                script.token = self.word(1).parse().unwrap_or_default();
            }),
            "call" => self.begin_call(),
            "stream" => self.begin_stream(),
            "send" | "last" => {
                let end = self.word(0) == "last";
                let status = abi::send(token(), &bytes(self.word(1)), end);
                transcript::note(&format!("{} -> {status}", self.word(0)));
            }
            "close" => transcript::note(&format!("close -> {}", abi::close(token()))),
            "cancel" => transcript::note(&format!("cancel -> {}", abi::cancel(token()))),
            "ticks" => abi::tick_every(TICK_MS),
            "calm" => abi::tick_every(0),
            "answer" => {
                let context = SCRIPT.with_borrow(|script| script.context);
                abi::answer(context, &transcript::text());
            }
            "resume" => abi::resume(SCRIPT.with_borrow(|script| script.context)),
            "note" => transcript::note(self.word(1)),
            "wait" => {}
            _ => transcript::note(&format!("no such step: {}", self.word(0))),
        }
    }

    fn begin_call(&self) {
        let timeout = self.word(1).parse().unwrap_or_default();
        let message = bytes(self.word(2));
        self.begin(|target| abi::call(target, &message, timeout));
    }

    fn begin_stream(&self) {
        self.begin(abi::stream);
    }

    fn begin(&self, act: impl FnOnce(&Target<'_>) -> (u32, u32)) {
        let (service, name, method, metadata) = SCRIPT.with_borrow(|script| {
            (
                script.target.clone(),
                script.service.clone(),
                script.method.clone(),
                written_pairs(&script.metadata),
            )
        });
        let (status, token) = act(&Target {
            service: &service,
            name: &name,
            method: &method,
            metadata: &metadata,
        });
        if status == 0 {
            SCRIPT.with_borrow_mut(|script| script.token = token);
        }
        transcript::note(&format!("{} -> {status} {token}", self.word(0)));
    }
}

/// `%` and two hex digits are a byte, `*100` is a hundred times `x`.
fn bytes(word: &str) -> Vec<u8> {
    if let Some(count) = word.strip_prefix('*').and_then(|count| count.parse().ok()) {
        return vec![b'x'; count];
    }
    let mut bytes = Vec::new();
    let mut rest = word.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next(), rest.next()].map(Option::unwrap_or_default);
            let number = std::str::from_utf8(&digits).unwrap_or_default();
            bytes.push(u8::from_str_radix(number, 16).unwrap_or_default());
        } else {
            bytes.push(byte);
        }
    }
    bytes
}

/// The ABI's form of a list of pairs.
fn written_pairs(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    if pairs.is_empty() {
        return Vec::new();
    }
    let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = number(pairs.len()).to_vec();
    for (name, value) in pairs {
        bytes.extend(number(name.len()));
        bytes.extend(number(value.len()));
    }
    for text in pairs.iter().flat_map(|(name, value)| [name, value]) {
        bytes.extend(text);
        bytes.push(0);
    }
    bytes
}

/// The same, to be read by people; a date is not told, it differs each time.
pub fn shown_pairs(bytes: &[u8]) -> String {
    let number = |at: usize| -> usize {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map_or(0, |four| u32::from_le_bytes(four) as usize)
    };
    let count = number(0);
    let mut at = 4 + count * 8;
    let mut text = |length: usize| {
        let text = bytes.get(at..at + length).unwrap_or_default();
        at += length + 1;
        transcript::escaped(text)
    };
    let mut shown = Vec::new();
    for index in 0..count {
        let name = text(number(4 + index * 8));
        let value = text(number(8 + index * 8));
        let value = if name == "date" { "..." } else { &value };
        shown.push(format!("{name}={value}"));
    }
    shown.join("|")
}
