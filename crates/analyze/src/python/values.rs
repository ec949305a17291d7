//! The texts and lists that Python expressions give, as far as they stand in the code.
//!
//! Concatenation, formats, joins, the usual methods of text, and the encodings in which code hides
//! code are followed; everything else is computed.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use super::names::Names;
use crate::{
    call::{Arguments, Call},
    decode::{Encoding, from_bytes},
    literal::Literal,
    rules::BUILT_IN,
    says::Site,
    value::{Value, ValueKind},
};
use ruff_python_ast::{
    Expr, ExprCall, FStringPart, InterpolatedStringElement, Number, Operator, UnaryOp,
};

/// How deep an expression is followed for its text.
pub(super) const DEPTH: usize = 64;

/// Most arguments and list elements that are looked at.
const WIDTH: usize = 256;

/// Most bytes of a text that is put together.
const LONGEST: usize = 64 * 1024;

/// The name of the file that holds nothing, in `subprocess`.
const EMPTY_FILE: &str = "DEVNULL";

/// A call as the rules see it.
pub(super) fn call(call: &ExprCall, names: &Names, at: Site) -> Call {
    let reader = Reader { names };
    let spread = call.arguments.args.iter().any(Expr::is_starred_expr)
        || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
        || call.arguments.args.len().max(call.arguments.keywords.len()) > WIDTH;
    let receiver = match &*call.func {
        Expr::Attribute(callee) => reader.text(&callee.value, DEPTH),
        _ => Literal::computed(),
    };
    let positional =
        call.arguments.args.iter().take(WIDTH).take_while(|one| !one.is_starred_expr());
    let keywords = call.arguments.keywords.iter().take(WIDTH).filter_map(|keyword| {
        Some((keyword.arg.as_ref()?.to_string(), reader.value(&keyword.value)))
    });
    Call {
        positional: positional.map(|one| reader.value(one)).collect(),
        named: keywords.collect(),
        receiver,
        arguments: if spread { Arguments::Spread } else { Arguments::Seen },
        at,
    }
}

#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) names: &'a Names,
}

