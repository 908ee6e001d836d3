//! One callback: a line for it, its steps, a line for each, its answer.

use std::fmt::Write;

use crate::script::{Line, Moment};
use crate::{start, steps, vm, words};

/// A callback that came.
pub struct Event<'a> {
    callback: &'a str,
    context: u32,
    arguments: &'a [u32],
    /// The context whose path and count conditions mean.
    stream: u32,
    end: bool,
    answer: u32,
}

impl<'a> Event<'a> {
    /// A callback of a context, with the arguments behind the context's id.
    pub fn new(callback: &'a str, context: u32, arguments: &'a [u32]) -> Self {
        Self {
            callback,
            context,
            arguments,
            stream: context,
            end: false,
            answer: 0,
        }
    }

    /// Conditions ask for this context.
    pub fn of(self, stream: u32) -> Self {
        Self { stream, ..self }
    }

    /// End of stream or not.
    pub fn end(self, end: u32) -> Self {
        Self {
            end: end != 0,
            ..self
        }
    }

    /// The answer unless the script has one.
    pub fn answer(self, answer: u32) -> Self {
        Self { answer, ..self }
    }
}

/// A line in the log.
pub fn say(text: &str) {
    let _ = start::log(&format!("[{}] {text}", vm::tag()));
}

/// Runs what the script has for this callback; what the callback answers.
pub fn run(event: &Event<'_>) -> u32 {
    let known = vm::known(event.stream);
    // A stream that is gone is not known any more; its root is.
    let root = vm::known(event.context).root;
    let mut text = format!("{}({}", event.callback, event.context);
    for argument in event.arguments {
        let _ = write!(text, ", {argument}");
    }
    say(&format!("{text})"));
    let moment = Moment {
        callback: event.callback,
        path: &known.path,
        nth: vm::count(event.stream, event.callback),
        end: event.end,
    };
    vm::keep("context", event.context.to_string().into_bytes());
    vm::keep("root", root.to_string().into_bytes());
    vm::keep("caller", event.stream.to_string().into_bytes());
    let mut answer = event.answer;
    for line in vm::script(root) {
        if line.applies(&moment) {
            step(&line, event, &mut answer);
        }
    }
    answer
}

fn step(line: &Line, event: &Event<'_>, answer: &mut u32) {
    let words: Vec<&str> = line.words.iter().map(String::as_str).collect();
    let first = words.first().copied().unwrap_or("0");
    let text = format!("  {} {}", line.step, words.join(" "));
    let text = text.trim_end();
    match line.step.as_str() {
        "return" => {
            *answer = u32::try_from(words::number(first)).unwrap_or(u32::MAX);
            say(text);
        }
        "trap" => {
            say(text);
            core::arch::wasm32::unreachable()
        }
        "loop" => {
            say(text);
            forever()
        }
        "arm" => vm::arm(),
        _ => match steps::carry_out(&line.step, &words, event.context) {
            Some(done) => {
                say(&format!("{text} = {}", done.text()));
                if let Some(name) = &line.keep {
                    vm::keep(name, done.kept);
                }
            }
            None => say(&format!("{text}: no such step")),
        },
    }
}

fn forever() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
