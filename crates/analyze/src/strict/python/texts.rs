//! Texts that stand in the code, and small languages in them: queries of tables, formulas, SQL.
//!
//! Each is parsed, and plain only if nothing but names, values and operators is in it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else an expression is, it isn't plain"
)]

use ruff_python_ast::{Expr, Operator};
use ruff_python_parser::parse_expression;

/// Longest text of a small language that is read.
const LONGEST: usize = 2_000;

/// The text of a literal.
pub(super) fn literal(expression: &Expr) -> Option<String> {
    expression.as_string_literal_expr().map(|text| text.value.to_str().to_owned())
}

/// Whether a text is a file's name and can't be an address, whatever comes after it.
pub(super) fn begins_a_path(text: &str) -> bool {
    let scheme = text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    let is_scheme = scheme.is_some_and(|at| text[at..].starts_with(':'));
    let is_open = scheme.is_none() && !text.starts_with(|c: char| c == '.' || c.is_ascii_digit());
    !text.is_empty() && !is_scheme && !is_open
}

/// Whether a text that stands in the code is a file's name, and no address.
pub(super) fn is_local_text(expression: &Expr) -> bool {
    match expression {
        Expr::StringLiteral(text) => {
            let text = text.value.to_str();
            !text.contains("://") && !text.contains("::") && !text.is_empty()
        }
        Expr::FString(text) => {
            let first = text.value.elements().next().and_then(|one| one.as_literal());
            first.is_some_and(|one| begins_a_path(&one.value))
        }
        _ => false,
    }
}

/// A dotted name as text.
pub(super) fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => {
            Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr))
        }
        _ => None,
    }
}

/// Whether a template of `str.format` only puts values in, and takes nothing from them.
pub(super) fn is_plain_template(text: &str) -> bool {
    let text = text.replace("{{", "").replace("}}", "");
    text.split('{').skip(1).all(|field| {
        let name = field.split([':', '!', '}']).next().unwrap_or_default();
        let is_nested = field.split('}').next().unwrap_or_default().contains('.')
            && field.split(':').nth(1).is_none();
        !is_nested
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ' ')
            && !name.starts_with("__")
    })
}

/// The text in place of `@` before a variable's name.
const VARIABLE: &str = "at_sign_of_";

/// Attributes of columns that only compute.
const COLUMN: [&str; 24] = [
    "str",
    "dt",
    "contains",
    "startswith",
    "endswith",
    "isin",
    "isnull",
    "notnull",
    "isna",
    "notna",
    "year",
    "month",
    "day",
    "hour",
    "lower",
    "upper",
    "len",
    "between",
    "abs",
    "mean",
    "dayofweek",
    "date",
    "strip",
    "weekday",
];

/// Whether a query of a table, as pandas reads it, only compares and computes.
pub(super) fn is_plain_query(text: &str, assigns: bool) -> bool {
    if text.len() > LONGEST {
        return false;
    }
    let mut quoted = false;
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' => {
                quoted = !quoted;
                cleaned.push('_');
            }
            c if quoted => cleaned.push(if c.is_ascii_alphanumeric() { c } else { '_' }),
            // A variable of the code: told from a column, so that nothing is taken from it.
            '@' => cleaned.push_str(VARIABLE),
            '\n' => cleaned.push(' '),
            c => cleaned.push(c),
        }
    }
    let cleaned = match cleaned.split_once('=') {
        Some((name, rest))
            if assigns && !rest.starts_with('=') && !name.trim_end().ends_with(['<', '>', '!']) =>
        {
            rest.to_owned()
        }
        _ => cleaned,
    };
    if text.contains(VARIABLE) || crate::python::is_too_deep(&cleaned) {
        return false;
    }
    let Ok(parsed) = parse_expression(cleaned.trim()) else { return false };
    is_plain_part(parsed.expr())
}

fn is_plain_part(expression: &Expr) -> bool {
    let all = |parts: &[Expr]| parts.iter().all(is_plain_part);
    match expression {
        Expr::Name(name) => !name.id.starts_with("__"),
        Expr::StringLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_) => true,
        Expr::List(list) => all(&list.elts),
        Expr::Tuple(tuple) => all(&tuple.elts),
        Expr::BoolOp(one) => all(&one.values),
        Expr::BinOp(one) => is_plain_part(&one.left) && is_plain_part(&one.right),
        Expr::UnaryOp(one) => is_plain_part(&one.operand),
        Expr::Compare(one) => is_plain_part(&one.left) && all(&one.comparators),
        Expr::Attribute(one) => {
            COLUMN.contains(&one.attr.as_str())
                && dotted(&one.value).is_some_and(|path| !path.starts_with(VARIABLE))
                && is_plain_part(&one.value)
        }
        Expr::Call(call) => {
            let is_column = matches!(&*call.func, Expr::Attribute(_)) && is_plain_part(&call.func);
            let is_function = call.func.as_name_expr().is_some_and(|name| {
                matches!(name.id.as_str(), "abs" | "sqrt" | "log" | "log10" | "exp" | "sin" | "cos")
            });
            (is_column || is_function)
                && all(&call.arguments.args)
                && call.arguments.keywords.iter().all(|keyword| is_plain_part(&keyword.value))
        }
        _ => false,
    }
}

