//! Text to [`ConfigFile`], with errors that a person can act on.
//!
//! Must not print a line of the file, nor anything from it unfiltered: a project's file is a
//! stranger's, and the person's own may hold a secret by mistake.

use super::{ConfigError, ConfigFile, ConfigText, nearest::nearest};
use interpreter_core::Untrusted;

/// Reads one file's text.
pub(super) fn parse(file: &ConfigText) -> Result<ConfigFile, ConfigError> {
    toml::from_str(&file.text).map_err(|error| {
        let (line, column) = position(&file.text, error.span().map_or(0, |span| span.start));
        let message = Untrusted::new(plain(error.message())).for_terminal_line(400);
        ConfigError::Parse { path: file.path.clone(), line, column, message }
    })
}

/// Line and column, from 1, of a byte of the text.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// serde's message in our words, with the nearest known name if one is near.
fn plain(message: &str) -> String {
    for (beginning, what) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        let Some(rest) = message.strip_prefix(beginning) else { continue };
        let Some((name, expected)) = rest.rsplit_once("`, expected ") else { continue };
        // The names stand between backticks, so every second piece is one.
        let known: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
        return match nearest(name, &known) {
            Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
            None => format!("unknown {what} `{name}`; possible here: {}", known.join(", ")),
        };
    }
    message.replace("missing field", "missing key").replace("duplicate field", "duplicate key")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<ConfigFile, String> {
        let file = ConfigText { path: "/c.toml".into(), text: text.into() };
        parse(&file).map_err(|error| error.to_string())
    }

    fn message(text: &str) -> String {
        parsed(text).unwrap_err()
    }

    #[test]
    fn every_key_can_be_set() {
        let file = parsed(
            r#"
            model = "local/qwen"
            workspace = "read-only"
            instructions = "Answer briefly."
            max_calls = 5
            max_tokens = 320
            temperature = 0
            [endpoint.local]
            base_url = "http://localhost:8080/v1"
            format = "openai"
            key_variable = "LOCAL_KEY"
            tools = false
            small = true
            images = true
            context = 32_768
            model = "qwen"
            [endpoint.other]
            base_url = "https://example.com"
            format = "anthropic"
            [language.zig]
            programs = ["zig"]
            once = { file = "main.zig", run = ["{program}", "run", "{file}"] }
            [sandbox]
            backend = "bubblewrap"
            allow_missing = ["reading"]
            [network]
            mode = "listed"
            hosts = ["python", "*.example.org:443"]
            deny = ["evil.example.org"]
            ask = false
            [limits]
            wall = "15s"
            memory = "2G"
            processes = 10
            file_size = "1M"
            open_files = 64
            temporary = "1G"
            output = "10M"
            [[rule]]
            decision = "deny"
            line = "rm *"
            "#,
        )
        .unwrap();
        assert_eq!(file.endpoint["local"].key_variable.as_deref(), Some("LOCAL_KEY"));
        assert!(!file.endpoint["local"].tools && file.endpoint["other"].tools);
        let (local, other) = (&file.endpoint["local"], &file.endpoint["other"]);
        assert_eq!((local.small, local.images, local.context), (true, true, Some(32_768)));
        assert_eq!((other.small, other.images, other.context), (false, false, None));
        assert_eq!(file.temperature.unwrap().to_string(), "0");
        assert_eq!(file.limits.memory.unwrap().count(), 2 << 30);
        assert_eq!(file.rules.len(), 1);
        assert_eq!(file.language["zig"].ways[0].programs, ["zig"]);
        assert_eq!(parsed("").unwrap(), ConfigFile::default());
    }

    #[test]
    fn an_unknown_key_suggests_the_nearest() {
        assert_eq!(
            message("max_calls = 2\nmodle = \"x\"\n"),
            "/c.toml:2:1: unknown key `modle`; did you mean `model`?"
        );
        assert_eq!(
            message("[limits]\nmemroy = \"1G\""),
            "/c.toml:2:1: unknown key `memroy`; did you mean `memory`?"
        );
        assert_eq!(
            message("[[rule]]\ndecision = \"deny\"\nlines = \"x\""),
            "/c.toml:3:1: unknown key `lines`; did you mean `line`?"
        );
        assert_eq!(
            message("workspace = \"staged\""),
            "/c.toml:1:13: unknown value `staged`; did you mean `stage`?"
        );
    }

    #[test]
    fn an_unknown_key_far_from_all_lists_them() {
        let message = message("[limits]\nzzzzzz = 1");
        assert!(message.contains("possible here: wall, cpu, memory, processes"), "{message}");
    }

    #[test]
    fn what_is_not_toml_is_named_by_line_and_column() {
        let message = message("model = \"x\"\nworkspace = stage\n");
        assert!(message.starts_with("/c.toml:2:13: "), "{message}");
        assert!(message.contains("string"), "{message}");
    }

    #[test]
    fn a_wrong_value_is_named_by_line_and_column() {
        for (text, expected) in [
            ("[limits]\nwall = \"15\"", "/c.toml:2:8: `15` has no unit"),
            ("[limits]\nprocesses = 0", "/c.toml:2:13: invalid value: integer `0`"),
            ("max_calls = -1", "/c.toml:1:13: invalid value: integer `-1`"),
            ("temperature = 3", "/c.toml:1:15: a temperature is a number from 0 to 2, not 3"),
            ("temperature = nan", "/c.toml:1:15: a temperature is a number from 0 to 2"),
            ("model = \"\"", "/c.toml:1:9: expected the name of a model"),
            ("[endpoint.x]\nformat = \"openai\"", "/c.toml:1:1: missing key `base_url`"),
        ] {
            let message = message(text);
            assert!(message.starts_with(expected), "{message} is not {expected}");
        }
        let of = |line: &str| {
            message(&format!("[endpoint.x]\nbase_url='http://h'\nformat='openai'\n{line}"))
        };
        for (line, expected) in [
            ("context = 0", "/c.toml:4:11: `context` is how many tokens a model takes: a number"),
            ("context = -5", "/c.toml:4:11: `context` is how many tokens"),
            ("context = '32k'", "/c.toml:4:11: `context` is how many tokens"),
            ("small = 1", "/c.toml:4:9: invalid type: integer `1`, expected a boolean"),
            ("image = true", "/c.toml:4:1: unknown key `image`; did you mean `images`?"),
        ] {
            let message = of(line);
            assert!(message.starts_with(expected), "{message} is not {expected}");
        }
        assert!(
            message("[endpoint.\"a/b\"]\nbase_url='http://h'\nformat='openai'")
                .contains("`a/b` is not the name of an endpoint")
        );
    }

    #[test]
    fn a_wrong_language_is_named_with_the_fix() {
        let zig = |rest: &str| format!("[language.zig]\n{rest}");
        let two = "[language.a]\nprograms = ['x']\naliases = ['b']\n[language.b]\nprograms = ['x']";
        for (text, expected) in [
            (zig("program = 'zig'"), "2:1: unknown key `program`; did you mean `programs`?"),
            (zig("programs = ['bin/zig']"), "2:12: each of `programs` is a name"),
            (zig("programs = ['z']\nonce = { run = ['{flie}'] }"), "3:16: `{flie}` stands for"),
            (zig("endings = ['z']"), "1:1: missing key `programs`: name what runs it"),
            ("[language.'a b']\nprograms = ['x']".into(), "`a b` is not the name of a language"),
            (two.into(), "`b` is a name of `language.a` and of `language.b`; take it out"),
        ] {
            let message = message(&text);
            assert!(message.contains(expected), "{message} does not say {expected}");
        }
    }

    #[test]
    fn a_secret_in_the_wrong_place_is_not_repeated() {
        for text in [
            "[endpoint.x]\nbase_url='http://h'\nformat='openai'\nkey_variable='sk-canary'",
            "[endpoint.x]\nbase_url='http://h'\nformat='openai'\napi_key='sk-canary'",
            "[endpoint.x]\nbase_url='https://u:sk-canary@h/'\nformat='openai'",
            "api_key = 'sk-canary'",
            "api_key = sk-canary",
        ] {
            let message = message(text);
            assert!(!message.contains("canary"), "{message}");
        }
    }

    #[test]
    fn a_key_cannot_move_the_cursor() {
        let message = message("\"\\u001b[2J\" = 1");
        assert!(message.contains(r"unknown key `\u{1b}[2J`"), "{message}");
    }

    #[test]
    fn the_position_counts_characters() {
        assert_eq!(position("a\nöä = 1", 2), (2, 1));
        assert_eq!(position("a\nöä = 1", 6), (2, 3));
        assert_eq!(position("", 7), (1, 1));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            if let Err(message) = parsed(&text) {
                prop_assert!(message.chars().all(|c| !c.is_control()));
            }
        }
    }
}
