//! JavaScript: whether every name is known.
//!
//! A value may be anything that the code can reach, the constructor of functions included, since
//! items may be taken by a computed key. So nothing is called that isn't a function of the code's own,
//! or of the list, and nothing else is handed to what calls it.

use super::{
    kinds::{Field, Kind},
    tree::{Descent, Node, Tree},
};
use crate::strict::{Strict, StrictNames};
use std::collections::{HashMap, HashSet};

mod keys;

/// Objects and functions of the language itself, and the names of each that are harmless.
const GLOBALS: &[(&str, &str)] = &[
    ("Math", "*"),
    ("JSON", "parse stringify"),
    ("Object", "keys values entries fromEntries assign freeze groupBy hasOwn is"),
    ("Array", "from isArray of"),
    (
        "Number",
        "isInteger isFinite isNaN isSafeInteger parseFloat parseInt EPSILON MAX_SAFE_INTEGER MIN_SAFE_INTEGER MAX_VALUE MIN_VALUE POSITIVE_INFINITY NEGATIVE_INFINITY NaN",
    ),
    ("String", "fromCharCode fromCodePoint raw"),
    ("Date", "now UTC parse"),
    ("Promise", "all allSettled race any resolve reject"),
    ("console", "log error warn info table dir debug group groupEnd time timeEnd count assert"),
    ("Intl", "NumberFormat DateTimeFormat Collator PluralRules RelativeTimeFormat ListFormat"),
    ("Map", "groupBy"),
    ("Symbol", "iterator asyncIterator"),
    ("BigInt", ""),
    ("Boolean", ""),
    ("Set", ""),
    ("performance", "now"),
];

/// Functions of the language that may be called.
const FUNCTIONS: &str = "Array parseInt parseFloat isNaN isFinite Number String Boolean BigInt Symbol structuredClone \
    encodeURIComponent decodeURIComponent encodeURI decodeURI queueMicrotask setTimeout clearTimeout";

/// Constructors that `new` may be used with.
const MADE: &str = "Map Set WeakMap WeakSet Date Array RegExp Error TypeError RangeError Promise URL \
    URLSearchParams Float64Array Int32Array Uint8Array Uint32Array TextEncoder TextDecoder";

/// Names that are values.
const VALUES: &str = "undefined NaN Infinity arguments";

/// Methods of values.
const METHODS: &str = "push pop shift unshift slice splice concat join reverse sort toSorted toReversed map filter forEach \
    reduce reduceRight find findIndex findLast findLastIndex some every flatMap flat includes indexOf lastIndexOf fill keys values \
    entries at with length split trim trimStart trimEnd toUpperCase toLowerCase toLocaleUpperCase toLocaleLowerCase \
    padStart padEnd startsWith endsWith repeat replace replaceAll match matchAll search substring substr charAt \
    charCodeAt codePointAt localeCompare normalize test exec toFixed toPrecision toString toLocaleString valueOf \
    get set has add delete clear size then catch finally next return getTime getFullYear getMonth getDate getDay getHours \
    getMinutes getSeconds getMilliseconds getUTCFullYear getUTCMonth getUTCDate getUTCDay getUTCHours getTimezoneOffset \
    setDate setMonth setFullYear setHours setMinutes setSeconds setUTCDate toISOString toDateString toTimeString toLocaleDateString \
    toLocaleTimeString toJSON format formatToParts getAll append encode decode isDirectory isFile union intersection difference \
    isSubsetOf copyWithin subarray";

/// Methods and functions that call what they are handed.
const CALLING: &str = "map filter forEach reduce reduceRight find findIndex findLast findLastIndex some every flatMap sort \
    toSorted then catch finally replace replaceAll from groupBy parse stringify queueMicrotask setTimeout Promise";

