//! The walk over a shell script's statements.
//!
//! It goes over the tree twice: first to learn which names are functions and what variables hold,
//! then to judge. Recursion is bounded by the parser, which refuses deep trees.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node, of which few matter; the rest is not understood"
)]

use super::{
    command::{self, Input, Scene},
    loops,
    names::Names,
    output, redirect, site, words,
};
use crate::{
    analysis::{Analysis, Script},
    literal::Literal,
    place,
    rules::BUILT_IN,
    says::{Says, Site},
};
use interpreter_core::{Confidence, Deed, Risk};
use shuck_ast::{
    ArithmeticForCommand, Assignment, AssignmentValue, BinaryCommand, BinaryOp, BuiltinCommand,
    Command, CompoundCommand, ConditionalExpr, DeclOperand, File, Redirect, RedirectTarget,
    SimpleCommand, Span, Stmt, StmtSeq, Word, static_command_name_text,
};

/// How many pipes in a row are followed.
const PIPES: usize = 8;

/// Walks a whole script.
pub(super) fn walk(file: &File, script: &Script, analysis: &mut Analysis) {
    let nothing = Names::default();
    let mut scratch = Analysis::new(analysis.rules.clone());
    let mut learning = Walk::new(script, &nothing, &mut scratch);
    learning.learned = Names::after(script.known.clone());
    learning.is_learning = true;
    learning.statements(&file.body, &Input::Nothing);
    let names = learning.learned;
    Walk::new(script, &names, analysis).statements(&file.body, &Input::Nothing);
    let learned = names.learned(script.known.clone(), analysis.found.so_far());
    analysis.learn(script, learned);
}

pub(super) struct Walk<'a> {
    pub(super) script: &'a Script,
    names: &'a Names,
    learned: Names,
    /// Whether this is the first of the two walks.
    is_learning: bool,
    /// The statement that is walked.
    here: Site,
    pub(super) analysis: &'a mut Analysis,
}

impl<'a> Walk<'a> {
    fn new(script: &'a Script, names: &'a Names, analysis: &'a mut Analysis) -> Self {
        let here = script.line(1);
        Self { script, names, learned: Names::default(), is_learning: false, here, analysis }
    }

    pub(super) fn names(&self) -> &Names {
        if self.is_learning { &self.learned } else { self.names }
    }

    fn site(&self, span: Span) -> Site {
        site(self.script, span)
    }

    fn say(&mut self, deed: Deed, severity: Risk, why: &str, at: Site) {
        self.analysis.note(Says::new(deed, severity, why), &Literal::default(), at);
    }

    pub(super) fn statements(&mut self, statements: &StmtSeq, input: &Input) {
        for statement in statements.iter() {
            self.statement(statement, input);
        }
    }

