//! Proposed and rejected blocks, with reasons.

use super::*;
use crate::{Continuity, LanguageInfo, MissingLanguage, language};
use proptest::prelude::*;

/// The example languages and R, whose short name is in much of its own code.
fn languages() -> Languages {
    let info = |name: &str, ending: &str| LanguageInfo {
        name: name.into(),
        aliases: vec![],
        endings: vec![ending.into()],
        continuity: Continuity::Fresh,
    };
    let missing = MissingLanguage { info: info("ruby", "rb"), hint: "install Ruby".into() };
    Languages::new(language::example().iter().cloned().chain([info("r", "R")]).collect())
        .with_missing(vec![missing])
}

/// Stands for analysis.
fn syntax(said: Option<&str>, code: &str) -> Option<&'static str> {
    match (said, code) {
        (Some("python") | None, "$ ls\n" | "$ rm -r bu") => Some("shell"),
        (None, "> 1\n") => Some("python"),
        _ => None,
    }
}

fn text(text: &str, finish: Finish) -> Extraction {
    let reply = Reply { text: Untrusted::new(text), finish, ..Reply::default() };
    proposals(&reply, &languages(), syntax, 1)
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: Untrusted::new(arguments) }
}

fn calls(calls: &[ToolCall], finish: Finish) -> Extraction {
    let reply = Reply {
        text: Untrusted::new("```python\nnot_this()\n```\n"),
        calls: calls.into(),
        finish,
        ..Reply::default()
    };
    proposals(&reply, &languages(), syntax, 7)
}

/// Id, language and code of each proposal.
fn proposed(found: &Extraction) -> Vec<(&str, &str, &str)> {
    found
        .proposals
        .iter()
        .map(|one| (one.id.as_str(), one.language.name(), one.code().raw()))
        .collect()
}

/// Language and reason of each block that is not proposed.
fn rejected(found: &Extraction) -> Vec<(Option<&str>, &str)> {
    found
        .rejected
        .iter()
        .map(|one| (one.language.as_ref().map(Untrusted::raw), one.reason.as_str()))
        .collect()
}

#[test]
fn each_block_in_a_known_language_is_a_proposal() {
    let found = text(
        "First:\n```python\nx = 1\nprint(x)\n```\nThen:\n\n1. list it\n   ```Bash title=\"a\"\n   ls\n\n   pwd\n   ```\n~~~js\nlet a = `b`;\n~~~",
        Finish::Stop,
    );
    assert_eq!(
        proposed(&found),
        [
            ("p1", "python", "x = 1\nprint(x)\n"),
            ("p2", "shell", "ls\n\npwd\n"),
            ("p3", "javascript", "let a = `b`;\n"),
        ]
    );
    assert_eq!(found.rejected, []);
    for proposal in &found.proposals {
        assert_eq!((proposal.origin, &proposal.call), (Origin::Model, &None));
    }
}

#[test]
fn other_blocks_are_not_and_it_is_said_why() {
    let found = text(
        "```\na\n```\n```json\n{}\n```\n```py\n \n\t\n```\n```sh\nls\n```\n- a\n  ```py\n  x\ny\n",
        Finish::Stop,
    );
    assert_eq!(proposed(&found), [("p1", "shell", "ls\n")]);
    assert_eq!(
        rejected(&found),
        [
            (None, "the block names no language after its opening fence"),
            (Some("json"), "unknown language `json`; available: python, shell, javascript, r"),
            (Some("py"), "it contains no code"),
            (
                Some("py"),
                "a line of the block is indented less than its list item, which ends the block; \
                 write it outside the list"
            ),
        ]
    );
}

#[test]
fn a_language_without_an_interpreter_is_named_with_how_to_get_one() {
    let found = text("```Ruby\nputs 1\n```\n```rb\nputs 1\n```\n", Finish::Stop);
    assert_eq!(
        rejected(&found),
        [
            (Some("Ruby"), "no interpreter for `Ruby` is installed: install Ruby"),
            (Some("rb"), "no interpreter for `rb` is installed: install Ruby"),
        ]
    );
}

#[test]
fn a_made_up_language_is_shown_short_and_harmless() {
    let tag = format!("\u{1b}[2J{}", "x".repeat(1000));
    let found = text(&format!("```{tag}\ny\n```\n"), Finish::Stop);
    let [(language, reason)] = rejected(&found)[..] else { panic!("one is rejected") };
    assert_eq!(language, Some(tag.as_str()));
    assert!(reason.starts_with(r"unknown language `\u{1b}[2Jxxx"), "{reason}");
    assert!(reason.len() < 200, "{reason}");
}

#[test]
fn code_that_was_cut_off_is_not_proposed() {
    let cut = "the reply was cut off before the block ended";
    let unfinished = "```sh\nls\n```\n```sh\nrm -r build";
    for finish in [Finish::Length, Finish::Filtered] {
        let found = text(unfinished, finish);
        assert_eq!(proposed(&found), [("p1", "shell", "ls\n")], "{finish:?}");
        assert_eq!(rejected(&found), [(Some("sh"), cut)], "{finish:?}");
    }
    // Models that stop at the closing fence leave it out.
    let found = text(unfinished, Finish::Stop);
    assert_eq!(proposed(&found)[1], ("p2", "shell", "rm -r build"));
}