/// Names by which more can be reached than a value's own data.
const RISKY: &str = "constructor __proto__ prototype call apply bind caller callee mainModule env binding _load \
    createRequire getBuiltinModule compile runInThisContext require process global globalThis __defineGetter__ \
    __lookupGetter__ __defineSetter__ __lookupSetter__ eval Function";

/// Modules, with what the findings tell of each call, or what is harmless.
const MODULES: &[(&str, &str)] = &[
    (
        "fs",
        "readFileSync writeFileSync existsSync readdirSync statSync mkdirSync appendFileSync unlinkSync copyFileSync renameSync rmSync",
    ),
    ("path", "join resolve basename dirname extname relative normalize parse sep"),
];

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// The functions of a module, by the name that code gives.
fn module(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("node:").unwrap_or(name);
    MODULES.iter().find(|(module, _)| *module == name).map(|(module, _)| *module)
}

/// Reads a whole script.
pub(super) fn judge(tree: &Tree, source: &str, strict: &mut Strict) {
    let mut walk = StrictScript {
        source,
        strict,
        functions: HashSet::new(),
        names: HashSet::new(),
        methods: HashSet::new(),
        modules: HashMap::new(),
        passed: HashSet::new(),
        settings: keys::Settings::default(),
    };
    if walk.strict.past.is_foreign {
        walk.strict.unknown("earlier code", 1);
    }
    if source.contains('@') && source.lines().any(|line| line.trim_start().starts_with('@')) {
        walk.strict.unknown("@", 1);
    }
    tree.each(|node| walk.learn(node));
    tree.each(|node| walk.spoil(node));
    // Numbers first, of which others are made.
    tree.each(|node| {
        walk.settings(node);
        Descent::Into
    });
    walk.settle();
    tree.each(|node| walk.node(node));
    let functions = walk.functions.iter().map(|name| format!("{name}()"));
    let bound = functions.chain(walk.names.iter().cloned()).collect();
    let imports = std::mem::take(&mut walk.modules)
        .into_iter()
        .map(|(name, module)| (name.to_owned(), module.to_owned()))
        .collect();
    let attributes = walk.methods.iter().map(|name| (*name).to_owned()).collect();
    let locals = walk.settings.containers();
    strict.finish();
    strict.learn(StrictNames { imports, attributes, bound, locals, ..StrictNames::default() });
}

struct StrictScript<'s> {
    source: &'s str,
    strict: &'s mut Strict,
    /// Functions and classes, each set once and for all.
    functions: HashSet<String>,
    names: HashSet<String>,
    /// Methods of its own objects.
    methods: HashSet<&'s str>,
    modules: HashMap<&'s str, &'static str>,
    /// Nodes that were judged with what they are in, by [`Node::id`].
    passed: HashSet<usize>,
    settings: keys::Settings,
}

fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), Kind::ARROW_FUNCTION | Kind::FUNCTION_EXPRESSION | Kind::GENERATOR)
}

