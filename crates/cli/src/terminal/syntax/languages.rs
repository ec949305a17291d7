//! The languages that code is coloured in: their words, comments and strings, as data.

/// How a language is written.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) names: &'static [&'static str],
    pub(super) keywords: &'static [&'static str],
    pub(super) constants: &'static [&'static str],
    /// Marks of comments up to the end of the line.
    pub(super) line: &'static [&'static str],
    /// Marks that begin a comment or string, and how it ends.
    pub(super) blocks: &'static [(&'static str, Block)],
    /// Characters before a name that has a colour.
    pub(super) sigils: &'static str,
    /// Whether a `#` is a comment only at the start of a word.
    pub(super) spaced_comments: bool,
    /// Whether keywords are written in any case.
    pub(super) any_case: bool,
}

/// A comment or string that may have several lines.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) end: &'static str,
    pub(super) is_comment: bool,
    /// Whether a backslash takes the meaning from what follows it.
    pub(super) escapes: bool,
    /// Whether the end of the line ends it.
    pub(super) one_line: bool,
}

const fn comment(end: &'static str) -> Block {
    Block { end, is_comment: true, escapes: false, one_line: false }
}

const fn text(end: &'static str) -> Block {
    Block { end, is_comment: false, escapes: true, one_line: false }
}

const fn line_text(end: &'static str) -> Block {
    Block { end, is_comment: false, escapes: true, one_line: true }
}

const fn raw_text(end: &'static str) -> Block {
    Block { end, is_comment: false, escapes: false, one_line: false }
}

const NONE: Language = Language {
    names: &[],
    keywords: &[],
    constants: &[],
    line: &[],
    blocks: &[],
    sigils: "",
    spaced_comments: false,
    any_case: false,
};

