//! The options of the original Open Interpreter (0.4.3), for people who come from it.
//!
//! Each works here, by another name or as it was, or says in one sentence what is done here instead.
//! `docs/guide/coming-from-the-original.md` has the same table, which a test keeps equal to this one.
//!
//! Reads words only. Must not touch what stands behind `--` or behind a command of ours.

use crate::report::{Error, misuse};
use std::ffi::OsString;

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Value,
}

/// The counterpart of an option here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    /// It has this name.
    Option(&'static str),
    /// It is this setting.
    Setting(&'static str),
    /// It is this command.
    Command(&'static str),
    /// It is so anyway.
    Anyway(&'static str),
    /// This is done instead.
    Instead(&'static str),
}

/// One option of the original.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    pub(crate) names: &'static [&'static str],
    pub(crate) takes: Takes,
    pub(crate) here: Here,
}

const fn flag(names: &'static [&'static str], takes: Takes, here: Here) -> Flag {
    Flag { names, takes, here }
}

use Here::{Anyway, Command, Instead, Option as Named, Setting};
use Takes::{Nothing, Value};

/// All that differ from ours. `--profile`, `--model`, `--auto_run`, `--offline`, `--local`, `--plain`,
/// `--version` and `--help` are the same here.
pub(crate) const FLAGS: &[Flag] = &[
    flag(&["--custom_instructions", "-ci"], Value, Setting("instructions")),
    flag(&["--temperature", "-t"], Value, Setting("temperature")),
    flag(&["--max_tokens", "-x"], Value, Setting("max_tokens")),
    flag(&["--max_budget", "-b"], Value, Setting("budget.session.cost")),
    flag(&["-o"], Nothing, Named("--offline")),
    flag(&["-l"], Nothing, Named("--local")),
    flag(&["-pl"], Nothing, Named("--plain")),
    flag(&["--api_base", "-ab"], Value, Named("--base-url")),
    flag(&["--conversations"], Nothing, Command("history list")),
    flag(&["--profiles"], Nothing, Command("config path")),
    flag(&["--local_models"], Nothing, Command("model list")),
    flag(
        &["--stdin", "-s"],
        Nothing,
        Anyway("A pipe is read anyway: as the prompt, or as data beside a prompt."),
    ),
    flag(&["--disable_telemetry", "-dt"], Nothing, Anyway("There is no telemetry.")),
    flag(
        &["--no_highlight_active_line", "-nhl"],
        Nothing,
        Anyway("Lines of running code are not highlighted."),
    ),
    flag(
        &["--system_message", "-sm"],
        Value,
        Instead("The system prompt is fixed; add to it with `instructions` in your config file."),
    ),
    flag(
        &["--verbose", "-v", "--debug", "-debug", "--debug_mode"],
        Nothing,
        Instead("Use `--json` to see every record, or `interpreter history show` afterwards."),
    ),
    flag(
        &["--vision", "-vi"],
        Nothing,
        Instead("Attach an image with `--image PATH`; models that see it are known by name."),
    ),
    flag(
        &["--llm_supports_vision", "-lsv", "--no-llm_supports_vision"],
        Nothing,
        Instead("Set `images` of your own `[endpoint.NAME]` in the config file."),
    ),
    flag(
        &["--llm_supports_functions", "-lsf", "--no-llm_supports_functions"],
        Nothing,
        Instead("Set `tools` of your own `[endpoint.NAME]` in the config file."),
    ),
    flag(
        &["--context_window", "-cw"],
        Value,
        Instead("Set `context` of your own `[endpoint.NAME]`; that of known models is known."),
    ),
    flag(
        &["--max_output", "-xo"],
        Value,
        Instead("The model sees an excerpt of long output and can ask for more of it."),
    ),
    flag(
        &["--api_key", "-ak"],
        Value,
        Instead(
            "Put the key into the provider's variable, such as OPENAI_API_KEY: others can read a command line.",
        ),
    ),
    flag(
        &["--api_version", "-av"],
        Value,
        Instead("Set it in the config file, such as `[provider.azure]` with `api_version`."),
    ),
    flag(
        &["--safe_mode", "-safe"],
        Value,
        Instead(
            "By default code is analysed, sandboxed and asked about; rules in the config file \
             refine that.",
        ),
    ),
    flag(
        &["--os", "-os"],
        Nothing,
        Instead("Controlling mouse, keyboard and screen is not offered: code runs in a sandbox."),
    ),
    flag(
        &["--speak_messages", "--speak", "-sp"],
        Nothing,
        Instead("Replies are not spoken; give the answer of `--quiet` to a program that speaks."),
    ),
    flag(
        &["--fast", "-f"],
        Nothing,
        Instead("Name a fast model with `--model`, or keep one in a profile."),
    ),
    flag(
        &["--codestral", "--llama3", "--groq", "--assistant"],
        Nothing,
        Instead(
            "Name the model with `--model PROVIDER/MODEL`; `interpreter model list` shows them.",
        ),
    ),
    flag(
        &["--multi_line", "-ml"],
        Nothing,
        Instead("Press Alt-Enter for a new line; pasted lines stay together."),
    ),
    flag(
        &["--loop", "--force_task_completion", "-fc"],
        Nothing,
        Instead("The model goes on by itself until it is done, up to `--max-calls`."),
    ),
    flag(
        &["--reset_profile"],
        Nothing,
        Instead(
            "Built-in defaults cannot be changed; delete `profiles/NAME.toml` to drop a profile.",
        ),
    ),
    flag(
        &["--server"],
        Nothing,
        Instead("Use `interpreter serve`; scripts can also use `--json` or `--output-schema`."),
    ),
    flag(
        &["--contribute_conversation"],
        Nothing,
        Instead("Conversations are not sent to anyone but the model you chose."),
    ),
];

/// The words of a command line with options of the original in words of ours.
///
/// # Errors
/// If something else is done here instead; the message says what.
pub(crate) fn translated(
    words: impl Iterator<Item = OsString>,
    commands: &[&str],
) -> Result<Vec<OsString>, Error> {
    let mut words = words.peekable();
    let mut ours: Vec<OsString> = words.next().into_iter().collect();
    while let Some(word) = words.next() {
        let is_end = word == "--" || word.to_str().is_some_and(|word| commands.contains(&word));
        if is_end && !is_value(ours.last()) {
            ours.push(word);
            ours.extend(words);
            return Ok(ours);
        }
        let text = word.to_str().unwrap_or_default();
        let (name, value) = text.split_once('=').map_or((text, None), |(a, b)| (a, Some(b)));
        let Some(flag) = FLAGS.iter().find(|flag| flag.names.contains(&name)) else {
            ours.push(word);
            continue;
        };
        let value = match flag.takes {
            Takes::Nothing => None,
            Takes::Value => value.map(OsString::from).or_else(|| words.next()),
        };
        match flag.here {
            Here::Option(option) => {
                ours.push(option.into());
                match (flag.takes, value) {
                    (Takes::Value, Some(value)) => ours.push(value),
                    (Takes::Value, None) => return Err(misuse(format!("`{name}` needs a value"))),
                    (Takes::Nothing, _) => {}
                }
            }
            Here::Setting(setting) => {
                let Some(value) = value else {
                    return Err(misuse(format!("`{name}` needs a value")));
                };
                let mut set = OsString::from(format!("{setting}="));
                set.push(value);
                ours.extend(["--set".into(), set]);
            }
            Here::Command(command) => {
                let program = ours.into_iter().take(1);
                return Ok(program.chain(command.split(' ').map(Into::into)).collect());
            }
            Here::Anyway(_) => {}
            Here::Instead(instead) => return Err(misuse(format!("`{name}`: {instead}"))),
        }
    }
    Ok(ours)
}

/// Whether the word before stands for an option whose value comes next, so that a command's name may
/// be that value.
fn is_value(before: Option<&OsString>) -> bool {
    const WITH_VALUE: &[&str] = &["-m", "--model", "-p", "--profile", "--image", "--set"];
    before.and_then(|word| word.to_str()).is_some_and(|word| WITH_VALUE.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(line: &str) -> Result<String, String> {
        let words = std::iter::once("interpreter").chain(line.split(' ')).map(OsString::from);
        let ours = translated(words, &["run", "model"]).map_err(|error| error.to_string())?;
        let words: Vec<_> = ours.iter().map(|word| word.to_string_lossy()).collect();
        Ok(words[1..].join(" "))
    }

    #[test]
    fn options_of_the_original_become_ours() {
        for (theirs, here) in [
            ("--temperature 0.2 hello", "--set temperature=0.2 hello"),
            ("-t=0.2", "--set temperature=0.2"),
            ("-b 0.5 hello", "--set budget.session.cost=0.5 hello"),
            ("-ci Be_brief -y", "--set instructions=Be_brief -y"),
            ("-o -l -pl -dt --stdin hi", "--offline --local --plain hi"),
            ("-ab http://here/v1 hi", "--base-url http://here/v1 hi"),
            ("--api_base=http://here/v1", "--base-url http://here/v1"),
            ("--conversations", "history list"),
            ("-m run --max_tokens 5", "-m run --set max_tokens=5"),
            ("run -l python -v", "run -l python -v"),
            ("-- --vision", "-- --vision"),
            ("what is -5", "what is -5"),
        ] {
            assert_eq!(ours(theirs).as_deref(), Ok(here), "{theirs}");
        }
    }

    #[test]
    fn what_is_done_instead_is_told_in_one_sentence() {
        assert!(ours("--os").unwrap_err().starts_with("`--os`: Controlling mouse"));
        assert!(ours("--api_key sk-canary").unwrap_err().contains("OPENAI_API_KEY"));
        assert!(!ours("--api_key=sk-canary").unwrap_err().contains("canary"));
        assert_eq!(ours("--temperature").unwrap_err(), "`--temperature` needs a value");
        assert_eq!(ours("-ab").unwrap_err(), "`-ab` needs a value");
        for flag in FLAGS {
            if let Here::Instead(text) | Here::Anyway(text) = flag.here {
                assert!(text.ends_with('.') && text.split_whitespace().count() <= 25, "{text}");
            }
        }
    }

    #[test]
    fn no_option_has_two_meanings() {
        let mut names: Vec<_> = FLAGS.iter().flat_map(|flag| flag.names).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn the_guide_has_the_same_table() {
        let at =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/coming-from-the-original.md");
        let page = fs_err::read_to_string(at).unwrap();
        let table = page.split("<!-- options -->\n").nth(1).unwrap();
        let mut expected = "| original | here |\n|---|---|\n".to_owned();
        for flag in FLAGS {
            let here = match flag.here {
                Here::Option(option) => format!("`{option}`"),
                Here::Setting(name) => {
                    format!("the setting `{name}`, as with `--set {name}=VALUE`")
                }
                Here::Command(command) => format!("`interpreter {command}`"),
                Here::Anyway(text) | Here::Instead(text) => text.to_owned(),
            };
            expected = format!("{expected}| `{}` | {here} |\n", flag.names.join("`, `"));
        }
        assert_eq!(table, expected);
    }
}
