//! The words of a configuration.

/// One thing to do; see the README.
pub enum Word {
    Set { name: String, value: String },
    Add { name: String, value: String },
    Publish { name: String, value: String },
    Show { header: String, path: Vec<String> },
    Next,
    Trap { header: String },
    Call { cluster: String },
    Hold,
    Buffer,
    Grow { text: String },
    Claim { path: String },
    Log { name: String, value: String },
    Finish { name: String, value: String },
    Note,
    Notes,
}

/// The words of a text, or the line that is none.
pub fn parse(text: &str) -> Result<Vec<Word>, String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| word(line).ok_or_else(|| line.to_owned()))
        .collect()
}

fn word(line: &str) -> Option<Word> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let pair = || {
        let (name, value) = rest.split_once(' ')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let one = || (!rest.is_empty()).then(|| rest.to_owned());
    Some(match word {
        "set" => pair().map(|(name, value)| Word::Set { name, value })?,
        "add" => pair().map(|(name, value)| Word::Add { name, value })?,
        "publish" => pair().map(|(name, value)| Word::Publish { name, value })?,
        "show" => pair().map(|(header, path)| Word::Show {
            header,
            path: path.split('/').map(str::to_owned).collect(),
        })?,
        "next" => Word::Next,
        "trap" => Word::Trap { header: one()? },
        "call" => Word::Call { cluster: one()? },
        "hold" => Word::Hold,
        "buffer" => Word::Buffer,
        "grow" => Word::Grow { text: one()? },
        "claim" => Word::Claim { path: one()? },
        "log" => pair().map(|(name, value)| Word::Log { name, value })?,
        "finish" => pair().map(|(name, value)| Word::Finish { name, value })?,
        "note" => Word::Note,
        "notes" => Word::Notes,
        _ => return None,
    })
}
