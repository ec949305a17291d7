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
    folder::Folder,
    literal::Literal,
    place,
    rules::BUILT_IN,
    says::{Says, Site},
};
use interpreter_core::{Deed, Risk};
use shuck_ast::{
    ArithmeticForCommand, Assignment, AssignmentValue, BinaryCommand, BinaryOp, BuiltinCommand,
    Command, CompoundCommand, ConditionalExpr, DeclOperand, File, Redirect, RedirectTarget,
    SimpleCommand, Span, Stmt, StmtSeq, StmtTerminator, Word, static_command_name_text,
};
use std::collections::HashSet;

/// Most bytes of printed text that are followed through the pipes of a script.
const PRINTED: usize = 1024 * 1024;

/// Walks a whole script.
pub(super) fn walk(file: &File, script: &Script, analysis: &mut Analysis) {
    let nothing = Names::default();
    let mut learning = Walk::new(script, &nothing, analysis);
    learning.learned = Names::after(script.known.clone(), first_set(file));
    learning.is_learning = true;
    let input = Input::of(script.input.clone());
    learning.statements(&file.body, &input);
    let names = learning.learned;
    analysis.folder = if script.known.is_moved { Folder::Elsewhere } else { Folder::Work };
    Walk::new(script, &names, analysis).statements(&file.body, &input);
    analysis.folder = Folder::Work;
    let learned = names.learned(script.known.clone(), analysis.so_far());
    analysis.learn(script, learned);
}

/// The variables that a script sets before it does anything else.
fn first_set(file: &File) -> HashSet<String> {
    let assignments = file.body.iter().map_while(|statement| match &statement.command {
        Command::Simple(simple)
            if simple.args.is_empty()
                && simple.name.span.start == simple.name.span.end
                && statement.redirects.is_empty()
                && statement.terminator.is_none_or(|end| end == StmtTerminator::Semicolon) =>
        {
            Some(&simple.assignments)
        }
        _ => None,
    });
    // Such as take their own earlier value are set by that.
    let plain = |one: &&Assignment| !one.append && one.target.subscript.is_none();
    let set = assignments.flatten().filter(plain);
    set.map(|one| one.target.name.as_str().to_owned()).collect()
}

pub(super) struct Walk<'a> {
    pub(super) script: &'a Script,
    names: &'a Names,
    pub(super) learned: Names,
    /// Whether this is the first of the two walks.
    pub(super) is_learning: bool,
    /// The statement that is walked.
    here: Site,
    /// How many more bytes of printed text are followed.
    printed: usize,
    /// In how many shells inside the script's own the walk is.
    pub(super) inside: usize,
    /// In how many loops and functions it is.
    pub(super) repeats: usize,
    pub(super) analysis: &'a mut Analysis,
}

impl<'a> Walk<'a> {
    fn new(script: &'a Script, names: &'a Names, analysis: &'a mut Analysis) -> Self {
        let here = script.line(1);
        let (learned, is_learning, printed) = (Names::default(), false, PRINTED);
        Self { script, names, learned, is_learning, here, printed, inside: 0, repeats: 0, analysis }
    }

    pub(super) fn names(&self) -> &Names {
        if self.is_learning { &self.learned } else { self.names }
    }

    pub(super) fn site(&self, span: Span) -> Site {
        site(self.script, span)
    }

    fn say(&mut self, deed: Deed, severity: Risk, why: &str, at: Site) {
        if self.is_learning {
            return;
        }
        self.analysis.note(Says::new(deed, severity, why), &Literal::default(), at);
    }

    pub(super) fn statements(&mut self, statements: &StmtSeq, input: &Input) {
        for statement in statements.iter() {
            self.settled(|walk| walk.statement(statement, input));
        }
    }

