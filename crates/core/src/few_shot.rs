//! The prompt of a small model: a short text, and a handful of questions with the answers that we
//! would like.
//!
//! Small models copy what they see. Examples teach them the form of an answer far better than rules
//! do, and every further fact makes their answers worse, so there is nothing else here. Nothing
//! differs between two sessions of one machine either, because the beginning of every request is
//! computed once and kept.
//!
//! Never shown to the person as something that was said.

use crate::{Languages, Message, Untrusted};
use serde::Deserialize;
use std::sync::LazyLock;

static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("few_shot.json"))
        .expect("few_shot.json is part of this crate and tested")
});

/// The tags that the examples use, in the order in which they are named.
const TAGS: [&str; 2] = ["python", "bash"];

/// A question and its answer: words, or code.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Pair {
    Words { user: String, assistant: String },
    Code { user: String, language: String, code: String },
}

pub(crate) fn prompt(languages: &Languages) -> String {
    let tags: Vec<_> = here(languages).map(|tag| format!("```{tag}")).collect();
    let named = if tags.is_empty() { "that names its language".into() } else { tags.join(" or ") };
    format!(
        "You are Open Interpreter, an assistant that completes tasks by writing code which runs at \
         once on the user's Linux computer. If a task needs code, answer with exactly one fenced \
         code block, {named}, that prints its result. If the user only chats or asks a general \
         question, answer in one or two plain sentences without code."
    )
}

/// The examples in the languages that run here.
pub(crate) fn examples(languages: &Languages) -> Vec<Message> {
    let mut messages = Vec::new();
    for pair in PAIRS.iter() {
        let (user, answer) = match pair {
            Pair::Words { user, assistant } => (user, assistant.clone()),
            Pair::Code { language, .. } if here(languages).all(|tag| tag != language) => continue,
            Pair::Code { user, language, code } => (user, format!("```{language}\n{code}\n```")),
        };
        messages.push(Message::user(user.as_str()));
        messages.push(Message::Assistant { text: Untrusted::new(answer), calls: vec![] });
    }
    messages
}

/// The tags whose language runs here.
fn here(languages: &Languages) -> impl Iterator<Item = &'static str> {
    TAGS.into_iter().filter(|tag| languages.find(tag).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Reply,
        extract::{self, Extraction},
        language,
    };

    fn told(languages: &Languages) -> String {
        let said = |message| match message {
            Message::User { text, .. } => format!("user: {text}"),
            Message::Assistant { text, .. } => format!("assistant: {}", text.raw()),
            Message::System { .. } | Message::Earlier { .. } | Message::Result { .. } => {
                panic!("{message:?}")
            }
        };
        let pairs = examples(languages).into_iter().map(said);
        std::iter::once(prompt(languages)).chain(pairs).collect::<Vec<_>>().join("\n\n")
    }

    #[test]
    fn a_small_model_is_shown_what_was_measured_to_work() {
        insta::assert_snapshot!(told(&language::example()));
    }

    #[test]
    fn examples_use_only_languages_that_are_here() {
        let all = language::example();
        let shell = all.iter().filter(|info| info.name == "shell").cloned();
        let told = told(&Languages::new(shell.collect()));
        assert!(told.contains("code block, ```bash, that prints"), "{told}");
        assert!(told.contains("df -h ."), "{told}");
        assert!(!told.contains("python") && !told.contains("import"), "{told}");
        let none = prompt(&Languages::default());
        assert!(none.contains("one fenced code block, that names its language, that"), "{none}");
        assert_eq!(examples(&Languages::default()).len(), 4);
    }

    #[test]
    fn every_answer_is_read_as_it_was_meant() {
        let languages = language::example();
        for pair in examples(&languages).chunks(2) {
            let [_, Message::Assistant { text, .. }] = pair else { panic!("{pair:?}") };
            let reply = Reply { text: text.clone(), ..Reply::default() };
            let Extraction { proposals, rejected, .. } =
                extract::proposals(&reply, &languages, |_, _| None, 1);
            assert_eq!(rejected, []);
            assert_eq!(proposals.len(), usize::from(text.raw().contains("```")), "{pair:?}");
        }
    }
}