impl Reader<'_> {
    fn value(self, expression: &Expr) -> Value {
        let is_module = self.names.is_module(expression);
        let is_memory = expression.is_name_expr()
            && self.names.resolve(expression).iter().any(|name| {
                matches!(
                    name.as_str(),
                    "io.StringIO()" | "io.BytesIO()" | "open()" | "pandas.ExcelWriter()"
                )
            });
        let kind = self.kind(expression);
        Value { kind, is_module, is_memory, ..self.value_within(expression, DEPTH) }
    }

    /// The kind of an option.
    fn kind(self, expression: &Expr) -> ValueKind {
        match expression {
            Expr::BooleanLiteral(literal) if literal.value => ValueKind::On,
            Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) => ValueKind::Off,
            Expr::Dict(_) => ValueKind::Table,
            Expr::Name(name) if name.id == EMPTY_FILE => self.if_empty_file(expression),
            Expr::Attribute(of) if &of.attr == EMPTY_FILE => self.if_empty_file(expression),
            _ => ValueKind::Other,
        }
    }

    /// Something by the name of the file that holds nothing may be another thing.
    fn if_empty_file(self, expression: &Expr) -> ValueKind {
        let names = self.names.resolve(expression);
        let is_it = names.iter().any(|name| name.strip_suffix(EMPTY_FILE) == Some("subprocess."));
        if is_it { ValueKind::Off } else { ValueKind::Other }
    }

    pub(super) fn value_within(self, expression: &Expr, left: usize) -> Value {
        let items = self.items(expression, left);
        let text = match items.as_deref() {
            // `connect(('host', 80))`: the first element is what a person would call the object.
            Some([first, ..]) => first.clone(),
            Some([]) | None => self.text(expression, left),
        };
        Value { text, items, ..Value::default() }
    }

    /// The elements of a list.
    fn items(self, expression: &Expr, left: usize) -> Option<Vec<Literal>> {
        let left = left.checked_sub(1)?;
        let each =
            |all: &[Expr]| -> Vec<Literal> { cut(all.iter().map(|item| self.text(item, left))) };
        match expression {
            Expr::List(list) => Some(each(&list.elts)),
            Expr::Tuple(tuple) => Some(each(&tuple.elts)),
            Expr::Name(name) => {
                let value = self.names.value(&name.id)?;
                self.names.fuel.copy(value.bytes())?;
                value.items.clone()
            }
            Expr::BinOp(operation) if operation.op == Operator::Add => {
                let mut all = self.items(&operation.left, left)?;
                match self.items(&operation.right, left) {
                    Some(more) => all.extend(more),
                    None => all.push(Literal::computed()),
                }
                Some(cut(all.into_iter()))
            }
            Expr::Call(call) => {
                let is_split = |name: &String| name.rsplit('.').next() == Some("split");
                let names = self.names.resolve(&call.func);
                let of = match (&*call.func, names.iter().any(|name| name == "shlex.split")) {
                    (_, true) => call.arguments.find_positional(0)?,
                    (Expr::Attribute(callee), false) if call.arguments.is_empty() => &callee.value,
                    _ => return None,
                };
                let text = names.iter().any(is_split).then(|| self.text(of, left))?;
                let words = text.whole()?.split_whitespace();
                Some(cut(words.map(|word| Literal::known(word.trim_matches(['"', '\''])))))
            }
            _ => None,
        }
    }

    /// The text that an expression gives.
    pub(super) fn text(self, expression: &Expr, left: usize) -> Literal {
        let text = self.any_text(expression, left);
        let (length, fuel) = (text.len(), &self.names.fuel);
        if length > LONGEST || fuel.copy(length).is_none() { Literal::computed() } else { text }
    }

    fn any_text(self, expression: &Expr, left: usize) -> Literal {
        let (Some(left), Some(())) = (left.checked_sub(1), self.names.fuel.step()) else {
            return Literal::computed();
        };
        match expression {
            Expr::StringLiteral(literal) => Literal::known(literal.value.to_str()),
            Expr::BytesLiteral(literal) => {
                let bytes: Vec<u8> = literal.value.bytes().collect();
                Literal::known(from_bytes(&bytes))
            }
            Expr::FString(format) => {
                let parts = format.value.iter().map(|part| self.format_part(part, left));
                parts.fold(Literal::default(), Literal::then)
            }
            Expr::Name(name) => {
                let value = self.names.value(&name.id).filter(|value| value.items.is_none());
                value.map_or_else(Literal::computed, |value| value.text.clone())
            }
            Expr::Attribute(_) => {
                let names = self.names.resolve(expression);
                if names.iter().any(|name| name == "sys.executable") {
                    return Literal::known("python3");
                }
                Literal::computed()
            }
            Expr::BinOp(operation) => match operation.op {
                Operator::Add => {
                    self.text(&operation.left, left).then(self.text(&operation.right, left))
                }
                Operator::Div => {
                    join(self.text(&operation.left, left), self.text(&operation.right, left))
                }
                Operator::Mod => until_hole(&self.text(&operation.left, left), '%'),
                _ => Literal::computed(),
            },
            Expr::Named(named) => self.text(&named.value, left),
            Expr::Subscript(subscript) => {
                if let Expr::Slice(slice) = &*subscript.slice
                    && slice.step.as_deref().and_then(number) == Some(-1.0)
                    && slice.lower.is_none()
                    && slice.upper.is_none()
                {
                    let text = self.text(&subscript.value, left);
                    return map(&text, |text| Some(text.chars().rev().collect()));
                }
                if self.is_environment(&subscript.value) {
                    return self.variable(&subscript.slice, left);
                }
                let at = number(&subscript.slice).filter(|at| (0.0..256.0).contains(at));
                let items = at.and_then(|_| self.items(&subscript.value, left));
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is between 0 and 256"
                )]
                let item = at.and_then(|at| items?.into_iter().nth(at as usize));
                item.unwrap_or_else(Literal::computed)
            }
            Expr::Call(call) => self.call_text(call, left),
            _ => Literal::computed(),
        }
    }

    fn format_part(self, part: &FStringPart, left: usize) -> Literal {
        match part {
            FStringPart::Literal(literal) => Literal::known(literal.as_str()),
            FStringPart::FString(format) => format
                .elements
                .iter()
                .map(|element| match element {
                    InterpolatedStringElement::Literal(literal) => {
                        Literal::known(literal.value.as_ref())
                    }
                    InterpolatedStringElement::Interpolation(hole)
                        if hole.format_spec.is_none() && hole.debug_text.is_none() =>
                    {
                        self.text(&hole.expression, left)
                    }
                    InterpolatedStringElement::Interpolation(_) => Literal::computed(),
                })
                .fold(Literal::default(), Literal::then),
        }
    }

    /// Whether an expression is the table of environment variables.
    pub(super) fn is_environment(self, expression: &Expr) -> bool {
        self.names.resolve(expression).iter().any(|name| name == "os.environ")
    }

    /// The value of an environment variable, for the one that everybody knows.
    fn variable(self, name: &Expr, left: usize) -> Literal {
        match self.text(name, left).whole() {
            Some("HOME" | "USERPROFILE") => Literal::known("~"),
            _ => Literal::computed(),
        }
    }

    /// The text that a call gives, for the few calls where it shows.
    fn call_text(self, call: &ExprCall, left: usize) -> Literal {
        let argument = |at: usize| match call.arguments.find_positional(at) {
            Some(argument) => self.text(argument, left),
            None => Literal::computed(),
        };
        let names = self.names.resolve(&call.func);
        let is = |list: &[String]| names.iter().any(|name| list.contains(name));
        let goes_by = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
        if goes_by(&["pathlib.Path.home"]) {
            return Literal::known("~");
        }
        if goes_by(&["os.getenv", "os.environ.get"]) {
            let name = call.arguments.find_positional(0);
            return name.map_or_else(Literal::computed, |name| self.variable(name, left));
        }
        if let Some(encoding) = names.iter().find_map(|name| BUILT_IN.python.decodes.get(name)) {
            return map(&argument(0), |text| encoding.undo(text));
        }
        if goes_by(&["codecs.decode", "codecs.encode"]) {
            let encoding = argument(1).whole().and_then(Encoding::named);
            return match encoding {
                Some(encoding) => map(&argument(0), |text| encoding.undo(text)),
                None => argument(0),
            };
        }
        if goes_by(&["chr"]) {
            let code = call.arguments.find_positional(0).and_then(number).and_then(character);
            return code.map_or_else(Literal::computed, Literal::known);
        }
        if goes_by(&["bytes", "bytearray"])
            && let Some(text) = call.arguments.find_positional(0).and_then(characters)
        {
            return Literal::known(text);
        }
        let arguments = || call.arguments.args.iter().map(|one| self.text(one, left));
        if is(&BUILT_IN.python.joins)
            || (is(&BUILT_IN.python.passes) && call.arguments.args.len() > 1)
        {
            let is_seen = call.arguments.args.len() <= WIDTH;
            let joined = is_seen.then(|| arguments().reduce(join)).flatten();
            return joined.unwrap_or_else(Literal::computed);
        }
        if is(&BUILT_IN.python.passes) {
            return argument(0);
        }
        match &*call.func {
            Expr::Attribute(callee) => self.method_text(&callee.value, &callee.attr, call, left),
            _ => Literal::computed(),
        }
    }

    /// The text that a method of a text or a path gives.
    fn method_text(self, of: &Expr, method: &str, call: &ExprCall, left: usize) -> Literal {
        let argument = |at: usize| match call.arguments.find_positional(at) {
            Some(argument) => self.text(argument, left),
            None => Literal::computed(),
        };
        let text = || self.text(of, left);
        match method {
            "format" => until_hole(&text(), '{'),
            "decode" | "encode" => match argument(0).whole().and_then(Encoding::named) {
                Some(encoding) => map(&text(), |text| encoding.undo(text)),
                None => text(),
            },
            "expanduser" | "resolve" | "absolute" | "as_posix" | "tobytes" | "cursor" => text(),
            "strip" | "lstrip" | "rstrip" => map(&text(), |text| Some(text.trim().to_owned())),
            "lower" => map(&text(), |text| Some(text.to_lowercase())),
            "upper" => map(&text(), |text| Some(text.to_uppercase())),
            "replace" => {
                let (from, to) = (argument(0), argument(1));
                match (from.whole(), to.whole()) {
                    (Some(from), Some(to)) if !from.is_empty() && to.len() <= from.len() => {
                        map(&text(), |text| Some(text.replace(from, to)))
                    }
                    _ => Literal::computed(),
                }
            }
            "joinpath" if call.arguments.args.len() <= WIDTH => {
                let parts = call.arguments.args.iter().map(|one| self.text(one, left));
                parts.fold(text(), join)
            }
            "with_suffix" | "with_name" | "with_stem" | "glob" | "rglob" | "iterdir" => {
                text().then(Literal::computed())
            }
            "join" => {
                let Some(list) = call.arguments.find_positional(0) else {
                    return Literal::computed();
                };
                if let Some(text) = characters(list) {
                    return Literal::known(text);
                }
                let items = self.items(list, left).filter(|items| items.len() <= WIDTH);
                let Some(items) = items else { return Literal::computed() };
                let between = text();
                let joined = items.into_iter().reduce(|all, item| {
                    let all = all.then(between.clone());
                    if all.len() > LONGEST { Literal::computed() } else { all.then(item) }
                });
                joined.unwrap_or_default()
            }
            _ => Literal::computed(),
        }
    }
}

