//! The arguments of a Python call, as far as they stand in the code.

use super::names::Names;
use crate::{
    call::{Arguments, Call, Value},
    call_rules::CallRules,
    literal::Literal,
};
use ruff_python_ast::{Expr, ExprCall, FStringPart, InterpolatedStringElement, Operator};

/// How deep an expression is followed for its text.
const DEPTH: usize = 64;

/// Most arguments and list elements that are looked at.
const WIDTH: usize = 256;

/// A call as the rules see it.
pub(super) fn call(call: &ExprCall, names: &Names, rules: &CallRules, line: u32) -> Call {
    let reader = Reader { names, rules };
    let spread = call.arguments.args.iter().any(Expr::is_starred_expr)
        || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
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
        line,
    }
}

struct Reader<'a> {
    names: &'a Names,
    rules: &'a CallRules,
}

impl Reader<'_> {
    fn value(&self, expression: &Expr) -> Value {
        let items = match expression {
            Expr::List(list) => Some(&list.elts),
            Expr::Tuple(tuple) => Some(&tuple.elts),
            _ => None,
        };
        let items = items.map(|items| {
            items.iter().take(WIDTH).map(|item| self.text(item, DEPTH)).collect::<Vec<_>>()
        });
        let text = match items.as_deref() {
            // `connect(('host', 80))`: the first element is what a person would call the object.
            Some([first, ..]) => first.clone(),
            Some([]) | None => self.text(expression, DEPTH),
        };
        Value { text, items, is_module: self.names.is_module(expression) }
    }

    /// The text that an expression gives.
    fn text(&self, expression: &Expr, left: usize) -> Literal {
        let Some(left) = left.checked_sub(1) else { return Literal::computed() };
        match expression {
            Expr::StringLiteral(literal) => Literal::known(literal.value.to_str()),
            Expr::BytesLiteral(literal) => {
                let bytes: Vec<u8> = literal.value.bytes().collect();
                String::from_utf8(bytes).map_or_else(|_| Literal::computed(), Literal::known)
            }
            Expr::FString(format) => {
                format.value.iter().map(format_part).fold(Literal::default(), Literal::then)
            }
            Expr::Name(name) => {
                self.names.constant(&name.id).cloned().unwrap_or_else(Literal::computed)
            }
            Expr::BinOp(operation) => match operation.op {
                Operator::Add => {
                    self.text(&operation.left, left).then(self.text(&operation.right, left))
                }
                Operator::Div => {
                    join(self.text(&operation.left, left), self.text(&operation.right, left))
                }
                Operator::Mod => until_hole(&self.text(&operation.left, left), '%'),
                Operator::Sub
                | Operator::Mult
                | Operator::MatMult
                | Operator::Pow
                | Operator::LShift
                | Operator::RShift
                | Operator::BitOr
                | Operator::BitXor
                | Operator::BitAnd
                | Operator::FloorDiv => Literal::computed(),
            },
            Expr::Named(named) => self.text(&named.value, left),
            Expr::Call(call) => self.call_text(call, left),
            _ => Literal::computed(),
        }
    }

    /// The text that a call gives, for the few calls where it shows.
    fn call_text(&self, call: &ExprCall, left: usize) -> Literal {
        if let Expr::Attribute(callee) = &*call.func
            && &callee.attr == "format"
        {
            return until_hole(&self.text(&callee.value, left), '{');
        }
        let names = self.names.resolve(&call.func);
        let is = |list: &[String]| names.iter().any(|name| list.contains(name));
        let arguments = call.arguments.args.iter().take(WIDTH).map(|one| self.text(one, left));
        if names.iter().any(|name| name == "pathlib.Path.home") {
            Literal::known("~")
        } else if is(&self.rules.joins) {
            arguments.reduce(join).unwrap_or_else(Literal::computed)
        } else if is(&self.rules.passes) {
            arguments.take(1).next().unwrap_or_else(Literal::computed)
        } else {
            Literal::computed()
        }
    }
}

fn format_part(part: &FStringPart) -> Literal {
    match part {
        FStringPart::Literal(literal) => Literal::known(literal.as_str()),
        FStringPart::FString(format) => format
            .elements
            .iter()
            .map(|element| match element {
                InterpolatedStringElement::Literal(literal) => {
                    Literal::known(literal.value.as_ref())
                }
                InterpolatedStringElement::Interpolation(_) => Literal::computed(),
            })
            .fold(Literal::default(), Literal::then),
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
    folder.then(Literal::known("/")).then(name)
}