impl<'s> StrictScript<'s> {
    fn text(&self, node: Node<'_>) -> &'s str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn unknown(&mut self, name: &str, node: Node<'_>) {
        let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
        self.strict.unknown(name, line);
    }

    fn bind_all(&mut self, node: Node<'_>) {
        // Values that stand in for what isn't given set no names.
        let defaults = node.within().filter(|one| one.kind() == Kind::ASSIGNMENT_PATTERN);
        let defaults = defaults.filter_map(|one| one.child(Field::RIGHT));
        let values: HashSet<usize> = defaults.flat_map(|one| one.within().map(Node::id)).collect();
        for one in node.within().filter(|one| !values.contains(&one.id())) {
            if matches!(one.kind(), Kind::IDENTIFIER | Kind::SHORTHAND_PATTERN) {
                let name = self.text(one).to_owned();
                self.settings.set(&name);
                self.names.insert(name);
            }
        }
    }

    fn learn(&mut self, node: Node<'_>) -> Descent {
        match node.kind() {
            Kind::VARIABLE => {
                let (Some(name), value) = (node.child(Field::NAME), node.child(Field::VALUE))
                else {
                    return Descent::Into;
                };
                let text = self.text(name);
                match value {
                    Some(value) if name.kind() == Kind::IDENTIFIER && is_function(value) => {
                        self.functions.insert(text.to_owned());
                    }
                    Some(value)
                        if name.kind() == Kind::OBJECT_PATTERN
                            && self.takes_functions(name, value) =>
                    {
                        let names = name.children().map(|one| self.text(one).to_owned());
                        let names: Vec<_> = names.collect();
                        self.functions.extend(names);
                    }
                    Some(value)
                        if name.kind() == Kind::IDENTIFIER && self.required(value).is_some() =>
                    {
                        let module = self.required(value).unwrap_or_default();
                        self.modules.insert(text, module);
                    }
                    _ => self.bind_all(name),
                }
            }
            Kind::FUNCTION_DECLARATION | Kind::GENERATOR_DECLARATION => {
                if let Some(name) = node.child(Field::NAME) {
                    self.functions.insert(self.text(name).to_owned());
                }
            }
            Kind::CLASS_BODY => {
                for member in node.children() {
                    if let Some(name) = member.child(Field::NAME) {
                        self.methods.insert(self.text(name));
                    }
                }
            }
            Kind::PAIR => {
                let value = node.child(Field::VALUE);
                if let Some(key) = node.child(Field::KEY)
                    && value.is_some_and(is_function)
                {
                    self.methods.insert(self.text(key));
                }
            }
            Kind::FORMAL_PARAMETERS | Kind::ARRAY_PATTERN => self.bind_all(node),
            Kind::FOR_IN => {
                if let Some(left) = node.child(Field::LEFT) {
                    self.bind_all(left);
                }
            }
            _ => {
                // `x => …`, `catch (error)`, `class A`.
                if let Some(parameter) = node.child(Field::PARAMETER) {
                    self.bind_all(parameter);
                }
                if let Some(name) = node.child(Field::NAME)
                    && matches!(name.kind(), Kind::IDENTIFIER | Kind::TYPE_IDENTIFIER)
                    && node.child(Field::BODY).is_some_and(|body| body.kind() == Kind::CLASS_BODY)
                {
                    self.functions.insert(self.text(name).to_owned());
                }
            }
        }
        Descent::Into
    }

    /// A name that is set to something else as well is no function of its own.
    fn spoil(&mut self, node: Node<'_>) -> Descent {
        if matches!(node.kind(), Kind::ASSIGNMENT | Kind::AUGMENTED_ASSIGNMENT)
            && let Some(left) = node.child(Field::LEFT)
        {
            for one in left.within().filter(|one| one.kind() == Kind::IDENTIFIER) {
                if left.kind() != Kind::MEMBER && left.kind() != Kind::SUBSCRIPT {
                    let name = self.text(one).to_owned();
                    self.functions.remove(&name);
                    self.names.insert(name);
                }
            }
        }
        Descent::Into
    }

    /// The module that a call of `require` gives.
    fn required(&self, node: Node<'_>) -> Option<&'static str> {
        let callee = node.child(Field::FUNCTION).filter(|_| node.kind() == Kind::CALL)?;
        let mut arguments = node.child(Field::ARGUMENTS)?.children();
        let (Some(name), None) = (arguments.next(), arguments.next()) else { return None };
        if self.text(callee) != "require" || name.kind() != Kind::STRING {
            return None;
        }
        module(self.text(name).trim_matches(['"', '\'']))
    }

    /// Whether a pattern takes listed functions of a module by their names.
    fn takes_functions(&self, pattern: Node<'_>, value: Node<'_>) -> bool {
        let Some(module) = self.required(value) else { return false };
        let names = MODULES.iter().find(|(one, _)| *one == module).map(|(_, names)| *names);
        pattern.children().all(|one| {
            one.kind() == Kind::SHORTHAND_PATTERN
                && names.is_some_and(|names| lists(names, self.text(one)))
        })
    }

    fn is_own_function(&self, name: &str) -> bool {
        if self.settings.is_resolver(name) {
            return true;
        }
        let known = format!("{name}()");
        (self.functions.contains(name) || self.strict.past.known.contains(&known))
            && !self.names.contains(name)
    }

    fn global(name: &str) -> Option<&'static str> {
        GLOBALS.iter().find(|(global, _)| *global == name).map(|(_, names)| *names)
    }

    fn is_module(&self, name: &str) -> Option<&'static str> {
        let own = self.modules.get(name).copied();
        own.or_else(|| self.strict.past.imports.get(name).and_then(|path| module(path)))
    }

