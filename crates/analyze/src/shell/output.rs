//! The text that a plain command prints: `echo …`, `printf …`, and what undoes an encoding.

use super::command::Input;
use crate::{decode::Encoding, literal::Literal};

/// The text that a command prints, if it is known.
pub(super) fn of(words: &[Literal], input: &Input) -> Option<Literal> {
    let (program, arguments) = words.split_first()?;
    let has = |flags: &[&str]| {
        arguments.iter().any(|word| word.whole().is_some_and(|word| flags.contains(&word)))
    };
    let fed = || match input {
        Input::Nothing => None,
        Input::Pipe(text) => text.clone(),
        Input::Text(text) => Some(text.clone()),
    };
    let undone = |encoding: Encoding| {
        let text = fed()?;
        encoding.undo(text.whole()?.trim()).map(Literal::known)
    };
    match program.whole()? {
        "echo" => {
            let words = arguments.iter().skip_while(|word| {
                matches!(word.whole(), Some("-n" | "-e" | "-ne" | "-en" | "-E"))
            });
            let space = || Literal::known(" ");
            let joined = words.cloned().reduce(|all, word| all.then(space()).then(word));
            Some(escaped(joined.unwrap_or_default(), has(&["-e", "-ne", "-en"])))
        }
        "printf" => match arguments {
            [format] => Some(escaped(format.clone(), true)),
            [format, text, ..] if matches!(format.whole(), Some("%s" | "%s\\n" | "%b")) => {
                Some(text.clone())
            }
            _ => None,
        },
        "cat" if arguments.is_empty() || has(&["-"]) => fed(),
        "base64" if has(&["-d", "-D", "--decode", "-di"]) => undone(Encoding::Base64),
        "xxd" if has(&["-r"]) || has(&["-rp", "-pr"]) => undone(Encoding::Hex),
        "rev" => {
            let text = fed()?;
            Some(Literal::known(text.whole()?.trim_end().chars().rev().collect::<String>()))
        }
        "tr" => match arguments {
            [from, to] if is_rotation(from.whole()?, to.whole()?) => undone(Encoding::Rot13),
            _ => None,
        },
        _ => None,
    }
}

fn is_rotation(from: &str, to: &str) -> bool {
    matches!(from, "A-Za-z" | "a-zA-Z" | "[A-Za-z]" | "[a-zA-Z]")
        && matches!(to, "N-ZA-Mn-za-m" | "n-za-mN-ZA-M" | "[N-ZA-Mn-za-m]" | "[n-za-mN-ZA-M]")
}

/// A text whose `\\x72` and `\\162` are replaced by what they mean.
fn escaped(text: Literal, is_escaped: bool) -> Literal {
    let Some(plain) = text.whole().filter(|text| is_escaped && text.contains('\\')) else {
        return text;
    };
    let mut out = String::with_capacity(plain.len());
    let mut rest = plain;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = |from: usize, most: usize, base: u32| {
            let digits = after[from..].chars().take(most).take_while(|c| c.is_digit(base));
            let digits: String = digits.collect();
            let code = u32::from_str_radix(&digits, base).ok().and_then(char::from_u32);
            code.map(|code| (code, from + digits.len()))
        };
        let code = match after.chars().next() {
            Some('x') => digits(1, 2, 16),
            Some('0'..='7') => digits(0, 4, 8),
            Some('n') => Some(('\n', 1)),
            Some('t') => Some(('\t', 1)),
            Some('\\') => Some(('\\', 1)),
            _ => None,
        };
        let (code, length) = code.unwrap_or(('\\', 0));
        out.push(code);
        rest = &after[length..];
    }
    out.push_str(rest);
    Literal::known(out)
}
