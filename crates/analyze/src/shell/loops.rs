//! Loops and functions of a shell that never end.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use shuck_ast::{
    BinaryOp, BuiltinCommand, Command, CompoundCommand, Stmt, StmtSeq, static_command_name_text,
};

/// Whether a loop's condition always holds: `true`, `:`.
pub(super) fn always(condition: &StmtSeq, source: &str) -> bool {
    let mut statements = condition.iter();
    match (statements.next().map(|one| &one.command), statements.next()) {
        (Some(Command::Simple(simple)), None) => {
            let name = static_command_name_text(&simple.name, source);
            matches!(name.as_deref(), Some("true" | ":")) && simple.args.is_empty()
        }
        _ => false,
    }
}

/// Whether something in a loop's body ends it.
pub(super) fn ends(body: &StmtSeq, source: &str) -> bool {
    body.iter().any(|statement| {
        any(statement, &mut |one| match &one.command {
            Command::Builtin(builtin) => !matches!(builtin, BuiltinCommand::Continue(_)),
            Command::Simple(simple) => {
                let name = static_command_name_text(&simple.name, source);
                matches!(name.as_deref(), Some("exec" | "read" | "break" | "exit" | "return"))
            }
            _ => false,
        })
    })
}

/// Whether a function starts itself on both sides of a pipe, or behind its own back.
pub(super) fn calls_itself_twice(body: &Stmt, name: &str, source: &str) -> bool {
    let mut calls = 0_usize;
    let mut piped = false;
    any(body, &mut |one| {
        match &one.command {
            Command::Simple(simple) => {
                let called = static_command_name_text(&simple.name, source);
                calls += usize::from(called.as_deref() == Some(name));
            }
            Command::Binary(binary) => {
                piped |= matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll);
            }
            _ => {}
        }
        false
    });
    calls > 1 && piped
}

/// Whether a statement, or one inside it, is what is looked for. The parser bounds the depth.
fn any(statement: &Stmt, is: &mut dyn FnMut(&Stmt) -> bool) -> bool {
    if is(statement) {
        return true;
    }
    let mut all = |body: &StmtSeq| body.iter().any(|one| any(one, is));
    match &statement.command {
        Command::Binary(binary) => any(&binary.left, is) || any(&binary.right, is),
        Command::Compound(compound) => match compound {
            CompoundCommand::If(one) => {
                all(&one.condition)
                    || all(&one.then_branch)
                    || one.elif_branches.iter().any(|(test, branch)| all(test) || all(branch))
                    || one.else_branch.as_ref().is_some_and(all)
            }
            CompoundCommand::For(one) => all(&one.body),
            CompoundCommand::While(one) => all(&one.condition) || all(&one.body),
            CompoundCommand::Until(one) => all(&one.condition) || all(&one.body),
            CompoundCommand::Case(one) => one.cases.iter().any(|case| all(&case.body)),
            CompoundCommand::Subshell(body) | CompoundCommand::BraceGroup(body) => all(body),
            _ => false,
        },
        _ => false,
    }
}
