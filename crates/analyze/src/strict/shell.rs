//! Shell: whether every command is known, and nothing in a word evaluates another text.
//!
//! Programs are known by name and options. Arithmetic takes numbers alone, since bash evaluates what
//! its variables hold; variables that steer the shell are never set.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node; whatever isn't listed is not understood"
)]

use super::{Strict, StrictNames};
use crate::shell::words;
use programs::ShellWord;
use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, ArrayElem, Assignment, AssignmentValue,
    BourneParameterExpansion, BuiltinCommand, Command, CompoundCommand, ConditionalBinaryOp,
    ConditionalExpr, ConditionalUnaryOp, DeclOperand, File, HeredocBodyPart,
    ParameterExpansionSyntax, ParameterOp, Pattern, PatternPart, Redirect, RedirectKind,
    RedirectTarget, SimpleCommand, Span, Stmt, StmtSeq, VarRef, Word, WordPart, WordPartNode,
};
use std::collections::{HashMap, HashSet};

pub(crate) mod programs;

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
        functions: HashSet::new(),
        variables: HashSet::new(),
        numbers: HashSet::new(),
        spoiled: HashSet::new(),
        prefixes: HashMap::new(),
    };
    if walk.strict.past.is_foreign {
        walk.unknown("an earlier command", 1);
    }
    walk.functions_of(&file.body);
    walk.numbers = numbers(&mut walk, file);
    walk.statements(&file.body);
    let functions = walk.functions.iter().map(|name| format!("{name}()"));
    let bound = functions.chain(walk.variables.iter().cloned()).collect();
    strict.finish();
    strict.learn(StrictNames { bound, ..StrictNames::default() });
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
    functions: HashSet<String>,
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

    /// The functions of a script.
    fn functions_of(&mut self, statements: &StmtSeq) {
        for statement in statements.iter() {
            if let Command::Function(function) = &statement.command {
                self.functions.extend(function.static_names().map(|name| name.as_str().into()));
            }
        }
    }

    /// Whether words are numbers: such that stand there, in braces, or from `seq`.
    fn counts(&self, words: &[Word]) -> bool {
        words.iter().all(|word| match word.parts.as_slice() {
            [WordPartNode { kind: WordPart::CommandSubstitution { body, .. }, .. }] => {
                self.is_seq(body)
            }
            _ => words::plain(word, self.source).is_some_and(|text| {
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
        let name = words::plain(&simple.name, self.source)?;
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
                    _ => words::plain(word, self.source).is_some_and(|text| is_digits(&text)),
                })
        })
    }

    /// Whether a script is `wc` with one figure of what it is handed: of files, it tells the names.
    fn is_count_of_input(&self, body: &StmtSeq) -> bool {
        self.only(body, "wc").is_some_and(|(simple, _)| {
            matches!(simple.args.as_slice(), [word] if words::plain(word, self.source)
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
                                words::plain(word, self.source).as_deref(),
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
        let name = words::plain(&simple.name, self.source).unwrap_or_default().into_owned();
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
        if self.functions.contains(&name) || self.strict.past.known.contains(&format!("{name}()")) {
            return;
        }
        if name == "read" {
            let names = simple.args.iter().filter_map(|word| words::plain(word, self.source));
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

    /// A word as far as it stands in the script.
    fn text(&self, word: &Word) -> ShellWord {
        if let Some(text) = words::plain(word, self.source) {
            // A pattern may become any names that fit it.
            let is_quoted = word.parts.iter().all(|part| part.kind.is_quoted());
            let at = if is_quoted { None } else { text.find(['*', '?', '[', '{', '~']) };
            let ending = text
                .strip_prefix("*.")
                .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric()));
            return match at {
                Some(0) if ending => ShellWord::Splits("*".to_owned()),
                Some(at) if text != "[" && text != "{}" => ShellWord::Splits(text[..at].to_owned()),
                _ => ShellWord::Known(text.into_owned()),
            };
        }
        if word.parts.iter().any(|part| self.splits(&part.kind)) {
            return ShellWord::Splits(String::new());
        }
        let start = match word.parts.first().map(|part| (&part.kind, part.span)) {
            Some((WordPart::Literal(text), span)) => text.as_str(self.source, span).to_owned(),
            Some((WordPart::SingleQuoted { value, .. }, _)) => value.slice(self.source).to_owned(),
            Some((WordPart::DoubleQuoted { parts, .. }, _)) => match parts.first() {
                Some(WordPartNode { kind: WordPart::Literal(text), span }) => {
                    text.as_str(self.source, *span).to_owned()
                }
                Some(WordPartNode { kind: WordPart::Variable(name), .. }) => {
                    self.prefixes.get(name.as_str()).cloned().unwrap_or_default()
                }
                _ => String::new(),
            },
            _ => String::new(),
        };
        // A quoted beginning may be followed by a pattern that isn't.
        let is_pattern = word.parts.iter().any(|part| {
            matches!(&part.kind, WordPart::Literal(text)
                if text.as_str(self.source, part.span).contains(['*', '?', '[', '{', '~']))
        });
        let end = start.find(['*', '?', '[', '{', '~']).unwrap_or(start.len());
        let start = start[..end].to_owned();
        if is_pattern { ShellWord::Splits(start) } else { ShellWord::Begins(start) }
    }

    /// Whether a part of a word may make several words of it.
    fn splits(&self, part: &WordPart) -> bool {
        match part {
            WordPart::Literal(_)
            | WordPart::SingleQuoted { .. }
            | WordPart::ArithmeticExpansion { .. } => false,
            WordPart::Variable(name) => {
                !self.numbers.contains(name.as_str())
                    && !matches!(name.as_str(), "#" | "?" | "$" | "!")
            }
            WordPart::DoubleQuoted { parts, .. } => parts.iter().any(|part| match &part.kind {
                WordPart::Literal(_)
                | WordPart::CommandSubstitution { .. }
                | WordPart::ArithmeticExpansion { .. }
                | WordPart::Length(_) => false,
                WordPart::Variable(name) => name.as_str() == "@",
                WordPart::Parameter(parameter) => match &parameter.syntax {
                    ParameterExpansionSyntax::Bourne(
                        BourneParameterExpansion::Access { reference }
                        | BourneParameterExpansion::Operation { reference, .. }
                        | BourneParameterExpansion::Slice { reference, .. },
                    ) => reference.subscript.is_some() || reference.name.as_str() == "@",
                    ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Length {
                        ..
                    }) => false,
                    _ => true,
                },
                WordPart::ParameterExpansion { reference, .. }
                | WordPart::Substring { reference, .. } => {
                    reference.subscript.is_some() || reference.name.as_str() == "@"
                }
                _ => true,
            }),
            _ => true,
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
            _ => words::plain(word, self.source).is_some_and(|text| is_digits(&text)),
        }
    }

    fn target(&mut self, target: &VarRef) {
        self.prefixes.insert(target.name.as_str().to_owned(), String::new());
        self.variables.insert(target.name.as_str().to_owned());
        if target.subscript.is_some() || !is_plain_name(target.name.as_str()) {
            self.refuse(target.name.as_str(), target.span);
        }
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPartNode]) {
        for part in parts {
            self.part(&part.kind, part.span);
        }
    }

    fn part(&mut self, part: &WordPart, span: Span) {
        match part {
            WordPart::Literal(_) | WordPart::SingleQuoted { .. } | WordPart::Variable(_) => {}
            WordPart::DoubleQuoted { parts, .. } => self.parts(parts),
            WordPart::CommandSubstitution { body, .. }
            | WordPart::ProcessSubstitution { body, .. } => self.statements(body),
            WordPart::ArithmeticExpansion { expression_ast: Some(expression), .. } => {
                if !self.is_number(expression) {
                    self.refuse("$((", span);
                }
            }
            WordPart::Parameter(parameter) => match &parameter.syntax {
                ParameterExpansionSyntax::Bourne(bourne) => self.parameter(bourne, span),
                ParameterExpansionSyntax::Zsh(_) => self.refuse("${", span),
            },
            WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operation(operator, operand_word_ast.as_deref(), span);
            }
            WordPart::Length(reference)
            | WordPart::ArrayAccess(reference)
            | WordPart::ArrayLength(reference) => self.reference(reference),
            WordPart::Substring { reference, offset_ast, length_ast, .. }
            | WordPart::ArraySlice { reference, offset_ast, length_ast, .. } => {
                self.reference(reference);
                self.slice(offset_ast.as_deref(), length_ast.as_deref(), span);
            }
            _ => self.refuse("${", span),
        }
    }

    fn parameter(&mut self, parameter: &BourneParameterExpansion, span: Span) {
        match parameter {
            BourneParameterExpansion::Access { reference }
            | BourneParameterExpansion::Length { reference } => self.reference(reference),
            BourneParameterExpansion::Slice { reference, offset_ast, length_ast, .. } => {
                self.reference(reference);
                self.slice(offset_ast.as_deref(), length_ast.as_deref(), span);
            }
            BourneParameterExpansion::Operation {
                reference, operator, operand_word_ast, ..
            } => {
                self.reference(reference);
                self.operation(operator, operand_word_ast.as_deref(), span);
            }
            _ => self.refuse("${", span),
        }
    }

    fn slice(
        &mut self,
        offset: Option<&ArithmeticExprNode>,
        length: Option<&ArithmeticExprNode>,
        span: Span,
    ) {
        let is_plain = offset.is_some_and(|one| self.is_number(one))
            && length.is_none_or(|one| self.is_number(one));
        if !is_plain {
            self.refuse("${", span);
        }
    }

    fn operation(&mut self, operator: &ParameterOp, operand: Option<&Word>, span: Span) {
        match operator {
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern }
            | ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => self.pattern(pattern),
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                self.pattern(pattern);
                self.word(replacement_word_ast);
            }
            ParameterOp::UseDefault
            | ParameterOp::UseReplacement
            | ParameterOp::UpperFirst
            | ParameterOp::UpperAll
            | ParameterOp::LowerFirst
            | ParameterOp::LowerAll => {}
            ParameterOp::AssignDefault | ParameterOp::Error => self.refuse("${", span),
        }
        if let Some(word) = operand {
            self.word(word);
        }
    }

    fn reference(&mut self, reference: &VarRef) {
        let Some(subscript) = &reference.subscript else { return };
        let is_number =
            subscript.syntax_text(self.source).bytes().all(|byte| byte.is_ascii_digit());
        if !subscript.is_array_selector() && !is_number {
            self.refuse(reference.name.as_str(), reference.span);
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        for (part, _) in pattern.parts_with_spans() {
            match part {
                PatternPart::Word(word) => self.word(word),
                PatternPart::Group { patterns, .. } => {
                    for pattern in patterns {
                        self.pattern(pattern);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether arithmetic is about numbers alone.
    fn is_number(&self, node: &ArithmeticExprNode) -> bool {
        match &node.kind {
            ArithmeticExpr::Number(_) => true,
            ArithmeticExpr::Variable(name) => self.numbers.contains(name.as_str()),
            ArithmeticExpr::ShellWord(word) => match word.parts.as_slice() {
                [WordPartNode { kind: WordPart::Variable(name), .. }] => {
                    self.numbers.contains(name.as_str()) || name.as_str() == "#"
                }
                [WordPartNode { kind: WordPart::CommandSubstitution { body, .. }, .. }] => {
                    self.is_count_of_input(body)
                }
                _ => false,
            },
            ArithmeticExpr::Parenthesized { expression } => self.is_number(expression),
            ArithmeticExpr::Unary { expr, .. } | ArithmeticExpr::Postfix { expr, .. } => {
                self.is_number(expr)
            }
            ArithmeticExpr::Binary { left, right, .. } => {
                self.is_number(left) && self.is_number(right)
            }
            ArithmeticExpr::Assignment {
                target: ArithmeticLvalue::Variable(name), value, ..
            } => self.numbers.contains(name.as_str()) && self.is_number(value),
            _ => false,
        }
    }
}
