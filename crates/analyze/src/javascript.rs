//! JavaScript: what its calls do.
//!
//! The tree is walked without recursion: its depth is the author's choice. Names are followed
//! through imports, `require`, destructuring and simple assignments, wherever they stand.

use crate::{
    analysis::{Analysis, Script},
    call::{self, Call},
    literal::Literal,
    meanings::Meanings,
    rules::Rules,
    says::{Says, Site},
    syntax::Syntax,
    words,
};
use handed::{Harmful, handed};
use interpreter_core::{Deed, Risk};
use kinds::{Field, Kind};
use loops::Ending;
use names::Names;
use parse::parse;
use std::rc::Rc;
use tree::{Descent, Node};

mod handed;
mod kinds;
mod loops;
mod names;
mod nodes;
mod parse;
mod quick;
mod strict;
mod text;
mod texts;
mod tree;
mod values;

/// Deepest nesting of brackets that is read. The parser survives more, slowly.
const DEPTH: usize = 1000;

/// Finds what a JavaScript script does.
pub(crate) fn read(script: &Script, analysis: &mut Analysis) {
    let read = if script.is_deeper_than(DEPTH) {
        Err("code that is nested too deep")
    } else {
        parse(script.syntax, &script.text).ok_or("code that takes too long to parse")
    };
    let tree = match read {
        Ok(tree) => tree,
        Err(why) => {
            words::refuse(script, why, analysis);
            analysis.learn(script, script.known.clone());
            return;
        }
    };
    let source = script.text.as_str();
    if tree.error.is_none()
        && let Some(strict) = analysis.strict_for(script)
    {
        strict::judge(&tree, source, strict);
    }
    let fuel = Rc::clone(analysis.fuel());
    let kept = Meanings { rules: analysis.rules.clone(), syntax: Syntax::JavaScript };
    let names = Names::of(&tree, source, script.known.clone(), fuel, kept);
    let (passed, rules) = (vec![false; tree.len()], analysis.rules.clone());
    let harmful = Harmful::of(&names, &rules);
    let mut judge = Judge { script, source, names, harmful, passed, rules, analysis };
    tree.each(|node| judge.node(node));
    if let Some(row) = tree.error {
        let why = if script.syntax == Syntax::TypeScript {
            "the TypeScript code does not parse"
        } else {
            "the JavaScript code does not parse"
        };
        judge.analysis.unreadable(why, script.line(row + 1));
    }
    if judge.analysis.fuel().is_spent() {
        judge.analysis.refuse("its names take too long to follow", script.line(1));
    }
    let Judge { names, analysis, .. } = judge;
    let learned = names.learned(script, analysis.so_far());
    analysis.learn(script, learned);
}

struct Judge<'a> {
    script: &'a Script,
    source: &'a str,
    names: Names,
    harmful: Harmful,
    /// Whether each node is a part of something that was judged, by [`Node::id`].
    passed: Vec<bool>,
    rules: Rules,
    analysis: &'a mut Analysis,
}

