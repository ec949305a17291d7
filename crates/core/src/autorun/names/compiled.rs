//! Compiled code, which is loaded where a source was reviewed.

use crate::autorun::rule::{COMPILED, NATIVE, Names, endings, folders};

pub(super) const NAMES: &[Names] = &[
    folders(COMPILED, &["__pycache__"]),
    endings(
        COMPILED,
        &[
            ".pyc", ".pyo", ".class", ".elc", ".eln", ".zwc", ".beam", ".luac", ".rbc", ".fasl",
            ".o", ".a", ".rlib", ".rmeta", ".hi", ".cmo", ".cmx", ".cmxa", ".jar", ".qmlc", ".jsc",
            ".phar",
        ],
    ),
    endings(
        NATIVE,
        &[
            ".so",
            ".pyd",
            ".dylib",
            ".dll",
            ".node",
            ".mexa64",
            ".mexw64",
            ".mexmaci64",
            ".jnilib",
            ".ko",
        ],
    ),
];
