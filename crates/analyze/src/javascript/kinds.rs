//! The kinds of nodes that the walks ask for, and the names by which a parent knows them, as small
//! numbers: they are compared for every node of the code, and text is slow to compare.
//!
//! Whatever is not listed is [`Kind::OTHER`] or [`Field::NONE`]. Holds no rule on what any of them
//! means.

use tree_sitter::Language;

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(u8);

/// The name by which a parent knows a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field(u8);

macro_rules! words {
    ($of:ident, $none:ident, $($constant:ident $word:literal,)*) => {
        impl $of {
            /// The words of the grammars, each at its own number.
            const WORDS: &[&str] = &["", $($word,)*];
            pub(super) const $none: Self = Self(0);
            $(pub(super) const $constant: Self = Self(number(Self::WORDS, $word));)*

            fn named(word: &str) -> Self {
                let at = Self::WORDS.iter().position(|&one| one == word);
                at.and_then(|at| u8::try_from(at).ok()).map_or(Self::$none, Self)
            }
        }
    };
}

words! { Kind, OTHER,
    ARGUMENTS "arguments",
    ARRAY "array",
    ARRAY_PATTERN "array_pattern",
    ARROW_FUNCTION "arrow_function",
    AS "as_expression",
    ASSIGNMENT "assignment_expression",
    ASSIGNMENT_PATTERN "assignment_pattern",
    AUGMENTED_ASSIGNMENT "augmented_assignment_expression",
    AWAIT "await_expression",
    BINARY "binary_expression",
    BREAK "break_statement",
    CALL "call_expression",
    CLASS_BODY "class_body",
    COMMENT "comment",
    DO "do_statement",
    ESCAPE "escape_sequence",
    FOR "for_statement",
    FOR_IN "for_in_statement",
    FORMAL_PARAMETERS "formal_parameters",
    FUNCTION_DECLARATION "function_declaration",
    FUNCTION_EXPRESSION "function_expression",
    FUNCTION_SIGNATURE "function_signature",
    FUNCTION_TYPE "function_type",
    GENERATOR "generator_function",
    GENERATOR_DECLARATION "generator_function_declaration",
    HTML_COMMENT "html_comment",
    IDENTIFIER "identifier",
    IMPORT "import",
    IMPORT_CLAUSE "import_clause",
    IMPORT_STATEMENT "import_statement",
    MEMBER "member_expression",
    NAMED_IMPORTS "named_imports",
    NAMESPACE_IMPORT "namespace_import",
    NESTED_IDENTIFIER "nested_identifier",
    NESTED_TYPE_IDENTIFIER "nested_type_identifier",
    NEW "new_expression",
    NON_NULL "non_null_expression",
    OBJECT "object",
    OBJECT_ASSIGNMENT_PATTERN "object_assignment_pattern",
    OBJECT_PATTERN "object_pattern",
    OPTIONAL_PARAMETER "optional_parameter",
    PAIR "pair",
    PAIR_PATTERN "pair_pattern",
    PARENTHESIZED "parenthesized_expression",
    PLUS "+",
    PRIVATE_IDENTIFIER "private_property_identifier",
    PROPERTY_IDENTIFIER "property_identifier",
    REQUIRED_PARAMETER "required_parameter",
    RETURN "return_statement",
    SATISFIES "satisfies_expression",
    SEQUENCE "sequence_expression",
    SHORTHAND "shorthand_property_identifier",
    SHORTHAND_PATTERN "shorthand_property_identifier_pattern",
    SPREAD "spread_element",
    STATEMENT_IDENTIFIER "statement_identifier",
    STRING "string",
    STRING_FRAGMENT "string_fragment",
    SUBSCRIPT "subscript_expression",
    SUBSTITUTION "template_substitution",
    SWITCH "switch_statement",
    TEMPLATE "template_string",
    TERNARY "ternary_expression",
    THROW "throw_statement",
    TYPE_IDENTIFIER "type_identifier",
    UPDATE "update_expression",
    VARIABLE "variable_declarator",
    WHILE "while_statement",
    YIELD "yield_expression",
}

words! { Field, NONE,
    ALIAS "alias",
    ALTERNATIVE "alternative",
    ARGUMENT "argument",
    ARGUMENTS "arguments",
    BODY "body",
    CONDITION "condition",
    CONSEQUENCE "consequence",
    CONSTRUCTOR "constructor",
    FUNCTION "function",
    INDEX "index",
    KEY "key",
    LEFT "left",
    NAME "name",
    OBJECT "object",
    OPERATOR "operator",
    PARAMETER "parameter",
    PATTERN "pattern",
    PROPERTY "property",
    RIGHT "right",
    SOURCE "source",
    VALUE "value",
}

