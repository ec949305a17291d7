//! Shell: whether every command is known, and nothing in a word evaluates another text.
//!
//! Programs are known by name and options. Arithmetic takes numbers alone, since bash evaluates what
//! its variables hold; variables that steer the shell are never set.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node; whatever isn't listed is not understood"
)]

use super::{Strict, StrictNames};
use programs::ShellWord;
use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, ArrayElem, Assignment, AssignmentValue,
    BourneParameterExpansion, BuiltinCommand, Command, CompoundCommand, ConditionalBinaryOp,
    ConditionalExpr, ConditionalUnaryOp, DeclOperand, File, HeredocBodyPart,
    ParameterExpansionSyntax, ParameterOp, Pattern, PatternPart, Redirect, RedirectKind,
    RedirectTarget, SimpleCommand, Span, Stmt, StmtSeq, VarRef, Word, WordPart, WordPartNode,
    static_word_text,
};
use std::collections::HashSet;

pub(crate) mod programs;

/// Whether a command whose words all stand in the code is understood.
pub(crate) fn is_plain_command(words: &[String]) -> bool {
    let words: Vec<_> = words.iter().cloned().map(ShellWord::Known).collect();
    programs::is_plain(&words)
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
    };
    if walk.strict.past.is_foreign {
        walk.unknown("an earlier command", 1);
    }
    walk.learn(&file.body);
    walk.statements(&file.body);
    let functions = walk.functions.iter().map(|name| format!("{name}()"));
    let bound = functions.chain(walk.variables.iter().cloned()).collect();
    strict.finish();
    strict.learn(StrictNames { bound, ..StrictNames::default() });
}

struct ShellWalk<'s> {
    source: &'s str,
    strict: &'s mut Strict,
    functions: HashSet<String>,
    variables: HashSet<String>,
    /// Variables that hold numbers.
    numbers: HashSet<String>,
}

impl ShellWalk<'_> {
    fn unknown(&mut self, what: &str, line: usize) {
        self.strict.unknown(what, u32::try_from(line).unwrap_or(u32::MAX));
    }

    fn refuse(&mut self, what: &str, span: Span) {
        self.unknown(what, span.start.line());
    }

    /// The functions of a script, and variables that hold nothing but numbers.
    fn learn(&mut self, statements: &StmtSeq) {
        for statement in statements.iter() {
            match &statement.command {
                Command::Function(function) => {
                    self.functions.extend(function.static_names().map(|name| name.as_str().into()));
                }
                Command::Simple(simple) if simple.args.is_empty() => {
                    for one in &simple.assignments {
                        let name = one.target.name.as_str().to_owned();
                        let is_number = matches!(&one.value, AssignmentValue::Scalar(word)
                        if static_word_text(word, self.source).is_some_and(|text| {
                            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
                        }));
                        if is_number && !self.strict.past.known.contains(&name) {
                            self.numbers.insert(name);
                        }
                    }
                }
                Command::Compound(CompoundCommand::For(each)) => {
                    let is_count = each.words.as_ref().is_some_and(
                        |words| matches!(words.as_slice(), [word] if self.counts(word)),
                    );
                    for target in each.targets.iter().filter(|_| is_count) {
                        self.numbers
                            .extend(target.name.iter().map(|name| name.as_str().to_owned()));
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a word is `$(seq …)`, or numbers in braces.
    fn counts(&self, word: &Word) -> bool {
        match word.parts.as_slice() {
            [WordPartNode { kind: WordPart::CommandSubstitution { body, .. }, .. }] => {
                self.is_only(body, &["seq"])
            }
            _ => false,
        }
    }

    /// Whether a script is one command of these.
    fn is_only(&self, body: &StmtSeq, programs: &[&str]) -> bool {
        let mut all = body.iter();
        let (Some(one), None) = (all.next(), all.next()) else { return false };
        matches!(&one.command, Command::Simple(simple)
            if static_word_text(&simple.name, self.source)
                .is_some_and(|name| programs.contains(&&*name)))
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
                                static_word_text(word, self.source).as_deref(),
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
                    let is_plain = target.name.as_ref().is_some_and(|name| {
                        let counts = one.words.as_ref().is_some_and(
                            |words| matches!(words.as_slice(), [word] if self.counts(word)),
                        );
                        is_plain_name(name.as_str())
                            && (counts || !self.numbers.contains(name.as_str()))
                    });
                    if !is_plain {
                        self.refuse("for", one.span);
                    }
                }
                one.words.iter().flatten().for_each(|word| self.word(word));
                self.learn(&one.body);
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
        let name = static_word_text(&simple.name, self.source).unwrap_or_default().into_owned();
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
        if name == "read"
            && simple.args.iter().any(|word| {
                static_word_text(word, self.source)
                    .is_some_and(|name| self.numbers.contains(&*name))
            })
        {
            self.refuse("read", simple.span);
        }
        let words: Vec<_> =
            std::iter::once(&simple.name).chain(&simple.args).map(|word| self.text(word)).collect();
        if !programs::is_plain(&words) {
            self.refuse(if name.is_empty() { "a command" } else { &name }, simple.span);
        }
    }

    /// A word as far as it stands in the script.
    fn text(&self, word: &Word) -> ShellWord {
        if let Some(text) = static_word_text(word, self.source) {
            // A pattern may become any name that fits it.
            let is_quoted = word.parts.iter().all(|part| part.kind.is_quoted());
            let at = if is_quoted { None } else { text.find(['*', '?', '[', '{', '~']) };
            return match at {
                Some(at) if text != "[" && text != "{}" => ShellWord::Begins(text[..at].to_owned()),
                _ => ShellWord::Known(text.into_owned()),
            };
        }
        let start = match word.parts.first().map(|part| (&part.kind, part.span)) {
            Some((WordPart::Literal(text), span)) => text.as_str(self.source, span).to_owned(),
            Some((WordPart::SingleQuoted { value, .. }, _)) => value.slice(self.source).to_owned(),
            Some((WordPart::DoubleQuoted { parts, .. }, _)) => match parts.first() {
                Some(WordPartNode { kind: WordPart::Literal(text), span }) => {
                    text.as_str(self.source, *span).to_owned()
                }
                _ => String::new(),
            },
            _ => String::new(),
        };
        let end = start.find(['*', '?', '[', '{', '~']).unwrap_or(start.len());
        ShellWord::Begins(start[..end].to_owned())
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
                };
                if is_file && !is_plain {
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
        if self.numbers.contains(assignment.target.name.as_str()) && !self.is_count(assignment) {
            self.refuse(assignment.target.name.as_str(), assignment.span);
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
            _ => static_word_text(word, self.source).is_some_and(|text| {
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
            }),
        }
    }

    fn target(&mut self, target: &VarRef) {
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
                    self.is_only(body, &["wc"])
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