    fn node(&mut self, node: Node<'_>) -> Descent {
        if self.passed.contains(&node.id()) {
            return if node.kind() == Kind::CALL { Descent::Past } else { Descent::Into };
        }
        self.keys(node);
        self.heritage(node);
        match node.kind() {
            Kind::IDENTIFIER | Kind::SHORTHAND => self.identifier(node),
            Kind::MEMBER => return self.member(node, false),
            Kind::SUBSCRIPT => self.item(node),
            Kind::BINARY => {
                let operator = node.child(Field::OPERATOR).map(|one| self.text(one));
                if let Some(class) =
                    node.child(Field::RIGHT).filter(|_| operator == Some("instanceof"))
                    && (lists(MADE, self.text(class)) || self.is_own_function(self.text(class)))
                {
                    self.passed.insert(class.id());
                } else if operator == Some("instanceof") {
                    self.unknown("instanceof", node);
                }
            }
            kind if kind == Kind::OTHER && self.text(node) == "this" => self.this(node),
            Kind::VARIABLE => {
                if let Some(value) = node.child(Field::VALUE)
                    && self.required(value).is_some()
                    && node.child(Field::NAME).is_some_and(|one| {
                        one.kind() == Kind::IDENTIFIER || self.takes_functions(one, value)
                    })
                {
                    return Descent::Past;
                }
            }
            Kind::CALL | Kind::NEW => self.call(node),
            Kind::IMPORT | Kind::IMPORT_STATEMENT => {
                self.unknown("import", node);
                return Descent::Past;
            }
            Kind::ASSIGNMENT | Kind::AUGMENTED_ASSIGNMENT => {
                let left = node.child(Field::LEFT);
                let object = left.and_then(|left| left.child(Field::OBJECT));
                if let Some(object) = object
                    && object.kind() == Kind::IDENTIFIER
                    && (Self::global(self.text(object)).is_some()
                        || self.is_module(self.text(object)).is_some())
                {
                    self.unknown(self.text(object), node);
                }
            }
            _ => {}
        }
        Descent::Into
    }

    fn identifier(&mut self, node: Node<'_>) {
        let name = self.text(node);
        let is_known = self.names.contains(name)
            || self.functions.contains(name)
            || self.strict.past.known.contains(name)
            || self.strict.past.known.contains(&format!("{name}()"))
            || lists(VALUES, name)
            || lists("Number String Boolean BigInt", name);
        if !is_known || lists(RISKY, name) {
            self.unknown(name, node);
        }
    }