impl Kind {
    /// Whether it is a name of any kind.
    pub(super) fn is_identifier(self) -> bool {
        matches!(
            self,
            Self::IDENTIFIER
                | Self::NESTED_IDENTIFIER
                | Self::NESTED_TYPE_IDENTIFIER
                | Self::PRIVATE_IDENTIFIER
                | Self::PROPERTY_IDENTIFIER
                | Self::SHORTHAND
                | Self::STATEMENT_IDENTIFIER
                | Self::TYPE_IDENTIFIER
        )
    }

    /// Whether it is a function of any kind.
    pub(super) fn is_function(self) -> bool {
        matches!(
            self,
            Self::ARROW_FUNCTION
                | Self::FUNCTION_DECLARATION
                | Self::FUNCTION_EXPRESSION
                | Self::FUNCTION_SIGNATURE
                | Self::FUNCTION_TYPE
                | Self::GENERATOR
                | Self::GENERATOR_DECLARATION
        )
    }

    /// Whether a `break` inside it ends it.
    pub(super) fn is_loop(self) -> bool {
        matches!(self, Self::DO | Self::FOR | Self::FOR_IN | Self::SWITCH | Self::WHILE)
    }

    /// Whether it may stand anywhere and means nothing.
    pub(super) fn is_comment(self) -> bool {
        matches!(self, Self::COMMENT | Self::HTML_COMMENT)
    }
}

/// The kinds and fields of a grammar by its own numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    kinds: Vec<Kind>,
    fields: Vec<Field>,
}

impl Numbers {
    pub(super) fn of(language: &Language) -> Self {
        let kinds = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id| language.node_kind_for_id(id).map_or(Kind::OTHER, Kind::named);
        let fields = 0..=u16::try_from(language.field_count()).unwrap_or(u16::MAX - 1);
        let field = |id| language.field_name_for_id(id).map_or(Field::NONE, Field::named);
        Self { kinds: kinds.map(kind).collect(), fields: fields.map(field).collect() }
    }

    /// The parser's own kinds, such as that of an error, have numbers beyond the grammar's.
    pub(super) fn kind(&self, id: u16) -> Kind {
        self.kinds.get(usize::from(id)).copied().unwrap_or(Kind::OTHER)
    }

    pub(super) fn field(&self, id: Option<std::num::NonZeroU16>) -> Field {
        let field = id.and_then(|id| self.fields.get(usize::from(id.get())));
        field.copied().unwrap_or(Field::NONE)
    }
}

/// The place of a word among others, while the crate is compiled.
const fn number(words: &[&str], word: &str) -> u8 {
    let mut at: u8 = 0;
    while (at as usize) < words.len() {
        if is_same(words[at as usize].as_bytes(), word.as_bytes()) {
            return at;
        }
        at += 1;
    }
    panic!("a word that is not among them");
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn grammars() -> [Language; 2] {
        [
            tree_sitter_javascript::LANGUAGE.into(),
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        ]
    }

    /// The named kinds of both grammars.
    fn kinds() -> HashSet<&'static str> {
        let kinds = |language: Language| {
            let ids = 0..u16::try_from(language.node_kind_count()).unwrap();
            let named = ids.filter(|&id| language.node_kind_is_named(id));
            named.filter_map(|id| language.node_kind_for_id(id)).collect::<Vec<_>>()
        };
        grammars().into_iter().flat_map(kinds).collect()
    }

    #[test]
    fn every_word_is_one_of_a_grammar() {
        let kinds = kinds();
        let missing = |word: &&&str| !word.is_empty() && **word != "+" && !kinds.contains(**word);
        assert_eq!(Kind::WORDS.iter().find(missing), None);
        let knows = |word: &str| grammars().iter().any(|one| one.field_id_for_name(word).is_some());
        assert_eq!(Field::WORDS.iter().skip(1).find(|word| !knows(word)), None);
    }

    #[test]
    fn groups_of_kinds_are_whole() {
        for word in kinds() {
            let kind = Kind::named(word);
            assert_eq!(kind.is_identifier(), word.ends_with("identifier"), "{word}");
            assert_eq!(kind.is_function(), word.contains("function"), "{word}");
            let starts = ["for", "while", "do", "switch"].iter().any(|one| word.starts_with(one));
            assert_eq!(kind.is_loop(), starts && word.ends_with("_statement"), "{word}");
            assert_eq!(kind.is_comment(), word.ends_with("comment"), "{word}");
        }
    }
}