#[test]
fn nothing_of_a_stopped_reply_is_proposed() {
    let stopped = "you stopped the reply";
    let found = text("```sh\nls\n```\n```sh\nrm", Finish::Interrupted);
    assert_eq!(rejected(&found), [(Some("sh"), stopped), (Some("sh"), stopped)]);
    assert_eq!(found.proposals, []);

    let found =
        calls(&[call("c", EXECUTE, r#"{"language":"sh","code":"ls"}"#)], Finish::Interrupted);
    assert_eq!(rejected(&found), [(Some("sh"), stopped)]);
    assert_eq!(found.rejected[0].call.as_deref(), Some("c"));
    assert_eq!(found.proposals, []);
}

#[test]
fn calls_are_the_proposals_if_there_are_any() {
    let found = calls(
        &[
            call("a", EXECUTE, r#"{"language": "py", "code": "print('\u00e9')\n"}"#),
            call("b", EXECUTE, r#"{"code": "ls", "language": "shell", "why": "to see"}"#),
        ],
        Finish::Stop,
    );
    assert_eq!(proposed(&found), [("p7", "python", "print('é')\n"), ("p8", "shell", "ls")]);
    assert_eq!(found.proposals[1].call.as_deref(), Some("b"));
    assert_eq!(found.rejected, []);
}

#[test]
fn bad_calls_are_answered_with_a_reason() {
    for (name, arguments, language, reason) in [
        ("python", "{}", None, "unknown tool `python`; the only tool is `execute`"),
        (
            EXECUTE,
            r#"{"language": "python"}"#,
            None,
            "the arguments have no `code`, which must be a string",
        ),
        (
            EXECUTE,
            r#"{"language": "python", "code": 'x'}"#,
            None,
            "the arguments are not valid JSON: expected value at line 1 column 32",
        ),
        (
            EXECUTE,
            r#"{"language": "cobol", "code": "x"}"#,
            Some("cobol"),
            "unknown language `cobol`; available: python, shell, javascript, r",
        ),
        (EXECUTE, r#"{"language": "sh", "code": "\n"}"#, Some("sh"), "it contains no code"),
    ] {
        let good = call("good", EXECUTE, r#"{"language":"sh","code":"ls"}"#);
        let found = calls(&[call("bad", name, arguments), good], Finish::Stop);
        assert_eq!(rejected(&found), [(language, reason)]);
        assert_eq!(found.rejected[0].call.as_deref(), Some("bad"));
        assert_eq!(proposed(&found), [("p7", "shell", "ls")]);
    }
}

#[test]
fn only_the_last_call_can_have_been_cut_off() {
    let half = r#"{"language": "sh", "code": "rm -r bu"#;
    let found = calls(&[call("a", EXECUTE, half), call("b", EXECUTE, half)], Finish::Length);
    assert_eq!(
        rejected(&found),
        [
            (None, "the arguments end in the middle of their JSON"),
            (None, "the reply was cut off before the call ended"),
        ]
    );
    // A last call that is whole was written before the reply was cut.
    let whole = r#"{"language": "sh", "code": "ls"}"#;
    let found = calls(&[call("a", EXECUTE, half), call("b", EXECUTE, whole)], Finish::Length);
    assert_eq!(proposed(&found), [("p7", "shell", "ls")]);
}

#[test]
fn code_may_hold_the_name_of_its_language() {
    let r = "for (r in 1:3) {\n  print(r) # r R\n}\n";
    assert_eq!(proposed(&text(&format!("```r\n{r}```\n"), Finish::Stop)), [("p1", "r", r)]);
    let python = "python\nprint('python')\n# ```python\n```python\n";
    let found = text(&format!("````python\n{python}````"), Finish::Stop);
    assert_eq!(proposed(&found), [("p1", "python", python)]);
}

#[test]
fn heredocs_templates_and_markers_come_through_untouched() {
    let code = "cat <<'EOF'\n##end##\n\\\n\tx\u{0}\u{feff}\r\nEOF\necho `date` ${a} ``\n\n";
    let found = text(&format!("```bash\n{code}```"), Finish::Stop);
    assert_eq!(proposed(&found), [("p1", "shell", code)]);
}

#[test]
fn a_reply_that_ends_in_backticks_loses_nothing() {
    for (reply, code) in [
        ("```py\nx\n```", "x\n"),
        ("```py\nx\n```\n", "x\n"),
        ("```py\nx\n``` ", "x\n"),
        ("```py\nx\n``", "x\n``"),
        ("```py\nx\n`", "x\n`"),
        ("```py\nx = `", "x = `"),
        ("Use `x`:\n```py\nx\n```\nNow `y`", "x\n"),
    ] {
        assert_eq!(proposed(&text(reply, Finish::Stop)), [("p1", "python", code)], "{reply:?}");
    }
}

#[test]
fn ids_go_on_from_the_last_one_and_do_not_run_out() {
    let reply =
        Reply { text: Untrusted::new("```sh\na\n```\n```sh\nb\n```\n"), ..Reply::default() };
    let found = proposals(&reply, &languages(), syntax, u32::MAX);
    let ids: Vec<_> = proposed(&found).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["p4294967295", "p4294967296"]);
}

#[test]
fn a_block_is_taken_for_what_its_syntax_says_if_it_is_the_only_one() {
    for (reply, proposal, note) in [
        ("```\n$ ls\n```\n", ("p1", "shell", "$ ls\n"), "the block names no language; it is shell"),
        ("~~~\n> 1\n~~~\n", ("p1", "python", "> 1\n"), "the block names no language; it is python"),
        (
            "A:\n```py\n$ ls\n```\nB",
            ("p1", "shell", "$ ls\n"),
            "the block is marked as python, but is shell",
        ),
    ] {
        let found = text(reply, Finish::Stop);
        assert_eq!(proposed(&found), [proposal], "{reply}");
        assert_eq!(found.notes, [note], "{reply}");
    }
    // A second block may be its output, or another way to do it.
    let found = text("```\n$ ls\n```\n```\na.txt\n```\n", Finish::Stop);
    assert_eq!((found.proposals.len(), found.rejected.len()), (0, 2));
    let found = text("```js\n$ ls\n```\n", Finish::Stop);
    assert_eq!(proposed(&found), [("p1", "javascript", "$ ls\n")]);
    let found = text("```\n42\n```\n", Finish::Stop);
    assert_eq!(found.proposals, []);
    let found = text("```\n$ rm -r bu", Finish::Length);
    assert_eq!((found.proposals.len(), found.notes.len()), (0, 0), "what was cut does not run");
}

#[test]
fn a_call_that_is_written_as_text_is_a_call() {
    let plain = r#"{"language": "bash", "code": "ls\n"}"#;
    let named = format!(r#"{{"name": "execute", "arguments": {plain}}}"#);
    for json in [plain, &named] {
        for reply in [
            json.to_owned(),
            format!("I will list it.\n{json}\n"),
            format!("```json\n{json}\n```\n"),
            format!("```\n{json}\n```\n"),
            format!("Sure:\n\n```tool_call\n{json}\n```"),
            format!("<tool_call>\n{json}\n</tool_call>"),
        ] {
            let found = text(&reply, Finish::Stop);
            assert_eq!(proposed(&found), [("p1", "shell", "ls\n")], "{reply}");
            assert_eq!(found.proposals[0].call, None);
            assert_eq!(found.notes.len(), 1, "{reply}");
        }
    }
    let found = text(r#"{"language": "cobol", "code": "x"}"#, Finish::Stop);
    assert!(rejected(&found)[0].1.contains("unknown language `cobol`"), "{found:?}");
    let found = text(r#"{"language": "bash", "code": "rm -r bu"#, Finish::Length);
    assert_eq!(found, Extraction::default());
    // JSON that is code stays code.
    let found = text(&format!("```python\n{plain}\n```\n"), Finish::Stop);
    assert_eq!(proposed(&found), [("p1", "python", format!("{plain}\n").as_str())]);
    let found = calls(&[call("c", EXECUTE, plain)], Finish::Stop);
    assert_eq!(found.notes, Vec::<String>::new());
}

#[test]
fn prose_proposes_nothing() {
    for reply in ["It is 4.", "Use `ls`:\n\n    ls -la\n", "{\"a\": 1}", "", "```"] {
        let found = text(reply, Finish::Stop);
        assert_eq!(found.proposals, [], "{reply}");
    }
}

#[test]
fn thoughts_are_not_searched() {
    let reply = Reply { reasoning: Untrusted::new("```sh\nls\n```\n"), ..Reply::default() };
    assert_eq!(proposals(&reply, &languages(), syntax, 1), Extraction::default());
}

fn finish() -> impl Strategy<Value = Finish> {
    prop::sample::select(vec![Finish::Stop, Finish::Length, Finish::Filtered, Finish::Interrupted])
}

proptest! {
    #[test]
    fn code_between_fences_comes_out_as_it_went_in(
        lines in prop::collection::vec("[^\r\n`]{0,30}", 1..8),
        before in "[a-z ]{0,20}",
    ) {
        let code = lines.join("\n") + "\n";
        prop_assume!(!code.trim().is_empty());
        let found = text(&format!("{before}\n```python\n{code}```\n"), Finish::Stop);
        prop_assert_eq!(proposed(&found), [("p1", "python", code.as_str())]);
    }

    #[test]
    fn anything_may_come(
        words in any::<String>(),
        marks in "[`~ \t\r\n>pyshjson1.*{}-]{0,80}",
        name in prop_oneof![Just(EXECUTE.to_string()), any::<String>()],
        finish in finish(),
    ) {
        for content in [&words, &marks] {
            let found = text(content, finish);
            prop_assert!(finish != Finish::Interrupted || found.proposals.is_empty());
            for proposal in &found.proposals {
                prop_assert!(!proposal.code().raw().trim().is_empty());
            }
            let found = calls(&[call(&words, &name, content)], finish);
            prop_assert_eq!(found.proposals.len() + found.rejected.len(), 1);
        }
    }
}
