//! A session as a file: Markdown, a notebook, a script, or its records.
//!
//! Pure: from records to text. Only code that ran is code here; the rest is prose. `/save` in a chat
//! and `history export` share it.

use interpreter_core::{Body, Output, Record, Stream, record::Decision, session::PastCell};
use serde_json::{Value, json};
use std::{collections::HashMap, fmt::Write};

/// The form of a saved session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Markdown,
    Notebook,
    Script(&'static Dialect),
    Records,
}

/// A language whose code can be a script of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    ending: &'static str,
    language: &'static str,
    /// How a comment begins.
    comment: &'static str,
}

const DIALECTS: [Dialect; 4] = [
    Dialect { ending: "py", language: "python", comment: "#" },
    Dialect { ending: "sh", language: "shell", comment: "#" },
    Dialect { ending: "js", language: "javascript", comment: "//" },
    Dialect { ending: "r", language: "r", comment: "#" },
];

/// The forms, for a message.
pub(super) const FORMS: &str = "a session is saved as .md, .ipynb, .py, .sh, .js, .r or .jsonl";

impl Form {
    /// The form that a file's name asks for.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::named(name.rsplit_once('.')?.1)
    }

    /// The form of this ending.
    pub(super) fn named(ending: &str) -> Option<Self> {
        match ending.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "ipynb" => Some(Self::Notebook),
            "jsonl" | "json" => Some(Self::Records),
            other => DIALECTS.iter().find(|one| one.ending == other).map(Self::Script),
        }
    }
}

/// One thing that was said or done.
enum Part {
    Prompt(String),
    Reply(String),
    Run { id: String, language: String, code: String, outputs: Vec<Output> },
}

