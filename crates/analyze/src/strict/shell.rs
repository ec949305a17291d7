//! Shell: whether every command is known, and nothing in a word evaluates another text.
//!
//! Programs are known by name and options. Arithmetic takes numbers alone, since bash evaluates what
//! its variables hold; variables that steer the shell are never set.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node; whatever isn't listed is not understood"
)]

use super::{Strict, StrictNames};
use crate::shell::words::plain;
use defined::Defined;
use programs::ShellWord;
use shuck_ast::{
    ArrayElem, Assignment, AssignmentValue, BuiltinCommand, Command, CompoundCommand,
    ConditionalBinaryOp, ConditionalExpr, ConditionalUnaryOp, DeclOperand, File, HeredocBodyPart,
    Redirect, RedirectKind, RedirectTarget, SimpleCommand, Span, Stmt, StmtSeq, VarRef, Word,
    WordPart, WordPartNode,
};
use std::collections::{HashMap, HashSet};

mod defined;
pub(crate) mod programs;
mod scripts;
mod words;

/// Whether a command whose words all stand in the code is understood.
pub(crate) fn is_plain_command(words: &[String]) -> bool {
    let words: Vec<_> = words.iter().cloned().map(ShellWord::Known).collect();
    programs::is_plain(&words)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a variable steers nothing: neither the shell nor programs.
pub(super) fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.contains(|c: char| c.is_ascii_lowercase())
        && !name.contains("proxy")
        && !matches!(name, "histchars" | "auto_resume")
}

/// Reads a whole script.
pub(crate) fn judge(file: &File, source: &str, strict: &mut Strict) {
    let mut walk = ShellWalk {
        source,
        strict,
        functions: Defined::of(file),
        written: defined::written(source),
        variables: HashSet::new(),
        numbers: HashSet::new(),
        spoiled: HashSet::new(),
        prefixes: HashMap::new(),
    };
    if walk.strict.past.is_foreign {
        walk.unknown("an earlier command", 1);
    }
    walk.numbers = numbers(&mut walk, file);
    walk.statements(&file.body);
    let functions = walk.functions.for_later().map(|name| format!("{name}()"));
    let bound: HashSet<String> = functions.chain(walk.variables.iter().cloned()).collect();
    let unsure = walk.written.iter().map(|name| format!("{name}()"));
    let unsure = unsure.filter(|name| !bound.contains(name)).collect();
    strict.finish();
    strict.learn(StrictNames { bound, unsure, ..StrictNames::default() });
}

/// Most walks to see which variables are numbers.
const ROUNDS: usize = 4;

/// The variables that hold numbers alone: those that the script sets, and sets to nothing else
/// anywhere, as long as that may depend on others.
fn numbers(walk: &mut ShellWalk<'_>, file: &File) -> HashSet<String> {
    // Most scripts ask for no number; where none is known, less is understood.
    if !["((", "${", "for ", "[ "].iter().any(|sign| walk.source.contains(sign)) {
        return HashSet::new();
    }
    let mut scratch = Strict::after(walk.strict.past.clone());
    let mut first = ShellWalk {
        source: walk.source,
        strict: &mut scratch,
        functions: walk.functions.clone(),
        written: walk.written.clone(),
        variables: HashSet::new(),
        numbers: HashSet::new(),
        spoiled: HashSet::new(),
        prefixes: HashMap::new(),
    };
    first.statements(&file.body);
    walk.prefixes = std::mem::take(&mut first.prefixes);
    walk.prefixes.retain(|_, prefix| !prefix.is_empty() && !prefix.starts_with('-'));
    let earlier = first.strict.past.known.clone();
    first.numbers =
        first.variables.iter().filter(|name| !earlier.contains(*name)).cloned().collect();
    for _ in 0..ROUNDS {
        first.spoiled.clear();
        first.statements(&file.body);
        if first.spoiled.is_disjoint(&first.numbers) {
            return first.numbers;
        }
        first.numbers = first.numbers.difference(&first.spoiled).cloned().collect();
    }
    HashSet::new()
}

