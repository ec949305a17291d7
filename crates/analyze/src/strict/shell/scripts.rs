//! Scripts of `sed`, `awk` and `jq`, read as far as it takes to see that they only print.

/// Whether a script of `sed` only prints, deletes and replaces what it prints.
pub(super) fn is_plain_sed(script: &str) -> bool {
    let mut rest = script.trim();
    while !rest.is_empty() {
        let Some(after) = sed_command(rest) else { return false };
        rest = after.trim_start_matches([' ', ';', '\n']);
    }
    true
}

fn sed_address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('/') {
        return after_delimited(rest, '/');
    }
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~'))
}

/// The text after the next `end` that no backslash stands before.
fn after_delimited(text: &str, end: char) -> Option<&str> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = true;
        } else if c == end {
            return Some(&text[at + c.len_utf8()..]);
        }
    }
    None
}

fn sed_command(text: &str) -> Option<&str> {
    let mut rest = sed_address(text)?;
    if let Some(after) = rest.strip_prefix(',') {
        rest = sed_address(after)?;
    }
    let rest = rest.trim_start_matches([' ', '!']);
    let mut all = rest.chars();
    match all.next()? {
        'p' | 'd' | 'q' | '=' | 'n' => {
            let after = all.as_str();
            let is_end = after.is_empty() || after.starts_with([';', '\n', ' ']);
            is_end.then_some(after)
        }
        's' => {
            let end = all.next()?;
            if end.is_alphanumeric() || matches!(end, '\\' | '\n') {
                return None;
            }
            let after = after_delimited(after_delimited(all.as_str(), end)?, end)?;
            let rest = after.trim_start_matches(['g', 'p', 'i', 'I', '1', '2', '3']);
            (rest.is_empty() || rest.starts_with([';', '\n', ' '])).then_some(rest)
        }
        _ => None,
    }
}

/// Whether a program of `awk` only computes and prints.
pub(super) fn is_plain_awk(program: &str) -> bool {
    let words = [
        "system", "getline", "fflush", "close", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "ARGV",
        "ARGC",
    ];
    let has_word = |word: &str| program.contains(word);
    // Which sign is in a text and which isn't depends on more than is read here: none may follow.
    let writes = program.find("print").is_some_and(|at| program[at..].contains('>'));
    let pipes = program.replace("||", "");
    !words.iter().any(|word| has_word(word))
        && !pipes.contains('|')
        && (!program.contains('\\') || is_plain_escape(program))
        && !program.contains('@')
        && !writes
}

/// Whether a program of `jq` takes in no file but those that are named beside it, nor the
/// environment.
pub(super) fn is_plain_jq(program: &str) -> bool {
    let words = ["import", "include", "modulemeta", "env", "ENV", "get_search_list"];
    !program
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
        .filter_map(|word| word.split('.').next())
        .any(|word| words.contains(&word))
}

/// Whether every backslash only makes a sign of a text.
fn is_plain_escape(program: &str) -> bool {
    let mut all = program.chars();
    while let Some(c) = all.next() {
        if c == '\\' && !matches!(all.next(), Some('n' | 't' | '.' | '$')) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_print() {
        for script in ["3,5p", "s/a/b/g", "/^$/d", "$d", "s|a|b|;s/c/d/", "1!p", "10q"] {
            assert!(is_plain_sed(script), "{script}");
        }
        for script in ["1e cmd", "s/a/b/e", "s/a/b/w x", "w x", "r x", "e", "1{e\n}", "s/a/b/ge"] {
            assert!(!is_plain_sed(script), "{script}");
        }
        for program in
            ["{ print $2 }", "NR > 1 { s += $5 } END { print s }", "/a|b/ || $1 == \"x>y\""]
        {
            assert_eq!(is_plain_awk(program), !program.contains("a|b"), "{program}");
        }
        for program in [
            "BEGIN { system(\"x\") }",
            "{ print > \"x\" }",
            "{ print | \"sh\" }",
            "BEGIN { \"x\" | getline }",
            "{ @f() }",
            "BEGIN { printf \"x\" > \"y\" }",
            "BEGIN { ARGV[1] = \"x\"; ARGC = 2 } 1",
            "{ print /\"/ > \"x\" }",
            "{ print \";\" > \"x\" }",
            "{ x = /\"/; print \"touch x\" | \"sh\" }",
        ] {
            assert!(!is_plain_awk(program), "{program}");
        }
        for program in [".", ".a.env", ".items[] | select(.include)", "{a: .b}"] {
            assert!(is_plain_jq(program), "{program}");
        }
        for program in ["import \"a\" as $x; $x", "include \"a\"; .", "env", "$ENV.X", "1|env.X"] {
            assert!(!is_plain_jq(program), "{program}");
        }
    }
}
