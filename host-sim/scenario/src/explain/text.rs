//! A story as text for a terminal.

use std::fmt::Write;

use serde_json::Value;

use super::story::{Callback, Step, Story, What};

/// Columns of the text.
pub const WIDTH: usize = 100;

/// Column at which what belongs to a step begins.
const INDENT: usize = 16;
/// Characters of the client's body that are shown.
const BODY_LENGTH: usize = 800;

/// Colours of a terminal, or none.
#[derive(Clone, Copy)]
struct Paint(bool);

/// What a piece of text is.
#[derive(Clone, Copy)]
enum Ink {
    Title,
    World,
    Filter,
    Quiet,
    Shared,
    Gone,
    New,
}

impl Paint {
    fn ink(self, ink: Ink, text: &str) -> String {
        if !self.0 {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Title => "1",
            Ink::World => "34",
            Ink::Filter => "1;36",
            Ink::Quiet => "2",
            Ink::Shared => "33",
            Ink::Gone => "31",
            Ink::New => "32",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The whole story in at most [`WIDTH`] columns.
#[must_use]
pub fn text(story: &Story, colour: bool) -> String {
    let paint = Paint(colour);
    let mut out = String::new();
    let mut lines = vec![paint.ink(Ink::Title, &cut(&story.outcome(), WIDTH))];
    lines.extend(story.setting.iter().map(|line| cut(line, WIDTH)));
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
    title(
        &mut out,
        paint,
        "what happened (µs since the head of the request)",
    );
    for step in &story.steps {
        write_step(&mut out, paint, step);
    }
    attempts(&mut out, paint, story);
    shared(&mut out, paint, story);
    sums(&mut out, paint, story);
    answer(&mut out, paint, story);
    let mut last_file = None;
    for (file, line) in &story.access_log {
        if last_file == Some(file) {
            out.push('\n');
        } else {
            title(&mut out, paint, &format!("access log ({file})"));
        }
        last_file = Some(file);
        fill(&mut out, &log_words(line));
    }
    out
}

fn title(out: &mut String, paint: Paint, title: &str) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(out, "\n{}", paint.ink(Ink::Title, title));
}

fn write_step(out: &mut String, paint: Paint, step: &Step) {
    let at = step.at.as_micros();
    match &step.what {
        What::World { who, text } => {
            let text = cut(&format!("{who}: {text}"), WIDTH - 11);
            let _ = writeln!(out, "{at:>9}  {}", paint.ink(Ink::World, &text));
        }
        What::Callback(callback) if is_plain(callback) => {}
        What::Callback(callback) => write_callback(out, paint, at, callback),
    }
}

/// The beginning and the end of a context in which nothing is asked for: counted in the sums only.
fn is_plain(callback: &Callback) -> bool {
    let of_a_context = matches!(
        callback.name.as_str(),
        "context_create" | "delete" | "done" | "log"
    );
    of_a_context && callback.calls.is_empty() && callback.decision.is_empty()
}

fn write_callback(out: &mut String, paint: Paint, at: u128, callback: &Callback) {
    let attempt = callback
        .attempt
        .map_or(String::new(), |attempt| format!(" #{attempt}"));
    let arguments = if callback.arguments.is_empty() {
        String::new()
    } else {
        format!("({})", callback.arguments)
    };
    let decision = if callback.decision.is_empty() {
        String::new()
    } else {
        format!("  => {}", callback.decision)
    };
    let instructions = format!("{} instructions", grouped(callback.instructions));
    let room = WIDTH - 13 - instructions.len();
    let what = cut(
        &format!(
            "{}{attempt} {}{arguments}{decision}",
            callback.filter, callback.name
        ),
        room,
    );
    let space = " ".repeat(room - what.chars().count());
    let (name, rest) = what.split_at(callback.filter.len().min(what.len()));
    let _ = writeln!(
        out,
        "{at:>9}  {}{rest}  {space}{}",
        paint.ink(Ink::Filter, name),
        paint.ink(Ink::Quiet, &instructions)
    );
    for call in &callback.calls {
        let answer = if call.answer.is_empty() {
            String::new()
        } else {
            format!(" = {}", call.answer)
        };
        let line = cut(
            &format!("{}({}){answer}", call.name, call.arguments),
            WIDTH - INDENT,
        );
        let ink = if call.shares { Ink::Shared } else { Ink::Quiet };
        let _ = writeln!(out, "{:INDENT$}{}", "", paint.ink(ink, &line));
    }
    for change in &callback.changes {
        let ink = if change.starts_with('-') {
            Ink::Gone
        } else {
            Ink::New
        };
        let line = cut(change, WIDTH - INDENT + 2);
        let _ = writeln!(
            out,
            "{:width$}{}",
            "",
            paint.ink(ink, &line),
            width = INDENT - 2
        );
    }
}

fn attempts(out: &mut String, paint: Paint, story: &Story) {
    title(out, paint, "attempts");
    if story.attempts.is_empty() {
        let _ = writeln!(out, "{:>9}  no worker was asked", "");
    }
    for (index, attempt) in story.attempts.iter().enumerate() {
        let line = format!(
            "#{} {} ({}, cluster {}) at {} µs",
            index + 1,
            attempt.worker,
            attempt.address,
            attempt.cluster,
            attempt.began.as_micros(),
        );
        let _ = writeln!(out, "{:>9}  {}", "", cut(&line, WIDTH - 11));
        let _ = writeln!(
            out,
            "{:INDENT$}{}",
            "",
            cut(&attempt.outcome, WIDTH - INDENT)
        );
    }
}

fn shared(out: &mut String, paint: Paint, story: &Story) {
    let changed = story.shared();
    if changed.is_empty() {
        return;
    }
    title(out, paint, "shared data that changed");
    for (key, filters) in changed {
        let line = cut(&format!("{key} by {}", filters.join(", ")), WIDTH - 11);
        let _ = writeln!(out, "{:11}{}", "", paint.ink(Ink::Shared, &line));
    }
}

fn sums(out: &mut String, paint: Paint, story: &Story) {
    title(
        out,
        paint,
        "filters                 callbacks  host calls  instructions",
    );
    let mut total = 0;
    for (filter, sum) in story.sums() {
        total += sum.instructions;
        let _ = writeln!(
            out,
            "{:11}{} {:>9}  {:>10}  {:>12}",
            "",
            paint.ink(Ink::Filter, &format!("{:<12}", cut(filter, 12))),
            sum.callbacks,
            sum.calls,
            grouped(sum.instructions)
        );
    }
    let _ = writeln!(out, "{:11}{:<12}{:>36}", "", "all", grouped(total));
}

fn answer(out: &mut String, paint: Paint, story: &Story) {
    title(
        out,
        paint,
        &format!("what the client got: {} {}", story.status, story.end),
    );
    for line in &story.headers {
        let _ = writeln!(out, "{:11}{}", "", cut(line, WIDTH - 11));
    }
    if story.body.is_empty() {
        return;
    }
    let _ = writeln!(out);
    let shown: String = story.body.chars().take(BODY_LENGTH).collect();
    for line in shown.lines() {
        for piece in pieces(line, WIDTH - 11) {
            let _ = writeln!(out, "{:11}{piece}", "");
        }
    }
    if shown.len() < story.body.len() {
        let rest = story.body.len() - shown.len();
        let _ = writeln!(out, "{:11}… and {rest} bytes more", "");
    }
}

/// Fields of a JSON line, each a word; of any other line its pieces.
fn log_words(line: &str) -> Vec<String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => fields
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect(),
        _ => line.split(' ').map(str::to_owned).collect(),
    }
}

/// Words side by side as far as they fit.
fn fill(out: &mut String, words: &[String]) {
    let mut column = 0;
    for word in words {
        let word = cut(word, WIDTH - 11);
        let length = word.chars().count();
        if column == 0 || column + 2 + length > WIDTH {
            if column > 0 {
                let _ = writeln!(out);
            }
            let _ = write!(out, "{:11}{word}", "");
            column = 11 + length;
        } else {
            let _ = write!(out, "  {word}");
            column += 2 + length;
        }
    }
    let _ = writeln!(out);
}

/// At most so many characters; what is missing is shown by `…`.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let start: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{start}…")
}

fn pieces(line: &str, width: usize) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    characters
        .chunks(width)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// With a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{cut, grouped, pieces};

    #[test]
    fn numbers_have_commas_between_thousands() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_text_that_is_too_long_ends_with_a_mark_inside_the_width() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("äöüß", 3), "äö…");
        assert_eq!(pieces("abcd", 3), ["abc", "d"]);
    }
}