/// Functions that a formula of a model may call.
const FORMULA: [&str; 17] = [
    "C",
    "I",
    "Q",
    "Treatment",
    "Sum",
    "Poly",
    "bs",
    "cr",
    "center",
    "standardize",
    "scale",
    "np.log",
    "np.log1p",
    "np.exp",
    "np.sqrt",
    "np.power",
    "np.abs",
];

/// Whether a formula of a model, as patsy reads it, only names columns and computes.
pub(super) fn is_plain_formula(text: &str) -> bool {
    if text.len() > LONGEST || crate::python::is_too_deep(text) {
        return false;
    }
    text.split('~').all(|side| {
        let side = side.replace(':', "*").replace('\n', " ");
        let side = side.trim();
        side.is_empty() || parse_expression(side).is_ok_and(|parsed| is_plain_term(parsed.expr()))
    })
}

fn is_plain_term(expression: &Expr) -> bool {
    match expression {
        Expr::Name(name) => !name.id.starts_with("__"),
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) => true,
        Expr::BinOp(one) => {
            !matches!(one.op, Operator::MatMult | Operator::LShift | Operator::RShift)
                && is_plain_term(&one.left)
                && is_plain_term(&one.right)
        }
        Expr::UnaryOp(one) => is_plain_term(&one.operand),
        Expr::Compare(one) => is_plain_term(&one.left) && one.comparators.iter().all(is_plain_term),
        Expr::Call(call) => {
            dotted(&call.func).is_some_and(|name| FORMULA.contains(&name.as_str()))
                && call.arguments.args.iter().all(is_plain_term)
                && call.arguments.keywords.iter().all(|keyword| is_plain_term(&keyword.value))
        }
        _ => false,
    }
}

/// Words of SQL that reach beyond the tables of a database.
const REACHING: [&str; 12] = [
    "trigger",
    "virtual",
    "temp_store_directory",
    "load_extension",
    "attach",
    "readfile",
    "writefile",
    "vacuum",
    "pragma",
    "fts3_tokenizer",
    "edit",
    "detach",
];

/// Words that a statement may begin with.
const STATEMENTS: [&str; 12] = [
    "select", "with", "values", "insert", "replace", "update", "delete", "create", "drop", "alter",
    "begin", "commit",
];

/// Whether SQL for `SQLite` stays in its database. Findings say what it changes there.
pub(super) fn is_plain_sql(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let begins = text.split(';').map(str::trim_start).filter(|one| !one.is_empty()).all(|one| {
        let first = one.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        // A semicolon in a text, or a comment: not told apart.
        first.is_some_and(|first| STATEMENTS.contains(&first))
    });
    begins && !words.any(|word| REACHING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        for text in ["{}", "{:.2f}", "{0} of {1}", "{name!r:>10}", "{{x}}", "{:,.1f} %", "a.b"] {
            assert!(is_plain_template(text), "{text}");
        }
        for text in ["{0.__class__}", "{x[0]}", "{a.b:>3}", "{__x}", "{:{0.a}}"] {
            assert!(!is_plain_template(text), "{text}");
        }
    }

    #[test]
    fn queries() {
        for text in [
            "a > 1 and b == 'x'",
            "`my col` < @limit",
            "name.str.contains('x')",
            "a in [1, 2]",
            "not (a == 1) | b.isnull()",
        ] {
            assert!(is_plain_query(text, false), "{text}");
        }
        assert!(is_plain_query("c = a + b * 2", true));
        for text in [
            "@pd.io.common.os.system('x')",
            "a.__class__",
            "@f(1)",
            "().x",
            "[x for x in y]",
            "@pd.str.contains('x')",
            "a[0]",
            "lambda: 1",
            "f'{a}'",
            "a == ",
            "@x.str",
        ] {
            assert!(!is_plain_query(text, true), "{text}");
        }
    }

    #[test]
    fn formulas() {
        for text in [
            "y ~ a + b",
            "y ~ C(x) * z + a:b - 1",
            "np.log(y) ~ I(x**2) + C(g, Treatment(reference='a'))",
        ] {
            assert!(is_plain_formula(text), "{text}");
        }
        for text in ["y ~ I(__import__('os').system('x'))", "y ~ open('x')", "y ~ a.b", "y ~ f(x)"]
        {
            assert!(!is_plain_formula(text), "{text}");
        }
    }

    #[test]
    fn statements() {
        assert!(is_plain_sql("SELECT a, count(*) FROM t GROUP BY a"));
        for text in ["ATTACH 'x' AS y", "select load_extension('x')", "VACUUM INTO 'x'"] {
            assert!(!is_plain_sql(text), "{text}");
        }
    }
}