    fn statement(&mut self, statement: &Stmt, input: &Input) {
        self.here = self.site(statement.span);
        let mut empties = false;
        if let Command::Simple(simple) = &statement.command {
            let name = words::text(&simple.name, &self.script.text, self.names());
            empties = matches!(name.whole(), Some("" | ":" | "true"));
        }
        let names = if self.is_learning { &self.learned } else { self.names };
        let scene = redirect::Scene { script: self.script, names, empties };
        let own = redirect::judge(&statement.redirects, &scene, self.analysis);
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
                let names: Vec<_> =
                    function.static_names().map(|name| name.as_str().to_owned()).collect();
                let line = |own: usize| self.script.line(own).line;
                let lines = line(function.span.start.line())..=line(function.span.end.line());
                for name in names {
                    if loops::calls_itself_twice(&function.body, &name, &self.script.text) {
                        let at = self.site(function.span);
                        self.say(Deed::Endless, Risk::High, "a function starts itself twice", at);
                        self.say(Deed::Floods, Risk::High, "it fills the table of processes", at);
                    }
                    self.learned.bodies.push((name.clone(), lines.clone()));
                    self.learned.functions.insert(name);
                }
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
            BinaryOp::Pipe | BinaryOp::PipeAll => {
                let piped = self.output(&binary.left, input, PIPES);
                self.statement(&binary.right, &Input::Pipe(piped));
            }
        }
    }

    /// The text that a statement prints, if it is plain.
    fn output(&self, statement: &Stmt, input: &Input, left: usize) -> Option<Literal> {
        let left = left.checked_sub(1)?;
        match &statement.command {
            Command::Simple(simple) => {
                let own = redirect::input(&statement.redirects, &self.script.text, self.names());
                let input = own.as_ref().unwrap_or(input);
                let words = std::iter::once(&simple.name).chain(&simple.args);
                let words: Vec<_> =
                    words.map(|word| words::text(word, &self.script.text, self.names())).collect();
                output::of(&words, input)
            }
            Command::Binary(binary) if matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll) => {
                let piped = Input::Pipe(self.output(&binary.left, input, left));
                self.output(&binary.right, &piped, left)
            }
            _ => None,
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, input: &Input) {
        self.assignments(&simple.assignments);
        self.word(&simple.name);
        self.words(&simple.args);
        let source = &self.script.text;
        let at = self.site(simple.span);
        let arguments: Vec<Literal> =
            simple.args.iter().map(|word| words::text(word, source, self.names())).collect();
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
            word.whole().is_some_and(|name| {
                BUILT_IN.shell.interpreter(command::program_name(name)).is_some()
            })
        };
        let command: Vec<Literal> = name.into_iter().chain(arguments).collect();
        if runs_process && command.iter().any(is_interpreter) {
            self.analysis.hides("what it runs is fetched or made by another program", at);
        }
        let names = if self.is_learning { &self.learned } else { self.names };
        if let Some(name) = command.first().and_then(Literal::whole) {
            for &(deed, severity) in names.does(name) {
                let says = Says::new(deed, severity, "an earlier cell's function does");
                self.analysis.note(says.at_most(Confidence::Likely), &Literal::computed(), at);
            }
        }
        let scene = Scene { script: self.script, at, input, names: Some(names) };
        command::judge(&command, &scene, self.analysis);
    }

    /// The words that a command's first word becomes.
    fn program(&self, word: &Word) -> Vec<Literal> {
        let held = words::variable(word).and_then(|name| self.names().value(name));
        if let Some(text) = held {
            return text.split_whitespace().map(Literal::known).collect();
        }
        if word.has_active_brace_expansion() {
            return vec![Literal::computed()];
        }
        vec![match static_command_name_text(word, &self.script.text) {
            Some(name) => Literal::known(name),
            None => words::text(word, &self.script.text, self.names()),
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
                self.counted(one);
                self.statements(&one.body, input);
            }
            CompoundCommand::While(one) => {
                self.repeated(&one.condition, &one.body, one.span);
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

    /// A variable that is looked up: a secret, if it sounds like one and is not the script's own.
    pub(super) fn variable(&mut self, name: &str) {
        if place::is_secret(name) && !self.names().is_set(name) {
            let says = Says::new(Deed::Environment, Risk::Low, "a variable of the environment");
            self.analysis.note(says, &Literal::known(name), self.here);
        }
    }

    fn counted(&mut self, one: &ArithmeticForCommand) {
        let is_empty = one.condition_span.is_none_or(|span| span.start == span.end);
        if one.condition_ast.is_none() && is_empty {
            self.endless(&one.body, one.span);
        }
        for part in [&one.init_ast, &one.condition_ast, &one.step_ast].into_iter().flatten() {
            self.arithmetic(part);
        }
    }

    fn repeated(&mut self, condition: &StmtSeq, body: &StmtSeq, span: Span) {
        if loops::always(condition, &self.script.text) {
            self.endless(body, span);
        }
    }

    fn endless(&mut self, body: &StmtSeq, span: Span) {
        if !loops::ends(body, &self.script.text) {
            let at = self.site(span);
            self.say(Deed::Endless, Risk::Medium, "a loop without an end", at);
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
                let text = words::text(word, &self.script.text, self.names());
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
        if BUILT_IN.shell.is_steering(name) {
            let at = self.site(assignment.span);
            let why = "it decides which code later commands run";
            let says = Says::new(Deed::Hides, Risk::Medium, why);
            self.analysis.note(says, &Literal::known(name), at);
        }
    }
}