    /// A member of an object: of a global one or a module by its list, of others by name.
    fn member(&mut self, node: Node<'_>, is_called: bool) -> Descent {
        let (Some(object), Some(property)) =
            (node.child(Field::OBJECT), node.child(Field::PROPERTY))
        else {
            self.unknown("a member", node);
            return Descent::Past;
        };
        let (of, name) = (self.text(object), self.text(property));
        if let Some(module) = self.required(object) {
            self.passed.insert(object.id());
            let names = MODULES.iter().find(|(one, _)| *one == module).map(|(_, names)| *names);
            if !is_called || !names.is_some_and(|names| lists(names, name)) {
                self.unknown(&format!("{module}.{name}"), node);
            }
            return Descent::Into;
        }
        if object.kind() == Kind::IDENTIFIER && !self.names.contains(of) {
            let names = Self::global(of).or_else(|| {
                let module = self.is_module(of)?;
                MODULES.iter().find(|(one, _)| *one == module).map(|(_, names)| *names)
            });
            if let Some(names) = names {
                self.passed.insert(object.id());
                let is_plain = names == "*" || lists(names, name);
                if !is_plain || (!is_called && self.is_module(of).is_some() && name != "sep") {
                    self.unknown(&format!("{of}.{name}"), node);
                }
                return Descent::Past;
            }
        }
        let is_own = self.methods.contains(name) || self.strict.past.attributes.contains(name);
        let is_plain = !lists(RISKY, name)
            && (!is_called || lists(METHODS, name) || is_own || name.starts_with('#'));
        if !is_plain {
            self.unknown(&format!(".{name}"), node);
        }
        Descent::Into
    }

    /// Whether it is a listed function of a global object.
    fn is_listed_member(&self, node: Node<'_>) -> bool {
        let (Some(object), Some(property)) =
            (node.child(Field::OBJECT), node.child(Field::PROPERTY))
        else {
            return false;
        };
        let of = self.text(object);
        object.kind() == Kind::IDENTIFIER
            && !self.names.contains(of)
            && Self::global(of)
                .is_some_and(|names| names == "*" || lists(names, self.text(property)))
    }

    fn call(&mut self, node: Node<'_>) {
        let is_new = node.kind() == Kind::NEW;
        let field = if is_new { Field::CONSTRUCTOR } else { Field::FUNCTION };
        let Some(callee) = node.child(field) else { return self.unknown("a call", node) };
        if matches!(callee.kind(), Kind::IDENTIFIER | Kind::MEMBER) {
            self.passed.insert(callee.id());
        }
        let name = match callee.kind() {
            Kind::IDENTIFIER => {
                let name = self.text(callee);
                let is_listed = if is_new { lists(MADE, name) } else { lists(FUNCTIONS, name) };
                let is_global = is_listed && !self.names.contains(name);
                if !is_global && !self.is_own_function(name) && name != "super" {
                    self.unknown(name, callee);
                }
                name
            }
            Kind::MEMBER => {
                self.member(callee, true);
                callee.child(Field::PROPERTY).map(|one| self.text(one)).unwrap_or_default()
            }
            Kind::PARENTHESIZED if callee.children().all(is_function) => "",
            _ if self.text(callee) == "super" => "",
            _ => {
                self.unknown("a call", callee);
                ""
            }
        };
        let Some(arguments) = node.child(Field::ARGUMENTS) else { return };
        if arguments.kind() != Kind::ARGUMENTS {
            return self.unknown("a template", node);
        }
        if !lists(CALLING, name) {
            return;
        }
        let is_data = matches!(name, "parse" | "stringify" | "from" | "groupBy");
        for (at, argument) in arguments.children().enumerate() {
            if (is_data && at == 0)
                || (at > 0 && matches!(name, "reduce" | "reduceRight" | "setTimeout"))
            {
                continue;
            }
            let is_plain = match argument.kind() {
                Kind::IDENTIFIER => {
                    let name = self.text(argument);
                    self.is_own_function(name)
                        || (lists("Number String Boolean BigInt undefined", name)
                            && !self.names.contains(name))
                }
                Kind::STRING | Kind::TEMPLATE => name != "setTimeout" && name != "queueMicrotask",
                Kind::ARRAY => true,
                Kind::MEMBER => self.is_listed_member(argument),
                kind if kind == Kind::OTHER => {
                    !self.text(argument).contains(['(', '['])
                        || self.text(argument).starts_with('/')
                }
                _ => is_function(argument),
            };
            if !is_plain {
                self.unknown(&format!("{name}()"), argument);
            }
        }
    }
}
