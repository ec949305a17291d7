//! The words of a script: what is computed in them, and whether that evaluates another text.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tree has many kinds of node; whatever isn't listed is not understood"
)]

use super::{ShellWalk, programs::ShellWord};
use crate::shell::words;
use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, BourneParameterExpansion,
    ParameterExpansionSyntax, ParameterOp, Pattern, PatternPart, Span, VarRef, Word, WordPart,
    WordPartNode,
};

impl ShellWalk<'_> {
    /// A word as far as it stands in the script.
    pub(super) fn text(&self, word: &Word) -> ShellWord {
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

    pub(super) fn word(&mut self, word: &Word) {
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

    pub(super) fn pattern(&mut self, pattern: &Pattern) {
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
    pub(super) fn is_number(&self, node: &ArithmeticExprNode) -> bool {
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
