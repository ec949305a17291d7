//! Loops without an end, and numbers too large for a machine.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use super::values::number;
use ruff_python_ast::{
    Expr, ExprCall, Operator, Stmt, StmtFunctionDef,
    visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt},
};

/// More bytes or elements than an ordinary machine holds.
const TOO_MANY: f64 = 2e9;

/// Whether a condition always holds.
pub(super) fn always(test: &Expr) -> bool {
    match test {
        Expr::BooleanLiteral(literal) => literal.value,
        Expr::NumberLiteral(_) => number(test).is_some_and(|number| number != 0.0),
        _ => false,
    }
}

/// How a loop that nothing outside ends goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Something inside ends it, or its caller takes one thing at a time.
    Ends,
    Endless,
    /// It also takes more memory or more processes each time.
    Growing,
}

/// How the body of such a loop goes on.
pub(super) fn ending(body: &[Stmt]) -> Ending {
    let mut search = Search { depth: 0, ends: false, grows: false };
    search.visit_body(body);
    match (search.ends, search.grows) {
        (true, _) => Ending::Ends,
        (false, true) => Ending::Growing,
        (false, false) => Ending::Endless,
    }
}

/// Whether a function calls itself before anything could end it.
pub(super) fn calls_itself(function: &StmtFunctionDef) -> bool {
    for statement in &function.body {
        let value = match statement {
            Stmt::Expr(one) => Some(&*one.value),
            Stmt::Assign(one) => Some(&*one.value),
            Stmt::Return(one) => one.value.as_deref(),
            Stmt::Pass(_) | Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Global(_) => None,
            // Whatever branches may end it.
            _ => return false,
        };
        let mut left = 64;
        if value.is_some_and(|value| calls(value, &function.name, &mut left)) {
            return true;
        }
        if statement.is_return_stmt() {
            return false;
        }
    }
    false
}

/// Whether an expression surely calls a function of this name.
fn calls(expression: &Expr, name: &str, left: &mut usize) -> bool {
    let Some(less) = left.checked_sub(1) else { return false };
    *left = less;
    match expression {
        Expr::Call(call) => {
            call.func.as_name_expr().is_some_and(|callee| callee.id == name)
                || call.arguments.args.iter().any(|one| calls(one, name, left))
        }
        Expr::BinOp(both) => calls(&both.left, name, left) || calls(&both.right, name, left),
        Expr::UnaryOp(one) => calls(&one.operand, name, left),
        Expr::Await(one) => calls(&one.value, name, left),
        Expr::List(list) => list.elts.iter().any(|one| calls(one, name, left)),
        Expr::Tuple(list) => list.elts.iter().any(|one| calls(one, name, left)),
        _ => false,
    }
}

struct Search {
    /// How many loops inside this one we are in.
    depth: usize,
    ends: bool,
    grows: bool,
}

impl<'a> SourceOrderVisitor<'a> for Search {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Break(_) if self.depth == 0 => self.ends = true,
            Stmt::Return(_) | Stmt::Raise(_) => self.ends = true,
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::For(_) | Stmt::While(_) => {
                self.depth += 1;
                walk_stmt(self, statement);
                self.depth -= 1;
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) => self.ends = true,
            Expr::Lambda(_) => return,
            Expr::Call(call) => {
                let name = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(callee) => callee.attr.as_str(),
                    _ => "",
                };
                match name {
                    "exit" | "quit" | "_exit" | "input" | "next" => self.ends = true,
                    "append" | "extend" | "fork" | "Popen" | "bytearray" | "Process" | "Thread"
                    | "write" => self.grows = true,
                    _ => {}
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// Whether an iterator gives things without end, if nobody stops.
pub(super) fn is_endless_source(names: &[String], call: &ExprCall) -> bool {
    let is = |wanted: &str| names.iter().any(|name| name == wanted);
    is("itertools.count")
        || is("itertools.cycle")
        || (is("itertools.repeat") && call.arguments.len() == 1)
        || (is("iter") && call.arguments.len() == 2)
}

/// Whether an operation gives more than a machine holds: `"A" * 10**12`.
pub(super) fn is_too_large(operation: &ruff_python_ast::ExprBinOp) -> bool {
    let is_sequence = |side: &Expr| {
        matches!(
            side,
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::List(_) | Expr::Tuple(_)
        )
    };
    let sides = [(&operation.left, &operation.right), (&operation.right, &operation.left)];
    operation.op == Operator::Mult
        && sides.into_iter().any(|(sequence, times)| {
            is_sequence(sequence) && number(times).is_some_and(|times| times > TOO_MANY)
        })
}

/// Whether a call makes more than a machine holds: `bytearray(10**12)`, `np.zeros((10**6, 10**6))`.
pub(super) fn makes_too_much(names: &[String], call: &ExprCall) -> bool {
    let is_maker = names.iter().any(|name| {
        matches!(
            name.as_str(),
            "bytearray"
                | "bytes"
                | "numpy.zeros"
                | "numpy.ones"
                | "numpy.empty"
                | "numpy.full"
                | "numpy.random.rand"
                | "torch.zeros"
                | "torch.ones"
                | "os.urandom"
        )
    });
    let size = |expression: &Expr| match expression {
        Expr::Tuple(tuple) => tuple.elts.iter().take(16).map(number).product::<Option<f64>>(),
        other => number(other),
    };
    let first = call.arguments.args.first();
    if names.iter().any(|name| matches!(name.as_str(), "list" | "tuple" | "set" | "sorted")) {
        // `list(range(10**12))`.
        let range = first.and_then(Expr::as_call_expr);
        let is_range =
            |call: &&ExprCall| call.func.as_name_expr().is_some_and(|name| name.id == "range");
        let last =
            range.filter(is_range).and_then(|range| range.arguments.args.iter().take(2).last());
        return last.and_then(number).is_some_and(|size| size > TOO_MANY);
    }
    is_maker && first.and_then(size).is_some_and(|size| size > TOO_MANY)
}
