//! The names that a cell surely sets before it uses them.
//!
//! An earlier cell may have set a name to something else. That counts no more after a statement of
//! the outermost level that sets the name in any case: if it fails, the cell is over. It must be
//! the first to speak of the name, since a function that stands before it may be called before.

use ruff_python_ast::{
    Alias, Expr, Identifier, Stmt,
    visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt},
};
use std::collections::HashSet;

pub(crate) fn names(body: &[Stmt]) -> HashSet<&str> {
    let (mut sure, mut spoken) = (HashSet::new(), Spoken::default());
    for statement in body {
        // The value comes first, and may have the name in it.
        let mut value = Spoken::default();
        let set: Vec<&str> = match statement {
            Stmt::Assign(assign) => {
                value.visit_expr(&assign.value);
                assign.targets.iter().filter_map(named).collect()
            }
            Stmt::AnnAssign(assign) => {
                if let Some(given) = &assign.value {
                    value.visit_expr(given);
                    named(&assign.target).into_iter().collect()
                } else {
                    Vec::new()
                }
            }
            Stmt::Import(import) => import.names.iter().map(root).collect(),
            Stmt::ImportFrom(import) => import.names.iter().map(root).collect(),
            Stmt::FunctionDef(function) if function.decorator_list.is_empty() => {
                vec![function.name.as_str()]
            }
            Stmt::ClassDef(class) if class.decorator_list.is_empty() => vec![class.name.as_str()],
            _ => Vec::new(),
        };
        for name in set {
            if !spoken.0.contains(name) && !value.0.contains(name) {
                sure.insert(name);
            }
        }
        spoken.visit_stmt(statement);
    }
    sure
}

fn named(target: &Expr) -> Option<&str> {
    target.as_name_expr().map(|name| name.id.as_str())
}

/// The name that an import sets.
fn root(alias: &Alias) -> &str {
    match &alias.asname {
        Some(name) => name,
        None => alias.name.split('.').next().unwrap_or_default(),
    }
}

/// Every name that code speaks of.
#[derive(Default)]
struct Spoken<'a>(HashSet<&'a str>);

impl<'a> SourceOrderVisitor<'a> for Spoken<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => self.0.extend(import.names.iter().map(root)),
            Stmt::ImportFrom(import) => self.0.extend(import.names.iter().map(root)),
            Stmt::FunctionDef(function) => _ = self.0.insert(&function.name),
            Stmt::ClassDef(class) => _ = self.0.insert(&class.name),
            Stmt::Global(global) => self.0.extend(global.names.iter().map(Identifier::as_str)),
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression {
            self.0.insert(name.id.as_str());
        }
        walk_expr(self, expression);
    }
}
