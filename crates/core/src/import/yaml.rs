//! The part of YAML that the original's profiles are written in: names, values, tables by their
//! indentation, and texts of several lines. Anything else is listed as not understood.

use super::{Constant, Found, Named};

/// How deep tables may be nested.
const DEPTH: usize = 8;

/// The settings that a profile in YAML names.
pub fn settings(text: &str) -> Found {
    let mut found = Found::default();
    // The tables that the current line is in, each with its indentation.
    let mut tables: Vec<(usize, String)> = Vec::new();
    let lines: Vec<_> = text.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let content = without_comment(line);
        let indentation = content.len() - content.trim_start().len();
        let content = content.trim();
        if content.is_empty() || content == "---" {
            continue;
        }
        tables.retain(|(above, _)| *above < indentation);
        let Some((name, value)) = entry(content).filter(|_| tables.len() < DEPTH) else {
            found.other.push(at);
            continue;
        };
        let path = tables.iter().map(|(_, table)| table.as_str());
        let name = path.chain([name]).collect::<Vec<_>>().join(".");
        if value.starts_with(['|', '>']) {
            let (text, next) = block(&lines, at, indentation, value.starts_with('>'));
            found.named.push(Named { name, value: Constant::Text(text), line: at });
            at = next;
        } else if value.is_empty() {
            // A table, if deeper lines follow; otherwise nothing.
            let mut rest = lines[at..].iter().map(|line| without_comment(line));
            let next = rest.find(|line| !line.trim().is_empty());
            let deeper = |line: &str| line.len() - line.trim_start().len() > indentation;
            if next.is_some_and(deeper) {
                let last = name.rsplit('.').next().unwrap_or_default().to_owned();
                tables.push((indentation, last));
            } else {
                found.named.push(Named { name, value: Constant::Nothing, line: at });
            }
        } else {
            found.named.push(Named { name, value: constant(value), line: at });
        }
    }
    found
}

/// A line without the comment at its end.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') if before.is_whitespace() => return &line[..at],
            (None, '"' | '\'') if before.is_whitespace() => quote = Some(c),
            (Some(open), _) if c == open && before != '\\' => quote = None,
            _ => {}
        }
        before = c;
    }
    line
}

/// A name and what stands behind its colon.
fn entry(content: &str) -> Option<(&str, &str)> {
    let (name, value) = content.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_name = !name.is_empty() && name.chars().all(plain) && !name.starts_with('-');
    let stands_apart = value.is_empty() || value.starts_with(char::is_whitespace);
    (is_name && stands_apart).then(|| (name, value.trim()))
}

/// A text of several lines below `at`, and the line after it. A folded one has spaces for its line
/// ends.
fn block(lines: &[&str], mut at: usize, above: usize, folded: bool) -> (String, usize) {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let own = lines[at..].iter().find(|line| !line.trim().is_empty());
    let own = own.map(|line| depth(line)).filter(|own| *own > above);
    let Some(own) = own else { return (String::new(), at) };
    let mut parts = Vec::new();
    while let Some(line) = lines.get(at) {
        if !line.trim().is_empty() && depth(line) < own {
            break;
        }
        parts.push(line.get(own..).unwrap_or_default().trim_end());
        at += 1;
    }
    let text = parts.join(if folded { " " } else { "\n" });
    (text.trim_end().to_owned(), at)
}

fn constant(value: &str) -> Constant {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return Constant::Text(unescaped(inner, quote));
        }
    }
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => return Constant::Bool(true),
        "false" | "no" | "off" => return Constant::Bool(false),
        "null" | "none" | "~" => return Constant::Nothing,
        _ => {}
    }
    if let Ok(whole) = value.parse() {
        return Constant::Whole(whole);
    }
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Constant::Number(number),
        Ok(_) | Err(_)
            if value.starts_with(['[', '{', '&', '*', '!', '%', '@', '`', '"', '\'']) =>
        {
            Constant::Other
        }
        Ok(_) | Err(_) => Constant::Text(value.to_owned()),
    }
}

fn unescaped(inner: &str, quote: char) -> String {
    if quote == '\'' {
        return inner.replace("''", "'");
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match (c, c == '\\') {
            (_, false) => text.push(c),
            (_, true) => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_read_as_names_and_constants() {
        let text = "\
### A PROFILE
llm:
  model: \"gpt-4o\"  # the model
  temperature: 0
  max_tokens: 4096
  api_base: https://example.org:8080/v1#x
custom_instructions: |
  Be brief.
    Indented.

  Last.
auto_run: False
nothing:
computer:
  import_computer_api: True
  languages: [\"python\"]
- a list
system_message: >
  one
  two
version: 0.2.5
";
        let Found { named, other } = settings(text);
        let names: Vec<_> = named.iter().map(|one| (one.name.as_str(), &one.value)).collect();
        let text = |text: &str| Constant::Text(text.into());
        let expected = [
            ("llm.model", text("gpt-4o")),
            ("llm.temperature", Constant::Whole(0)),
            ("llm.max_tokens", Constant::Whole(4096)),
            ("llm.api_base", text("https://example.org:8080/v1#x")),
            ("custom_instructions", text("Be brief.\n  Indented.\n\nLast.")),
            ("auto_run", Constant::Bool(false)),
            ("nothing", Constant::Nothing),
            ("computer.import_computer_api", Constant::Bool(true)),
            ("computer.languages", Constant::Other),
            ("system_message", text("one two")),
            ("version", text("0.2.5")),
        ];
        assert_eq!(names, expected.each_ref().map(|(name, value)| (*name, value)));
        assert_eq!(other, [17]);
    }

    #[test]
    fn anything_can_be_read_without_a_panic() {
        for text in [
            "",
            ":",
            "a:\n",
            "'",
            "a: '",
            "a: \"\\",
            "a: |",
            "\u{feff}a: 1",
            "é: é\n é: é",
            "a:\n\tb: 1",
        ] {
            settings(text);
        }
        let deep: Vec<_> = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(!settings(&deep.concat()).other.is_empty());
    }
}
