//! The walk over a shell script's statements.
//!
//! It goes over the tree twice: first to learn which names are functions and what variables hold,
//! then to judge. Recursion is bounded by the parser, which refuses deep trees.

use super::{
    command::{self, Input, Scene},
    redirect,
    rules::RULES,
    words,
};
use crate::{
    analysis::{Analysis, Script},
    literal::Literal,
};
use interpreter_core::{Deed, Risk};
use shuck_ast::{
    Assignment, AssignmentValue, BinaryCommand, BinaryOp, BuiltinCommand, Command, CompoundCommand,
    ConditionalExpr, DeclOperand, File, Redirect, RedirectTarget, SimpleCommand, Stmt, StmtSeq,
    Word, static_command_name_text,
};
use std::collections::{HashMap, HashSet};

/// Walks a whole script.
pub(super) fn walk(file: &File, script: &Script, analysis: &mut Analysis) {
    let nothing = Names::default();
    let mut scratch = Analysis::default();
    let mut learning = Walk::new(script, &nothing, &mut scratch);
    learning.statements(&file.body, &Input::Nothing);
    let names = learning.learned;
    Walk::new(script, &names, analysis).statements(&file.body, &Input::Nothing);
}

/// The meanings of names in a script.
#[derive(Default)]
struct Names {
    functions: HashSet<String>,
    /// Variables; `None` for one that may hold several things.
    variables: HashMap<String, Option<String>>,
}

impl Names {
    fn set(&mut self, variable: &str, value: Option<&str>) {
        self.variables
            .entry(variable.to_owned())
            .and_modify(|held| {
                if held.as_deref() != value {
                    *held = None;
                }
            })
            .or_insert_with(|| value.map(str::to_owned));
    }
}

pub(super) struct Walk<'a> {
    pub(super) script: &'a Script,
    names: &'a Names,
    learned: Names,
    analysis: &'a mut Analysis,
}

impl<'a> Walk<'a> {
    fn new(script: &'a Script, names: &'a Names, analysis: &'a mut Analysis) -> Self {
        Self { script, names, learned: Names::default(), analysis }
    }

    pub(super) fn statements(&mut self, statements: &StmtSeq, input: &Input) {
        for statement in statements.iter() {
            self.statement(statement, input);
        }
    }

    fn statement(&mut self, statement: &Stmt, input: &Input) {
        let own = redirect::judge(&statement.redirects, self.script, self.analysis);
        self.redirects(&statement.redirects);
        let input = own.as_ref().unwrap_or(input);
        match &statement.command {
            Command::Simple(simple) => self.simple(simple, input),
            Command::Builtin(builtin) => self.builtin(builtin),
            Command::Decl(declaration) => {
                self.assignments(&declaration.assignments);
                for operand in &declaration.operands {
                    match operand {
                        DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => self.word(word),
                        DeclOperand::Name(name) => self.reference(name),
                        DeclOperand::Assignment(assignment) => self.assignment(assignment),
                    }
                }
            }
            Command::Binary(binary) => self.binary(binary, input),
            Command::Compound(compound) => self.compound(compound, input),
            Command::Function(function) => {
                let names = function.static_names().map(|name| name.as_str().to_owned());
                self.learned.functions.extend(names);
                self.statement(&function.body, input);
            }
            Command::AnonymousFunction(function) => {
                self.words(&function.args);
                self.statement(&function.body, input);
            }
        }
    }