/// A session in a form.
pub(super) fn render(form: Form, records: &[Record]) -> String {
    match form {
        Form::Markdown => markdown(&parts(records)),
        Form::Notebook => notebook(&parts(records)),
        Form::Script(dialect) => script(dialect, &parts(records)),
        Form::Records => records
            .iter()
            .filter_map(|record| serde_json::to_string(record).ok())
            .map(|line| line + "\n")
            .collect(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is neither said nor run")]
fn parts(records: &[Record]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut proposals: HashMap<&str, (&str, &str)> = HashMap::new();
    let mut again: HashMap<&str, &str> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        match &record.body {
            Body::Rewound { to, .. } => {
                if let Some(then) = PastCell::before(&records[..at], to) {
                    parts = self::parts(then);
                }
            }
            Body::Prompt { text } => parts.push(Part::Prompt(text.clone())),
            Body::Reply { text, .. } if !text.raw().trim().is_empty() => {
                parts.push(Part::Reply(text.raw().to_owned()));
            }
            Body::Proposal { id, language, code, again: was, .. } => {
                proposals.insert(id, (language, code.raw()));
                again.extend(was.as_deref().map(|was| (id.as_str(), was)));
            }
            Body::Answer { proposal, decision: Decision::Edit, code: Some(code), .. } => {
                if let Some((_, before)) = proposals.get_mut(proposal.as_str()) {
                    *before = code.raw();
                }
            }
            // Its first run is here already.
            Body::RunStarted { proposal, .. } if repeats(&again, &parts, proposal) => {}
            Body::RunStarted { proposal, .. } => {
                let (language, code) =
                    proposals.get(proposal.as_str()).copied().unwrap_or_default();
                parts.push(Part::Run {
                    id: proposal.clone(),
                    language: language.to_owned(),
                    code: code.to_owned(),
                    outputs: Vec::new(),
                });
            }
            Body::Output(output) => {
                let run = parts.iter_mut().rev().find_map(|part| match part {
                    Part::Run { id, outputs, .. } if *id == output.proposal => Some(outputs),
                    Part::Run { .. } | Part::Prompt(_) | Part::Reply(_) => None,
                });
                if let Some(outputs) = run {
                    outputs.push(output.clone());
                }
            }
            _ => {}
        }
    }
    parts
}

/// Whether a run only repeats one of this session.
fn repeats(again: &HashMap<&str, &str>, parts: &[Part], proposal: &str) -> bool {
    let is_it = |part: &Part, was: &str| matches!(part, Part::Run { id, .. } if id == was);
    again.get(proposal).is_some_and(|was| parts.iter().any(|part| is_it(part, was)))
}

/// A block that its content cannot end.
fn fenced(tag: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{tag}\n{text}{end}{fence}\n\n")
}

/// The words of an output; pictures are named.
fn words(outputs: &[Output]) -> String {
    outputs.iter().map(|one| interpreter_core::output::words(&one.mime, &one.text)).collect()
}

fn markdown(parts: &[Part]) -> String {
    let (mut text, mut last_reply) = (String::new(), "");
    for part in parts {
        // Writing to a string cannot fail.
        match part {
            Part::Prompt(prompt) => _ = write!(text, "## You\n\n{}\n\n", prompt.trim()),
            Part::Reply(reply) => {
                last_reply = reply;
                _ = write!(text, "## Model\n\n{}\n\n", reply.trim());
            }
            Part::Run { id, language, code, outputs } => {
                _ = write!(text, "### {id}\n\n");
                // A model without tools has written the code in its reply already.
                if !last_reply.contains(code.trim()) {
                    text.push_str(&fenced(language, code));
                }
                text.push_str(&fenced("text", &words(outputs)));
            }
        }
    }
    text
}

/// The code of one language; the rest is comments. A comment ends with its line, so the line breaks
/// of every language count.
fn script(dialect: &Dialect, parts: &[Part]) -> String {
    let mut text = String::new();
    let comment = |text: &str| {
        let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
        let lines = text.split(breaks).map(|line| format!("{} {line}", dialect.comment));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    for part in parts {
        match part {
            Part::Prompt(prompt) => text.push_str(&comment(prompt.trim())),
            Part::Reply(_) => {}
            Part::Run { language, code, .. } if language == dialect.language => {
                text.push_str(code.trim_end());
                text.push_str("\n\n");
            }
            Part::Run { id, language, code, .. } => {
                text.push_str(&comment(&format!("{id}, in {language}:\n{}", code.trim_end())));
                text.push('\n');
            }
        }
    }
    text
}

fn notebook(parts: &[Part]) -> String {
    let lines = |text: &str| text.split_inclusive('\n').map(Value::from).collect::<Vec<_>>();
    let (mut cells, mut count) = (Vec::new(), 0_u32);
    let prose = |id: usize, text: &str| json!({ "cell_type": "markdown", "id": format!("c{id}"), "metadata": {}, "source": lines(text) });
    for part in parts {
        let id = cells.len() + 1;
        cells.push(match part {
            Part::Prompt(text) => prose(id, &format!("**You:** {}", text.trim())),
            Part::Reply(text) => prose(id, text.trim()),
            Part::Run { language, code, outputs, .. } if matches!(&**language, "python" | "shell") => {
                count += 1;
                let magic = if language == "shell" { "%%bash\n" } else { "" };
                json!({
                    "cell_type": "code",
                    "id": format!("c{id}"),
                    "metadata": {},
                    "execution_count": count,
                    "source": lines(&format!("{magic}{}", code.trim_end())),
                    "outputs": outputs.iter().map(|one| cell_output(one, count)).collect::<Vec<_>>(),
                })
            }
            Part::Run { language, code, outputs, .. } => {
                prose(id, &(fenced(language, code) + &fenced("text", &words(outputs))))
            }
        });
    }
    let notebook = json!({
        "cells": cells,
        "metadata": {
            "kernelspec": { "display_name": "Python 3", "language": "python", "name": "python3" },
            "language_info": { "name": "python" },
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    });
    format!("{notebook:#}\n")
}

fn cell_output(output: &Output, count: u32) -> Value {
    let name = match output.stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
        Stream::Result => {
            let mut data = serde_json::Map::new();
            for (mime, text) in output.bundle.iter().chain([(&output.mime, &output.text)]) {
                let text = text.raw();
                // The format has JSON as itself, and anything else as text.
                let value = match mime.strip_prefix("application/") {
                    Some(kind) if kind == "json" || kind.ends_with("+json") => {
                        serde_json::from_str(text).unwrap_or_else(|_| text.into())
                    }
                    Some(_) | None => text.into(),
                };
                data.insert(mime.clone(), value);
            }
            return json!({
                "output_type": "execute_result",
                "execution_count": count,
                "metadata": {},
                "data": data,
            });
        }
    };
    json!({ "output_type": "stream", "name": name, "text": output.text.raw() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{Finish, Origin, Untrusted};

    fn records() -> Vec<Record> {
        let proposal = |id: &str, language: &str, code: &str| Body::Proposal {
            id: id.into(),
            origin: Origin::Model,
            language: language.into(),
            code: Untrusted::new(code),
            hash: String::new(),
            invocation: None,
            again: None,
            sealed: None,
        };
        let started = |id: &str| Body::RunStarted {
            proposal: id.into(),
            hash: String::new(),
            backend: String::new(),
            enforced: vec![],
            missing: vec![],
        };
        let reply = Body::Reply {
            text: Untrusted::new("Here:\n```python\nprint(42)\n```\n"),
            reasoning: Untrusted::default(),
            calls: vec![],
            finish: Finish::Stop,
        };
        let bodies = [
            Body::Prompt { text: "compute\nit".into() },
            reply,
            proposal("p1", "python", "print(42)\n"),
            started("p1"),
            Body::Output(Output::text("p1", Stream::Stdout, "42\n```\n")),
            proposal("p2", "shell", "rm -r /"),
            proposal("p3", "shell", "ls"),
            started("p3"),
            Body::Output(Output::text("p3", Stream::Stdout, "a\n")),
        ];
        let record = |(body, seq)| Record {
            v: 1,
            seq,
            time: String::new(),
            session: "s".into(),
            who: None,
            body,
        };
        bodies.into_iter().zip(1..).map(record).collect()
    }

    #[test]
    fn only_what_ran_is_code() {
        let python = Form::named("py").unwrap();
        for form in [Form::Markdown, Form::Notebook, python] {
            assert!(!render(form, &records()).contains("rm -r"), "{form:?}");
        }
        assert!(render(Form::Records, &records()).contains("rm -r"));
        assert_eq!(
            render(python, &records()),
            "# compute\n# it\nprint(42)\n\n# p3, in shell:\n# ls\n\n"
        );
        assert_eq!(
            render(Form::named("sh").unwrap(), &records()),
            "# compute\n# it\n# p1, in python:\n# print(42)\n\nls\n\n"
        );
        let broken = [Part::Prompt("a\rimport os\u{2028}b".into())];
        assert_eq!(script(&DIALECTS[0], &broken), "# a\n# import os\n# b\n");
    }

    #[test]
    fn output_cannot_end_its_block_and_code_is_there_once() {
        let text = render(Form::Markdown, &records());
        assert!(text.contains("````text\n42\n```\n````\n"), "{text}");
        assert_eq!(text.matches("print(42)").count(), 1, "{text}");
        assert!(text.contains("```shell\nls\n```\n"), "{text}");
    }

    #[test]
    fn a_notebook_has_cells_with_their_output() {
        let notebook: Value = serde_json::from_str(&render(Form::Notebook, &records())).unwrap();
        assert_eq!(notebook["nbformat"], 4);
        let kinds: Vec<_> =
            notebook["cells"].as_array().unwrap().iter().map(|cell| &cell["cell_type"]).collect();
        assert_eq!(kinds, ["markdown", "markdown", "code", "code"]);
        assert_eq!(notebook["cells"][2]["outputs"][0]["text"], "42\n```\n");
        assert_eq!(notebook["cells"][3]["source"][0], "%%bash\n");
    }

    #[test]
    fn the_form_is_the_ending() {
        assert_eq!(Form::of("a.b/x.MD"), Some(Form::Markdown));
        assert_eq!((Form::of("notes"), Form::of("x.txt")), (None, None));
    }
}
