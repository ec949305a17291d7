//! Functions and names that may be handed to a method that calls a function, or looks a method up
//! by its name.
//!
//! A table's `apply` takes the name of any of its methods, so nothing that may be a text passes:
//! only what is a function by how it stands in the code, or a text of the list.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else an expression is, it isn't known to be a function"
)]

use super::{StrictWalk, special, texts};
use ruff_python_ast::{Expr, ExprCall, Keyword};

/// Functions of columns that a text may name.
const AGGREGATES: &str = "mean sum min max count size nunique first last std var median prod any all \
    sem skew kurt quantile idxmin idxmax cumsum cumprod cummax cummin cumcount rank diff pct_change shift ffill \
    bfill unique mode describe head tail nth ohlc abs len";

/// Named arguments of an aggregation that name no function.
const PLAIN_OPTIONS: &str = "axis args raw result_type subset q numeric_only include_groups cmap \
    vmin vmax low high by_row engine";

/// Modules all of whose listed names are functions or numbers, and no texts.
const NUMERIC: [&str; 6] =
    ["numpy", "numpy.linalg", "math", "statistics", "scipy.stats", "operator"];

/// Functions of pandas that may be handed on.
const OF_TABLES: [&str; 8] = [
    "pandas.to_numeric",
    "pandas.to_datetime",
    "pandas.to_timedelta",
    "pandas.isna",
    "pandas.notna",
    "pandas.isnull",
    "pandas.Timestamp",
    "pandas.Series",
];

/// Built-in functions that may be handed on.
const BUILT_IN: &str = "len sum min max abs any all round sorted list tuple set frozenset dict str int \
    float bool repr ord chr hash bin hex oct range enumerate reversed";

/// Functions of Polars that make an expression.
const EXPRESSIONS: [&str; 16] = [
    "col",
    "len",
    "count",
    "sum",
    "mean",
    "min",
    "max",
    "median",
    "std",
    "var",
    "first",
    "last",
    "when",
    "n_unique",
    "concat_str",
    "quantile",
];

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

impl StrictWalk<'_, '_> {
    /// Whether the functions that a call of `apply`, `agg` and their like is given are known.
    pub(super) fn is_plain_aggregate(&self, call: &ExprCall) -> bool {
        let functions = call.arguments.args.first();
        let is_own = functions.is_some_and(|one| self.is_own_or_lambda(one));
        let named = |keyword: &Keyword| {
            let Some(name) = &keyword.arg else { return is_own };
            if lists(PLAIN_OPTIONS, name) {
                return true;
            }
            match &keyword.value {
                // A named aggregation: a column, and a function.
                Expr::Tuple(pair) => {
                    matches!(pair.elts.as_slice(), [_, function] if self.is_function(function))
                }
                other => is_own || self.is_function(other),
            }
        };
        // Later arguments are handed to the function.
        let is_bounded = call.arguments.args.len() <= 1
            || is_own
            || call.arguments.args.iter().all(|one| self.is_of_polars(one));
        is_bounded
            && functions.is_none_or(|one| self.is_function(one))
            && call.arguments.keywords.iter().all(named)
    }

    fn is_own_or_lambda(&self, function: &Expr) -> bool {
        match function {
            Expr::Lambda(_) => true,
            Expr::Name(name) => self.is_own_function(&name.id),
            _ => false,
        }
    }

    /// Whether something is a function, or names one that aggregates: not any text.
    pub(super) fn is_function(&self, function: &Expr) -> bool {
        match function {
            Expr::Lambda(_) | Expr::NoneLiteral(_) => true,
            Expr::StringLiteral(text) => lists(AGGREGATES, text.value.to_str()),
            Expr::List(list) => list.elts.iter().all(|one| self.is_function(one)),
            Expr::Tuple(list) => match list.elts.as_slice() {
                // A name for it, and the function.
                [name, function] if texts::literal(name).is_some() => self.is_function(function),
                all => all.iter().all(|one| self.is_function(one)),
            },
            Expr::Dict(dict) => {
                let is_whole = dict.items.iter().all(|item| item.key.is_some());
                is_whole && dict.items.iter().all(|item| self.is_function(&item.value))
            }
            Expr::Name(name) => self.is_function_name(&name.id, function),
            Expr::Attribute(attribute) => {
                let of_built_in = matches!(&*attribute.value, Expr::Name(of)
                    if matches!(of.id.as_str(), "str" | "int" | "float" | "list" | "dict" | "set")
                        && self.is_untouched(&of.id));
                (of_built_in && !attribute.attr.starts_with('_')) || self.is_listed(function)
            }
            // A function that was made of one, or a column of Polars.
            Expr::Call(call) => match self.path_of(&call.func).as_deref() {
                Some("functools.partial") => {
                    call.arguments.args.first().is_some_and(|one| self.is_function(one))
                }
                Some("pandas.NamedAgg") => {
                    special::argument(call, 1, "aggfunc").is_some_and(|one| self.is_function(one))
                }
                _ => self.is_of_polars(function),
            },
            _ => false,
        }
    }

    fn is_function_name(&self, name: &str, whole: &Expr) -> bool {
        if self.is_own_function(name) {
            return true;
        }
        if self.bound.imports.contains_key(name) {
            return self.is_listed(whole);
        }
        if self.bound.sets(name) {
            return self.bound.all_values(name, |one| !one.is_name_expr() && self.is_function(one));
        }
        self.is_listed(whole) || (lists(BUILT_IN, name) && self.is_untouched(name))
    }

    /// Whether it names a function of a module whose names are no texts.
    fn is_listed(&self, function: &Expr) -> bool {
        let Some(path) = self.path_of(function) else { return false };
        if OF_TABLES.contains(&&*path) {
            return true;
        }
        let Some((module, name)) = path.rsplit_once('.') else { return false };
        (NUMERIC.contains(&module) && self.names.is_plain(module, name))
            || (matches!(module, "pandas.Series" | "pandas.DataFrame") && lists(AGGREGATES, name))
    }

    /// Whether it is made by calls of Polars, one after another: an expression, and no text.
    fn is_of_polars(&self, expression: &Expr) -> bool {
        let mut at = expression;
        loop {
            let inner = match at {
                Expr::Call(call) => &call.func,
                Expr::Attribute(attribute) if attribute.attr.as_str() != "meta" => &attribute.value,
                _ => return false,
            };
            let path = self.path_of(inner);
            if let Some(name) = path.as_ref().and_then(|path| path.strip_prefix("polars.")) {
                return at.is_call_expr() && EXPRESSIONS.contains(&name);
            }
            at = inner;
        }
    }
}