    fn binary(&mut self, binary: &BinaryCommand, input: &Input) {
        self.statement(&binary.left, input);
        match binary.op {
            BinaryOp::And | BinaryOp::Or => self.statement(&binary.right, input),
            BinaryOp::Pipe | BinaryOp::PipeAll => self.statement(&binary.right, &Input::Pipe),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, input: &Input) {
        self.assignments(&simple.assignments);
        self.word(&simple.name);
        self.words(&simple.args);
        let source = &self.script.text;
        let line = self.script.line(simple.span.start.line());
        let arguments: Vec<Literal> =
            simple.args.iter().map(|word| words::text(word, source)).collect();
        let name = self.program(&simple.name);
        // Programs that put what they read into variables.
        if let Some("read" | "mapfile" | "readarray" | "getopts" | "printf" | "let") =
            name.first().and_then(Literal::whole)
        {
            for variable in arguments.iter().filter_map(Literal::whole) {
                self.learned.set(variable, None);
            }
        }
        if name.first().and_then(Literal::whole) == Some("") && arguments.is_empty() {
            return; // Assignments alone.
        }
        let runs_process = simple.args.iter().any(words::has_process);
        let is_interpreter = |word: &Literal| {
            word.whole()
                .is_some_and(|name| RULES.interpreter(command::program_name(name)).is_some())
        };
        let command: Vec<Literal> = name.into_iter().chain(arguments).collect();
        if runs_process && command.iter().any(is_interpreter) {
            self.analysis.hides(line);
        }
        let functions = Some(&self.names.functions);
        let scene = Scene { script: self.script, line, input, functions };
        command::judge(&command, &scene, self.analysis);
    }

    /// The words that a command's first word becomes.
    fn program(&self, word: &Word) -> Vec<Literal> {
        let held = words::variable(word).and_then(|name| self.names.variables.get(name));
        if let Some(Some(text)) = held {
            return text.split_whitespace().map(Literal::known).collect();
        }
        if word.has_active_brace_expansion() {
            return vec![Literal::computed()];
        }
        vec![match static_command_name_text(word, &self.script.text) {
            Some(name) => Literal::known(name),
            None => words::text(word, &self.script.text),
        }]
    }

    fn builtin(&mut self, builtin: &BuiltinCommand) {
        let (first, rest, assignments) = match builtin {
            BuiltinCommand::Break(one) => (&one.depth, &one.extra_args, &one.assignments),
            BuiltinCommand::Continue(one) => (&one.depth, &one.extra_args, &one.assignments),
            BuiltinCommand::Return(one) => (&one.code, &one.extra_args, &one.assignments),
            BuiltinCommand::Exit(one) => (&one.code, &one.extra_args, &one.assignments),
        };
        self.assignments(assignments);
        self.words(first);
        self.words(rest);
    }

    fn compound(&mut self, compound: &CompoundCommand, input: &Input) {
        match compound {
            CompoundCommand::If(one) => {
                self.statements(&one.condition, input);
                self.statements(&one.then_branch, input);
                for (condition, branch) in &one.elif_branches {
                    self.statements(condition, input);
                    self.statements(branch, input);
                }
                if let Some(branch) = &one.else_branch {
                    self.statements(branch, input);
                }
            }
            CompoundCommand::For(one) => {
                for target in &one.targets {
                    if let Some(name) = &target.name {
                        self.learned.set(name.as_str(), None);
                    }
                }
                self.words(one.words.iter().flatten());
                self.statements(&one.body, input);
            }
            CompoundCommand::Repeat(one) => {
                self.word(&one.count);
                self.statements(&one.body, input);
            }
            CompoundCommand::Foreach(one) => {
                self.learned.set(one.variable.as_str(), None);
                self.words(&one.words);
                self.statements(&one.body, input);
            }
            CompoundCommand::Select(one) => {
                self.learned.set(one.variable.as_str(), None);
                self.words(&one.words);
                self.statements(&one.body, input);
            }
            CompoundCommand::ArithmeticFor(one) => {
                for part in [&one.init_ast, &one.condition_ast, &one.step_ast].into_iter().flatten()
                {
                    self.arithmetic(part);
                }
                self.statements(&one.body, input);
            }
            CompoundCommand::While(one) => {
                self.statements(&one.condition, input);
                self.statements(&one.body, input);
            }
            CompoundCommand::Until(one) => {
                self.statements(&one.condition, input);
                self.statements(&one.body, input);
            }
            CompoundCommand::Case(one) => {
                self.word(&one.word);
                for case in &one.cases {
                    for pattern in &case.patterns {
                        self.pattern(pattern);
                    }
                    self.statements(&case.body, input);
                }
            }
            CompoundCommand::Subshell(body) | CompoundCommand::BraceGroup(body) => {
                self.statements(body, input);
            }
            CompoundCommand::Arithmetic(one) => {
                if let Some(expression) = &one.expr_ast {
                    self.arithmetic(expression);
                }
            }
            CompoundCommand::Time(one) => {
                if let Some(timed) = &one.command {
                    self.statement(timed, input);
                }
            }
            CompoundCommand::Conditional(one) => self.conditional(&one.expression),
            CompoundCommand::Coproc(one) => self.statement(&one.body, input),
            CompoundCommand::Always(one) => {
                self.statements(&one.body, input);
                self.statements(&one.always_body, input);
            }
        }
    }

    fn conditional(&mut self, expression: &ConditionalExpr) {
        match expression {
            ConditionalExpr::Binary(binary) => {
                self.conditional(&binary.left);
                self.conditional(&binary.right);
            }
            ConditionalExpr::Unary(unary) => self.conditional(&unary.expr),
            ConditionalExpr::Parenthesized(inner) => self.conditional(&inner.expr),
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => self.word(word),
            ConditionalExpr::Pattern(pattern) => self.pattern(pattern),
            ConditionalExpr::VarRef(reference) => self.reference(reference),
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::Word(word) => self.word(word),
                RedirectTarget::Heredoc(heredoc) => self.heredoc(&heredoc.body),
            }
        }
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            self.assignment(assignment);
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.reference(&assignment.target);
        let name = assignment.target.name.as_str();
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let text = words::text(word, &self.script.text);
                let value = if assignment.append { None } else { text.whole() };
                self.learned.set(name, value);
                self.word(word);
            }
            AssignmentValue::Compound(list) => {
                self.learned.set(name, None);
                for element in &list.elements {
                    self.word(element.value());
                }
            }
        }
        if RULES.is_steering(name) {
            let line = self.script.line(assignment.span.start.line());
            self.analysis.note(Deed::Hides, Risk::Medium, &Literal::known(name), line);
        }
    }
}
