//! Files that a prompt names with `@`, and the paths in a command's arguments.
//!
//! Pure. Whether a file exists, and whether it may be sent, is for whoever asks.

/// The paths behind `@` at the beginning of a word: `@sales.csv`, `@"with blanks.csv"`.
pub(super) fn mentions(prompt: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = ' ';
    for (at, c) in prompt.char_indices() {
        let begins = before.is_whitespace() || before == '(';
        before = c;
        if c != '@' || !begins {
            continue;
        }
        let rest = &prompt[at + 1..];
        let path = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map_or("", |(path, _)| path),
            None => rest.split(char::is_whitespace).next().unwrap_or_default(),
        };
        if !path.is_empty() && !found.iter().any(|one| one == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// A path without the marks that end a sentence.
pub(super) fn without_marks(path: &str) -> &str {
    path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '\''])
}

/// The words of a command's argument. Quotes keep blanks together.
pub(super) fn words(argument: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_open) = (Vec::new(), String::new(), None, false);
    for c in argument.chars() {
        match (quote, c) {
            (Some(until), _) if c == until => quote = None,
            (None, '"' | '\'') => (quote, is_open) = (Some(c), true),
            (None, _) if c.is_whitespace() => {
                if is_open {
                    words.push(std::mem::take(&mut word));
                }
                is_open = false;
            }
            (Some(_) | None, _) => {
                word.push(c);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_at_the_beginning_of_a_word() {
        let found =
            mentions("sum @sales.csv, (@a/b) and @\"my file.txt\"; mail me@example.org @ 5");
        assert_eq!(found, ["sales.csv,", "a/b)", "my file.txt"]);
        assert_eq!(without_marks("sales.csv,"), "sales.csv");
        assert_eq!(mentions("@a @a @\"open"), ["a"]);
    }

    #[test]
    fn quotes_keep_blanks_together() {
        assert_eq!(words(" a.csv  'b c.csv' \"d\"e ''"), ["a.csv", "b c.csv", "de", ""]);
    }
}
