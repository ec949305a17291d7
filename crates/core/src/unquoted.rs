//! Messages of parsers, without the words of the file that they quote.
//!
//! # Threat
//! A file that is read as something else than it is, or a secret in the wrong place of a file: the
//! message about it goes to a terminal, a client of the server or the record.
//!
//! # Mechanism
//! Of the messages that quote, those of serde, the quoted part is left out; the place in the file
//! says where it stands. A message about the grammar alone quotes nothing and stays.
//!
//! Must not be used for messages of unknown origin: it knows only these forms.

/// How the messages of serde begin that quote, and the words that stand for the beginning.
const QUOTING: [(&str, &str); 4] = [
    ("unknown field ", "unknown key"),
    ("unknown variant ", "unknown value"),
    ("invalid type: ", "a value of another type"),
    ("invalid value: ", "another value"),
];

/// Such a message without what it quotes.
pub fn unquoted(message: &str) -> String {
    if message.starts_with("duplicate key") {
        return "duplicate key".into();
    }
    let found = QUOTING.iter().find(|(beginning, _)| message.starts_with(beginning));
    let Some((_, plain)) = found else { return message.to_owned() };
    // Behind the last of them stand the words of our own types; a quoted text may hold one too.
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("{plain}, expected {expected}"),
        None => match message.rsplit_once(", there are no ") {
            Some((_, none)) => format!("{plain}, there are no {none}"),
            None => (*plain).to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example {
        #[expect(dead_code, reason = "only its type matters")]
        name: Option<u8>,
        #[expect(dead_code, reason = "only its type matters")]
        word: Option<Word>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        First,
    }

    proptest! {
        #[test]
        fn no_value_of_a_file_is_in_the_message(odd in "[ -~]{0,8}") {
            let canary = format!("CANARY{odd}");
            let value = serde_json::to_string(&canary).unwrap();
            let texts = [
                format!("name = {value}"), format!("word = {value}"), format!("{value} = 1"),
                canary.clone(), format!("{canary}:x:0:0"), format!("name = {canary}"),
                format!("[{canary}\n"), format!("name = 1\n{value} = 1\n{value} = 2"),
                format!("'{canary}"), format!("name = '{canary}"),
            ];
            for text in texts {
                if let Err(error) = toml::from_str::<Example>(&text) {
                    let told = unquoted(error.message());
                    prop_assert!(!told.contains("CANARY"), "{}: {}", text, told);
                }
            }
            let texts = [
                format!("{{\"name\":{value}}}"), format!("{{\"word\":{value}}}"),
                format!("{{{value}:1}}"), value.clone(), canary.clone(),
            ];
            for text in texts {
                let error = serde_json::from_str::<Example>(&text).unwrap_err();
                let told = unquoted(&error.to_string());
                prop_assert!(!told.contains("CANARY"), "{}: {}", text, told);
            }
        }
    }

    #[test]
    fn what_is_expected_stays() {
        let told = |text: &str| unquoted(toml::from_str::<Example>(text).unwrap_err().message());
        assert_eq!(told("nam = 1"), "unknown key, expected `name` or `word`");
        assert_eq!(told("word = 'x'"), "unknown value, expected `first`");
        assert_eq!(told("name = 'a, expected b'"), "a value of another type, expected u8");
    }
}
