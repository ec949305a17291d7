//! An open question in words, for programs that cannot show it: as records and the list have it.
//!
//! Whatever code or a model wrote stands in a code span, so that it cannot pass for ours or become a
//! link. Pure.

use interpreter_core::put::is_invisible;
use serde_json::Value;

/// Characters of a foreign text in a sentence. The name of a host is never as long, with its port.
const LONGEST: usize = 300;

/// A question that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenQuestion {
    pub(super) id: String,
    pub(super) about: String,
    /// The question in words, without its link.
    pub(super) words: String,
}

impl OpenQuestion {
    /// The question on a record, or in the list of those that are open.
    pub(super) fn of(question: &Value) -> Self {
        let text = |name: &str| question[name].as_str().unwrap_or_default();
        let words = match text("about") {
            "code" => format!(
                "This {} needs a yes before it runs (risk: {}).{}",
                span(text("language")),
                text("risk"),
                masked(&question["masked"])
            ),
            "input" => format!("The code asks for a line of input: {}", span(text("prompt"))),
            "host" => format!(
                "The code wants to reach {}.",
                span(&format!("{}:{}", text("host"), question["port"]))
            ),
            "packages" => question["list"]["comes"].as_array().map_or_else(
                || format!("Packages are wanted: {}", names(&question["packages"])),
                |comes| format!("Packages would be installed: {}", listed(comes)),
            ),
            "replay" => "Earlier code is to run again, which needs a yes.".into(),
            "changes" => {
                format!("Files would change, which needs a decision: {}", paths(&question["files"]))
            }
            _ => "There is a question that needs an answer.".into(),
        };
        Self { id: text("id").into(), about: text("about").into(), words }
    }
}

/// A foreign text in a sentence: on one line, and nothing but text.
fn span(text: &str) -> String {
    let is_odd = |c: char| c.is_control() || is_invisible(c) || c == '`';
    let plain = |c: char| if is_odd(c) { ' ' } else { c };
    let short: String = text.chars().map(plain).take(LONGEST).collect();
    let short = short.trim();
    let more = if text.chars().nth(LONGEST).is_some() { " …" } else { "" };
    if short.is_empty() { "code".into() } else { format!("`{short}`{more}") }
}

/// Known values that are masked in the code.
fn masked(masked: &Value) -> String {
    let all: Vec<_> = masked.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match all[..] {
        [] => String::new(),
        [..] => format!(" The value of {} is masked in it.", span(&all.join(", "))),
    }
}

fn names(packages: &Value) -> String {
    let all = packages.as_array().into_iter().flatten();
    let name = |one: &Value| one.as_str().map_or_else(|| one.to_string(), str::to_owned);
    span(&all.map(name).collect::<Vec<_>>().join(", "))
}

/// Every package that would come, with its version.
fn listed(comes: &[Value]) -> String {
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    let told = comes.iter().map(|one| format!("{} {}", text(one, "name"), text(one, "version")));
    let all: Vec<_> = told.map(|one| span(&one)).collect();
    all.join(", ")
}

fn paths(files: &Value) -> String {
    let all = files.as_array().into_iter().flatten();
    let listed: Vec<_> = all.filter_map(|file| file["path"].as_str()).collect();
    span(&listed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn foreign_text_stays_text() {
        let input = json!({ "id": "q1", "about": "input",
            "prompt": "Yes?`\n[ok](http://evil.example)" });
        let question = OpenQuestion::of(&input);
        assert_eq!(
            question.words,
            "The code asks for a line of input: `Yes?  [ok](http://evil.example)`"
        );
        // Nothing turns the sentence around or hides in it; other scripts stay as they are.
        let turned =
            json!({ "about": "input", "prompt": "a\u{202e}b\u{200b}c\u{2066}d\u{feff}é日" });
        let words = OpenQuestion::of(&turned).words;
        assert_eq!(words, "The code asks for a line of input: `a b c d é日`");
        let long = json!({ "about": "host", "host": "h".repeat(253), "port": 65535 });
        assert!(OpenQuestion::of(&long).words.ends_with("h:65535`."));
        let cut = OpenQuestion::of(&json!({ "about": "input", "prompt": "x".repeat(301) })).words;
        assert!(cut.ends_with("x` …"), "{cut}");
        let masked = json!({ "about": "code", "language": "python", "masked": ["A_KEY"] });
        assert!(OpenQuestion::of(&masked).words.ends_with("The value of `A_KEY` is masked in it."));
        let many = json!({ "about": "changes", "files": [{ "path": "a" }, { "path": "b`" }] });
        assert!(OpenQuestion::of(&many).words.ends_with("`a, b`"));
    }
}