/// The first of these elements, and after them a computed one for those that are not looked at.
fn cut(mut items: impl Iterator<Item = Literal>) -> Vec<Literal> {
    let mut first: Vec<_> = items.by_ref().take(WIDTH).collect();
    first.extend(items.next().map(|_| Literal::computed()));
    first
}

/// A text that is known, changed.
fn map(text: &Literal, change: impl FnOnce(&str) -> Option<String>) -> Literal {
    text.whole().and_then(change).map_or_else(Literal::computed, Literal::known)
}

/// The text that a list of character codes spells: `[105, 109]`, `(chr(c) for c in […])`,
/// `map(chr, […])`.
fn characters(expression: &Expr) -> Option<String> {
    let list = match expression {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        Expr::Generator(each) => return spelled(&each.elt, &each.generators.first()?.iter),
        Expr::ListComp(each) => return spelled(&each.elt, &each.generators.first()?.iter),
        Expr::Call(call) if call.func.as_name_expr()?.id == "map" => {
            let (by, of) = (call.arguments.find_positional(0)?, call.arguments.find_positional(1)?);
            return (by.as_name_expr()?.id == "chr").then(|| characters(of))?;
        }
        _ => return None,
    };
    let one = |item: &Expr| number(item).and_then(character);
    (list.len() <= LONGEST && !list.is_empty()).then(|| list.iter().map(one).collect())?
}

