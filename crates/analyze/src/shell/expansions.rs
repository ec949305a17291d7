//! The walk through shell words, for the commands inside them.
//!
//! `$(…)`, backquotes and `<(…)` can stand in any word, and words in any expansion.

use super::{command::Input, walk::Walk};
use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, BourneParameterExpansion, HeredocBody,
    HeredocBodyPart, ParameterExpansion, ParameterExpansionSyntax, ParameterOp, Pattern,
    PatternPart, VarRef, Word, WordPart, WordPartNode,
};

impl Walk<'_> {
    pub(super) fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>) {
        for word in words {
            self.word(word);
        }
    }

    pub(super) fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPartNode]) {
        for node in parts {
            self.part(&node.kind);
        }
    }

    fn part(&mut self, part: &WordPart) {
        match part {
            WordPart::Variable(name) => self.variable(name.as_str()),
            WordPart::Literal(_)
            | WordPart::SingleQuoted { .. }
            | WordPart::PrefixMatch { .. }
            | WordPart::ZshQualifiedGlob(_) => {}
            WordPart::DoubleQuoted { parts, .. } => self.parts(parts),
            WordPart::CommandSubstitution { body, .. }
            | WordPart::ProcessSubstitution { body, .. } => {
                self.inside(|walk| walk.statements(body, &Input::Nothing));
            }
            WordPart::ArithmeticExpansion { expression_ast, expression_word_ast, .. } => {
                match expression_ast {
                    Some(expression) => self.arithmetic(expression),
                    None => self.word(expression_word_ast),
                }
            }
            WordPart::Parameter(parameter) => self.parameter(parameter),
            WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operator(operator);
                self.words(operand_word_ast.as_deref());
            }
            WordPart::Length(reference)
            | WordPart::ArrayAccess(reference)
            | WordPart::ArrayLength(reference)
            | WordPart::ArrayIndices(reference)
            | WordPart::Transformation { reference, .. } => self.reference(reference),
            WordPart::Substring { reference, offset_word_ast, length_word_ast, .. }
            | WordPart::ArraySlice { reference, offset_word_ast, length_word_ast, .. } => {
                self.reference(reference);
                self.word(offset_word_ast);
                self.words(length_word_ast.as_deref());
            }
            WordPart::IndirectExpansion { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                if let Some(operator) = operator {
                    self.operator(operator);
                }
                self.words(operand_word_ast.as_deref());
            }
        }
    }

    fn parameter(&mut self, parameter: &ParameterExpansion) {
        // The shell is bash: what only zsh reads is no expansion there.
        let ParameterExpansionSyntax::Bourne(expansion) = &parameter.syntax else { return };
        match expansion {
            BourneParameterExpansion::Access { reference } => {
                self.variable(reference.name.as_str());
                self.reference(reference);
            }
            BourneParameterExpansion::Length { reference }
            | BourneParameterExpansion::Indices { reference }
            | BourneParameterExpansion::Transformation { reference, .. } => {
                self.reference(reference);
            }
            BourneParameterExpansion::Indirect {
                reference, operator, operand_word_ast, ..
            } => {
                self.reference(reference);
                if let Some(operator) = operator {
                    self.operator(operator);
                }
                self.words(operand_word_ast.as_deref());
            }
            BourneParameterExpansion::PrefixMatch { .. } => {}
            BourneParameterExpansion::Slice {
                reference, offset_word_ast, length_word_ast, ..
            } => {
                self.reference(reference);
                self.word(offset_word_ast);
                self.words(length_word_ast.as_deref());
            }
            BourneParameterExpansion::Operation {
                reference, operator, operand_word_ast, ..
            } => {
                self.reference(reference);
                self.operator(operator);
                self.words(operand_word_ast.as_deref());
            }
        }
    }

    fn operator(&mut self, operator: &ParameterOp) {
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
            | ParameterOp::AssignDefault
            | ParameterOp::UseReplacement
            | ParameterOp::Error
            | ParameterOp::UpperFirst
            | ParameterOp::UpperAll
            | ParameterOp::LowerFirst
            | ParameterOp::LowerAll => {}
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
                PatternPart::Literal(_)
                | PatternPart::AnyString
                | PatternPart::AnyChar
                | PatternPart::CharClass(_) => {}
            }
        }
    }

    pub(super) fn reference(&mut self, reference: &VarRef) {
        let Some(subscript) = &reference.subscript else { return };
        match (&subscript.arithmetic_ast, subscript.word_ast()) {
            (Some(expression), _) => self.arithmetic(expression),
            (None, Some(word)) => self.word(word),
            (None, None) => {}
        }
    }

    pub(super) fn arithmetic(&mut self, node: &ArithmeticExprNode) {
        match &node.kind {
            ArithmeticExpr::Number(_) | ArithmeticExpr::Variable(_) => {}
            ArithmeticExpr::Indexed { index, .. } => self.arithmetic(index),
            ArithmeticExpr::ShellWord(word) => self.word(word),
            ArithmeticExpr::Parenthesized { expression } => self.arithmetic(expression),
            ArithmeticExpr::Unary { expr, .. } | ArithmeticExpr::Postfix { expr, .. } => {
                self.arithmetic(expr);
            }
            ArithmeticExpr::Binary { left, right, .. } => {
                self.arithmetic(left);
                self.arithmetic(right);
            }
            ArithmeticExpr::Conditional { condition, then_expr, else_expr } => {
                self.arithmetic(condition);
                self.arithmetic(then_expr);
                self.arithmetic(else_expr);
            }
            ArithmeticExpr::Assignment { target, value, .. } => {
                match target {
                    ArithmeticLvalue::Indexed { index, .. } => self.arithmetic(index),
                    ArithmeticLvalue::Variable(name) => self.learned.set(name.as_str(), None),
                }
                self.arithmetic(value);
            }
        }
    }

    pub(super) fn heredoc(&mut self, body: &HeredocBody) {
        for (part, _) in body.parts_with_spans() {
            match part {
                HeredocBodyPart::Literal(_) | HeredocBodyPart::Variable(_) => {}
                HeredocBodyPart::CommandSubstitution { body, .. } => {
                    self.inside(|walk| walk.statements(body, &Input::Nothing));
                }
                HeredocBodyPart::ArithmeticExpansion {
                    expression_ast,
                    expression_word_ast,
                    ..
                } => match expression_ast {
                    Some(expression) => self.arithmetic(expression),
                    None => self.word(expression_word_ast),
                },
                HeredocBodyPart::Parameter(parameter) => self.parameter(parameter),
            }
        }
    }
}