    /// Walks a statement, and gives the text that it prints if that is plain.
    fn statement(&mut self, statement: &Stmt, input: &Input) -> Option<Literal> {
        let own = if self.is_learning { None } else { self.opened(statement) };
        self.redirects(&statement.redirects);
        let input = own.as_ref().unwrap_or(input);
        match &statement.command {
            Command::Simple(simple) => return self.simple(simple, input),
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
            Command::Binary(binary) => return self.binary(binary, input),
            Command::Compound(compound) => self.compound(compound, input),
            Command::Function(function) => {
                let names: Vec<_> =
                    function.static_names().map(|name| name.as_str().to_owned()).collect();
                let line = |own: usize| self.script.line(own).line;
                let lines = line(function.span.start.line())..=line(function.span.end.line());
                for name in names {
                    if self.is_learning {
                        self.learned.bodies.push((name.clone(), lines.clone()));
                        self.learned.functions.insert(name);
                        continue;
                    }
                    if loops::calls_itself_twice(&function.body, &name, &self.script.text) {
                        let at = self.site(function.span);
                        self.say(Deed::Endless, Risk::High, "a function starts itself twice", at);
                        self.say(Deed::Floods, Risk::High, "it fills the table of processes", at);
                    }
                }
                self.anywhere(|walk| walk.statement(&function.body, input));
            }
            Command::AnonymousFunction(function) => {
                self.words(&function.args);
                self.statement(&function.body, input);
            }
        }
        None
    }

    /// Notes what a statement's redirections do, and gives the input that they make.
    fn opened(&mut self, statement: &Stmt) -> Option<Input> {
        self.here = self.site(statement.span);
        if statement.redirects.is_empty() {
            return None;
        }
        let empties = match &statement.command {
            Command::Simple(simple) => {
                let name = words::text(&simple.name, &self.script.text, self.names);
                matches!(name.whole(), Some("" | ":" | "true"))
            }
            _ => false,
        };
        let scene = redirect::Scene { script: self.script, names: self.names, empties };
        redirect::judge(&statement.redirects, &scene, self.analysis)
    }

