//! Classes and decorators: only plain ones, since the language calls methods of a class by itself,
//! and a decorator may put anything in the place of what it is given.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else an expression is, it isn't known to be harmless"
)]

use super::{StrictWalk, is_dunder, texts};
use ruff_python_ast::{
    Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt},
};
use ruff_text_size::Ranged;

/// Methods with two underscores that a class of the code's own may define. Their callers hand
/// over values of the code's own, and do nothing with what they return.
const METHODS: &str = "__init__ __new__ __post_init__ __repr__ __str__ __format__ __len__ __bool__ \
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __iter__ __next__ __reversed__ __contains__ \
    __getitem__ __setitem__ __delitem__ __missing__ __enter__ __exit__ __aenter__ __aexit__ \
    __aiter__ __anext__ __call__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__ \
    __matmul__ __and__ __or__ __xor__ __invert__ __neg__ __pos__ __abs__ __radd__ __rsub__ __rmul__ \
    __rtruediv__ __iadd__ __isub__ __imul__ __itruediv__ __int__ __float__ __index__ __round__";

/// Classes of modules that a class of the code's own may be made of.
const BASES: &str = "abc.ABC enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag \
    typing.NamedTuple typing.TypedDict typing.Protocol typing.Generic collections.UserDict \
    collections.UserList collections.OrderedDict collections.defaultdict collections.Counter \
    collections.deque collections.abc.Mapping collections.abc.MutableMapping \
    collections.abc.Sequence collections.abc.Iterator collections.abc.Iterable \
    collections.abc.MutableSequence json.JSONEncoder html.parser.HTMLParser threading.Thread \
    logging.Formatter sklearn.base.BaseEstimator sklearn.base.TransformerMixin \
    sklearn.base.ClassifierMixin sklearn.base.RegressorMixin";

/// Built-in classes that one may be made of, besides exceptions.
const BUILT_IN_BASES: &str = "object dict list set tuple str int float bytes";

/// Decorators of modules that leave what they are given what it is.
const DECORATORS: &str = "functools.lru_cache functools.cache functools.cached_property \
    functools.total_ordering contextlib.contextmanager contextlib.asynccontextmanager \
    abc.abstractmethod typing.overload typing.final typing.override typing.runtime_checkable \
    enum.unique";

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

