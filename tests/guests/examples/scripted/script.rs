//! The script: lines of `CALLBACK CONDITION ..: STEP WORD ..`.

/// One line.
#[derive(Clone)]
pub struct Line {
    /// Name of the callback without `proxy_on_`, or `initialize`, or `memory_allocate`.
    pub callback: String,
    conditions: Vec<Condition>,
    /// Name under which the answer is kept.
    pub keep: Option<String>,
    /// Name of the step.
    pub step: String,
    /// Its words.
    pub words: Vec<String>,
}

#[derive(Clone)]
enum Condition {
    /// `@/path`: the stream's request has that path.
    Path(String),
    /// `#2`: the second call of this callback in this context.
    Nth(u32),
    /// `end`: with end of stream.
    End,
    /// `more`: without.
    More,
}

/// A callback, as far as conditions ask.
pub struct Moment<'a> {
    /// As in [`Line::callback`].
    pub callback: &'a str,
    /// Path of the stream's request; empty if none was seen.
    pub path: &'a str,
    /// Which call of this callback in its context it is, from 1.
    pub nth: u32,
    /// End of stream.
    pub end: bool,
}

impl Line {
    /// Whether the line is meant.
    pub fn applies(&self, moment: &Moment<'_>) -> bool {
        self.callback == moment.callback
            && self.conditions.iter().all(|condition| match condition {
                Condition::Path(path) => path == moment.path,
                Condition::Nth(nth) => *nth == moment.nth,
                Condition::End => moment.end,
                Condition::More => !moment.end,
            })
    }
}

/// The lines of a text, or the line that is none. `//` begins a comment.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .map(|text| line(text).ok_or_else(|| text.to_owned()))
        .collect()
}

fn line(text: &str) -> Option<Line> {
    let (head, step) = text.split_once(": ")?;
    let mut head = head.split_whitespace();
    let callback = head.next()?.to_owned();
    let conditions = head.map(condition).collect::<Option<_>>()?;
    let mut words = step
        .split_whitespace()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let keep = (words.get(1).map(String::as_str) == Some("=")).then(|| {
        let name = words.remove(0);
        words.remove(0);
        name
    });
    if words.is_empty() {
        return None;
    }
    let step = words.remove(0);
    Some(Line {
        callback,
        conditions,
        keep,
        step,
        words,
    })
}

fn condition(word: &str) -> Option<Condition> {
    if word.starts_with("@/") {
        return Some(Condition::Path(word.trim_start_matches('@').to_owned()));
    }
    if let Some(nth) = word.strip_prefix('#') {
        return nth.parse().ok().map(Condition::Nth);
    }
    match word {
        "end" => Some(Condition::End),
        "more" => Some(Condition::More),
        _ => None,
    }
}
