//! Pictures that models see: those that code makes, and those that the person shows.
//!
//! The person has them all, and so has the record, with the output. A model is sent the last few
//! of a run, if it sees pictures; otherwise it is told that there were some.

use super::{
    effect::Effect,
    event::Chunk,
    state::{Sight, State},
};
use crate::{Body, Image, Message, Untrusted};
use std::{collections::VecDeque, fmt::Write};

/// Pictures of one run that a model is sent.
const MOST: usize = 4;

/// Kinds that models see, the better ones first.
const KINDS: [&str; 2] = ["image/png", "image/jpeg"];

/// Pictures of the person's that go with one prompt.
const ATTACHED: usize = 8;

/// Takes a picture of the person's in.
pub(super) fn attach(mut state: State, image: Image) -> (State, Vec<Effect>) {
    let refused = keep(&mut state, image);
    (state, refused.into_iter().collect())
}

/// Keeps a picture of the person's for the next prompt, if the model sees it; or says why not.
pub(super) fn keep(state: &mut State, image: Image) -> Option<Effect> {
    let refused = match state.setup.audience.sight {
        Sight::Blind => Some("the model does not see pictures; this one is not sent".into()),
        Sight::Sees if state.attached.len() >= ATTACHED => {
            Some(format!("{ATTACHED} pictures go with one prompt; this one is not sent"))
        }
        Sight::Sees => None,
    };
    if refused.is_none() {
        state.attached.push(image);
    }
    refused.map(|text| Effect::Note(Body::Note { text }))
}

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
    pub(super) fn take(&mut self, mut chunk: Chunk) {
        let whole = KINDS.contains(&chunk.mime.as_str());
        let form = KINDS.iter().find_map(|kind| chunk.bundle.remove(*kind));
        let Some(data) = form.or_else(|| whole.then_some(chunk.text)) else { return };
        let replaced =
            self.last.iter_mut().find(|(name, _)| name.is_some() && *name == chunk.display);
        if let Some((_, old)) = replaced {
            *old = data;
            return;
        }
        self.last.push_back((chunk.display, data));
        if self.last.len() > MOST {
            self.last.pop_front();
            self.before += 1;
        }
    }

    /// Adds them to what the model is told of the run.
    pub(super) fn add_to(self, told: &mut Message, sight: Sight) {
        let Message::Result { text, images, .. } = told else { return };
        let mut words = String::new();
        let count = self.last.len() as u64;
        match sight {
            // Writing to a string cannot fail.
            Sight::Blind if count > 0 => {
                let count = count + self.before;
                _ = writeln!(words, "[pictures that the user saw and you cannot see: {count}]");
            }
            Sight::Blind => {}
            Sight::Sees => {
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
            }
        }
        text.push(&Untrusted::new(words));
    }
}
