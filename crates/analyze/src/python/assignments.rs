//! The plain assignments of a Python file: names and constants, read as data. Nothing is run, and
//! whatever would have to be run is listed by its line.

use super::{depth, lines::Lines};
use interpreter_core::import::{Constant, Found, Named};
use ruff_python_ast::{Expr, Number, PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::Ranged;

/// The names that a file gives constants to, at its top.
///
/// # Errors
/// If it is not Python.
pub fn assignments(text: &str) -> Result<Found, String> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    depth::check(&text)?;
    let parsed = parse_unchecked_source(&text, PySourceType::Python);
    if !parsed.errors().is_empty() {
        return Err("it is not valid Python".into());
    }
    let lines = Lines::of(&text);
    let mut found = Found::default();
    for statement in &parsed.syntax().body {
        let line = lines.number(statement.range().start());
        match statement {
            Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) => {}
            // Documentation.
            Stmt::Expr(one) if one.value.is_string_literal_expr() => {}
            Stmt::Assign(one) => match one.targets.as_slice() {
                [target] => match dotted(target) {
                    Some(name) => {
                        found.named.push(Named { name, value: constant(&one.value), line });
                    }
                    None => found.other.push(line),
                },
                _ => found.other.push(line),
            },
            _ => found.other.push(line),
        }
    }
    Ok(found)
}

/// A name with its dots.
fn dotted(mut target: &Expr) -> Option<String> {
    let mut parts = Vec::new();
    loop {
        match target {
            Expr::Name(name) => {
                parts.push(name.id.to_string());
                parts.reverse();
                return Some(parts.join("."));
            }
            Expr::Attribute(attribute) => {
                parts.push(attribute.attr.to_string());
                target = &attribute.value;
            }
            _ => return None,
        }
    }
}

fn constant(value: &Expr) -> Constant {
    match value {
        Expr::StringLiteral(text) => Constant::Text(text.value.to_str().to_owned()),
        Expr::BooleanLiteral(literal) => Constant::Bool(literal.value),
        Expr::NoneLiteral(_) => Constant::Nothing,
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(whole) => whole.as_i64().map_or(Constant::Other, Constant::Whole),
            Number::Float(number) => Constant::Number(*number),
            Number::Complex { .. } => Constant::Other,
        },
        _ => Constant::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_and_nothing_is_run() {
        let text = "\
\"\"\"A profile.\"\"\"
import os
from interpreter import interpreter

interpreter.llm.model = \"gpt-4o\"
interpreter.llm.temperature = 0.5
interpreter.llm.max_tokens = 4096
interpreter.auto_run = True
interpreter.llm.api_key = os.environ['KEY']
interpreter.custom_instructions = f\"{os.getcwd()}\"
os.system('rm -rf /')
x[0] = 1
interpreter.system_message = None
";
        let Found { named, other } = assignments(text).unwrap();
        let named: Vec<_> = named.into_iter().map(|one| (one.name, one.value, one.line)).collect();
        let name = |last: &str| format!("interpreter.{last}");
        assert_eq!(
            named,
            [
                (name("llm.model"), Constant::Text("gpt-4o".into()), 5),
                (name("llm.temperature"), Constant::Number(0.5), 6),
                (name("llm.max_tokens"), Constant::Whole(4096), 7),
                (name("auto_run"), Constant::Bool(true), 8),
                (name("llm.api_key"), Constant::Other, 9),
                (name("custom_instructions"), Constant::Other, 10),
                (name("system_message"), Constant::Nothing, 13),
            ]
        );
        assert_eq!(other, [11, 12]);
    }

    #[test]
    fn anything_else_is_refused() {
        assert!(assignments("x = (").is_err());
        assert!(assignments(&"(".repeat(100_000)).is_err());
        assert_eq!(assignments("").unwrap(), Found::default());
    }
}
