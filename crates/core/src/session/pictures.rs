//! Pictures that code makes, for models that see.
//!
//! The person has them all, and so has the record, with the output. A model is sent the last few
//! of a run if it sees pictures; otherwise the result says that there were some.

use crate::{Image, Message, Output, Untrusted};
use std::{collections::VecDeque, fmt::Write};

/// Pictures of one run that a model is sent.
const MOST: usize = 4;

/// Kinds that models see, the better ones first.
const KINDS: [&str; 2] = ["image/png", "image/jpeg"];

/// The pictures of one run, as they came.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    /// The last ones: the name by which a later one replaces it, and its base64.
    last: VecDeque<(Option<String>, Untrusted)>,
    /// Those before them.
    before: u64,
}

impl Pictures {
    /// Takes a result in, if it has a picture.
    pub(super) fn take(&mut self, mut output: Output) {
        let whole = KINDS.contains(&output.mime.as_str());
        let form = KINDS.iter().find_map(|kind| output.bundle.remove(*kind));
        let Some(data) = form.or_else(|| whole.then_some(output.text)) else { return };
        let replaced =
            self.last.iter_mut().find(|(name, _)| name.is_some() && *name == output.display);
        if let Some((_, old)) = replaced {
            *old = data;
            return;
        }
        self.last.push_back((output.display, data));
        if self.last.len() > MOST {
            self.last.pop_front();
            self.before += 1;
        }
    }

    /// Whether there are any.
    pub(super) fn has_any(&self) -> bool {
        !self.last.is_empty()
    }

    /// Adds them to the model's message about the run.
    pub(super) fn add_to(self, told: &mut Message, sees: bool) {
        let Message::Result { text, images, .. } = told else { return };
        let mut words = String::new();
        let count = self.last.len() as u64;
        // Writing to a string cannot fail.
        if sees {
            for (_, data) in self.last {
                match Image::decode(data.raw()) {
                    Ok(image) => images.push(image),
                    Err(why) => _ = writeln!(words, "[a picture is not shown to you: {why}]"),
                }
            }
            if self.before > 0 {
                let before = self.before;
                _ = writeln!(words, "[earlier pictures that are not shown to you: {before}]");
            }
        } else if count > 0 {
            let count = count + self.before;
            _ = writeln!(words, "[pictures that the user saw and you cannot see: {count}]");
        }
        text.push(&Untrusted::new(words));
    }
}
