//! JavaScript: what its calls do.
//!
//! The tree is walked without recursion: its depth is the author's choice. Names are followed
//! through imports, `require`, destructuring and simple assignments, wherever they stand.

use crate::{
    analysis::{Analysis, Script},
    call,
    call_rules::CallRules,
};
use names::Names;
use std::{collections::HashSet, ops::ControlFlow, sync::LazyLock};
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

mod names;
mod text;
mod values;

static RULES: LazyLock<CallRules> = LazyLock::new(|| {
    CallRules::parse(include_str!("../rules/javascript.toml"))
        .expect("rules/javascript.toml is part of this crate and tested")
});

/// Deepest nesting of brackets that is read. The parser survives more, slowly.
const DEPTH: usize = 1000;

/// Finds what a JavaScript script does.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    if script.is_deeper_than(DEPTH) {
        analysis.unreadable("code that is nested too deep", script.line(1));
        return;
    }
    let Some(tree) = parse(&script.text) else {
        analysis.unreadable("code that takes too long to parse", script.line(1));
        return;
    };
    let source = script.text.as_str();
    let names = Names::of(&tree, source);
    let mut judge = Judge { script, source, names, passed: HashSet::new(), analysis };
    let mut error = None;
    each(&tree, |node| {
        if error.is_none() && (node.is_error() || node.is_missing()) {
            error = Some(node.start_position().row + 1);
        }
        judge.node(node)
    });
    if tree.root_node().has_error() {
        let line = script.line(error.unwrap_or(1));
        judge.analysis.unreadable("the JavaScript code does not parse", line);
    }
}

/// The tree of a script, unless it would take too much work to build.
fn parse(code: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_javascript::LANGUAGE.into())
        .expect("the grammar and the parser are of versions that fit");
    // Called about every hundred steps; real code needs a few steps for each byte.
    let mut left = 1000 + code.len() / 4;
    let mut progress = |_: &ParseState| match left.checked_sub(1) {
        Some(fewer) => {
            left = fewer;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = code.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Whether to look inside a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Descent {
    Into,
    Past,
}

/// Visits every node in the order of the text, without recursion.
fn each<'tree>(tree: &'tree Tree, mut visit: impl FnMut(Node<'tree>) -> Descent) {
    let mut cursor = tree.walk();
    loop {
        if visit(cursor.node()) == Descent::Into && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

struct Judge<'a> {
    script: &'a Script,
    source: &'a str,
    names: Names,
    /// Nodes that are a part of something that was judged.
    passed: HashSet<usize>,
    analysis: &'a mut Analysis,
}

impl Judge<'_> {
    fn line(&self, node: Node<'_>) -> u32 {
        self.script.line(node.start_position().row + 1)
    }

    fn node(&mut self, node: Node<'_>) -> Descent {
        match node.kind() {
            "call_expression" | "new_expression" => self.call(node),
            "import_statement" => {
                if let Some(source) = node.child_by_field_name("source") {
                    self.import(&self.names.text(source, self.source), node);
                }
                return Descent::Past;
            }
            "variable_declarator" => self.pass(node.child_by_field_name("name")),
            "pair_pattern" => self.pass(node.child_by_field_name("value")),
            "identifier" | "member_expression" | "subscript_expression" => {
                let passed = self.passed.remove(&node.id());
                self.pass(node.child_by_field_name("object"));
                if !passed {
                    let names = self.names.resolve(node, self.source);
                    let line = self.line(node);
                    call::mention(RULES.on_mention(&names), line, self.analysis);
                }
            }
            _ => {}
        }
        Descent::Into
    }

    fn pass(&mut self, node: Option<Node<'_>>) {
        self.passed.extend(node.map(|node| node.id()));
    }

    fn call(&mut self, node: Node<'_>) {
        let field = if node.kind() == "new_expression" { "constructor" } else { "function" };
        let Some(callee) = node.child_by_field_name(field) else { return };
        self.pass(Some(callee));
        let names = self.names.resolve(callee, self.source);
        let line = self.line(node);
        if names.iter().any(|name| names::is_import(name)) {
            match values::first(node) {
                Some(module) => self.import(&self.names.text(module, self.source), node),
                None => self.analysis.hides(line),
            }
        }
        let rules = RULES.on_call(&names);
        if !rules.is_empty() {
            let call = values::call(node, callee, &self.names, self.source, line);
            call.judge(&rules, self.script, self.analysis);
        }
    }

    fn import(&mut self, module: &crate::literal::Literal, node: Node<'_>) {
        let line = self.line(node);
        match module.whole() {
            None => self.analysis.hides(line),
            Some(module) => {
                let module = names::module(module);
                call::import(RULES.on_import(&module), &module, line, self.analysis);
            }
        }
    }
}

#[cfg(test)]
pub(crate) fn rules() -> &'static CallRules {
    &RULES
}