impl Judge<'_> {
    fn site(&self, node: Node<'_>) -> Site {
        let (start, end) = (node.start_position(), node.end_position());
        let last = if start.row == end.row { end.column } else { start.column };
        self.script.stretch(start.row + 1, (start.column + 1, last.max(start.column) + 1))
    }

    fn say(&mut self, deed: Deed, severity: Risk, why: &str, node: Node<'_>) {
        let at = self.site(node);
        self.analysis.note(Says::new(deed, severity, why), &Literal::default(), at);
    }

    /// Looking up a variable of the environment, or all of them.
    fn environment(&mut self, names: &[String], node: Node<'_>) {
        let of = |name: &String| match name.strip_prefix("process.env")? {
            "" | "[]" => Some(String::new()),
            rest => Some(rest.strip_prefix('.')?.split('.').next()?.to_owned()),
        };
        if let Some(name) = names.iter().find_map(of) {
            let says = Says::new(Deed::Environment, Risk::Low, "a variable of the environment");
            let at = self.site(node);
            self.analysis.note(says, &Literal::known(name), at);
        }
    }

    fn node(&mut self, node: Node<'_>) -> Descent {
        match node.kind() {
            Kind::CALL | Kind::NEW => self.call(node),
            Kind::RETURN
            | Kind::SPREAD
            | Kind::ARRAY
            | Kind::PAIR
            | Kind::SHORTHAND
            | Kind::ARROW_FUNCTION
            | Kind::ASSIGNMENT_PATTERN
            | Kind::ASSIGNMENT
            | Kind::CLASS_BODY => self.hand_on(node, &[]),
            Kind::IMPORT_STATEMENT => {
                if let Some(source) = node.child(Field::SOURCE) {
                    self.import(&self.names.text(source, self.source), node);
                }
                return Descent::Past;
            }
            Kind::WHILE | Kind::DO | Kind::FOR => {
                let ending = loops::ending(node, self.source, self.analysis.fuel());
                if let Some(Ending::Endless | Ending::Growing) = ending {
                    self.say(Deed::Endless, Risk::Medium, "a loop without an end", node);
                }
                if ending == Some(Ending::Growing) {
                    self.say(Deed::Floods, Risk::Medium, "a loop that takes more each time", node);
                }
            }
            Kind::VARIABLE => self.pass(node.child(Field::NAME)),
            Kind::PAIR_PATTERN => self.pass(node.child(Field::VALUE)),
            Kind::IDENTIFIER | Kind::MEMBER | Kind::SUBSCRIPT => {
                let passed = self.passed.get(node.id()).copied().unwrap_or_default();
                self.pass(node.child(Field::OBJECT));
                if !passed {
                    let names = self.names.resolve(node, self.source);
                    if self.rules.on_mention(Syntax::JavaScript, &names).next().is_some() {
                        let at = self.site(node);
                        let rules = self.rules.on_mention(Syntax::JavaScript, &names);
                        call::mention(rules, at, self.analysis);
                    }
                    self.environment(&names, node);
                }
            }
            _ => {}
        }
        Descent::Into
    }

    /// Notes the modules that a node hands on.
    fn hand_on(&mut self, node: Node<'_>, names: &[String]) {
        for one in handed(node, names) {
            if self.harmful.is(one, self.source) {
                let at = self.site(one);
                self.analysis.hands_on(at);
            }
        }
    }

    fn pass(&mut self, node: Option<Node<'_>>) {
        if let Some(passed) = node.and_then(|node| self.passed.get_mut(node.id())) {
            *passed = true;
        }
    }

    fn call(&mut self, node: Node<'_>) {
        let field = if node.kind() == Kind::NEW { Field::CONSTRUCTOR } else { Field::FUNCTION };
        let Some(callee) = node.child(field) else { return };
        self.pass(Some(callee));
        let names = self.names.resolve(callee, self.source);
        self.hand_on(node, &names);
        let at = self.site(node);
        if callee.kind() == Kind::IDENTIFIER {
            let name = self.source.get(callee.byte_range()).unwrap_or_default();
            for &says in self.names.does(name) {
                self.analysis.note(says, &Literal::computed(), at);
            }
        }
        if names.iter().any(|name| nodes::is_import(name)) {
            match values::first(node) {
                Some(module) => self.import(&self.names.text(module, self.source), node),
                None => self.analysis.hides("which module it imports is computed", at),
            }
        }
        let rules = self.rules.on_call(Syntax::JavaScript, &names);
        if !rules.is_empty() {
            let read = || values::call(node, callee, &self.names, self.source, at);
            let call = Call::for_rules(&rules, at, read);
            call.judge(&rules, self.script, self.analysis);
        }
    }

    fn import(&mut self, module: &Literal, node: Node<'_>) {
        let at = self.site(node);
        match module.whole() {
            None => self.analysis.hides("which module it imports is computed", at),
            Some(module) => {
                let module = nodes::module(module);
                let rules = self.rules.on_import(Syntax::JavaScript, &module);
                call::import(rules, &module, at, self.analysis);
            }
        }
    }
}
