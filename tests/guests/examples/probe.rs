//! `probe.wasm`: does what its configuration says, word by word.
#![cfg(target_arch = "wasm32")]

#[path = "probe/notes.rs"]
mod notes;
#[path = "probe/stream.rs"]
mod stream;
#[path = "probe/word.rs"]
mod word;

use std::rc::Rc;

use dragoman_sdk::wasm::proxy_wasm;
use proxy_wasm::hostcalls;
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{ContextType, LogLevel};

use stream::Stream;
use word::Word;

// The inner arm of the macro: this module starts by itself.
dragoman_sdk::module!(@start begin, b"request_headers request_body response_headers response_body http_call_response done log");

fn begin() {
    proxy_wasm::set_root_context(|_| {
        Box::new(Root {
            words: Rc::default(),
            vm: 0,
        })
    });
}

struct Root {
    words: Rc<[Word]>,
    /// Tells this VM from its copies on other threads.
    vm: u64,
}

impl Context for Root {}

impl RootContext for Root {
    fn on_configure(&mut self, _: usize) -> bool {
        let text = self.get_plugin_configuration().unwrap_or_default();
        match word::parse(&String::from_utf8_lossy(&text)) {
            Ok(words) => {
                self.words = words.into();
                self.vm = random();
                true
            }
            Err(line) => {
                let _ = hostcalls::log(LogLevel::Error, &format!("no such word: {line}"));
                false
            }
        }
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Stream::new(Rc::clone(&self.words), self.vm)))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

fn random() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0)
}
