//! Guests in WebAssembly text that say numbers in their log.

use std::fmt::Write;

use blackbox::plugin::{Plugin, scripted};

/// Where labels stand in the guest's memory.
const LABELS: usize = 8192;

/// A guest that evaluates expressions for each request, and says what comes of each.
pub(super) struct Text {
    imports: String,
    memory: String,
    allocator: String,
    labels: String,
    steps: String,
}

impl Text {
    /// With two pages of memory and an allocator that gives the same place each time.
    pub(super) fn new() -> Self {
        Self {
            imports: String::new(),
            memory: r#"(memory (export "memory") 2)"#.to_owned(),
            allocator: r#"(func (export "malloc") (param i32) (result i32) (i32.const 65536))"#
                .to_owned(),
            labels: String::new(),
            steps: String::new(),
        }
    }

    /// Imports as they stand in the text.
    pub(super) fn import(mut self, text: &str) -> Self {
        self.imports.push_str(text);
        self
    }

    /// Another memory.
    pub(super) fn memory(mut self, text: &str) -> Self {
        text.clone_into(&mut self.memory);
        self
    }

    /// Another allocator, and further functions.
    pub(super) fn allocator(mut self, text: &str) -> Self {
        text.clone_into(&mut self.allocator);
        self
    }

    /// An expression that gives an `i32`; its answer is found under `label`.
    pub(super) fn step(mut self, label: &str, expression: &str) -> Self {
        let at = LABELS + self.labels.len();
        let label = format!("  {label} = ");
        let _ = writeln!(
            self.steps,
            "(call $say (i32.const {at}) (i32.const {}) {expression})",
            label.len()
        );
        self.labels.push_str(&label);
        self
    }

    /// A plugin whose module stands in `folder`.
    pub(super) fn plugin(&self, folder: &tempfile::TempDir) -> Plugin {
        let path = folder.path().join("text.wasm");
        let module = wat::parse_str(self.module()).expect("text of a module");
        std::fs::write(&path, module).expect("the folder is here");
        scripted("text", "").with_code(path.to_str().expect("a path of text"))
    }

    fn module(&self) -> String {
        let Text {
            imports,
            memory,
            allocator,
            labels,
            steps,
        } = self;
        // A number is written from its last digit on, in front of 4096.
        format!(
            r#"(module {imports}
            (import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))
            {memory}
            (data (i32.const 1024) "context_create(2, 1)delete(2)")
            (data (i32.const {LABELS}) "{labels}")
            (func (export "proxy_abi_version_0_2_1"))
            {allocator}
            (func $say (param $at i32) (param $length i32) (param $number i32) (local $digit i32)
              (local.set $digit (i32.const 4096))
              (loop $more
                (local.set $digit (i32.sub (local.get $digit) (i32.const 1)))
                (i32.store8 (local.get $digit) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
                (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
                (br_if $more (local.get $number)))
              (memory.copy (i32.const 2048) (local.get $at) (local.get $length))
              (memory.copy (i32.add (i32.const 2048) (local.get $length)) (local.get $digit)
                (i32.sub (i32.const 4096) (local.get $digit)))
              (drop (call $log (i32.const 2) (i32.const 2048)
                (i32.add (local.get $length) (i32.sub (i32.const 4096) (local.get $digit))))))
            (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
              (drop (call $log (i32.const 2) (i32.const 1024) (i32.const 20)))
              {steps}
              (drop (call $log (i32.const 2) (i32.const 1044) (i32.const 9)))
              (i32.const 0)))"#
        )
    }
}
