//! The words for questions and ends, as a client's person reads them. Pure.
//!
//! Whatever code or a model wrote stands in a code span or a block, so that it cannot pass for ours
//! or become a link.

use crate::http::open_question::OpenQuestion;

impl OpenQuestion {
    /// The end of an answer: the question, where to answer it, and what comes then.
    pub(super) fn shown(&self, link: &str, is_unsent: bool) -> String {
        let rest = if is_unsent {
            "It is still open, so your message was not passed on: answer there, then send it again."
        } else {
            "Answer there, then send a message to go on."
        };
        format!("{}\n\n{link}\n\n{rest}", self.words)
    }
}

/// A block of Markdown that nothing in it ends.
pub(super) fn block(tag: &str, content: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in content.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{}\n{content}{end}{fence}\n", tag_of(tag))
}

/// The name of a language, as far as it is one.
pub(super) fn tag_of(tag: &str) -> String {
    let is_part = |c: &char| c.is_ascii_alphanumeric() || "+#._-".contains(*c);
    tag.chars().take_while(is_part).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn foreign_text_stays_text() {
        let question = OpenQuestion::of(&json!({ "id": "q1", "about": "code" }));
        assert!(question.shown("LINK", true).contains("not passed on"));
        assert_eq!(block("py thon\n", "1"), "```py\n1\n```\n");
        assert_eq!(block("output", "a```\nb````\n"), "`````output\na```\nb````\n`````\n");
    }
}
