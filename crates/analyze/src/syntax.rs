//! The ways in which code can be read.

/// A way in which code can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Syntax {
    Python,
    Shell,
    JavaScript,
    TypeScript,
    Sql,
    /// By its words alone.
    Words,
}

impl Syntax {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "python" => Self::Python,
            "shell" => Self::Shell,
            "javascript" => Self::JavaScript,
            "typescript" => Self::TypeScript,
            "sql" => Self::Sql,
            _ => Self::Words,
        }
    }

    /// Whether names that such code sets are followed into later code.
    pub(crate) fn has_names(self) -> bool {
        match self {
            Self::Python | Self::Shell | Self::JavaScript | Self::TypeScript => true,
            Self::Sql | Self::Words => false,
        }
    }
}