const C_BLOCKS: &[(&str, Block)] =
    &[("/*", comment("*/")), ("\"", line_text("\"")), ("'", line_text("'"))];

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        names: &["python", "py", "ipython", "pycon"],
        keywords: &[
            "and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def",
            "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
            "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return",
            "try", "while", "with", "yield",
        ],
        constants: &["None", "True", "False", "self", "cls"],
        line: &["#"],
        blocks: &[
            ("\"\"\"", text("\"\"\"")),
            ("'''", text("'''")),
            ("\"", line_text("\"")),
            ("'", line_text("'")),
        ],
        sigils: "@",
        ..NONE
    },
    Language {
        names: &["shell", "bash", "sh", "zsh", "console", "dockerfile", "make", "makefile"],
        keywords: &[
            "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case",
            "esac", "in", "function", "return", "export", "local", "readonly", "set", "unset",
            "source", "exec", "trap", "cd", "echo", "exit",
        ],
        line: &["#"],
        blocks: &[("\"", text("\"")), ("'", raw_text("'"))],
        sigils: "$",
        spaced_comments: true,
        ..NONE
    },
    Language {
        names: &["javascript", "js", "jsx", "typescript", "ts", "tsx", "node", "mjs"],
        keywords: &[
            "abstract",
            "as",
            "async",
            "await",
            "break",
            "case",
            "catch",
            "class",
            "const",
            "continue",
            "debugger",
            "declare",
            "default",
            "delete",
            "do",
            "else",
            "enum",
            "export",
            "extends",
            "finally",
            "for",
            "from",
            "function",
            "get",
            "if",
            "implements",
            "import",
            "in",
            "instanceof",
            "interface",
            "let",
            "new",
            "of",
            "private",
            "protected",
            "public",
            "readonly",
            "return",
            "set",
            "static",
            "super",
            "switch",
            "throw",
            "try",
            "type",
            "typeof",
            "var",
            "void",
            "while",
            "with",
            "yield",
        ],
        constants: &["null", "undefined", "true", "false", "this", "NaN", "Infinity"],
        line: &["//"],
        blocks: &[
            ("/*", comment("*/")),
            ("`", text("`")),
            ("\"", line_text("\"")),
            ("'", line_text("'")),
        ],
        sigils: "@",
        ..NONE
    },
    Language {
        names: &["rust", "rs"],
        keywords: &[
            "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum",
            "extern", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move",
            "mut", "pub", "ref", "return", "static", "struct", "super", "trait", "type", "unsafe",
            "use", "where", "while",
        ],
        constants: &["true", "false", "self", "Self", "None", "Some", "Ok", "Err"],
        line: &["//"],
        // A quote may be a lifetime, so characters have no colour.
        blocks: &[("/*", comment("*/")), ("\"", text("\""))],
        ..NONE
    },
    Language {
        names: &[
            "c", "cpp", "c++", "cc", "h", "hpp", "java", "kotlin", "swift", "go", "golang", "cs",
            "csharp", "c#", "scala", "dart", "php", "proto",
        ],
        keywords: &[
            "auto",
            "break",
            "case",
            "catch",
            "chan",
            "class",
            "const",
            "continue",
            "default",
            "defer",
            "delete",
            "do",
            "else",
            "enum",
            "extends",
            "extern",
            "final",
            "finally",
            "for",
            "foreach",
            "fun",
            "func",
            "function",
            "go",
            "goto",
            "guard",
            "if",
            "implements",
            "import",
            "in",
            "include",
            "inline",
            "interface",
            "is",
            "let",
            "map",
            "namespace",
            "new",
            "object",
            "override",
            "package",
            "private",
            "protected",
            "public",
            "range",
            "return",
            "select",
            "sizeof",
            "static",
            "struct",
            "super",
            "switch",
            "template",
            "throw",
            "throws",
            "trait",
            "try",
            "type",
            "typedef",
            "union",
            "using",
            "val",
            "var",
            "virtual",
            "void",
            "volatile",
            "when",
            "where",
            "while",
            "bool",
            "char",
            "double",
            "float",
            "int",
            "long",
            "short",
            "signed",
            "string",
            "unsigned",
        ],
        constants: &["true", "false", "null", "nil", "nullptr", "NULL", "this", "self"],
        line: &["//"],
        blocks: C_BLOCKS,
        ..NONE
    },
    Language {
        names: &["sql", "sqlite", "postgres", "postgresql", "mysql"],
        keywords: &[
            "add",
            "all",
            "alter",
            "and",
            "as",
            "asc",
            "between",
            "by",
            "case",
            "create",
            "cross",
            "delete",
            "desc",
            "distinct",
            "drop",
            "else",
            "end",
            "exists",
            "from",
            "full",
            "group",
            "having",
            "if",
            "in",
            "index",
            "inner",
            "insert",
            "into",
            "is",
            "join",
            "left",
            "like",
            "limit",
            "not",
            "offset",
            "on",
            "or",
            "order",
            "outer",
            "over",
            "partition",
            "primary",
            "key",
            "references",
            "right",
            "select",
            "set",
            "table",
            "then",
            "union",
            "unique",
            "update",
            "using",
            "values",
            "view",
            "when",
            "where",
            "with",
        ],
        constants: &["null", "NULL", "true", "false", "TRUE", "FALSE"],
        line: &["--"],
        blocks: &[("/*", comment("*/")), ("'", raw_text("'")), ("\"", raw_text("\""))],
        any_case: true,
        ..NONE
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl"],
        constants: &["true", "false", "null"],
        line: &["//"],
        blocks: &[("\"", line_text("\""))],
        ..NONE
    },
    Language {
        names: &["toml", "ini", "yaml", "yml", "conf", "cfg", "properties"],
        constants: &["true", "false", "null", "yes", "no"],
        line: &["#"],
        blocks: &[("\"", line_text("\"")), ("'", line_text("'"))],
        spaced_comments: true,
        ..NONE
    },
    Language {
        names: &["r", "julia", "jl", "ruby", "rb", "perl", "pl", "elixir", "nim"],
        keywords: &[
            "and", "begin", "break", "case", "class", "const", "def", "do", "else", "elseif",
            "elsif", "end", "ensure", "export", "for", "foreach", "function", "global", "if",
            "import", "in", "last", "let", "local", "library", "macro", "module", "my", "next",
            "not", "or", "our", "package", "quote", "redo", "repeat", "require", "rescue",
            "return", "struct", "sub", "super", "then", "unless", "until", "use", "using", "when",
            "while", "yield",
        ],
        constants: &[
            "TRUE", "FALSE", "NULL", "NA", "nil", "true", "false", "nothing", "self", "Inf",
        ],
        line: &["#"],
        blocks: &[("\"", text("\"")), ("'", line_text("'"))],
        ..NONE
    },
    Language {
        names: &["lua", "haskell", "hs"],
        keywords: &[
            "and", "break", "case", "class", "data", "do", "else", "elseif", "end", "for",
            "function", "goto", "if", "import", "in", "instance", "let", "local", "module",
            "newtype", "not", "of", "or", "repeat", "return", "then", "type", "until", "where",
            "while",
        ],
        constants: &["nil", "true", "false", "True", "False", "Nothing"],
        line: &["--"],
        blocks: &[("{-", comment("-}")), ("\"", line_text("\""))],
        ..NONE
    },
    Language {
        names: &["html", "xml", "svg", "vue"],
        blocks: &[("<!--", comment("-->")), ("\"", raw_text("\""))],
        ..NONE
    },
    Language {
        names: &["css", "scss", "less"],
        blocks: &[("/*", comment("*/")), ("\"", line_text("\"")), ("'", line_text("'"))],
        sigils: "@.#",
        ..NONE
    },
];