    fn binary(&mut self, binary: &BinaryCommand, input: &Input) -> Option<Literal> {
        let printed = match binary.op {
            // Only after success is a `cd` surely done.
            BinaryOp::And if !binary.left.negated => self.statement(&binary.left, input),
            _ => self.settled(|walk| walk.statement(&binary.left, input)),
        };
        match binary.op {
            BinaryOp::And | BinaryOp::Or => {
                self.statement(&binary.right, input);
                None
            }
            BinaryOp::Pipe | BinaryOp::PipeAll => {
                self.statement(&binary.right, &Input::Pipe(printed))
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, input: &Input) -> Option<Literal> {
        self.assignments(&simple.assignments);
        self.word(&simple.name);
        self.words(&simple.args);
        let name = self.program(&simple.name);
        if self.is_learning {
            self.learn_read(name.first().and_then(Literal::whole), simple);
            self.learn_moves(&name, simple);
            return None;
        }
        let at = self.site(simple.span);
        if name.first().and_then(Literal::whole) == Some("") && simple.args.is_empty() {
            return None; // Assignments alone.
        }
        let source = &self.script.text;
        let arguments = simple.args.iter().map(|word| words::text(word, source, self.names));
        let command: Vec<Literal> = name.into_iter().chain(arguments).collect();
        let is_interpreter = |word: &Literal| {
            word.whole().is_some_and(|name| {
                BUILT_IN.shell.interpreter(command::program_name(name)).is_some()
            })
        };
        let runs_process = simple.args.iter().any(words::has_process);
        if runs_process && command.iter().any(is_interpreter) {
            self.analysis.hides("what it runs is fetched or made by another program", at);
        }
        if let Some(name) = command.first().and_then(Literal::whole) {
            for &says in self.names.does(name) {
                self.analysis.note(says, &Literal::computed(), at);
            }
        }
        let scene = Scene { script: self.script, at, input, names: Some(self.names) };
        command::judge(&command, &scene, self.analysis);
        self.expansions(&simple.args, at);
        self.go(&command);
        self.followed(output::of(&command, input))
    }

    /// A printed text, unless so much was followed before that it would take too long.
    fn followed(&mut self, printed: Option<Literal>) -> Option<Literal> {
        self.printed = self.printed.checked_sub(printed.as_ref()?.len())?;
        printed
    }

    /// Programs that put what they read into variables.
    fn learn_read(&mut self, program: Option<&str>, simple: &SimpleCommand) {
        if let Some("read" | "mapfile" | "readarray" | "getopts" | "printf" | "let") = program {
            for word in &simple.args {
                let variable = words::text(word, &self.script.text, &self.learned);
                if let Some(variable) = variable.whole() {
                    self.learned.set(variable, None);
                    self.learned.set_wild(variable);
                }
            }
        }
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
            CompoundCommand::For(_)
            | CompoundCommand::Repeat(_)
            | CompoundCommand::Foreach(_)
            | CompoundCommand::Select(_)
            | CompoundCommand::ArithmeticFor(_)
            | CompoundCommand::While(_)
            | CompoundCommand::Until(_) => self.anywhere(|walk| walk.repeated(compound, input)),
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
            CompoundCommand::Case(one) => {
                self.word(&one.word);
                for case in &one.cases {
                    for pattern in &case.patterns {
                        self.pattern(pattern);
                    }
                    self.statements(&case.body, input);
                }
            }
            CompoundCommand::Subshell(body) => {
                self.inside(|walk| walk.statements(body, input));
            }
            CompoundCommand::BraceGroup(body) => self.statements(body, input),
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
            CompoundCommand::Coproc(one) => {
                self.inside(|walk| walk.statement(&one.body, input));
            }
            CompoundCommand::Always(one) => {
                self.statements(&one.body, input);
                self.statements(&one.always_body, input);
            }
        }
    }

    /// A loop.
    fn repeated(&mut self, compound: &CompoundCommand, input: &Input) {
        match compound {
            CompoundCommand::For(one) => {
                for name in one.targets.iter().filter_map(|target| target.name.as_ref()) {
                    self.looped(name.as_str(), one.words.as_deref());
                }
                self.listed(one.words.iter().flatten());
                self.statements(&one.body, input);
            }
            CompoundCommand::Repeat(one) => {
                self.word(&one.count);
                self.statements(&one.body, input);
            }
            CompoundCommand::Foreach(one) => {
                self.looped(one.variable.as_str(), Some(&one.words));
                self.listed(&one.words);
                self.statements(&one.body, input);
            }
            CompoundCommand::Select(one) => {
                self.looped(one.variable.as_str(), Some(&one.words));
                self.listed(&one.words);
                self.statements(&one.body, input);
            }
            CompoundCommand::ArithmeticFor(one) => {
                self.counted(one);
                self.statements(&one.body, input);
            }
            CompoundCommand::While(one) => {
                self.unending(&one.condition, &one.body, one.span);
                self.statements(&one.condition, input);
                self.statements(&one.body, input);
            }
            CompoundCommand::Until(one) => {
                self.statements(&one.condition, input);
                self.statements(&one.body, input);
            }
            _ => {}
        }
    }

    /// A variable that is looked up: a secret, if it sounds like one and is not the script's own.
    pub(super) fn variable(&mut self, name: &str) {
        if !self.is_learning && place::is_secret(name) && !self.names.is_set(name) {
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

    fn unending(&mut self, condition: &StmtSeq, body: &StmtSeq, span: Span) {
        if !self.is_learning && loops::always(condition, &self.script.text) {
            self.endless(body, span);
        }
    }

    fn endless(&mut self, body: &StmtSeq, span: Span) {
        if !self.is_learning && !loops::ends(body, &self.script.text) {
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
                if self.is_learning {
                    self.learn_value(name, word, assignment.append);
                }
                self.word(word);
            }
            AssignmentValue::Compound(list) => {
                self.learned.set(name, None);
                self.learned.set_wild(name);
                for element in &list.elements {
                    let word: &Word = element.value();
                    self.listed([word]);
                }
            }
        }
        if !self.is_learning && BUILT_IN.shell.is_steering(name) {
            let at = self.site(assignment.span);
            let why = "it decides which code later commands run";
            let says = Says::new(Deed::Hides, Risk::Medium, why);
            self.analysis.note(says, &Literal::known(name), at);
        }
    }
}