impl<'a> StrictWalk<'_, 'a> {
    /// The dotted path of what an expression names, through the code's imports.
    pub(super) fn path_of(&self, expression: &Expr) -> Option<String> {
        let dotted = texts::dotted(expression)?;
        let (root, rest) = dotted.split_once('.').map_or((&*dotted, None), |(a, b)| (a, Some(b)));
        let path = match self.bound.imports.get(root).map(Vec::as_slice) {
            Some([path]) if self.bound.is_single(root) => path,
            None if !self.bound.sets(root) => self.past.imports.get(root)?,
            _ => return None,
        };
        // A module that is reached by another name.
        let path = self.names.module(path).unwrap_or(path);
        Some(rest.map_or_else(|| path.to_owned(), |rest| format!("{path}.{rest}")))
    }

    /// Whether a name is a built-in one that nothing in the session has set.
    pub(super) fn is_untouched(&self, name: &str) -> bool {
        self.names.is_builtin(name)
            && !self.bound.sets(name)
            && !self.past.known.contains(name)
            && !self.past.imports.contains_key(name)
            && !self.past.foreign.contains(name)
    }

    /// Whether a name is a function or class of the code's own, set once and for all.
    pub(super) fn is_own_function(&self, name: &str) -> bool {
        self.bound.is_function(name)
            || (!self.bound.sets(name) && self.past.functions.contains(name))
    }

    pub(super) fn class(&mut self, class: &'a StmtClassDef) {
        self.defined(&class.name, class.name.range);
        for keyword in class.arguments.iter().flat_map(|all| &all.keywords) {
            // Another one may put any names into the class, which some decorators run.
            let is_plain = match keyword.arg.as_deref() {
                Some("metaclass") => {
                    self.path_of(&keyword.value).is_some_and(|path| path == "abc.ABCMeta")
                }
                Some("total") => keyword.value.is_boolean_literal_expr(),
                _ => false,
            };
            if !is_plain {
                self.unknown("metaclass", keyword.range());
            }
        }
        for base in class.arguments.iter().flat_map(|all| &all.args) {
            if !self.is_class(base) {
                self.unknown("a base class", base.range());
            }
            // Such a class may be made of, but not be called or handed on.
            let named = base.as_subscript_expr().map_or(base, |subscript| &subscript.value);
            if self.path_of(named).is_some_and(|path| lists(BASES, &path)) {
                base.as_subscript_expr().iter().for_each(|one| self.visit_expr(&one.slice));
            } else {
                self.visit_expr(base);
            }
        }
        let is_dataclass =
            |one: &Decorator| self.called(one).is_some_and(|path| path == "dataclasses.dataclass");
        let has_dataclass = class.decorator_list.iter().any(is_dataclass);
        for one in &class.decorator_list {
            let is_alone = class.decorator_list.len() == 1;
            if has_dataclass && !(is_alone && is_plain_dataclass(one)) {
                self.unknown("@dataclass", one.range());
            } else if !has_dataclass && !self.is_decorator(one) {
                self.unknown("a decorator", one.range());
            }
        }
        class.decorator_list.iter().for_each(|one| self.visit_decorator(one));
        for statement in &class.body {
            self.in_class(statement);
            self.visit_stmt(statement);
        }
    }

    /// A statement of a class: what it sets with two underscores is on a list.
    fn in_class(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(function)
                if is_dunder(&function.name)
                    && function.name.ends_with("__")
                    && !lists(METHODS, &function.name) =>
            {
                self.unknown(&function.name, function.name.range);
            }
            Stmt::Assign(assign) => {
                for target in assign.targets.iter().filter_map(Expr::as_name_expr) {
                    if is_dunder(&target.id) && !self.is_plain_setting(&target.id, &assign.value) {
                        self.unknown(&target.id, target.range());
                    }
                }
            }
            Stmt::AnnAssign(assign) => {
                let name = assign.target.as_name_expr().map(|name| name.id.as_str());
                if let Some(name) = name.filter(|name| is_dunder(name)) {
                    self.unknown(name, assign.range());
                }
            }
            // In a condition or a loop, only plain names are set.
            Stmt::FunctionDef(_) | Stmt::Expr(_) | Stmt::Pass(_) | Stmt::ClassDef(_) => {}
            other => {
                let mut found = Dunders::default();
                found.visit_stmt(other);
                if let Some(name) = found.0 {
                    self.unknown(&name, other.range());
                }
            }
        }
    }

    /// Whether a class may set one of its names with two underscores to this.
    fn is_plain_setting(&self, name: &str, value: &Expr) -> bool {
        let all = |plain: &dyn Fn(&str) -> bool| {
            let list = match value {
                Expr::Tuple(list) => &list.elts,
                Expr::List(list) => &list.elts,
                _ => return false,
            };
            list.iter().all(|one| texts::literal(one).is_some_and(|text| plain(&text)))
        };
        match name {
            "__slots__" => all(&|text| !is_dunder(text)),
            // A pattern takes attributes of these names from any value.
            "__match_args__" => all(&|text| !text.starts_with('_') && self.may_take(value, text)),
            "__hash__" => value.is_none_literal_expr(),
            "__doc__" => value.is_string_literal_expr(),
            _ => false,
        }
    }

    /// Whether an expression names a class that one may be made of.
    fn is_class(&self, base: &Expr) -> bool {
        if let Some(path) = self.path_of(base) {
            return lists(BASES, &path);
        }
        match base {
            Expr::Name(name) => {
                let name = name.id.as_str();
                (self.bound.is_single(name) && self.bound.classes.contains(name))
                    || (!self.bound.sets(name) && self.past.functions.contains(name))
                    || (self.is_untouched(name)
                        && (lists(BUILT_IN_BASES, name)
                            || name.starts_with(|c: char| c.is_ascii_uppercase())))
            }
            Expr::Subscript(subscript) => self.is_class(&subscript.value),
            Expr::Call(call) => {
                self.path_of(&call.func).is_some_and(|path| path == "collections.namedtuple")
            }
            _ => false,
        }
    }

    pub(super) fn function(&mut self, function: &'a StmtFunctionDef) {
        self.defined(&function.name, function.name.range);
        for one in &function.decorator_list {
            let is_plain = match self.called(one).as_deref() {
                Some("functools.wraps") => is_plain_wraps(one),
                Some("dataclasses.dataclass") => false,
                _ => self.is_decorator(one),
            };
            if !is_plain {
                self.unknown("a decorator", one.range());
            }
        }
    }

    /// The path of what a decorator names or calls.
    fn called(&self, decorator: &Decorator) -> Option<String> {
        let called = decorator.expression.as_call_expr();
        self.path_of(called.map_or(&decorator.expression, |call| &call.func))
    }

    /// Whether a decorator is listed, or a function of the code's own.
    fn is_decorator(&self, decorator: &Decorator) -> bool {
        if let Some(path) = self.called(decorator) {
            return lists(DECORATORS, &path);
        }
        let called = match &decorator.expression {
            Expr::Call(call) => &*call.func,
            other => other,
        };
        match called {
            Expr::Name(name) => {
                let is_listed =
                    matches!(name.id.as_str(), "property" | "staticmethod" | "classmethod");
                self.is_own_function(&name.id) || (is_listed && self.is_untouched(&name.id))
            }
            // `@size.setter`.
            Expr::Attribute(attribute) => {
                matches!(attribute.attr.as_str(), "setter" | "deleter" | "getter")
                    && attribute.value.is_name_expr()
            }
            _ => false,
        }
    }
}

/// Whether `@dataclass` is given nothing but yes and no.
fn is_plain_dataclass(decorator: &Decorator) -> bool {
    decorator.expression.as_call_expr().is_none_or(|call| {
        call.arguments.args.is_empty()
            && call
                .arguments
                .keywords
                .iter()
                .all(|keyword| keyword.arg.is_some() && keyword.value.is_boolean_literal_expr())
    })
}

/// Whether `@wraps` is given a function and nothing else: with more it copies any attribute.
fn is_plain_wraps(decorator: &Decorator) -> bool {
    decorator.expression.as_call_expr().is_some_and(|call| {
        matches!(&*call.arguments.args, [Expr::Name(_)]) && call.arguments.keywords.is_empty()
    })
}

/// The first name with two underscores that is set in a statement, or attribute of one.
#[derive(Default)]
struct Dunders(Option<String>);

impl SourceOrderVisitor<'_> for Dunders {
    fn visit_stmt(&mut self, statement: &Stmt) {
        if let Stmt::FunctionDef(function) = statement {
            if is_dunder(&function.name) && !lists(METHODS, &function.name) {
                self.0 = Some(function.name.to_string());
            }
            return;
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Name(name) = expression
            && !name.ctx.is_load()
            && is_dunder(&name.id)
        {
            self.0 = Some(name.id.to_string());
        }
        walk_expr(self, expression);
    }
}
