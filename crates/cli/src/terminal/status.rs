//! One quiet row after each turn: the model, its context, the cost, staged files,
//! outside text, the sandbox.

use super::{
    ours::{Ours, count, ours, word},
    transcript,
};
use interpreter_core::{Backend, Body, Changes, ChangesState, FileChange};

/// The content of the row, gathered from the record.
#[derive(Debug, Default)]
pub(super) struct Status {
    model: Option<String>,
    /// How full the model's context is, where that is known.
    full: Option<Ours>,
    /// The cost of the session, in US dollars, where that is known.
    cost: Option<f64>,
    staged: usize,
    /// Whether the model has read text that somebody else may have written.
    is_tainted: bool,
    backend: Option<String>,
    /// Whether the model was asked since the row was last shown.
    is_new: bool,
}

impl Status {
    /// Takes in a record.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others change nothing")]
    pub(super) fn notice(&mut self, body: &Body) {
        match body {
            Body::SessionStarted { model, .. } => self.model.clone_from(model),
            Body::ModelChanged { model, .. } => {
                (self.model, self.full) = (Some(model.clone()), None);
            }
            Body::Request { .. } => self.is_new = true,
            Body::Usage { input, output, cost, context, .. } => {
                self.full = context.and_then(|most| transcript::fullness(*input, *output, most));
                if let Some(cost) = cost {
                    self.cost = Some(self.cost.unwrap_or(0.0) + cost);
                }
            }
            Body::Changes(Changes { state, files, .. }) => {
                let is_left = |file: &&FileChange| file.about.hunks.is_some();
                self.staged = if *state == ChangesState::Staged {
                    files.len()
                } else {
                    files.iter().filter(is_left).count()
                };
            }
            Body::OutsideText { .. } => self.is_tainted = true,
            Body::RunStarted { backend, .. } => self.backend = Some(backend.clone()),
            _ => {}
        }
    }

    /// How full the context is, once.
    pub(super) fn take_full(&mut self) -> Option<Ours> {
        self.full.take()
    }

    /// The row, if the model was asked since the last one.
    pub(super) fn row(&mut self) -> Option<Ours> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        let mut parts: Vec<Ours> = self.model.as_deref().map(name).into_iter().collect();
        parts.extend(self.full.take());
        parts.extend(self.cost.map(transcript::dollars));
        if self.staged > 0 {
            parts.push(count(self.staged, "file") + " staged");
        }
        if self.is_tainted {
            parts.push(ours("outside text"));
        }
        parts.extend(self.backend.as_deref().map(|backend| {
            if backend == Backend::NONE.word() {
                ours("NO SANDBOX")
            } else {
                word(backend) + " sandbox"
            }
        }));
        Some(Ours::joined(parts, " · "))
    }
}

/// A model's name in one word: as a whole, or its last part.
fn name(model: &str) -> Ours {
    let (kind, last) = (model.split(':').next(), model.rsplit('/').next());
    let fits = |name: &&str| word(name).as_str() == *name;
    let all = [Some(model), kind.filter(|kind| *kind == "scripted"), last];
    all.into_iter().flatten().find(fits).map_or_else(|| ours("the model"), word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word() {
        for (model, shown) in [
            ("openai/gpt-4o", "openai/gpt-4o"),
            ("scripted:/a/long/folder/somewhere/in/the/home/script.toml", "scripted"),
            ("x/y/an-endless-name-that-nobody-would-ever-give-a/short", "short"),
            ("Run it? y", "the model"),
        ] {
            assert_eq!(name(model).as_str(), shown);
        }
    }

    #[test]
    fn the_row_is_shown_once_for_each_turn_with_a_model() {
        let mut status = Status::default();
        assert_eq!(status.row(), None);
        let (model, newest) = ("a/b".to_owned(), Vec::new());
        let usage =
            Body::Usage { input: 90, output: 10, cached: 0, cost: Some(0.5), context: Some(1_000) };
        status.notice(&Body::ModelChanged { model: model.clone(), opening: Some(1) });
        status.notice(&Body::Request { model, messages: 1, summary: false, newest });
        status.notice(&usage);
        status.notice(&usage);
        assert_eq!(status.row().unwrap().as_str(), "a/b · context 10 % full · $1.0000");
        assert_eq!(status.row(), None);
    }
}