struct ShellWalk<'s> {
    source: &'s str,
    strict: &'s mut Strict,
    functions: Defined,
    /// Functions that stand in it at all.
    written: HashSet<String>,
    variables: HashSet<String>,
    /// Variables that hold numbers.
    numbers: HashSet<String>,
    /// Variables that are also set to something else.
    spoiled: HashSet<String>,
    /// The beginning of a variable that only loops over files set; nothing if others set it.
    prefixes: HashMap<String, String>,
}

impl ShellWalk<'_> {
    fn unknown(&mut self, what: &str, line: usize) {
        self.strict.unknown(what, u32::try_from(line).unwrap_or(u32::MAX));
    }

    fn refuse(&mut self, what: &str, span: Span) {
        self.unknown(what, span.start.line());
    }

    /// Whether words are numbers: such that stand there, in braces, or from `seq`.
    fn counts(&self, words: &[Word]) -> bool {
        words.iter().all(|word| match word.parts.as_slice() {
            [WordPartNode { kind: WordPart::CommandSubstitution { body, .. }, .. }] => {
                self.is_seq(body)
            }
            _ => plain(word, self.source).is_some_and(|text| {
                let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                let parts = inner.map_or(vec![&*text], |inner| inner.split("..").collect());
                parts.iter().all(|part| is_digits(part))
            }),
        })
    }

    /// The one simple command of a script, if it is one.
    fn only<'c>(&self, body: &'c StmtSeq, program: &str) -> Option<(&'c SimpleCommand, &'c Stmt)> {
        let mut all = body.iter();
        let (Some(one), None) = (all.next(), all.next()) else { return None };
        let Command::Simple(simple) = &one.command else { return None };
        let name = plain(&simple.name, self.source)?;
        (name == program && simple.assignments.is_empty()).then_some((simple, one))
    }

    /// Whether a script is `seq` with numbers.
    fn is_seq(&self, body: &StmtSeq) -> bool {
        self.only(body, "seq").is_some_and(|(simple, one)| {
            one.redirects.is_empty()
                && simple.args.iter().all(|word| match word.parts.as_slice() {
                    [WordPartNode { kind: WordPart::Variable(name), .. }] => {
                        self.numbers.contains(name.as_str())
                    }
                    _ => plain(word, self.source).is_some_and(|text| is_digits(&text)),
                })
        })
    }

    /// Whether a script is `wc` with one figure of what it is handed: of files, it tells the names.
    fn is_count_of_input(&self, body: &StmtSeq) -> bool {
        self.only(body, "wc").is_some_and(|(simple, _)| {
            matches!(simple.args.as_slice(), [word] if plain(word, self.source)
                .is_some_and(|text| matches!(&*text, "-l" | "-w" | "-c" | "-m")))
        })
    }

    fn statements(&mut self, statements: &StmtSeq) {
        for statement in statements.iter() {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        for redirect in &statement.redirects {
            self.redirect(redirect);
        }
        match &statement.command {
            Command::Simple(simple) => self.simple(simple),
            Command::Builtin(builtin) => self.builtin(builtin),
            Command::Decl(declaration) => {
                let is_local = matches!(declaration.variant.as_str(), "local" | "declare");
                if !is_local || !declaration.assignments.is_empty() {
                    self.refuse(declaration.variant.as_str(), declaration.span);
                }
                for operand in &declaration.operands {
                    match operand {
                        DeclOperand::Name(name) => self.target(name),
                        DeclOperand::Assignment(one) => self.assignment(one),
                        DeclOperand::Flag(word)
                            if matches!(
                                plain(word, self.source).as_deref(),
                                Some("-a" | "-A" | "-r")
                            ) => {}
                        DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                            self.refuse("local", word.span);
                        }
                    }
                }
            }
            Command::Binary(binary) => {
                self.statement(&binary.left);
                self.statement(&binary.right);
            }
            Command::Compound(compound) => self.compound(compound, statement.span),
            Command::Function(function) => {
                for name in function.static_names() {
                    if programs::is_known(name.as_str()) || !is_plain_name(name.as_str()) {
                        self.refuse(name.as_str(), function.span);
                    }
                }
                self.statement(&function.body);
            }
            Command::AnonymousFunction(function) => self.refuse("a function", function.span),
        }
    }

    fn builtin(&mut self, builtin: &BuiltinCommand) {
        let (first, rest, assignments) = match builtin {
            BuiltinCommand::Break(one) => (&one.depth, &one.extra_args, &one.assignments),
            BuiltinCommand::Continue(one) => (&one.depth, &one.extra_args, &one.assignments),
            BuiltinCommand::Return(one) => (&one.code, &one.extra_args, &one.assignments),
            BuiltinCommand::Exit(one) => (&one.code, &one.extra_args, &one.assignments),
        };
        assignments.iter().for_each(|one| self.assignment(one));
        first.iter().chain(rest).for_each(|word| self.word(word));
    }

    fn compound(&mut self, compound: &CompoundCommand, span: Span) {
        match compound {
            CompoundCommand::If(one) => {
                self.statements(&one.condition);
                self.statements(&one.then_branch);
                for (condition, branch) in &one.elif_branches {
                    self.statements(condition);
                    self.statements(branch);
                }
                one.else_branch.iter().for_each(|branch| self.statements(branch));
            }
            CompoundCommand::For(one) => {
                for target in &one.targets {
                    let name = target.name.as_ref().map(shuck_ast::Name::as_str);
                    let is_plain = name.is_some_and(is_plain_name);
                    let counts = one.words.as_ref().is_some_and(|words| self.counts(words));
                    if let Some(name) = name {
                        self.variables.insert(name.to_owned());
                        if !counts {
                            self.spoiled.insert(name.to_owned());
                        }
                        let prefix = match one.words.as_deref() {
                            Some([word]) => match self.text(word) {
                                ShellWord::Splits(prefix) if prefix.contains('/') => prefix,
                                _ => String::new(),
                            },
                            _ => String::new(),
                        };
                        let other = self.prefixes.insert(name.to_owned(), prefix.clone());
                        if other.is_some_and(|other| other != prefix) {
                            self.prefixes.insert(name.to_owned(), String::new());
                        }
                    }
                    if !is_plain {
                        self.refuse("for", one.span);
                    }
                }
                one.words.iter().flatten().for_each(|word| self.word(word));
                self.statements(&one.body);
            }
            CompoundCommand::While(one) => {
                self.statements(&one.condition);
                self.statements(&one.body);
            }
            CompoundCommand::Until(one) => {
                self.statements(&one.condition);
                self.statements(&one.body);
            }
            CompoundCommand::Case(one) => {
                self.word(&one.word);
                for case in &one.cases {
                    case.patterns.iter().for_each(|pattern| self.pattern(pattern));
                    self.statements(&case.body);
                }
            }
            CompoundCommand::Subshell(body) | CompoundCommand::BraceGroup(body) => {
                self.statements(body);
            }
            CompoundCommand::Time(one) => {
                one.command.iter().for_each(|timed| self.statement(timed));
            }
            CompoundCommand::Conditional(one) => self.conditional(&one.expression, one.span),
            _ => self.refuse("a compound command", span),
        }
    }

    fn conditional(&mut self, expression: &ConditionalExpr, span: Span) {
        match expression {
            ConditionalExpr::Binary(one) => {
                if !matches!(
                    one.op,
                    ConditionalBinaryOp::PatternEq
                        | ConditionalBinaryOp::PatternEqShort
                        | ConditionalBinaryOp::PatternNe
                        | ConditionalBinaryOp::RegexMatch
                        | ConditionalBinaryOp::And
                        | ConditionalBinaryOp::Or
                ) {
                    self.refuse("[[", span);
                }
                self.conditional(&one.left, span);
                self.conditional(&one.right, span);
            }
            ConditionalExpr::Unary(one) => {
                if !matches!(
                    one.op,
                    ConditionalUnaryOp::Not
                        | ConditionalUnaryOp::EmptyString
                        | ConditionalUnaryOp::NonEmptyString
                        | ConditionalUnaryOp::RegularFile
                        | ConditionalUnaryOp::Directory
                        | ConditionalUnaryOp::Exists
                ) {
                    self.refuse("[[", span);
                }
                self.conditional(&one.expr, span);
            }
            ConditionalExpr::Parenthesized(one) => self.conditional(&one.expr, span),
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => self.word(word),
            ConditionalExpr::Pattern(pattern) => self.pattern(pattern),
            ConditionalExpr::VarRef(_) => self.refuse("[[", span),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let name = plain(&simple.name, self.source).unwrap_or_default().into_owned();
        for one in &simple.assignments {
            // How a line is divided, for `read` alone.
            let divides = one.target.name.as_str() == "IFS" && name == "read";
            if !divides {
                self.assignment(one);
            }
        }
        simple.args.iter().for_each(|word| self.word(word));
        let has_name =
            !simple.name.parts.is_empty() && simple.name.span.start != simple.name.span.end;
        if !has_name && simple.args.is_empty() {
            return; // Assignments alone.
        }
        let own = format!("{name}()");
        if self.functions.is_at(&name, simple.span.start.offset())
            || self.strict.past.known.contains(&own)
        {
            return;
        }
        // It may be the program of that name.
        if self.written.contains(&name) || self.strict.past.foreign.contains(&own) {
            self.refuse(&name, simple.span);
        }
        if name == "read" {
            let names = simple.args.iter().filter_map(|word| plain(word, self.source));
            for name in names.filter(|name| !name.starts_with('-')) {
                self.variables.insert(name.to_string());
                self.spoiled.insert(name.to_string());
                self.prefixes.insert(name.to_string(), String::new());
            }
        }
        let words: Vec<_> =
            std::iter::once(&simple.name).chain(&simple.args).map(|word| self.text(word)).collect();
        if !programs::is_plain(&words) {
            self.refuse(if name.is_empty() { "a command" } else { &name }, simple.span);
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        if redirect.fd_var.is_some() {
            self.refuse("a redirection", redirect.span);
        }
        match &redirect.target {
            RedirectTarget::Word(word) => {
                self.word(word);
                let is_file = !matches!(
                    redirect.kind,
                    RedirectKind::HereString | RedirectKind::DupOutput | RedirectKind::DupInput
                );
                let is_plain = match self.text(word) {
                    ShellWord::Known(text) => {
                        !text.starts_with("/dev/tcp") && !text.starts_with("/dev/udp")
                    }
                    ShellWord::Begins(text) => !text.is_empty() && !text.starts_with('/'),
                    ShellWord::Splits(_) => false,
                };
                // `>&` with a name writes a file.
                let is_copy =
                    matches!(redirect.kind, RedirectKind::DupOutput | RedirectKind::DupInput);
                let is_number = matches!(self.text(word), ShellWord::Known(text)
                    if text == "-" || is_digits(&text));
                if (is_file && !is_plain) || (is_copy && !is_number) {
                    self.refuse("a redirection", redirect.span);
                }
            }
            RedirectTarget::Heredoc(heredoc) => {
                for (part, span) in heredoc.body.parts_with_spans() {
                    match part {
                        HeredocBodyPart::Literal(_) | HeredocBodyPart::Variable(_) => {}
                        HeredocBodyPart::CommandSubstitution { body, .. } => self.statements(body),
                        _ => self.refuse("an expansion", span),
                    }
                }
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.target(&assignment.target);
        if !self.is_count(assignment) {
            self.spoiled.insert(assignment.target.name.as_str().to_owned());
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.word(word),
            AssignmentValue::Compound(list) => {
                for element in &list.elements {
                    match element {
                        ArrayElem::Sequential(word) => self.word(word),
                        ArrayElem::Keyed { .. } | ArrayElem::KeyedAppend { .. } => {
                            self.refuse("an array", element.span());
                        }
                    }
                }
            }
        }
    }

    /// Whether a variable is set to a number.
    fn is_count(&self, assignment: &Assignment) -> bool {
        let AssignmentValue::Scalar(word) = &assignment.value else { return false };
        match word.parts.as_slice() {
            [WordPartNode { kind: WordPart::ArithmeticExpansion { expression_ast, .. }, .. }] => {
                expression_ast.as_deref().is_some_and(|one| self.is_number(one))
            }
            [WordPartNode { kind: WordPart::CommandSubstitution { body, .. }, .. }] => {
                self.is_count_of_input(body)
            }
            _ => plain(word, self.source).is_some_and(|text| is_digits(&text)),
        }
    }

    fn target(&mut self, target: &VarRef) {
        self.prefixes.insert(target.name.as_str().to_owned(), String::new());
        self.variables.insert(target.name.as_str().to_owned());
        if target.subscript.is_some() || !is_plain_name(target.name.as_str()) {
            self.refuse(target.name.as_str(), target.span);
        }
    }
}
