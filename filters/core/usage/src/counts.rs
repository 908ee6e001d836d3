//! What a `usage` object counts, and what of it is input and output.

/// Tokens of a request as the worker counted them. What the worker did not tell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, those served from or written to a prompt cache included.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// All tokens, where the worker tells that number; some tell only this one.
    pub total: Option<u64>,
}

/// Longest name of a [`Field`], in bytes.
pub(crate) const LONGEST_NAME: usize = 27;

/// A number of a `usage` object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// All of the prompt: OpenAI's chat, completions and embeddings.
    Prompt,
    /// All of the prompt in OpenAI's responses, what no cache was used for in Anthropic's messages.
    Input,
    /// Anthropic's: the part of the prompt that was written to its cache.
    CacheCreation,
    /// Anthropic's: the part of the prompt that was read from its cache.
    CacheRead,
    /// OpenAI's chat and completions.
    Completion,
    /// OpenAI's responses, Anthropic's messages.
    Output,
    /// OpenAI's.
    Total,
}

/// The numbers of a `usage` object, as told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts([Option<u64>; 7]);

impl Field {
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"prompt_tokens" => Self::Prompt,
            b"input_tokens" => Self::Input,
            b"cache_creation_input_tokens" => Self::CacheCreation,
            b"cache_read_input_tokens" => Self::CacheRead,
            b"completion_tokens" => Self::Completion,
            b"output_tokens" => Self::Output,
            b"total_tokens" => Self::Total,
            _ => return None,
        })
    }
}

impl Counts {
    pub(crate) fn set(&mut self, field: Field, value: u64) {
        if let Some(place) = self.0.get_mut(field as usize) {
            *place = Some(value);
        }
    }

    fn get(&self, field: Field) -> Option<u64> {
        self.0.get(field as usize).copied().flatten()
    }

    /// Takes over every number of a later object; what that one leaves out stays.
    pub(crate) fn update(&mut self, later: &Self) {
        for (known, told) in self.0.iter_mut().zip(later.0) {
            *known = told.or(*known);
        }
    }

    /// `None` if no number was told.
    ///
    /// A worker that fills in both spellings of a number may leave one of them 0, so the larger
    /// counts. `input_tokens` comes without what Anthropic's cache was used for; OpenAI's numbers
    /// for its cache stand in an object of their own and are part of the prompt already.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let cached = [Field::CacheCreation, Field::CacheRead].map(|field| self.get(field));
        let input = self.get(Field::Input).map(|input| {
            let parts = cached.iter().flatten();
            parts.fold(input, |sum, part| sum.saturating_add(*part))
        });
        let usage = Usage {
            input: self.get(Field::Prompt).max(input),
            output: self.get(Field::Completion).max(self.get(Field::Output)),
            total: self.get(Field::Total),
        };
        (usage != Usage::default()).then_some(usage)
    }
}