fn spelled(each: &Expr, of: &Expr) -> Option<String> {
    (each.as_call_expr()?.func.as_name_expr()?.id == "chr").then(|| characters(of))?
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is a whole number of the right size"
)]
fn character(code: f64) -> Option<char> {
    let is_code = code.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&code);
    is_code.then(|| char::from_u32(code as u32))?
}

/// The number that an expression gives, if it stands in the code.
pub(super) fn number(expression: &Expr) -> Option<f64> {
    number_within(expression, 16)
}

fn number_within(expression: &Expr, left: usize) -> Option<f64> {
    let left = left.checked_sub(1)?;
    match expression {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(whole) => match whole.as_u64() {
                Some(whole) => whole.to_string().parse().ok(),
                None => Some(f64::INFINITY),
            },
            Number::Float(number) => Some(*number),
            Number::Complex { .. } => None,
        },
        Expr::UnaryOp(negated) if negated.op == UnaryOp::USub => {
            Some(-number_within(&negated.operand, left)?)
        }
        Expr::BinOp(operation) => {
            let first = number_within(&operation.left, left)?;
            let second = number_within(&operation.right, left)?;
            match operation.op {
                Operator::Add => Some(first + second),
                Operator::Sub => Some(first - second),
                Operator::Mult => Some(first * second),
                Operator::Pow => Some(first.powf(second)),
                Operator::LShift => Some(first * second.exp2()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Text up to where a format puts something in.
fn until_hole(format: &Literal, sign: char) -> Literal {
    match format.start().split_once(sign) {
        Some((start, _)) => Literal::known(start).then(Literal::computed()),
        None => format.clone(),
    }
}

fn join(folder: Literal, name: Literal) -> Literal {
    if name.start().starts_with('/') {
        return name;
    }
    if folder.whole() == Some("") {
        return name;
    }
    let slash = if folder.ends_with('/') { "" } else { "/" };
    folder.then(Literal::known(slash)).then(name)
}
